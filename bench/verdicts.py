#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""What the figures have to reach, judged from the CSV alone.

usage: bench/verdicts.py [REPORT_DIRECTORY]

Figures are averages of map + unmap in instructions. A CSV that was not made
by counting instructions is refused. Exit status: 0 when every goal is held.
"""

import os
import sys
from dataclasses import dataclass

import report
from guest import BUILD, BenchError
from table import size_text

RESULTS, FILL = "results.csv", "fill.csv"
HELD, SHORT, NOTED = "held", "short", "noted"
MIB = 1024


@dataclass
class Verdict:
    """One row: what was wanted, what was found, and whether that is enough."""

    goal: str
    measured: str
    status: str


def missing(table, *points):
    """The first point without a figure, in words, or None."""
    for series, size in points:
        if table.pair(series, size) is None:
            reason = table.row(series, size).errno
            return f"{series} at {size_text(size)}: {reason}"
    return None


@dataclass
class Cheaper:
    """A series costs at least so many times less than another."""

    series: str
    than: str
    size: int
    times: float

    def judge(self, table):
        """Compare at one size."""
        goal = (
            f"{self.series} at {size_text(self.size)} at least "
            f"{self.times:g} times cheaper than {self.than}"
        )
        if gap := missing(table, (self.series, self.size), (self.than, self.size)):
            return Verdict(goal, gap, SHORT)
        factor = table.pair(self.than, self.size) / table.pair(self.series, self.size)
        status = HELD if factor >= self.times else SHORT
        return Verdict(goal, f"{factor:.1f} times", status)


@dataclass
class AtMost:
    """A series costs at most so many times what another does, at each size."""

    series: str
    than: str
    limit: float
    sizes: tuple = ()
    first: int = 0
    below: bool = False

    def judge(self, table):
        """Compare at every size, and tell the worst."""
        if self.below:
            goal = f"{self.series} cheaper than {self.than}"
        else:
            goal = f"{self.series} at most {self.limit:g} times {self.than}"
        if self.sizes:
            goal += " at " + ", ".join(size_text(size) for size in self.sizes)
            sizes = self.sizes
        else:
            goal += f" from {size_text(self.first)} up"
            sizes = [s for s in table.measured(self.than) if s >= self.first]
        if not sizes:
            return Verdict(goal, f"{self.than}: no figures", SHORT)
        points = [(name, s) for s in sizes for name in (self.series, self.than)]
        if gap := missing(table, *points):
            return Verdict(goal, gap, SHORT)
        worst, size = max(
            (table.pair(self.series, s) / table.pair(self.than, s), s) for s in sizes
        )
        fine = worst < self.limit if self.below else worst <= self.limit
        return Verdict(
            goal,
            f"{worst:.3f} times" + (f" at {size_text(size)}" if len(sizes) > 1 else ""),
            HELD if fine else SHORT,
        )


@dataclass
class Served:
    """A series has a figure at every size, so none of its mappings failed."""

    series: str
    what: str

    def judge(self, table):
        """Count the sizes."""
        goal = f"{self.series}: {self.what} of every size"
        gaps = [size for size in table.sizes if table.pair(self.series, size) is None]
        total = len(table.sizes)
        measured = f"{total - len(gaps)} of {total}"
        if gaps:
            reason = table.row(self.series, gaps[0]).errno
            measured += f", {reason} at {size_text(gaps[0])}"
        return Verdict(goal, measured, HELD if total and not gaps else SHORT)


@dataclass
class Slope:
    """How much a series' cost grows with size: told, not judged."""

    series: str

    def judge(self, table):
        """Fit a straight line through all sizes."""
        goal = f"{self.series}: growth with size"
        sizes = table.measured(self.series)
        if len(sizes) < 2:
            return Verdict(goal, "fewer than two sizes measured", SHORT)
        slope = per_mib([(s / MIB, table.pair(self.series, s)) for s in sizes])
        reach = f"{size_text(sizes[0])} to {size_text(sizes[-1])}"
        return Verdict(goal, f"{slope:,.1f} instructions per MiB, {reach}", NOTED)


def per_mib(points):
    """The slope of the least-squares line through the points."""
    mean_x = sum(x for x, _ in points) / len(points)
    mean_y = sum(y for _, y in points) / len(points)
    spread = sum((x - mean_x) ** 2 for x, _ in points)
    return sum((x - mean_x) * (y - mean_y) for x, y in points) / spread


# Which goals are judged from which CSV of the report.
GOALS = {
    RESULTS: (
        Cheaper("pages-uncleared", "anon-uninitialized", 4 * MIB, 40),
        Cheaper("pages-uncleared", "anon", 4 * MIB, 70),
        AtMost("pages-uncleared", "anon", 1.15, sizes=(4,)),
        AtMost("pages", "anon", 1, first=64, below=True),
        Served("pages", "mapping"),
        Served("pages-uncleared", "mapping"),
        Slope("pages-uncleared"),
        Slope("pages"),
        Slope("anon"),
    ),
    FILL: (
        Served("pages", "map and fill"),
        Served("pages-uncleared", "map and fill"),
    ),
}


def judge(directory):
    """All verdicts of a report."""
    verdicts = []
    for name, goals in GOALS.items():
        table, _ = report.load_counted(directory, name)
        verdicts += [goal.judge(table) for goal in goals]
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
