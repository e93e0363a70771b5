# SPDX-License-Identifier: GPL-2.0
"""The rules of dist/ for the node of the device: can udev and mdev read them?"""

import os
import re
import shutil
import subprocess
import tempfile
import unittest

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BUILD = os.path.join(TOP, os.environ.get("BUILD") or "build")
DIST = os.path.join(TOP, "dist")
# udev(7): a comma-separated list of key, operator, quoted value.
PAIR = re.compile(r'([A-Z]+)(==|!=|\+=|-=|:=|=)"([^"]*)"')
MATCHES = ("KERNEL", "SUBSYSTEM")
# BusyBox, docs/mdev.txt: device regex, user:group, permissions.
MDEV = re.compile(r"(\S+)\s+(\w+):(\w+)\s+([0-7]{3,4})$")


def rules(name):
    """The lines of a file that are not comments."""
    with open(os.path.join(DIST, name), encoding="utf-8") as file:
        return [line.strip() for line in file if line.strip() and line[0] != "#"]


class Rules(unittest.TestCase):
    """One rule each, and both say the same."""

    def udev(self):
        """The udev rule as a dictionary of (operator, value)."""
        (line,) = rules("60-pages.rules")
        parts = [part.strip() for part in line.split(",")]
        pairs = [PAIR.fullmatch(part) for part in parts]
        self.assertNotIn(None, pairs, line)
        return {pair[1]: (pair[2], pair[3]) for pair in pairs}

    def mdev(self):
        """The fields of the mdev rule."""
        (line,) = rules("mdev.conf")
        fields = MDEV.fullmatch(line)
        self.assertIsNotNone(fields, line)
        return fields.groups()

    def test_udev(self):
        """dist: the udev rule matches the device and sets group and mode"""
        pairs = self.udev()
        self.assertEqual(pairs["KERNEL"], ("==", "pages"))
        self.assertEqual(pairs["SUBSYSTEM"], ("==", "misc"))
        for key, (operator, _) in pairs.items():
            self.assertEqual(operator, "==" if key in MATCHES else "=", key)
        self.assertRegex(pairs["MODE"][1], r"^0[0-7]{3}$")

    def test_mdev(self):
        """dist: the mdev rule matches the device and nothing else"""
        device, user, _, _ = self.mdev()
        self.assertEqual(user, "root")
        self.assertTrue(re.fullmatch(device, "pages"))
        self.assertFalse(re.fullmatch(device, "pages2"))

    def test_both_say_the_same(self):
        """dist: udev and mdev give the same group the same rights, and nobody else any"""
        pairs = self.udev()
        _, _, group, mode = self.mdev()
        self.assertEqual(pairs["GROUP"][1], group)
        self.assertEqual(int(pairs["MODE"][1], 8), int(mode, 8))
        self.assertEqual(int(mode, 8) & 0o007, 0)

class Mdev(unittest.TestCase):
    """BusyBox's mdev, in the guest."""

    # As at the start of a system, then as the kernel calls it for one device.
    SCRIPT = """
busybox ls -n /dev/pages
busybox mdev -s
busybox ls -n /dev/pages
busybox rm /dev/pages
ACTION=add SUBSYSTEM=misc DEVPATH=/class/misc/pages busybox mdev
busybox ls -n /dev/pages
"""
    FILES = {
        "group": "root:x:0:\npages:x:77:\n",
        "passwd": "root:x:0:0:root:/:/bin/sh\n",
        "script": SCRIPT,
    }

    def test_rule(self):
        """dist: BusyBox's mdev gives the node to the group, in a scan and in an event"""
        with tempfile.TemporaryDirectory() as root:
            os.makedirs(os.path.join(root, "etc"))
            shutil.copy(os.path.join(DIST, "mdev.conf"), os.path.join(root, "etc"))
            for name, text in self.FILES.items():
                with open(os.path.join(root, "etc", name), "w", encoding="utf-8") as file:
                    file.write(text)
            done = subprocess.run(
                [os.path.join(TOP, "tools", "boot"), "NAME=mdev", "ICOUNT=1", f"FILES={root}",
                 os.path.join(BUILD, "busybox", "busybox"), "hush", "/etc/script"],
                stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8", check=False,
            )  # fmt: skip
        self.assertEqual(done.returncode, 0, done.stderr)
        found = [line.split()[:5] for line in done.stdout.splitlines()]
        before, after = ["crw-------", "0", "0"], ["crw-rw----", "0", "77"]
        self.assertEqual([[mode, *ids] for mode, _, *ids, _ in found], [before, after, after])



if __name__ == "__main__":
    unittest.main()
