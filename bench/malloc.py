# SPDX-License-Identifier: GPL-2.0
"""The program of 2007, then and now: a table beside the columns of then."""

import os

import report
from table import factor_text, size_text

MUSL, PAGES = "malloc-musl", "malloc-pages"
GLANCE_KIB = (0, 0.0625, 1, 4, 16, 64, 128, 256, 1024, 2048, 4096, 8192, 16384)
THEN = {"Blackfin": "malloc-2007-blackfin-nommu.csv", "x86": "malloc-2007-x86-mmu.csv"}
DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "data")
HEAD = (
    "malloc() and free() of one block, in instructions (average of 128; reading the\n"
    "clock is taken off), and malloc() in 2007, in microseconds. malloc-musl is the C\n"
    "library's own, malloc-pages the same program linked with libpages_alloc.a. The\n"
    "first block of a size costs more: malloc_first in the CSV.\n"
)


def load(directory):
    """Both series of a report, as one table."""
    return report.Joined(*(
        report.load_counted(directory, f"{name}.csv", report.Malloc)[0]
        for name in (MUSL, PAGES)
    ))  # fmt: skip


def of_2007(name):
    """The averages of 2007 by size in KiB, as they were written."""
    averages = {}
    for line in report.read_text(DATA, name).splitlines():
        words = line.split(",")
        if words[0].isdigit():
            averages[int(words[0])] = words[2]
    return averages


def cell(table, series, size):
    """A cost as printed, or why there is none."""
    cost = table.pair(series, size)
    return table.row(series, size).errno if cost is None else f"{cost:,.0f}"


def render(table):
    """The table as text."""
    then = {name: of_2007(file) for name, file in THEN.items()}
    rows = [("size", MUSL, PAGES, "", *(f"{name} 2007" for name in then))]
    for size in GLANCE_KIB:
        costs = [table.pair(series, size) for series in (MUSL, PAGES)]
        rows.append((
            size_text(size),
            *(cell(table, series, size) for series in (MUSL, PAGES)),
            "" if None in costs else factor_text(costs[0] / costs[1]),
            *(averages.get(size, "") for averages in then.values()),
        ))  # fmt: skip
    widths = [max(map(len, column)) for column in zip(*rows)]
    lines = ("  ".join(f"{c:>{w}}" for c, w in zip(row, widths)).rstrip() for row in rows)
    return f"{HEAD}\n" + "".join(f"{line}\n" for line in lines)
