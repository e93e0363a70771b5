# SPDX-License-Identifier: GPL-2.0
"""What the runner of `make prove` makes of what a part prints."""

import importlib.machinery
import importlib.util
import os
import unittest

PATH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "prove")
LOADER = importlib.machinery.SourceFileLoader("prove", PATH)
SPEC = importlib.util.spec_from_loader("prove", LOADER)
prove = importlib.util.module_from_spec(SPEC)
LOADER.exec_module(prove)


class Judge(unittest.TestCase):
    """From the lines and the exit status of a part to its row."""

    def test_a_part_that_passes(self):
        """prove: a part that passes says what it tried"""
        lines = ["tried: 3 things", "3 passed, 0 failed"]
        self.assertEqual(prove.judge(lines, 0), (["3 things"], 3, 0, []))

    def test_failures_are_found(self):
        """prove: what failed is in the table"""
        lines = ["  FAIL  one thing", "2 passed, 1 failed"]
        tried, passed, failed, found = prove.judge(lines, 1)
        self.assertEqual((passed, failed, found), (2, 1, ["one thing"]))
        self.assertEqual(tried, ["3 checks"])

    def test_no_last_line(self):
        """prove: a part without its last line has failed, whatever its status"""
        for lines in ([], ["3 passed, 0 failed", "killed"]):
            _, passed, failed, found = prove.judge(lines, 0)
            self.assertEqual((passed, failed, len(found)), (0, 1, 1))

    def test_nothing_checked(self):
        """prove: a part that checked nothing has failed"""
        self.assertEqual(prove.judge(["0 passed, 0 failed"], 0)[2], 1)

    def test_status_counts(self):
        """prove: an exit status that the last line does not explain is a failure"""
        self.assertEqual(prove.judge(["3 passed, 0 failed"], 2)[2], 1)

    def test_parts_are_well_formed(self):
        """prove: the list of parts can be read"""
        names = [name for name, _ in prove.read_parts()]
        self.assertEqual(len(names), len(set(names)))


if __name__ == "__main__":
    unittest.main()
