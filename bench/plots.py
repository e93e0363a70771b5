# SPDX-License-Identifier: GPL-2.0
"""Draw the plots of a report, as SVG and PNG, with gnuplot."""

import os
import subprocess

import report
from guest import BenchError

HERE = os.path.dirname(os.path.abspath(__file__))
PLOTS = {"map": "results.csv", "fill": "fill.csv", "malloc": "malloc-musl.csv"}
TERMINALS = {
    "svg": 'svg size 1200,{height} font "sans-serif,14" background "white"',
    "png": 'pngcairo size 1800,{pixels} font "sans,16" background "white"',
}
HEIGHT = {"map": 640, "fill": 600, "malloc": 600}


def arrow(table):
    """Where map.gp draws its arrow: the last size that the core can serve."""
    sizes = table.measured("anon")
    kib = sizes[-1] if sizes else 0
    base = table.pair("anon", kib) or 0
    ours = table.pair("pages-uncleared", kib) or 0
    return f"last_kib={kib}; last_base={base}; last_ours={ours}"


def command(directory, plot, kind):
    """The gnuplot command line for one picture."""
    height = HEIGHT[plot]
    terminal = TERMINALS[kind].format(height=height, pixels=height * 3 // 2)
    settings = {
        "csv": os.path.join(directory, PLOTS[plot]),
        "pages": os.path.join(directory, "malloc-pages.csv"),
        "data": os.path.join(HERE, "data"),
        "out": os.path.join(directory, f"{plot}.{kind}.new"),
    }
    words = "; ".join(f"{name}='{value}'" for name, value in settings.items())
    if plot == "map":
        words += "; " + arrow(report.Table(report.read_text(directory, PLOTS[plot])))
    return ["gnuplot", "-e", f"set terminal {terminal}; {words}",
            os.path.join(HERE, f"{plot}.gp")]  # fmt: skip


def draw(directory):
    """Draw all; a picture appears whole or not at all."""
    for plot in PLOTS:
        for kind in TERMINALS:
            try:
                done = subprocess.run(
                    command(directory, plot, kind),
                    stderr=subprocess.PIPE, text=True, check=False,
                )  # fmt: skip
            except OSError as error:
                raise BenchError(
                    f"cannot start gnuplot ({error.strerror}); run 'make setup'"
                ) from None
            if done.returncode:
                raise BenchError(f"gnuplot failed on {plot}.gp: {done.stderr.strip()}")
            path = os.path.join(directory, f"{plot}.{kind}")
            os.replace(f"{path}.new", path)
