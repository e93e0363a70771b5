# SPDX-License-Identifier: GPL-2.0
"""Tests of what stands between the guest's output and a verdict."""

import os
import tempfile
import unittest

import guest
import report

HEAD = (
    "series,size_kib,map_first,map_min,map_avg,map_max,"
    "unmap_min,unmap_avg,unmap_max,errno\n"
)
CSV = HEAD + "anon,4,5000,4900,4950.5,5000,4000,4010.5,4100,\n"
COUNTED = {
    "icount": True,
    "calibration_instructions": "200000",
    "calibration_ns": "200400",
}


class Parse(unittest.TestCase):
    """The guest's output is believed whole or not at all."""

    def test_sections(self):
        output = guest.parse("meta kernel 7.3.4\ntable a\nx\ny\ntable b\nz\nend\n")
        self.assertEqual(output.meta, {"kernel": "7.3.4"})
        self.assertEqual(output.tables, {"a": "x\ny\n", "b": "z\n"})

    def test_carriage_returns_of_a_console(self):
        self.assertEqual(guest.parse("table a\r\nx\r\nend\r\n").tables, {"a": "x\n"})

    def test_no_end(self):
        with self.assertRaisesRegex(guest.BenchError, "stops before its end"):
            guest.parse("meta kernel 7.3.4\ntable a\nx\n")

    def test_unknown_line(self):
        with self.assertRaisesRegex(guest.BenchError, "hello"):
            guest.parse("hello\nend\n")


class Command(unittest.TestCase):
    """A run becomes the words of one boot."""

    def test_icount(self):
        self.assertIn("ICOUNT=1", guest.command(guest.Run("a", ())))
        self.assertIn("ICOUNT=", guest.command(guest.Run("a", (), icount=False)))

    def test_words_come_last(self):
        words = guest.command(guest.Run("a", ("map", "quick")))
        self.assertEqual(words[-2:], ["map", "quick"])

    def test_settings_win(self):
        run = guest.Run("a", (), settings={"MEM": "2G"})
        words = guest.command(run)
        self.assertIn("MEM=2G", words)
        self.assertNotIn("MEM=128M", words)


class Rows(unittest.TestCase):
    """Figures, failures and gaps in a CSV."""

    def test_pair_adds_the_averages(self):
        self.assertEqual(report.Table(CSV).pair("anon", 4), 8961)

    def test_failed_size(self):
        table = report.Table(HEAD + "anon,8192,,,,,,,,ENOMEM\n")
        self.assertIsNone(table.pair("anon", 8192))
        self.assertEqual(table.row("anon", 8192).errno, "ENOMEM")
        self.assertEqual(table.measured("anon"), [])

    def test_absent_size(self):
        self.assertEqual(report.Table(CSV).row("pages", 4).errno, "not measured")


class Clock(unittest.TestCase):
    """Only figures that are instructions may be judged."""

    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.report = directory.name

    def refused(self, meta):
        report.save(self.report, "a.csv", CSV, meta)
        with self.assertRaises(guest.BenchError) as caught:
            report.load_counted(self.report, "a.csv")
        return str(caught.exception)

    def test_counted(self):
        report.save(self.report, "a.csv", CSV, COUNTED)
        table, meta = report.load_counted(self.report, "a.csv")
        self.assertEqual(table.sizes, [4])
        self.assertEqual(meta["icount"], True)

    def test_wall_clock(self):
        self.assertIn("icount", self.refused({**COUNTED, "icount": False}))

    def test_clock_that_does_not_count(self):
        self.assertIn("clock", self.refused({**COUNTED, "calibration_ns": "91000"}))

    def test_no_calibration(self):
        self.assertIn("clock", self.refused({"icount": True}))

    def test_edited(self):
        report.save(self.report, "a.csv", CSV, COUNTED)
        with open(os.path.join(self.report, "a.csv"), "a", encoding="utf-8") as file:
            file.write("pages,4,1,1,1.0,1,1,1.0,1,\n")
        with self.assertRaisesRegex(guest.BenchError, "not the file"):
            report.load_counted(self.report, "a.csv")

    def test_renamed(self):
        report.save(self.report, "wall.csv", CSV, {**COUNTED, "icount": False})
        report.write(os.path.join(self.report, "a.csv"), CSV)
        with self.assertRaisesRegex(guest.BenchError, "does not know"):
            report.load_counted(self.report, "a.csv")

    def test_missing(self):
        with self.assertRaisesRegex(guest.BenchError, "no a.csv"):
            report.load_counted(self.report, "a.csv")

    def test_saving_keeps_the_other_entries(self):
        report.save(self.report, "a.csv", CSV, COUNTED)
        report.save(self.report, "b.csv", CSV, COUNTED)
        report.load_counted(self.report, "a.csv")
        self.assertEqual(
            sorted(os.listdir(self.report)), ["a.csv", "b.csv", "meta.json"]
        )


class Differences(unittest.TestCase):
    """Two boots are compared line by line."""

    def test_equal(self):
        self.assertIsNone(report.first_difference(CSV, CSV))

    def test_first_differing_line(self):
        self.assertEqual(
            report.first_difference("a\nb\nc\n", "a\nx\ny\n"), (2, "b", "x")
        )

    def test_shorter(self):
        self.assertEqual(report.first_difference("a\n", ""), (1, "a", "(no line)"))


if __name__ == "__main__":
    unittest.main()
