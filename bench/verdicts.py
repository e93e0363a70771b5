#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""What the figures have to reach, judged from the CSVs alone.

usage: bench/verdicts.py [REPORT_DIRECTORY]

Figures are instructions. A CSV that was not made by counting them is refused.
Exit status: 0 when every goal is held.
"""

import os
import sys

import report
from goals import (
    MIB,
    SHORT,
    Above,
    Across,
    AtMost,
    Cheaper,
    FirstTouch,
    Flat,
    PerLive,
    Served,
    Slope,
    Within,
)
from guest import BUILD, BenchError

RESULTS, FILL, LIVE = "results.csv", "fill.csv", "live.csv"
NO_ZICBOZ, FIRST = "no-zicboz.csv", "first.csv"
STUB, STUB_LIVE = "stub.csv", "stub-live.csv"

MALLOC_MUSL, MALLOC_PAGES = "malloc-musl.csv", "malloc-pages.csv"

KINDS = {
    LIVE: report.Live, STUB_LIVE: report.Live,
    MALLOC_MUSL: report.Malloc, MALLOC_PAGES: report.Malloc,
}  # fmt: skip

# The goals, and the CSVs of the report from which each is judged.
GOALS = (
    ((RESULTS,), (
        Flat("pages-uncleared", 1.05, last=64 * MIB),
        AtMost("pages-uncleared", "anon", 0.95, sizes=(4,)),
        Cheaper("pages-uncleared", "anon-uninitialized", 4 * MIB, 90),
        Cheaper("pages-uncleared", "anon", 4 * MIB, 155),
        AtMost("pages-idle", "pages-uncleared", 1.1, last=16 * MIB),
        AtMost("pages", "anon", 0.95, sizes=(4,), zicboz="yes"),
        AtMost("pages", "anon", 0.42, sizes=(64,), zicboz="yes"),
        AtMost("pages", "anon", 0.18, sizes=(1 * MIB,), zicboz="yes"),
        AtMost("pages", "anon", 0.16, sizes=(4 * MIB,), zicboz="yes"),
    )),
    ((NO_ZICBOZ,), (
        AtMost("pages", "anon", 0.62, sizes=(64,), zicboz="no"),
        AtMost("pages", "anon", 0.46, sizes=(1 * MIB,), zicboz="no"),
        AtMost("pages", "anon", 0.45, sizes=(4 * MIB,), zicboz="no"),
    )),
    ((FIRST,), (FirstTouch("pages-uncleared", 16 * MIB, 4, 3),)),
    ((LIVE, STUB_LIVE), (PerLive("pages-uncleared", 1.25),)),
    ((RESULTS, STUB), (Above("pages-uncleared", 4, 1500),)),
    ((RESULTS,), (
        AtMost("pages", "anon", 1, first=64, below=True),
        Served("pages", "mapping"),
        Served("pages-idle", "mapping"),
        Served("pages-uncleared", "mapping"),
    )),
    ((FILL,), (
        Served("pages", "map and fill"),
        Served("pages-idle", "map and fill"),
        Served("pages-uncleared", "map and fill"),
    )),
    ((MALLOC_PAGES,), (
        Within("malloc-pages", 1.5, first=4, last=16 * MIB),
        Served("malloc-pages", "malloc"),
    )),
    ((MALLOC_MUSL, MALLOC_PAGES), (
        Across(Cheaper("malloc-pages", "malloc-musl", 1 * MIB, 40)),
        Across(AtMost("malloc-pages", "malloc-musl", 1.2, last=3)),
    )),
    ((RESULTS,), (Slope("pages-uncleared"), Slope("pages"), Slope("anon"))),
)  # fmt: skip


def judge(directory):
    """All verdicts of a report."""
    verdicts = []
    for names, goals in GOALS:
        tables = [
            report.load_counted(directory, name, KINDS.get(name, report.Table))[0]
            for name in names
        ]
        verdicts += [goal.judge(*tables) for goal in goals]
    return verdicts


def render(verdicts):
    """The verdicts as a table."""
    rows = [("goal", "measured", "verdict")]
    rows += [(v.goal, v.measured, v.status) for v in verdicts]
    goal, measured, _ = (max(map(len, column)) for column in zip(*rows))
    return "".join(f"{g:<{goal}}  {m:<{measured}}  {s}\n" for g, m, s in rows)


def all_held(verdicts):
    """Whether nothing fell short."""
    return all(v.status != SHORT for v in verdicts)


def main():
    """Judge a report that is already there."""
    directory = sys.argv[1] if len(sys.argv) > 1 else os.path.join(BUILD, "report")
    try:
        verdicts = judge(directory)
    except BenchError as error:
        print(f"verdicts: {error}", file=sys.stderr)
        return 2
    print(render(verdicts), end="")
    return 0 if all_held(verdicts) else 1


if __name__ == "__main__":
    sys.exit(main())
