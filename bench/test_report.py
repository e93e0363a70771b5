# SPDX-License-Identifier: GPL-2.0
"""Tests of what stands between the guest's output and a verdict."""

import os
import tempfile
import unittest
import unittest.mock

import boots
import guest
import report
import verdicts
from made_up import HEAD

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

    def words(self, caller, **settings):
        with unittest.mock.patch.dict(os.environ, caller):
            return guest.command(guest.Run("a", (), settings=settings))

    def test_settings_win(self):
        words = self.words({"MEM": "1G", "MODULE": "mine"}, MEM="2G", MODULE="stub")
        self.assertIn("MEM=2G", words)
        self.assertIn("MODULE=stub", words)
        self.assertNotIn("MEM=1G", words)

    def test_callers_settings(self):
        self.assertIn("MEM=1G", self.words({"MEM": "1G"}))
        self.assertIn("MODULE=", self.words({"MODULE": ""}))

    def test_lists_are_joined(self):
        caller = {"MODPARAMS": "policy=0 mode=384"}
        words = self.words(caller, MODPARAMS="policy=2")
        self.assertIn("MODPARAMS=policy=0 mode=384 policy=2", words)

    def test_empty_list_wins(self):
        self.assertIn("MODPARAMS=", self.words({"MODPARAMS": "a=1"}, MODPARAMS=""))


class Boots(unittest.TestCase):
    """What is judged is what is booted twice."""

    def test_every_judged_csv_is_booted_twice(self):
        made = [name for run in boots.COUNTED for name in run.saves.values()]
        judged = {name for names, _ in verdicts.GOALS for name in names}
        self.assertEqual(sorted(made), sorted(judged))

    def test_qemu_that_has_no_zicboz(self):
        self.assertIn("QEMU_ARGS", boots.without_zicboz({"zicboz": "yes"}).settings)
        old = boots.without_zicboz({"zicboz": "no"})
        self.assertEqual((old.settings, old.name), ({}, boots.NO_ZICBOZ.name))

    def test_counted_boots_count(self):
        self.assertTrue(all(run.icount for run in boots.COUNTED))

    def test_names_are_the_logs_names(self):
        runs = (*boots.COUNTED, boots.QUICK, boots.WALL, boots.TRY_CORE)
        self.assertEqual(len({run.name for run in runs}), len(runs))


class Rows(unittest.TestCase):
    """Figures, failures and gaps in a CSV."""

    def test_pair_adds_the_averages(self):
        self.assertEqual(report.Table(CSV).pair("anon", 4), 8961)

    def test_failed_size(self):
        table = report.Table(HEAD + "anon,8192,,,,,,,,ENOMEM\n")
        self.assertIsNone(table.pair("anon", 8192))
        self.assertEqual(table.row("anon", 8192).errno, "ENOMEM")
        self.assertEqual(table.measured("anon"), [])

    def test_live_rows(self):
        live = report.Live(
            HEAD.replace("size_kib", "beside,live")
            + "anon,pages,10,9,9,5.5,9,9,4.0,9,\nanon,pages,0,,,,,,,,ENOMEM\n"
        )
        self.assertEqual(live.row("anon", "pages", 10).pair(), 9.5)
        self.assertEqual(live.row("anon", "pages", 0).errno, "ENOMEM")
        self.assertEqual(live.row("anon", "pages", 5).errno, "not measured")
        self.assertEqual(live.counts, [0, 10])
        self.assertEqual(live.pairs(), [("anon", "pages")])

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
        self.assertEqual(table.meta, meta)

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

    def test_run_saves_its_tables(self):
        run = guest.Run("a", (), saves={"results": "a.csv"})
        report.save_all(self.report, run, guest.Output(COUNTED, {"results": CSV}))
        report.load_counted(self.report, "a.csv")
        with self.assertRaisesRegex(guest.BenchError, "no table 'results'"):
            report.save_all(self.report, run, guest.Output(COUNTED, {}))

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
