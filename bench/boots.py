# SPDX-License-Identifier: GPL-2.0
"""The boots of the benchmark, and the CSVs that come of them."""

import os
from dataclasses import replace

from guest import BUILD, PROGRAMS, Run
from table import GLANCE_KIB, GLANCE_SERIES

STUB_MODULE = os.path.join(BUILD, "stub", "pages_stub.ko")


def series(*names):
    """The timing program's word for these series only."""
    return "series=" + ",".join(names)


def sizes(*kib):
    """The timing program's word for these sizes only."""
    return "sizes=" + ",".join(map(str, kib))


# A person's first sight: the table. The timing program knows 50 delays, so that
# 50 rounds are spread as evenly over the clock's tick as more would be.
QUICK = Run(
    "quick", ("map", series(*GLANCE_SERIES), sizes(*GLANCE_KIB), "rounds=50"),
    saves={"results": "quick.csv"},
)  # fmt: skip

FULL = Run(
    "full", ("map", "fill", "live"),
    saves={"results": "results.csv", "fill": "fill.csv", "live": "live.csv"},
)  # fmt: skip

# A CPU that has to clear memory word by word.
NO_ZICBOZ = Run(
    "no-zicboz", ("map", series("anon", "pages"), sizes(4, 64, 1024, 4096)),
    settings={"QEMU_ARGS": "-cpu rv64,zicboz=false"},
    saves={"results": "no-zicboz.csv"},
)  # fmt: skip

# Nothing is kept for reuse, so each mapping is the first one. By the default
# policy it would be cleared; what is measured here is finding it.
FIRST = Run(
    "first", ("map", series("pages-uncleared"), sizes(*GLANCE_KIB)),
    settings={"MODPARAMS": "policy=2 cache_bytes=0"},
    saves={"results": "first.csv"},
)  # fmt: skip

# What mmap() and munmap() cost where the device does nothing.
STUB = Run(
    "stub",
    ("map", "live", series("pages-uncleared"), "beside=anon", sizes(4)),
    settings={"MODULE": STUB_MODULE, "MODPARAMS": ""},
    saves={"results": "stub.csv", "live": "stub-live.csv"},
)  # fmt: skip

# What the kernel says to a request above its largest block.
TOO_LARGE = "mm/page_alloc.c"


def malloc(name, **more):
    """The program of 2007, linked with one malloc or the other."""
    return Run(
        name, (name,), program=os.path.join(PROGRAMS, name),
        saves={"malloc": f"{name}.csv"}, **more,
    )  # fmt: skip


MALLOC_PAGES = malloc("malloc-pages")

# From 4 MiB on musl asks the core for blocks that it does not have. The sizes
# go up, so that the warning comes after all that there is a figure for.
MALLOC_MUSL = malloc(
    "malloc-musl", may_complain=TOO_LARGE, settings={"APPEND": "panic_on_warn=0"}
)

# All that verdicts are judged from; each is booted twice.
COUNTED = (FULL, NO_ZICBOZ, FIRST, STUB, MALLOC_MUSL, MALLOC_PAGES)


def without_zicboz(meta):
    """The boot without Zicboz, given what is known of another one: a QEMU that
    is too old to have it does not know how to leave it out."""
    if meta["zicboz"] == "yes":
        return NO_ZICBOZ
    return replace(NO_ZICBOZ, settings={})


# Waiting for idle time would be waiting here.
WALL = Run(
    "wall",
    ("map", series(*(name for name in GLANCE_SERIES if name != "pages-idle")),
     sizes(*GLANCE_KIB)),
    icount=False,
    saves={"results": "wall.csv"},
)  # fmt: skip

# The benchmark does not ask the core for blocks that it cannot have; this
# boot does, once, and survives the warning that follows.
TRY_CORE = Run(
    "try-core", ("try-core",), may_complain=TOO_LARGE,
    settings={"APPEND": "panic_on_warn=0"},
)  # fmt: skip
