# SPDX-License-Identifier: GPL-2.0
"""Tests of tools/rules.py and tools/aptsources.awk."""

import os
import subprocess
import tempfile
import unittest

import rules

HERE = os.path.dirname(os.path.abspath(__file__))


class FakeTree:
    """Files that exist in the test only."""

    def __init__(self, **files):
        self.files = {name.replace("__", "/").replace("_rs", ".rs"): text for name, text in files.items()}
        self.names = list(self.files)

    def exists(self, name):
        """As Tree has it."""
        return name in self.files

    def ending(self, *suffixes):
        """As Tree has it."""
        return [name for name in self.names if name.endswith(suffixes)]

    def lines(self, name):
        """As Tree has it."""
        return self.files[name].splitlines()


class Rules(unittest.TestCase):
    """Each rule finds what it is for, and nothing else."""

    def test_fence(self):
        """rules: the fence stands around nommu/, comments and texts left out"""
        tree = FakeTree(
            device__a_rs="let x = 1;\nunsafe { f() }\n",
            device__b_rs='// unsafe\n#![deny(unsafe_code)]\nprint("unsafe");\n',
            device__c_rs="use kernel::bindings;\n",
            nommu__d_rs="unsafe { bindings::f() }\n",
        )
        found = [finding.rsplit(":", 1)[0] for finding in rules.fence(tree)]
        self.assertEqual(found, ["device/a.rs:2", "device/c.rs:1"])

    def test_spdx(self):
        """rules: a file without a licence line is found"""
        good = "// SPDX-License-Identifier: GPL-2.0\n"
        self.assertEqual(len(list(rules.spdx(FakeTree(a_rs=good, b_rs="x\n")))), 1)

    def test_width(self):
        """lint: a line of Rust with 101 columns is too long, comments included"""
        tree = FakeTree(a_rs="x" * 100 + "\n// " + "x" * 98 + "\n", b_c="x" * 120 + "\n")
        self.assertEqual([one.split(" ")[0] for one in rules.width(tree)], ["a.rs:2:"])

    def test_length(self):
        """rules: a file that is too long is found"""
        tree = FakeTree(a_rs="x\n" * rules.MOST_LINES, b_rs="x\n" * (rules.MOST_LINES + 1))
        self.assertEqual([one.split(":")[0] for one in rules.length(tree)], ["b.rs"])

    def test_leftovers(self):
        """rules: markers, conflicts and blanks at the end of a line are found"""
        text = "fine\n// TO" + "DO more\n" + "<" * 7 + " ours\nblank \n"
        found = [finding.split(":")[1] for finding in rules.leftovers(FakeTree(a_rs=text))]
        self.assertEqual(found, ["2", "3", "4"])


ONE_LINE = """# deb http://not.this bookworm main
deb [signed-by=/k.gpg arch=amd64,arm64] http://mirror/debian bookworm main contrib
deb-src http://mirror/debian bookworm main
deb http://mirror/security bookworm-security main
deb http://elsewhere/apt stable-tool main
"""

DEB822 = """Types: deb deb-src
URIs: http://mirror/debian
Suites: trixie trixie-updates trixie-backports
Components: main contrib
Signed-By:
 -----BEGIN PGP PUBLIC KEY BLOCK-----
 .
 -----END PGP PUBLIC KEY BLOCK-----

Types: deb
URIs: http://mirror/off
Suites: trixie
Components: main
Enabled: no
"""


class Sources(unittest.TestCase):
    """The machine's apt sources as we take them."""

    def sources(self, text, suffix, codename, extra="", types=""):
        """What the awk program makes of a file: its status, its stanzas."""
        with tempfile.NamedTemporaryFile("w", suffix=suffix) as file:
            file.write(text)
            file.flush()
            done = subprocess.run(
                ["awk", "-v", f"codename={codename}", "-v", f"extra={extra}",
                 "-v", f"types={types}", "-f", os.path.join(HERE, "aptsources.awk"), file.name],
                capture_output=True, encoding="utf-8", check=False,
            )  # fmt: skip
        return done.returncode, done.stdout.strip().split("\n\n")

    def test_one_line(self):
        """aptsources: one-line sources, their options kept, other archives left out"""
        status, stanzas = self.sources(ONE_LINE, ".list", "bookworm", "forky sid")
        self.assertEqual(status, 0)
        self.assertEqual(len(stanzas), 3)
        self.assertIn("signed-by: /k.gpg\nArchitectures: amd64 arm64", stanzas[0])
        self.assertIn("URIs: http://mirror/debian", stanzas[2])
        self.assertIn("signed-by: /k.gpg", stanzas[2])
        self.assertTrue(stanzas[2].endswith("Suites: forky sid"))

    def test_deb822(self):
        """aptsources: deb822 sources, an embedded key kept, disabled ones left out"""
        status, stanzas = self.sources(DEB822, ".sources", "trixie", "sid")
        self.assertEqual(status, 0)
        self.assertEqual(len(stanzas), 2)
        self.assertIn("Suites: trixie trixie-updates", stanzas[0])
        self.assertIn(" -----END PGP PUBLIC KEY BLOCK-----", stanzas[1])
        self.assertNotIn("/off", "".join(stanzas))

    def test_source_packages(self):
        """aptsources: source packages come from the same mirrors"""
        _, stanzas = self.sources(ONE_LINE, ".list", "bookworm", types="deb deb-src")
        self.assertEqual([stanza.split("\n")[0] for stanza in stanzas], ["Types: deb deb-src"] * 2)

    def test_no_mirror(self):
        """aptsources: a machine that names no Debian mirror is told apart"""
        status, _ = self.sources("deb http://x/ubuntu noble main\n", ".list", "noble2", "sid")
        self.assertEqual(status, 3)
