# SPDX-License-Identifier: GPL-2.0
"""Tests of the verdicts and of the table, on small made-up figures."""

import unittest

import plots
import table
import verdicts
from report import Table

HEAD = (
    "series,size_kib,map_first,map_min,map_avg,map_max,"
    "unmap_min,unmap_avg,unmap_max,errno\n"
)


def made_up(costs):
    """A table out of {(series, size): cost or errno}."""
    text = HEAD
    for (series, size), cost in costs.items():
        if isinstance(cost, str):
            text += f"{series},{size},,,,,,,,{cost}\n"
        else:
            text += f"{series},{size},9,9,{cost}.0,9,9,0.0,9,\n"
    return Table(text)


class CheaperTest(unittest.TestCase):
    """Goals of the form: so many times cheaper."""

    def judged(self, ours, theirs, times=40):
        goal = verdicts.Cheaper("pages", "anon", 4096, times)
        return goal.judge(made_up({("pages", 4096): ours, ("anon", 4096): theirs}))

    def test_held(self):
        self.assertEqual(self.judged(100, 4100).status, verdicts.HELD)

    def test_exactly_held(self):
        self.assertEqual(self.judged(100, 4000).status, verdicts.HELD)

    def test_short(self):
        verdict = self.judged(100, 3990)
        self.assertEqual(verdict.status, verdicts.SHORT)
        self.assertEqual(verdict.measured, "39.9 times")

    def test_failed_series_is_short(self):
        verdict = self.judged("ENOENT", 4000)
        self.assertEqual(verdict.status, verdicts.SHORT)
        self.assertEqual(verdict.measured, "pages at 4 MiB: ENOENT")

    def test_failed_baseline_is_short(self):
        self.assertEqual(self.judged(100, "ENOMEM").status, verdicts.SHORT)


class AtMostTest(unittest.TestCase):
    """Goals of the form: at most so many times."""

    def test_one_size(self):
        goal = verdicts.AtMost("pages", "anon", 1.15, sizes=(4,))
        for ours, status in ((115, verdicts.HELD), (116, verdicts.SHORT)):
            judged = goal.judge(made_up({("pages", 4): ours, ("anon", 4): 100}))
            self.assertEqual(judged.status, status)

    def from_64(self, costs):
        goal = verdicts.AtMost("pages", "anon", 1, first=64, below=True)
        figures = {("anon", 4): 10, ("anon", 64): 100, ("anon", 128): 200}
        return goal.judge(made_up({**figures, **costs}))

    def test_smaller_sizes_do_not_count(self):
        judged = self.from_64({("pages", 4): 99, ("pages", 64): 50, ("pages", 128): 60})
        self.assertEqual(judged.status, verdicts.HELD)
        self.assertEqual(judged.measured, "0.500 times at 64 KiB")

    def test_one_size_too_dear(self):
        judged = self.from_64({("pages", 64): 50, ("pages", 128): 201})
        self.assertEqual(judged.status, verdicts.SHORT)

    def test_equal_is_not_cheaper(self):
        judged = self.from_64({("pages", 64): 100, ("pages", 128): 60})
        self.assertEqual(judged.status, verdicts.SHORT)

    def test_gap_is_short(self):
        judged = self.from_64({("pages", 64): 50})
        self.assertEqual(judged.status, verdicts.SHORT)
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
        self.assertEqual(judged.status, verdicts.HELD)

    def test_nothing_to_compare_is_short(self):
        goal = verdicts.AtMost("pages", "anon", 1, first=64, below=True)
        self.assertEqual(goal.judge(made_up({})).status, verdicts.SHORT)


class ServedTest(unittest.TestCase):
    """Goals of the form: no size fails."""

    def judged(self, costs):
        return verdicts.Served("pages", "mapping").judge(made_up(costs))

    def test_all(self):
        judged = self.judged({("pages", 4): 9, ("pages", 8): 9})
        self.assertEqual((judged.measured, judged.status), ("2 of 2", verdicts.HELD))

    def test_failed(self):
        judged = self.judged({("pages", 4): 9, ("pages", 14336): "ENOMEM"})
        self.assertEqual(judged.measured, "1 of 2, ENOMEM at 14 MiB")
        self.assertEqual(judged.status, verdicts.SHORT)

    def test_left_out(self):
        judged = self.judged({("pages", 4): 9, ("anon", 8): 9})
        self.assertEqual(judged.status, verdicts.SHORT)

    def test_nothing_is_not_everything(self):
        self.assertEqual(self.judged({}).status, verdicts.SHORT)


class SlopeTest(unittest.TestCase):
    """The growth with size is told."""

    def test_line(self):
        self.assertAlmostEqual(verdicts.per_mib([(1, 10), (2, 13), (4, 19)]), 3)

    def test_flat(self):
        flat = made_up({("pages", 1024): 7, ("pages", 2048): 7})
        judged = verdicts.Slope("pages").judge(flat)
        self.assertEqual(judged.status, verdicts.NOTED)
        self.assertIn("0.0 instructions per MiB", judged.measured)

    def test_one_point_is_no_line(self):
        judged = verdicts.Slope("pages").judge(made_up({("pages", 4): 7}))
        self.assertEqual(judged.status, verdicts.SHORT)


class Outcome(unittest.TestCase):
    """One short goal makes the whole fall short."""

    def test_all_held(self):
        held = verdicts.Verdict("a", "b", verdicts.HELD)
        noted = verdicts.Verdict("a", "b", verdicts.NOTED)
        short = verdicts.Verdict("a", "b", verdicts.SHORT)
        self.assertTrue(verdicts.all_held([held, noted]))
        self.assertFalse(verdicts.all_held([held, short, noted]))

    def test_every_goal_is_short_without_the_device(self):
        costs = {("anon", size): 100 for size in (4, 64, 4096)}
        costs |= {("anon-uninitialized", size): 90 for size in (4, 64, 4096)}
        for series in ("pages", "pages-uncleared"):
            costs |= {(series, size): "ENOENT" for size in (4, 64, 4096)}
        results = made_up(costs)
        for goal in verdicts.GOALS[verdicts.RESULTS]:
            if getattr(goal, "series") != "anon":
                self.assertEqual(goal.judge(results).status, verdicts.SHORT)


class Glance(unittest.TestCase):
    """The table on the terminal."""

    SERIES = (
        "anon", "anon-uninitialized", "dev-zero", "pages", "pages-uncleared",
        "pages-private", "pages-private-uncleared",
    )  # fmt: skip

    def full(self):
        costs = {(name, 4): 8900 for name in self.SERIES}
        costs |= {(name, 4096): 1343100 for name in self.SERIES}
        costs |= {(name, 16384): "ENOMEM" for name in self.SERIES}
        costs["pages-uncleared", 4096] = 7900
        costs["pages-uncleared", 16384] = 7900
        costs["pages", 4096] = 188000
        return made_up(costs)

    def test_fits(self):
        for width in (120, 80, 60):
            for line in table.render(self.full(), width).splitlines():
                self.assertLessEqual(len(line), width)

    def test_narrow_terminal_loses_nothing(self):
        wide, narrow = (table.render(self.full(), width) for width in (120, 60))
        for word in ("1,343,100", "170x", "ENOMEM"):
            self.assertEqual(wide.count(word), narrow.count(word))

    def test_figures(self):
        text = table.render(self.full())
        self.assertIn("7,900 170x", text)
        self.assertIn("16 MiB", text)
        self.assertNotIn("\033", text)

    def test_colours_only_when_asked(self):
        self.assertIn("\033", table.render(self.full(), colours=True))

    def test_sentence(self):
        text = table.sentence(self.full())
        self.assertIn("1,343,100 instructions", text)
        self.assertIn("170x less", text)
        self.assertEqual(text.count(". "), 0)

    def test_sentence_without_the_device(self):
        text = table.sentence(made_up({("anon", 4): 9, ("pages", 4): "ENOENT"}))
        self.assertIn("could not be timed", text)

    def test_factor_text(self):
        wanted = {0.912: "0.91x", 1.0: "1.0x", 2.25: "2.2x", 9.96: "10x", 170.4: "170x"}
        for factor, text in wanted.items():
            self.assertEqual(table.factor_text(factor), text)

    def test_arrow_of_the_plot(self):
        self.assertEqual(
            plots.arrow(self.full()),
            "last_kib=4096; last_base=1343100.0; last_ours=7900.0",
        )
        self.assertEqual(
            plots.arrow(made_up({})), "last_kib=0; last_base=0; last_ours=0"
        )


if __name__ == "__main__":
    unittest.main()
