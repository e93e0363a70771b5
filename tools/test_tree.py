# SPDX-License-Identifier: GPL-2.0
"""Tests of tools/install-in-tree: what it puts where, and what it leaves alone."""

import os
import re
import shutil
import subprocess
import tempfile
import unittest

import tree

BUILD = os.path.join(tree.TOP, os.environ.get("BUILD") or "build")
SOURCE = os.path.join(BUILD, "source")


class InstallInTree(unittest.TestCase):
    """The files of a real kernel that matter here, in a directory of their own."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = folder.name
        for name in tree.TOUCHED + tree.KNOWN:
            self.put(name, self.original(name))

    def original(self, name):
        """A file of the kernel in use."""
        with open(os.path.join(SOURCE, name), encoding="utf-8") as file:
            return file.read()

    def put(self, name, text):
        """Write a file into the tree."""
        path = os.path.join(self.root, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    def state(self):
        """Every file of the tree: its text and when it was written."""
        found = {}
        for folder, _, names in os.walk(self.root):
            for name in names:
                path = os.path.join(folder, name)
                with open(path, encoding="utf-8") as file:
                    text = file.read()
                found[os.path.relpath(path, self.root)] = (text, os.stat(path).st_mtime_ns)
        return found

    def install(self):
        """Run the tool; its exit status and what it says on stderr."""
        done = subprocess.run(
            [os.path.join(tree.TOP, "tools", "install-in-tree"), self.root],
            capture_output=True, encoding="utf-8", check=False,
        )  # fmt: skip
        return done.returncode, done.stderr

    def test_lines(self):
        """install-in-tree: files of the kernel get lines, and lose none"""
        self.assertEqual(self.install(), (0, ""))
        for name in tree.TOUCHED:
            old = self.original(name).splitlines()
            new = iter(self.state()[name][0].splitlines())
            self.assertTrue(all(line in new for line in old), name)
            added = len(self.state()[name][0].splitlines()) - len(old)
            self.assertTrue(1 <= added <= 12, name)

    def test_maintainers(self):
        """install-in-tree: the entry in MAINTAINERS stands alone, and in order"""
        self.install()
        text = self.state()["MAINTAINERS"][0]
        entries = re.findall(r"(?<=\n\n)(\S.*)\n[A-Z]:\t", text)
        at = entries.index("DEV PAGES MEMORY DEVICE")
        self.assertTrue(entries[at - 1] < entries[at] < entries[at + 1])
        entry = text.partition("\n\nDEV PAGES")[2].partition("\n\n")[0]
        for name in re.findall(r"^F:\t(.*)$", entry, re.MULTILINE):
            self.assertTrue(os.path.exists(os.path.join(self.root, name)), name)

    def test_copies(self):
        """install-in-tree: every source file arrives, and the tests find their parts"""
        self.assertEqual(self.install(), (0, ""))
        files = self.state()
        for folder in ("device", "nommu", "selftests"):
            for name in os.listdir(os.path.join(tree.TOP, folder)):
                if name.endswith((".rs", ".c", ".h")) and name != "map_zero.c":
                    text = tree.ours(f"{folder}/{name}")
                    place = tree.SELFTESTS if folder == "selftests" else f"{tree.DRIVER}/{folder}"
                    self.assertEqual(files[f"{place}/{name}"][0], text)
        self.assertIn(f"{tree.SELFTESTS}/check-pie", files)

    def test_twice(self):
        """install-in-tree: a second run touches nothing"""
        self.install()
        before = self.state()
        self.assertEqual(self.install(), (0, ""))
        self.assertEqual(self.state(), before)

    def test_update(self):
        """install-in-tree: what has changed is replaced, what is gone goes"""
        self.install()
        before = self.state()
        self.put(f"{tree.DRIVER}/device/engine.rs", "old\n")
        self.put(f"{tree.DRIVER}/device/of_last_year.rs", "old\n")
        self.put(f"{tree.SELFTESTS}/pages_of_last_year.c", "old\n")
        self.assertEqual(self.install(), (0, ""))
        now = self.state()
        self.assertEqual(now.keys(), before.keys())
        for name, (text, _) in now.items():
            self.assertEqual(text, before[name][0])

    def test_misfit(self):
        """install-in-tree: a tree that it does not fit is left alone"""
        self.put("Documentation/driver-api/index.rst", "nothing\n")
        before = self.state()
        status, said = self.install()
        self.assertEqual(status, 1)
        self.assertRegex(said, r"^install-in-tree: .*no place for .*index.rst\n$")
        self.assertEqual(self.state(), before)

    def test_not_a_tree(self):
        """install-in-tree: no kernel, no Rust: one line each"""
        os.unlink(os.path.join(self.root, "rust/kernel/miscdevice.rs"))
        self.assertRegex(self.install()[1], r"^install-in-tree: .*no Rust misc devices.*\n$")
        shutil.rmtree(self.root)
        os.mkdir(self.root)
        self.assertRegex(self.install()[1], r"^install-in-tree: .*not a kernel source tree.*\n$")

    def test_documents(self):
        """install-in-tree: documents name no file that the tree lacks"""
        self.assertEqual(self.install(), (0, ""))
        for document in (tree.GUIDE, tree.DESIGN):
            for name in re.findall(r"``([a-z][\w.-]*/[\w./-]*)``", self.state()[document][0]):
                places = (self.root, os.path.join(self.root, tree.DRIVER), SOURCE)
                found = any(os.path.exists(os.path.join(place, name)) for place in places)
                self.assertTrue(found, f"{document}: {name}")
