# SPDX-License-Identifier: GPL-2.0
"""The kinds of goals, and how each is judged.

A goal is judged from one table or from several, in the order in which
verdicts.py names their CSVs. Figures are averages of map + unmap, unless said
otherwise.
"""

from dataclasses import dataclass

import report
from table import size_text

HELD, SHORT, NOTED = "held", "short", "noted"
MIB = 1024


@dataclass
class Verdict:
    """One row: what was wanted, what was found, and whether that is enough."""

    goal: str
    measured: str
    status: str


def verdict(goal, measured, held):
    """A row that is judged."""
    return Verdict(goal, measured, HELD if held else SHORT)


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
        return verdict(goal, f"{factor:.1f} times", factor >= self.times)


@dataclass
class AtMost:
    """A series costs at most so many times what another does, at each size:
    those in `sizes`, else all from `first` to `last` that the other has."""

    series: str
    than: str
    limit: float
    sizes: tuple = ()
    first: int = 0
    last: int = 0
    below: bool = False
    zicboz: str = ""

    def text(self):
        """The goal in words."""
        if self.below:
            goal = f"{self.series} cheaper than {self.than}"
        else:
            goal = f"{self.series} at most {self.limit:g} times {self.than}"
        if self.sizes:
            goal += " at " + ", ".join(size_text(size) for size in self.sizes)
        elif self.last:
            goal += f" up to {size_text(self.last)}"
        else:
            goal += f" from {size_text(self.first)} up"
        if self.zicboz:
            goal += {"yes": ", with Zicboz", "no": ", without Zicboz"}[self.zicboz]
        return goal

    def judge(self, table):
        """Compare at every size, and tell the worst."""
        goal = self.text()
        if self.zicboz and table.meta.get("zicboz") != self.zicboz:
            return Verdict(goal, "measured on another CPU", SHORT)
        sizes = self.sizes or [
            size
            for size in table.measured(self.than)
            if self.first <= size <= (self.last or size)
        ]
        if not sizes:
            return Verdict(goal, f"{self.than}: no figures", SHORT)
        points = [(name, s) for s in sizes for name in (self.series, self.than)]
        if gap := missing(table, *points):
            return Verdict(goal, gap, SHORT)
        worst, size = max(
            (table.pair(self.series, s) / table.pair(self.than, s), s) for s in sizes
        )
        fine = worst < self.limit if self.below else worst <= self.limit
        where = f" at {size_text(size)}" if len(sizes) > 1 else ""
        return verdict(goal, f"{worst:.4f} times{where}", fine)


@dataclass
class Flat:
    """A series costs at most so many times at any size what it costs at the
    smallest, up to a size that must be there."""

    series: str
    limit: float
    last: int

    def judge(self, table):
        """Compare every size with the smallest."""
        sizes = [size for size in table.sizes if size <= self.last]
        if not sizes or sizes[-1] != self.last:
            goal = f"{self.series} flat up to {size_text(self.last)}"
            return Verdict(goal, f"{size_text(self.last)} was not measured", SHORT)
        first = sizes[0]
        goal = (
            f"{self.series} up to {size_text(self.last)} at most "
            f"{self.limit:g} times {size_text(first)}"
        )
        if gap := missing(table, *((self.series, size) for size in sizes)):
            return Verdict(goal, gap, SHORT)
        base = table.pair(self.series, first)
        worst, size = max((table.pair(self.series, s) / base, s) for s in sizes)
        return verdict(
            goal, f"{worst:.4f} times at {size_text(size)}", worst <= self.limit
        )


@dataclass
class Within:
    """What a series costs at its dearest size is at most so many times what it
    costs at its cheapest, from a first size to a last, which must be there."""

    series: str
    limit: float
    first: int
    last: int

    def judge(self, table):
        """Compare the dearest size with the cheapest."""
        reach = f"from {size_text(self.first)} to {size_text(self.last)}"
        goal = f"{self.series} flat within {self.limit:g} times, {reach}"
        sizes = [size for size in table.sizes if self.first <= size <= self.last]
        if not {self.first, self.last} <= set(sizes):
            return Verdict(goal, "not measured from end to end", SHORT)
        if gap := missing(table, *((self.series, size) for size in sizes)):
            return Verdict(goal, gap, SHORT)
        costs = [table.pair(self.series, size) for size in sizes]
        if min(costs) <= 0:
            return Verdict(goal, "a cost of nothing cannot be", SHORT)
        ratio = max(costs) / min(costs)
        measured = f"{ratio:.4f} times, {min(costs):,.0f} to {max(costs):,.0f}"
        return verdict(goal, measured, ratio <= self.limit)


@dataclass
class Across:
    """A goal whose series are in different tables."""

    goal: object

    def judge(self, *tables):
        """Judge them as one table."""
        return self.goal.judge(report.Joined(*tables))


@dataclass
class FirstTouch:
    """Where nothing waits to be used again, the map of a size costs at most so
    many times that of another. The very first map counts, and the average."""

    series: str
    size: int
    than: int
    limit: float

    def judge(self, table):
        """Compare two sizes by what map alone costs."""
        goal = (
            f"{self.series}, nothing cached: map of {size_text(self.size)} at most "
            f"{self.limit:g} times {size_text(self.than)}"
        )
        points = [(self.series, self.size), (self.series, self.than)]
        if gap := missing(table, *points):
            return Verdict(goal, gap, SHORT)
        ours, theirs = (table.row(*point).figures for point in points)
        first, average = (
            ours[column] / theirs[column] for column in ("map_first", "map_avg")
        )
        return verdict(
            goal,
            f"{first:.2f} times, on average {average:.2f}",
            max(first, average) <= self.limit,
        )


@dataclass
class Above:
    """A series costs at most so many instructions more than the stub."""

    series: str
    size: int
    instructions: int

    def judge(self, table, stub):
        """The difference at one size."""
        goal = (
            f"{self.series} at {size_text(self.size)} at most "
            f"{self.instructions:,} instructions above a stub"
        )
        for where, name in ((table, ""), (stub, "stub, ")):
            if gap := missing(where, (self.series, self.size)):
                return Verdict(goal, name + gap, SHORT)
        base = stub.pair(self.series, self.size)
        more = table.pair(self.series, self.size) - base
        return verdict(
            goal, f"{more:,.0f} above {base:,.0f}", more <= self.instructions
        )


@dataclass
class PerLive:
    """A live mapping, of whatever kind, adds to a map at most so many times
    what an anonymous one adds where the device is a stub."""

    series: str
    limit: float

    def judge(self, live, stub):
        """Compare the growth from no live mapping to the most of them."""
        goal = (
            f"{self.series}: a live mapping adds at most {self.limit:g} times "
            "what it adds to a stub"
        )
        tables = [
            (table, name, beside)
            for table in (live, stub)
            for name, beside in table.pairs()
            if name == self.series
        ]
        growths = [growth(*where) for where in tables]
        if not stub.pairs() or len(growths) < 2 or None in growths:
            return Verdict(goal, "not everything was measured", SHORT)
        *ours, stubs = growths
        return verdict(
            goal,
            f"{max(ours):.1f} instructions, the stub {stubs:.1f}",
            max(ours) <= self.limit * stubs,
        )


def growth(live, series, beside):
    """What each of the most live mappings has added to a map, or None."""
    rows = [live.row(series, beside, count) for count in (0, live.counts[-1])]
    if any(row.errno for row in rows):
        return None
    base, most = (row.figures["map_avg"] for row in rows)
    return (most - base) / live.counts[-1]


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
        return verdict(goal, measured, total and not gaps)


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
