# SPDX-License-Identifier: GPL-2.0
"""The table of kernels: what tools/kernels makes of it, and that README.md has one."""

import importlib.machinery
import importlib.util
import os
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
LOADER = importlib.machinery.SourceFileLoader("kernels", os.path.join(HERE, "kernels"))
SPEC = importlib.util.spec_from_loader("kernels", LOADER)
kernels = importlib.util.module_from_spec(SPEC)
LOADER.exec_module(kernels)

ROW = "| 7.3.4 (linux-source-7.3 7.3.4-1) | riscv64, no MMU | rustc 1.96, clang 22.1 | no warning |"


class Kernels(unittest.TestCase):
    """From the rows of a table to whether two of them say the same."""

    def same(self, ours, theirs):
        """Whether these rows say the same."""
        return kernels.verdicts([ours]) == kernels.verdicts([theirs])

    def test_versions(self):
        """kernels: a newer stable release and newer tools say the same"""
        newer = ROW.replace("7.3.4", "7.3.15").replace("1.96", "2.1")
        self.assertTrue(self.same(f"{ROW} all passed |", f"{newer} all passed |"))

    def test_verdicts(self):
        """kernels: another series, a failed test, a missing row are told apart"""
        good = f"{ROW} all passed |"
        self.assertFalse(self.same(good, good.replace("7.3", "7.4")))
        self.assertFalse(self.same(good, f"{ROW} 1 of 600 failed |"))
        self.assertNotEqual(kernels.verdicts([good]), kernels.verdicts([]))

    def test_readme(self):
        """README: the table of kernels is one of tools/kernels, and all have passed"""
        with open(os.path.join(kernels.TOP, "README.md"), encoding="utf-8") as file:
            found = kernels.verdicts(kernels.table_of(file.read()))
        self.assertGreaterEqual(len(found), 2)
        for verdict in found.values():
            self.assertEqual(verdict, ["no warning", "all passed"])
