# SPDX-License-Identifier: GPL-2.0
"""Tests of the tables a person reads."""

import unittest

import plots
import table
from made_up import made_up, made_up_live


class Glance(unittest.TestCase):
    """The table on the terminal."""

    SERIES = (*table.GLANCE_SERIES, "pages-private-uncleared")

    def full(self):
        costs = {(name, 4): 8900 for name in self.SERIES}
        costs |= {(name, 4096): 1343100 for name in self.SERIES}
        costs |= {(name, 16384): "ENOMEM" for name in self.SERIES}
        costs["pages-uncleared", 4096] = 7900
        costs["pages-uncleared", 16384] = 7900
        costs["pages", 4096] = 188000
        costs["pages-idle", 4096] = 8000
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

        self.assertIn("8,000 after idle time", text)

    def test_sentence_without_idle_time(self):
        costs = {("anon", 4): 9, ("pages", 4): 5, ("pages-uncleared", 4): 3}
        text = table.sentence(made_up(costs))
        self.assertNotIn("idle", text)
        self.assertIn("5 with /dev/pages (1.8x less), and 3 when", text)

    def test_one_line_wide(self):
        self.assertEqual(table.render(self.full()).count("size"), 1)

    def test_series_that_is_not_shown(self):
        self.assertNotIn("private-\n", table.render(self.full(), 300))
        self.assertNotIn("pages-private-", table.render(self.full(), 300))

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


class LiveTest(unittest.TestCase):
    """The costs beside live mappings."""

    def test_lines(self):
        costs = {("anon", "pages", 0): 90, ("anon", "pages", 1000): 12345}
        costs |= {("pages", "anon", 0): 80, ("pages", "anon", 1000): "ENOMEM"}
        self.assertEqual(
            table.live_lines(made_up_live(costs)),
            [
                "                   0 live  1,000 live",
                "anon beside pages      90      12,345",
                "pages beside anon      80      ENOMEM",
            ],
        )

    def test_gap(self):
        costs = {("anon", "pages", 0): 90, ("pages", "anon", 10): 80}
        self.assertIn("not measured", table.live_lines(made_up_live(costs))[1])


if __name__ == "__main__":
    unittest.main()
