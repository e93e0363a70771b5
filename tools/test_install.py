# SPDX-License-Identifier: GPL-2.0
"""Tests of make install: the files, what pkg-config and man make of them."""

import os
import re
import subprocess
import tempfile
import unittest

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BUILD = os.path.join(TOP, os.environ.get("BUILD") or "build")
FILES = {
    "include/linux/pages.h": 0o644,
    "include/pages.h": 0o644,
    "lib/libpages_alloc.a": 0o644,
    "lib/pkgconfig/pages.pc": 0o644,
    "lib/pkgconfig/pages_alloc.pc": 0o644,
    "lib/udev/rules.d/60-pages.rules": 0o644,
    "sbin/pagestat": 0o755,
    "share/man/man4/pages.4": 0o644,
    "share/man/man8/pagestat.8": 0o644,
    "share/rust_uncleared/mdev.conf": 0o644,
}


# The library's malloc() serves 8 MiB in one piece, which no kernel without an MMU does.
PROGRAM = """
#include <linux/pages.h>
#include <pages.h>
#include <stdio.h>
#include <stdlib.h>

int main(void)
{
	int fd = pages_open();
	char *mapped = pages_map(fd, 1 << 20);
	char *big = malloc(8 << 20);

	if (!mapped || !big || mapped[0])
		return 1;
	big[(8 << 20) - 1] = 1;
	free(big);
	puts("it works");
	return pages_unmap(mapped, 1 << 20) || pages_close(fd);
}
"""


class Install(unittest.TestCase):
    """An installation into a directory of its own, as for an image."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = folder.name

    def run_tool(self, *command, **env):
        """What a command prints; it must succeed, and say nothing on stderr."""
        done = subprocess.run(
            command, env={**os.environ, **env}, cwd=self.root,
            capture_output=True, encoding="utf-8", check=False,
        )  # fmt: skip
        self.assertEqual((done.returncode, done.stderr), (0, ""), command)
        return done.stdout

    def install(self, prefix="/opt/pages"):
        """Install; where the files are."""
        tool = os.path.join(TOP, "tools", "install")
        said = self.run_tool(tool, DESTDIR=self.root + "/", PREFIX=prefix)
        place = self.root + prefix
        self.assertEqual(sorted(said.split()), sorted(f"{place}/{name}" for name in FILES))
        return place

    def test_files(self):
        """install: just these files, with these permissions, and again"""
        for _ in range(2):
            place = self.install()
            found = {}
            for folder, _, names in os.walk(self.root):
                for name in names:
                    path = os.path.join(folder, name)
                    found[os.path.relpath(path, place)] = os.stat(path).st_mode & 0o777
            self.assertEqual(found, FILES)

    def test_prefix(self):
        """install: a relative PREFIX is refused, and nothing is written"""
        done = subprocess.run(
            [os.path.join(TOP, "tools", "install")], capture_output=True, encoding="utf-8",
            env={**os.environ, "DESTDIR": self.root, "PREFIX": "usr"}, check=False,
        )  # fmt: skip
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r"^install: PREFIX=usr: .*\n$")
        self.assertEqual(os.listdir(self.root), [])

    def test_pkg_config(self):
        """install: pkg-config finds headers and library, and a program of them runs"""
        place = self.install("/usr/local")
        flags = self.run_tool(
            "pkg-config", "--cflags", "--libs", "pages_alloc",
            PKG_CONFIG_PATH=f"{place}/lib/pkgconfig", PKG_CONFIG_SYSROOT_DIR=self.root,
        ).split()  # fmt: skip
        self.assertEqual(flags, [f"-I{place}/include", f"-L{place}/lib", "-lpages_alloc"])
        with open(os.path.join(self.root, "x.c"), "w", encoding="utf-8") as file:
            file.write(PROGRAM)
        compiler = os.path.join(TOP, "tools", "musl-cc")
        self.run_tool(compiler, "-Wall", "-Werror", "x.c", *flags, "-o", "x")
        done = subprocess.run(
            [os.path.join(TOP, "tools", "boot"), "NAME=installed", f"{self.root}/x"],
            stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8", check=False,
        )  # fmt: skip
        self.assertEqual((done.returncode, done.stdout), (0, "it works\n"), done.stderr)

    def test_module(self):
        """install: the module goes below INSTALL_MOD_PATH, where modules of its kernel are"""
        tool = os.path.join(TOP, "tools", "module")
        done = subprocess.run(
            [tool, "install"], env={**os.environ, "INSTALL_MOD_PATH": "image"}, cwd=self.root,
            capture_output=True, encoding="utf-8", check=False,
        )  # fmt: skip
        # depmod misses the lists of the kernel's own modules, which are not in this image.
        self.assertEqual(done.returncode, 0, done.stderr)
        kernel = os.environ.get("KDIR") or os.path.join(BUILD, "kernel")
        with open(os.path.join(kernel, "include/config/kernel.release"), encoding="utf-8") as file:
            place = os.path.join(self.root, "image/lib/modules", file.read().strip(), "updates")
        self.assertEqual(os.listdir(place), ["rust_uncleared.ko"])

    def test_manual(self):
        """install: groff and mandoc show the pages without a warning"""
        place = self.install()
        for section, name in (("4", "pages"), ("8", "pagestat")):
            page = f"{place}/share/man/man{section}/{name}.{section}"
            text = self.run_tool("groff", "-ww", "-mandoc", "-Tascii", page)
            self.assertIn(f"{name.upper()}({section})", text)
            # Not "all": that asks for a database of the machine's other pages.
            self.assertEqual(self.run_tool("mandoc", "-T", "lint", "-W", "warning", page), "")

    def test_manual_is_complete(self):
        """install: pages(4) has every parameter of the module, and no other"""
        with open(os.path.join(TOP, "rust_uncleared.rs"), encoding="utf-8") as file:
            parameters = re.findall(r"^        (\w+): \w+ \{$", file.read(), re.MULTILINE)
        with open(os.path.join(TOP, "dist", "pages.4"), encoding="utf-8") as file:
            page = file.read()
        self.assertTrue(parameters)
        self.assertEqual(re.findall(r"^\.It Cm (\w+)$", page, re.MULTILINE), parameters)
        self.assertEqual(re.findall(r"^\.Op Cm (\w+) Ns", page, re.MULTILINE), parameters)
