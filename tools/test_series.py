# SPDX-License-Identifier: GPL-2.0
"""Tests of tools/series: the patches for upstream can be made."""

import os
import re
import subprocess
import unittest

import upstream

HERE = os.path.dirname(os.path.abspath(__file__))


class Series(unittest.TestCase):
    """The series as it comes out of this checkout."""

    def test_series(self):
        """series: every patch can be made from this checkout"""
        done = subprocess.run(
            [os.path.join(HERE, "series")],
            capture_output=True, encoding="utf-8", check=False,
        )  # fmt: skip
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn(f"{len(upstream.STEPS) + 3} patches in ", done.stdout.splitlines()[-1])

    def test_kernel_crate(self):
        """series: code for the kernel crate names it so, comments stay"""
        text = "use kernel::{\n// of kernel::page\npub(crate) fn f(a: &kernel::Page) {}\n"
        self.assertEqual(
            upstream.kernel_crate(text),
            "use crate::{\n// of kernel::page\npub fn f(a: &crate::Page) {}\n",
        )

    def test_replace(self):
        """series: a change that does not find its one place is an error"""
        self.assertEqual(upstream.replace("a b", "b", "c", ""), "a c")
        for text in ("a", "b b"):
            with self.assertRaises(upstream.Misfit):
                upstream.replace(text, "b", "c", "")

    def test_messages(self):
        """series: each step has a message with a subject of at most 75 columns"""
        for step in (upstream.place_zero_test, *upstream.STEPS):
            subject, blank, *body = upstream.message(step).split("\n")
            self.assertTrue(len(subject) <= 75 and re.match(r"[\w/, ]+: [a-z]", subject), subject)
            self.assertEqual(blank, "")
            self.assertTrue(all(len(line) <= 75 for line in body), subject)
