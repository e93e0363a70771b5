# SPDX-License-Identifier: GPL-2.0
"""Small made-up tables, for the tests."""

from report import Live, Malloc, Table

COLUMNS = (
    "map_first,map_min,map_avg,map_max,unmap_min,unmap_avg,unmap_max,errno"
)
HEAD = f"series,size_kib,{COLUMNS}\n"


def figures(cost):
    """The columns of one row: an errno, or a cost that is all map's, or
    (map_first, map_avg)."""
    if isinstance(cost, str):
        return f",,,,,,,{cost}\n"
    first, average = cost if isinstance(cost, tuple) else (cost, cost)
    return f"{first},9,{average}.0,9,9,0.0,9,\n"


def made_up(costs, **meta):
    """A table out of {(series, size): cost}."""
    rows = (f"{name},{kib},{figures(cost)}" for (name, kib), cost in costs.items())
    return Table(HEAD + "".join(rows), meta)


def made_up_malloc(costs, clock=40):
    """A table of malloc() and free() whose costs are these when the clock's are
    taken off."""
    rows = (
        f"{name},{kib:g},{figures(c if isinstance(c, str) else c + 2 * clock)}"
        for (name, kib), c in costs.items()
    )
    head = HEAD.replace("unmap_", "free_").replace("map_", "malloc_")
    return Malloc(head + "".join(rows), {"clock_read_ns": str(clock)})


def made_up_live(costs):
    """A table out of {(series, beside, live): cost}."""
    rows = (f"{','.join(map(str, key))},{figures(c)}" for key, c in costs.items())
    return Live(f"series,beside,live,{COLUMNS}\n" + "".join(rows))
