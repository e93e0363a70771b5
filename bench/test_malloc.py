# SPDX-License-Identifier: GPL-2.0
"""Tests of what is made of the program of 2007."""

import unittest

import goals
import malloc
import report
from guest import BenchError, Run, accepted
from made_up import made_up_malloc
from table import size_text

MIB = goals.MIB


class Figures(unittest.TestCase):
    """What a row costs."""

    def test_the_clock_is_taken_off(self):
        table = made_up_malloc({("malloc-pages", 4): 300}, clock=450)
        self.assertEqual(table.pair("malloc-pages", 4), 300)
        self.assertEqual(table.row("malloc-pages", 4).figures["malloc_avg"], 1200)

    def test_sizes_below_a_kib(self):
        table = made_up_malloc({("malloc-pages", 0.015625): 7})
        self.assertEqual(table.sizes, [0.015625])
        self.assertEqual(size_text(0.015625), "16 bytes")
        self.assertEqual([size_text(s) for s in (3, 1024, 1.5)], ["3 KiB", "1 MiB", "1.5 KiB"])

    def test_joined(self):
        both = report.Joined(
            made_up_malloc({("malloc-musl", 4): 9}, clock=1),
            made_up_malloc({("malloc-pages", 4): 5, ("malloc-pages", 8): 6}, clock=3),
        )
        self.assertEqual(both.sizes, [4, 8])
        self.assertEqual((both.pair("malloc-musl", 4), both.pair("malloc-pages", 8)), (9, 6))
        self.assertEqual(both.measured("malloc-musl"), [4])
        self.assertEqual(both.row("other", 4).errno, "not measured")


class WithinTest(unittest.TestCase):
    """The dearest size against the cheapest."""

    def judged(self, *costs, sizes=(1, 4, 64, 16 * MIB)):
        table = made_up_malloc({("malloc-pages", s): c for s, c in zip(sizes, costs)})
        return goals.Within("malloc-pages", 1.5, first=4, last=16 * MIB).judge(table)

    def test_held(self):
        self.assertEqual(self.judged(9000, 100, 150, 120).status, goals.HELD)

    def test_short_when_the_first_is_the_dearest(self):
        self.assertEqual(self.judged(1, 151, 100, 100).status, goals.SHORT)

    def test_short_when_the_last_is_the_dearest(self):
        self.assertEqual(self.judged(1, 100, 100, 151).status, goals.SHORT)

    def test_a_failed_size_is_short(self):
        self.assertEqual(self.judged(1, 100, 100, "ENOMEM").status, goals.SHORT)

    def test_the_ends_must_be_there(self):
        self.assertEqual(self.judged(1, 100, 100, sizes=(1, 4, 64)).status, goals.SHORT)


class Complaint(unittest.TestCase):
    """Which boots may end with a warning."""

    RUN = Run("a", (), may_complain="mm/page_alloc.c")
    SAID = "free:1\nboot: a: the kernel complained: WARNING: mm/page_alloc.c:5363 at f\n"

    def test_the_one_that_is_known(self):
        self.assertTrue(accepted(self.RUN, 125, self.SAID))

    def test_another_one(self):
        self.assertFalse(accepted(self.RUN, 125, "boot: a: the kernel complained: BUG: x\n"))

    def test_another_end(self):
        self.assertFalse(accepted(self.RUN, 124, self.SAID))
        self.assertFalse(accepted(self.RUN, 125, ""))

    def test_other_boots(self):
        self.assertFalse(accepted(Run("b", ()), 125, self.SAID))


class Render(unittest.TestCase):
    """Then and now."""

    def test_beside_the_columns_of_2007(self):
        both = report.Joined(
            made_up_malloc({("malloc-musl", 1024): 4000, ("malloc-musl", 4096): "ENOMEM"}),
            made_up_malloc({("malloc-pages", 1024): 100, ("malloc-pages", 4096): 110}),
        )
        rows = [line.split() for line in malloc.render(both).splitlines()]
        self.assertIn("1 MiB 4,000 100 40x 12057 7".split(), rows)
        self.assertIn("4 MiB ENOMEM 110 48106 7".split(), rows)


if __name__ == "__main__":
    unittest.main()
