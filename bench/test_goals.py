# SPDX-License-Identifier: GPL-2.0
"""Tests of the kinds of goals, on small made-up figures."""

import unittest

import goals
from made_up import made_up, made_up_live


class CheaperTest(unittest.TestCase):
    """Goals of the form: so many times cheaper."""

    def judged(self, ours, theirs, times=40):
        goal = goals.Cheaper("pages", "anon", 4096, times)
        return goal.judge(made_up({("pages", 4096): ours, ("anon", 4096): theirs}))

    def test_held(self):
        self.assertEqual(self.judged(100, 4100).status, goals.HELD)

    def test_exactly_held(self):
        self.assertEqual(self.judged(100, 4000).status, goals.HELD)

    def test_short(self):
        verdict = self.judged(100, 3990)
        self.assertEqual(verdict.status, goals.SHORT)
        self.assertEqual(verdict.measured, "39.9 times")

    def test_failed_series_is_short(self):
        verdict = self.judged("ENOENT", 4000)
        self.assertEqual(verdict.status, goals.SHORT)
        self.assertEqual(verdict.measured, "pages at 4 MiB: ENOENT")

    def test_failed_baseline_is_short(self):
        self.assertEqual(self.judged(100, "ENOMEM").status, goals.SHORT)


class AtMostTest(unittest.TestCase):
    """Goals of the form: at most so many times."""

    def test_one_size(self):
        goal = goals.AtMost("pages", "anon", 1.15, sizes=(4,))
        for ours, status in ((115, goals.HELD), (116, goals.SHORT)):
            judged = goal.judge(made_up({("pages", 4): ours, ("anon", 4): 100}))
            self.assertEqual(judged.status, status)

    def from_64(self, costs):
        goal = goals.AtMost("pages", "anon", 1, first=64, below=True)
        figures = {("anon", 4): 10, ("anon", 64): 100, ("anon", 128): 200}
        return goal.judge(made_up({**figures, **costs}))

    def test_smaller_sizes_do_not_count(self):
        judged = self.from_64({("pages", 4): 99, ("pages", 64): 50, ("pages", 128): 60})
        self.assertEqual(judged.status, goals.HELD)
        self.assertEqual(judged.measured, "0.5000 times at 64 KiB")

    def test_one_size_too_dear(self):
        judged = self.from_64({("pages", 64): 50, ("pages", 128): 201})
        self.assertEqual(judged.status, goals.SHORT)

    def test_equal_is_not_cheaper(self):
        judged = self.from_64({("pages", 64): 100, ("pages", 128): 60})
        self.assertEqual(judged.status, goals.SHORT)

    def test_gap_is_short(self):
        judged = self.from_64({("pages", 64): 50})
        self.assertEqual(judged.status, goals.SHORT)
        self.assertEqual(judged.measured, "pages at 128 KiB: not measured")

    def test_sizes_that_only_we_serve_do_not_count(self):
        judged = self.from_64(
            {
                ("pages", 64): 50,
                ("pages", 128): 60,
                ("anon", 8192): "ENOMEM",
                ("pages", 8192): 900,
            }
        )
        self.assertEqual(judged.status, goals.HELD)

    def test_nothing_to_compare_is_short(self):
        goal = goals.AtMost("pages", "anon", 1, first=64, below=True)
        self.assertEqual(goal.judge(made_up({})).status, goals.SHORT)

    def test_larger_sizes_do_not_count(self):
        goal = goals.AtMost("pages", "anon", 1, last=64)
        figures = {("pages", 64): 1, ("anon", 64): 1}
        figures |= {("pages", 128): 9, ("anon", 128): 1}
        self.assertEqual(goal.judge(made_up(figures)).status, goals.HELD)

    def test_wrong_cpu_is_short(self):
        goal = goals.AtMost("pages", "anon", 1, sizes=(4,), zicboz="yes")
        figures = {("pages", 4): 1, ("anon", 4): 2}
        for cpu, status in (("yes", goals.HELD), ("no", goals.SHORT)):
            self.assertEqual(goal.judge(made_up(figures, zicboz=cpu)).status, status)
        self.assertEqual(goal.judge(made_up(figures)).status, goals.SHORT)


class FlatTest(unittest.TestCase):
    """Goals of the form: the same at every size."""

    def judged(self, costs):
        goal = goals.Flat("pages", 1.05, last=64)
        return goal.judge(made_up({("pages", kib): c for kib, c in costs.items()}))

    def test_held(self):
        judged = self.judged({4: 100, 8: 105, 64: 99})
        self.assertEqual(judged.status, goals.HELD)
        self.assertEqual(judged.measured, "1.0500 times at 8 KiB")

    def test_short_in_between(self):
        self.assertEqual(self.judged({4: 100, 8: 106, 64: 99}).status, goals.SHORT)

    def test_short_at_the_end(self):
        self.assertEqual(self.judged({4: 100, 8: 100, 64: 106}).status, goals.SHORT)

    def test_beyond_the_end_does_not_count(self):
        self.assertEqual(self.judged({4: 100, 64: 99, 128: 900}).status, goals.HELD)

    def test_end_left_out_is_short(self):
        self.assertEqual(self.judged({4: 100, 8: 100}).status, goals.SHORT)
        self.assertEqual(self.judged({}).status, goals.SHORT)

    def test_failed_size_is_short(self):
        judged = self.judged({4: 100, 8: "ENOMEM", 64: 100})
        self.assertEqual(judged.status, goals.SHORT)
        self.assertEqual(judged.measured, "pages at 8 KiB: ENOMEM")


class FirstTouchTest(unittest.TestCase):
    """Goals of the form: finding a large run is no great matter."""

    def judged(self, large, small):
        goal = goals.FirstTouch("pages", 16384, 4, 3)
        return goal.judge(made_up({("pages", 16384): large, ("pages", 4): small}))

    def test_held(self):
        judged = self.judged((300, 250), (100, 100))
        self.assertEqual(judged.status, goals.HELD)
        self.assertEqual(judged.measured, "3.00 times, on average 2.50")

    def test_first_alone_makes_it_short(self):
        self.assertEqual(self.judged((301, 250), (100, 100)).status, goals.SHORT)

    def test_average_alone_makes_it_short(self):
        self.assertEqual(self.judged((300, 301), (100, 100)).status, goals.SHORT)

    def test_failed_size_is_short(self):
        self.assertEqual(self.judged("ENOMEM", (100, 100)).status, goals.SHORT)


class AboveTest(unittest.TestCase):
    """Goals of the form: so many instructions are ours."""

    def judged(self, ours, stubs):
        goal = goals.Above("pages", 4, 1500)
        return goal.judge(*(made_up({("pages", 4): cost}) for cost in (ours, stubs)))

    def test_held(self):
        judged = self.judged(9000, 7500)
        self.assertEqual(judged.status, goals.HELD)
        self.assertEqual(judged.measured, "1,500 above 7,500")

    def test_short(self):
        self.assertEqual(self.judged(9001, 7500).status, goals.SHORT)

    def test_stub_that_failed_is_short(self):
        judged = self.judged(9000, "EINVAL")
        self.assertEqual(judged.status, goals.SHORT)
        self.assertEqual(judged.measured, "stub, pages at 4 KiB: EINVAL")


class PerLiveTest(unittest.TestCase):
    """What a live mapping adds is the core's affair."""

    STUB = {("pages", "anon", 0): 4000, ("pages", "anon", 100): 6000}

    def judged(self, ours, beside_ours, stub=None):
        live = {("pages", "anon", 0): 5000, ("pages", "anon", 100): ours}
        live |= {("pages", "pages", 0): 5000, ("pages", "pages", 100): beside_ours}
        live |= {("anon", "anon", 0): 5000, ("anon", "anon", 100): 99000}
        tables = (live, self.STUB if stub is None else stub)
        return goals.PerLive("pages", 1.25).judge(*map(made_up_live, tables))

    def test_held(self):
        judged = self.judged(7000, 7500)
        self.assertEqual(judged.status, goals.HELD)
        self.assertEqual(judged.measured, "25.0 instructions, the stub 20.0")

    def test_either_kind_makes_it_short(self):
        self.assertEqual(self.judged(7501, 7000).status, goals.SHORT)
        self.assertEqual(self.judged(7000, 7501).status, goals.SHORT)

    def test_failure_is_short(self):
        self.assertEqual(self.judged("ENOMEM", 7000).status, goals.SHORT)

    def test_no_stub_is_short(self):
        self.assertEqual(self.judged(7000, 7000, {}).status, goals.SHORT)


class ServedTest(unittest.TestCase):
    """Goals of the form: no size fails."""

    def judged(self, costs):
        return goals.Served("pages", "mapping").judge(made_up(costs))

    def test_all(self):
        judged = self.judged({("pages", 4): 9, ("pages", 8): 9})
        self.assertEqual((judged.measured, judged.status), ("2 of 2", goals.HELD))

    def test_failed(self):
        judged = self.judged({("pages", 4): 9, ("pages", 14336): "ENOMEM"})
        self.assertEqual(judged.measured, "1 of 2, ENOMEM at 14 MiB")
        self.assertEqual(judged.status, goals.SHORT)

    def test_left_out(self):
        judged = self.judged({("pages", 4): 9, ("anon", 8): 9})
        self.assertEqual(judged.status, goals.SHORT)

    def test_nothing_is_not_everything(self):
        self.assertEqual(self.judged({}).status, goals.SHORT)


class SlopeTest(unittest.TestCase):
    """The growth with size is told."""

    def test_line(self):
        self.assertAlmostEqual(goals.per_mib([(1, 10), (2, 13), (4, 19)]), 3)

    def test_flat(self):
        flat = made_up({("pages", 1024): 7, ("pages", 2048): 7})
        judged = goals.Slope("pages").judge(flat)
        self.assertEqual(judged.status, goals.NOTED)
        self.assertIn("0.0 instructions per MiB", judged.measured)

    def test_one_point_is_no_line(self):
        judged = goals.Slope("pages").judge(made_up({("pages", 4): 7}))
        self.assertEqual(judged.status, goals.SHORT)


if __name__ == "__main__":
    unittest.main()
