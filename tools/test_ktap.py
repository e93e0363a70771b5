# SPDX-License-Identifier: GPL-2.0
"""Tests of tools/ktap.py: a report that stops short must not pass."""

import os
import unittest

import ktap

BUILD = os.environ.get("BUILD") or os.path.join(os.path.dirname(ktap.__file__), "..", "build")

REPORT = """TAP version 13
1..3
ok 1 first
# a reason
not ok 2 second
ok 3 third # SKIP no such thing here
# Totals: pass:1 fail:1 xfail:0 xpass:0 skip:1 error:0
"""


def outcomes(results):
    """Names and outcomes only."""
    return [(result.name, result.outcome) for result in results]


class Program(unittest.TestCase):
    """Reports of kselftest.h."""

    @classmethod
    def setUpClass(cls):
        ktap.load_parser(os.path.join(BUILD, "source"))

    def test_report(self):
        """ktap: passed, failed and skipped are told apart, with the reason"""
        results = ktap.of_program(REPORT)
        self.assertEqual(
            outcomes(results), [("first", "ok"), ("second", "FAIL"), ("third", "skip")]
        )
        self.assertIn("# a reason", results[1].detail)

    def test_no_report(self):
        """ktap: output without a report has no results"""
        self.assertFalse([one for one in ktap.of_program("hello\n") if one.outcome == "ok"])

    def test_short(self):
        """ktap: fewer tests than planned is a failure"""
        text = "".join(line for line in REPORT.splitlines(True) if "third" not in line)
        self.assertIn("FAIL", [one.outcome for one in ktap.of_program(text)[2:]])

    def test_no_totals(self):
        """ktap: a report without its last line is a failure"""
        text = REPORT[: REPORT.index("# Totals")].replace("not ok", "ok")
        self.assertIn(("the report is complete", "FAIL"), outcomes(ktap.of_program(text)))


class Console(unittest.TestCase):
    """Reports of KUnit in a console log."""

    def test_console(self):
        """ktap: the report of a module is found behind the kernel's empty one"""
        lines = (
            "KTAP version 1", "1..0", "kunit: something else", "KTAP version 1", "1..1",
            "    KTAP version 1", "    # Subtest: sizes", "    # module: m", "    1..2",
            "    ok 1 small", "    not ok 2 large", "# sizes: pass:1 fail:1 skip:0 total:2",
            "not ok 1 sizes", "guest: exit 0",
        )  # fmt: skip
        text = "".join(f"[    0.{n:06}] {line}\n" for n, line in enumerate(lines))
        ktap.load_parser(os.path.join(BUILD, "source"))
        self.assertEqual(
            outcomes(ktap.of_console(text)), [("sizes: small", "ok"), ("sizes: large", "FAIL")]
        )


CARGO = """
running 3 tests
test heap::free ... ok
test heap::grow ... FAILED
test slow ... ignored, takes long

failures:

---- heap::grow stdout ----
thread panicked

failures:
    heap::grow

running 1 test
test src/lib.rs - (line 8) - compile ... ok
"""


class Cargo(unittest.TestCase):
    """Reports of cargo test."""

    def test_report(self):
        """cargo: tests of several programs are told apart, with the reason"""
        results = ktap.of_cargo(CARGO)
        self.assertEqual(
            [result.outcome for result in results], ["ok", "FAIL", "skip", "ok"]
        )
        self.assertIn("thread panicked", results[1].detail)

    def test_short(self):
        """cargo: fewer tests than there are is a failure"""
        text = CARGO.replace("test heap::free ... ok\n", "")
        self.assertEqual(ktap.of_cargo(text)[-1].outcome, "FAIL")
