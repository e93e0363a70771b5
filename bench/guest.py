# SPDX-License-Identifier: GPL-2.0
"""Boot the timing program, and take its output apart.

The program prints "meta NAME VALUE" lines, then "table NAME" lines each
followed by CSV, then "end". Without the "end" nothing of it is believed.
"""

import os
import re
import subprocess
import sys
from dataclasses import dataclass, field

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BUILD = os.path.join(TOP, os.environ.get("BUILD") or "build")
PROGRAM = os.path.join(BUILD, "selftests", "pages_timing")
PROGRAMS = os.path.join(BUILD, "programs")

# Settings of tools/boot that `make bench NAME=value` passes on.
PASSED_ON = ("KDIR", "MODPARAMS", "MEM", "QEMU_ARGS")
# Lists of words, of which the last one counts where two contradict each other.
LISTS = ("MODPARAMS", "QEMU_ARGS")

# What tools/boot returns when the kernel complained on its console.
KERNEL_COMPLAINED = 125


class BenchError(Exception):
    """What is wrong, in one line, for the person at the terminal."""


@dataclass
class Run:
    """One boot: what the program is told, on which machine, and which of its
    tables become which CSVs of the report. It fails when the kernel complains,
    unless it is known to, and the complaint contains this text."""

    name: str
    words: tuple
    icount: bool = True
    settings: dict = field(default_factory=dict)
    saves: dict = field(default_factory=dict)
    may_complain: str = ""
    program: str = PROGRAM


@dataclass
class Output:
    """What one boot gave: facts about it, and CSV texts by name."""

    meta: dict
    tables: dict


def parse(text):
    """Take the program's output apart."""
    meta, tables, current = {}, {}, None
    for line in text.replace("\r\n", "\n").splitlines():
        if line == "end":
            return Output(meta, {name: "".join(rows) for name, rows in tables.items()})
        if match := re.fullmatch(r"table (\S+)", line):
            current = tables.setdefault(match[1], [])
        elif match := re.fullmatch(r"meta (\S+) (.+)", line):
            meta[match[1]] = match[2]
        elif current is not None:
            current.append(line + "\n")
        elif line.strip():
            raise BenchError(f"cannot make sense of the timing program's line: {line}")
    raise BenchError("the timing program's output stops before its end")


def settings_of(run):
    """The settings of tools/boot for one run: what the run is about comes last,
    the caller's own before it."""
    settings = {
        "NAME": f"bench-{run.name}",
        "MEM": "128M",
        "ICOUNT": "1" if run.icount else "",
        "TIMEOUT": "300",
    }
    for name in PASSED_ON:
        if os.environ.get(name):
            settings[name] = os.environ[name]
    if "MODULE" in os.environ:
        settings["MODULE"] = os.environ["MODULE"]  # empty means: none
    for name, value in run.settings.items():
        if name in LISTS and value and name in settings:
            value = f"{settings[name]} {value}"
        settings[name] = value
    return settings


def command(run):
    """The tools/boot command line of one run."""
    return [
        os.path.join(TOP, "tools", "boot"),
        *(f"{name}={value}" for name, value in settings_of(run).items()),
        run.program,
        *run.words,
    ]


def accepted(run, status, said):
    """Whether a boot ended with the complaint of the kernel that it is known for."""
    return (
        bool(run.may_complain)
        and status == KERNEL_COMPLAINED
        and run.may_complain in said.rstrip().rpartition("\n")[2]
    )


def boot(run):
    """Boot, run the program, and return its Output."""
    if not os.path.exists(run.program):
        raise BenchError(f"no timing program at {run.program}; run 'make bench'")
    done = subprocess.run(
        command(run), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True, errors="replace", check=False,
    )  # fmt: skip
    complained = accepted(run, done.returncode, done.stderr)
    if done.returncode and not complained:
        sys.stderr.write(done.stderr)
        raise BenchError(f"boot '{run.name}' failed with status {done.returncode}")
    output = parse(done.stdout)
    settings = settings_of(run)
    output.meta.update(
        icount=run.icount,
        kernel_complained=complained,
        memory=settings["MEM"],
        module_parameters=settings.get("MODPARAMS", ""),
        qemu=qemu_version(),
        qemu_arguments=settings.get("QEMU_ARGS", ""),
    )
    return output


def qemu_version():
    """The first line of what QEMU says about itself."""
    done = subprocess.run(
        ["qemu-system-riscv64", "--version"],
        stdout=subprocess.PIPE, text=True, check=False,
    )  # fmt: skip
    return done.stdout.partition("\n")[0]
