# SPDX-License-Identifier: GPL-2.0
"""Read test results by the kernel's own KTAP parser."""

import io
import os
import re
import sys
from dataclasses import dataclass, field

TOTALS = re.compile(r"^# Totals: pass:\d+ fail:\d+ ", re.MULTILINE)
# The start of a report; a console line has a time stamp before it.
START = re.compile(r"^(\[ *\d+\.\d+\] )?K?TAP version ", re.MULTILINE)

LAST_LINES = 5

PASS, FAIL, SKIP = "ok", "FAIL", "skip"
# Not a test: what a program says that it has tried, and how often.
TRIED = "tried"


@dataclass
class Result:
    """One test: its name, how it went, and what there is to say about it."""

    name: str
    outcome: str
    detail: list = field(default_factory=list)


def load_parser(kernel_source):
    """Import kunit_parser from the kernel's source tree."""
    sys.path.insert(0, os.path.join(kernel_source, "tools", "testing", "kunit"))
    global kunit_parser, kunit_printer  # pylint: disable=global-statement
    import kunit_parser
    import kunit_printer


def of_program(text):
    """The results of a program that prints KTAP by kselftest.h."""
    results = _parse(text)
    if results and not TOTALS.search(text):
        results.append(Result("the report is complete", FAIL, ["no '# Totals:' line"]))
    return results


def tried(text):
    """What a program says that it has tried: its lines "# tried: WHAT"."""
    return [Result(what, TRIED) for what in re.findall(r"^# tried: (.*)$", text, re.MULTILINE)]


def of_console(text):
    """The results of KUnit in a console log, which may hold several reports."""
    starts = [match.start() for match in START.finditer(text)]
    results = []
    for begin, end in zip(starts, starts[1:] + [len(text)]):
        report = text[begin:end]
        # The kernel's own report is empty when no test is built in.
        if not re.search(r"^(\[[^]]*\] )?1\.\.0$", report, re.MULTILINE):
            results += _parse(report)
    return results


def of_cargo(text):
    """The results of "cargo test", which may have run several programs."""
    results = [
        Result(f"{name}", {"ok": PASS, "ignored": SKIP}.get(outcome.split(",")[0], FAIL), [])
        for name, outcome in re.findall(r"^test (\S.*?) \.\.\. (.+)$", text, re.MULTILINE)
    ]
    planned = sum(int(count) for count in re.findall(r"^running (\d+) tests?$", text, re.MULTILINE))
    failures = re.findall(r"^---- (\S.*?) stdout ----\n(.*?)(?=^----|^failures:)", text, re.M | re.S)
    for name, said in failures:
        for result in results:
            if result.name == name:
                result.detail = said.splitlines()
    if planned != len(results):
        detail = [f"{planned} tests were to be run, {len(results)} have reported"]
        results.append(Result("the report is complete", FAIL, detail))
    return results


def _parse(text):
    said = io.StringIO()
    printer = kunit_printer.Printer(output=said)
    root = kunit_parser.parse_run_tests(text.splitlines(), printer)
    results = list(_leaves(root, ""))
    if root.counts.errors:
        complaints = re.findall(r"\[ERROR\] .*", said.getvalue())
        # "Bail out!" and the like stand at the end.
        detail = [*dict.fromkeys(complaints), *text.splitlines()[-LAST_LINES:]]
        results.append(Result("the report is well formed", FAIL, detail))
    return results


def _leaves(test, prefix):
    if test.subtests:
        below = f"{prefix}{test.name}: " if test.name and test.name != "main" else prefix
        for subtest in test.subtests:
            yield from _leaves(subtest, below)
        return
    status = kunit_parser.TestStatus
    if not test.name or test.status == status.NO_TESTS:
        return
    outcome = {status.SUCCESS: PASS, status.SKIPPED: SKIP}.get(test.status, FAIL)
    yield Result(prefix + test.name, outcome, list(test.log))
