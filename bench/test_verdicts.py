# SPDX-License-Identifier: GPL-2.0
"""Tests of the verdicts as a whole."""

import unittest

import goals
import report
import verdicts
from made_up import made_up, made_up_live, made_up_malloc


class Outcome(unittest.TestCase):
    """One short goal makes the whole fall short."""

    SIZES = (4, 64, 1024, 4096, 16384, 65536)
    OURS = ("pages", "pages-idle", "pages-uncleared")

    def test_all_held(self):
        held = goals.Verdict("a", "b", goals.HELD)
        noted = goals.Verdict("a", "b", goals.NOTED)
        short = goals.Verdict("a", "b", goals.SHORT)
        self.assertTrue(verdicts.all_held([held, noted]))
        self.assertFalse(verdicts.all_held([held, short, noted]))

    def everything(self, ours):
        """All CSVs, with this cost, or errno, for each of our series."""
        costs = {("anon", size): 2000 * size for size in self.SIZES}
        costs |= {("anon-uninitialized", size): 900 * size for size in self.SIZES}
        costs |= {(name, size): ours for name in self.OURS for size in self.SIZES}
        beside = ("anon", "pages-uncleared")
        live = {("pages-uncleared", b, n): ours for b in beside for n in (0, 1000)}
        stub_live = {("pages-uncleared", "anon", n): 100 + n for n in (0, 1000)}
        return {
            verdicts.RESULTS: made_up(costs, zicboz="yes"),
            verdicts.NO_ZICBOZ: made_up(costs, zicboz="no"),
            verdicts.FIRST: made_up(costs),
            verdicts.FILL: made_up(costs),
            verdicts.STUB: made_up({("pages-uncleared", 4): 100}),
            verdicts.LIVE: made_up_live(live),
            verdicts.STUB_LIVE: made_up_live(stub_live),
            verdicts.MALLOC_PAGES: made_up_malloc(
                {("malloc-pages", size): ours for size in (1, *self.SIZES)}
            ),
            verdicts.MALLOC_MUSL: made_up_malloc(
                {("malloc-musl", size): 100 * size for size in (1, 4, 64, 1024)}
            ),
        }

    def test_every_goal_can_be_held(self):
        tables = self.everything(100)
        for names, wanted in verdicts.GOALS:
            for goal in wanted:
                judged = goal.judge(*(tables[name] for name in names))
                self.assertNotEqual(judged.status, goals.SHORT, judged)

    def test_every_goal_is_short_without_the_device(self):
        tables = self.everything("ENOENT")
        for names, wanted in verdicts.GOALS:
            for goal in wanted:
                if getattr(goal, "goal", goal).series != "anon":
                    judged = goal.judge(*(tables[name] for name in names))
                    self.assertEqual(judged.status, goals.SHORT, judged)

    def test_every_table_is_read_as_its_kind(self):
        for names, wanted in verdicts.GOALS:
            kinds = {verdicts.KINDS.get(name, report.Table) for name in names}
            for goal in wanted:
                if isinstance(goal, goals.PerLive):
                    kind = report.Live
                elif "malloc" in names[0]:
                    kind = report.Malloc
                else:
                    kind = report.Table
                self.assertEqual(kinds, {kind}, goal)


class Render(unittest.TestCase):
    """The verdicts as a table."""

    def test_columns(self):
        rows = [goals.verdict("short", "1 of 1", True), goals.verdict("a", "b", False)]
        self.assertEqual(
            verdicts.render(rows),
            "goal   measured  verdict\n"
            "short  1 of 1    held\n"
            "a      b         short\n",
        )


if __name__ == "__main__":
    unittest.main()
