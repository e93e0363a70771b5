# SPDX-License-Identifier: GPL-2.0
"""The table a person reads at a glance: sizes down, series across."""

import textwrap

BASELINE = "anon"
GLANCE_KIB = (4, 16, 64, 128, 256, 1024, 4096, 8192, 16384)
# What fits on a line. Left out: pages-private-uncleared, which costs what
# pages-private does unless the policy is 2.
GLANCE_SERIES = (
    "anon", "anon-uninitialized", "dev-zero",
    "pages", "pages-idle", "pages-uncleared", "pages-private",
)  # fmt: skip
BOLD, DIM, PLAIN = "\033[1m", "\033[2m", "\033[0m"
GAP = 2
SHORT_NAME = 10


def size_text(kib):
    """A size as people say it."""
    if kib < 1:
        return f"{kib * 1024:g} bytes"
    if kib >= 1024 and kib % 1024 == 0:
        return f"{kib / 1024:g} MiB"
    return f"{kib:g} KiB"


def factor_text(factor):
    """How many times cheaper than the baseline, to two digits or so."""
    if factor >= 9.95:
        return f"{factor:,.0f}x"
    return f"{factor:.1f}x" if factor >= 0.995 else f"{factor:.2f}x"


def header_lines(name):
    """A series' name, on two lines when it is long."""
    if len(name) <= SHORT_NAME or "-" not in name:
        return ["", name]
    first, _, last = name.rpartition("-")
    return [first + "-", last]


class Column:
    """One series: its cells, and how wide they have to be."""

    def __init__(self, table, series, sizes):
        self.header = header_lines(series)
        self.cells = [self.cell(table, series, size) for size in sizes]
        self.number = max(len(number) for number, _, _ in self.cells)
        self.factor = max(len(factor) for _, factor, _ in self.cells)
        inner = self.number + (1 + self.factor if self.factor else 0)
        self.width = max(inner, *(len(line) for line in self.header))

    @staticmethod
    def cell(table, series, size):
        """(number, factor, whether there is a figure)."""
        cost, base = table.pair(series, size), table.pair(BASELINE, size)
        if cost is None:
            return table.row(series, size).errno, "", False
        factor = base / cost if base and series != BASELINE else None
        return f"{cost:,.0f}", factor_text(factor) if factor else "", True

    def text(self, index, colours):
        """A cell as printed: the number, then the factor."""
        number, factor, fine = self.cells[index]
        tail = f" {factor:>{self.factor}}" if self.factor else ""
        text = f"{number:>{self.width - len(tail)}}"
        if colours and not fine:
            return f"{DIM}{text}{PLAIN}{tail}"
        if colours and factor:
            return f"{text}{BOLD}{tail}{PLAIN}"
        return text + tail


def split_columns(columns, room):
    """Groups of columns that fit beside the sizes in `room` characters."""
    groups, used = [[]], 0
    for column in columns:
        if groups[-1] and used + GAP + column.width > room:
            groups.append([])
            used = 0
        groups[-1].append(column)
        used += GAP + column.width
    return groups


def render(table, width=120, colours=False):
    """The table as text, in several parts when the terminal is narrow."""
    sizes = [kib for kib in GLANCE_KIB if kib in table.sizes]
    names = [size_text(kib) for kib in sizes]
    left = max(len(name) for name in ["size", *names])
    shown = [series for series in table.series if series in GLANCE_SERIES]
    columns = [Column(table, series, sizes) for series in shown]
    gap, parts = " " * GAP, []
    for group in split_columns(columns, width - left):
        lines = [
            gap.join([f"{word:>{left}}", *(f"{c.header[i]:>{c.width}}" for c in group)])
            for i, word in enumerate(["", "size"])
        ]
        for i, name in enumerate(names):
            cells = [f"{name:>{left}}", *(c.text(i, colours) for c in group)]
            lines.append(gap.join(cells).rstrip())
        parts.append("\n".join(line.rstrip() for line in lines) + "\n")
    return "\n".join(parts)


def wrapped_sentence(table, width=120):
    """The sentence, on as many lines as it needs."""
    return textwrap.fill(sentence(table), width)


def sentence(table):
    """What the table shows, in one plain sentence."""
    zeroed, idle, uncleared = "pages", "pages-idle", "pages-uncleared"
    shared = table.measured(BASELINE, uncleared, zeroed)
    if not shared:
        size = table.sizes[0]
        reason = table.row(uncleared, size).errno or table.row(zeroed, size).errno
        return f"/dev/pages could not be timed ({reason or 'no baseline'})."
    size = shared[-1]
    base = table.pair(BASELINE, size)

    def cost(series):
        figure = table.pair(series, size)
        return f"{figure:,.0f}", f"({factor_text(base / figure)} less)"

    words = [f"{' with /dev/pages '.join(cost(zeroed))}"]
    if table.pair(idle, size) is not None:
        words.append(f"{' after idle time '.join(cost(idle))}")
    words.append(f"and {' when it need not be cleared '.join(cost(uncleared))}")
    sizes = table.measured(uncleared)
    flat = [table.pair(uncleared, kib) for kib in sizes]
    return (
        f"Mapping and unmapping {size_text(size)} takes {base:,.0f} instructions "
        f"with anonymous memory, {', '.join(words)}; "
        f"the last stays between {min(flat):,.0f} and {max(flat):,.0f} "
        f"from {size_text(sizes[0])} to {size_text(sizes[-1])}."
    )


LIVE_SENTENCE = (
    "What grows is the core's part: before a shared mapping do_mmap() looks at every\n"
    "mapping of the system for one to share. Anonymous memory is not looked for. A row\n"
    "may be 13,000 dearer: there a full node of the process's own tree is split."
)


def live_lines(live):
    """The costs beside live mappings: their number across."""
    rows = [["", *(f"{count:,} live" for count in live.counts)]]
    for name, beside in live.pairs():
        cells = [live.row(name, beside, count) for count in live.counts]
        rows.append([
            f"{name} beside {beside}",
            *(row.errno or f"{row.pair():,.0f}" for row in cells),
        ])  # fmt: skip
    left, *widths = (max(map(len, column)) for column in zip(*rows))
    return [
        "  ".join([f"{head:<{left}}", *(f"{c:>{w}}" for c, w in zip(cells, widths))])
        for head, *cells in rows
    ]
