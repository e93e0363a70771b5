# SPDX-License-Identifier: GPL-2.0
"""Boot a program with its work, and see what it took."""

import os
import shlex
import subprocess
import tempfile
from dataclasses import dataclass

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BUILD = os.path.join(TOP, os.environ.get("BUILD") or "build")
PROGRAMS = os.path.join(BUILD, "programs")
KINDS = ("musl", "pages")


@dataclass
class Outcome:
    """What one boot gave; why it failed, or nothing."""

    problem: list
    instructions: int = 0
    memory: int = 0


def fill(folder, workload, program):
    """Put what the guest needs below the folder."""
    os.makedirs(os.path.join(folder, "data"))
    os.makedirs(os.path.join(folder, "bin"))
    for name, data in workload.files.items():
        with open(os.path.join(folder, "data", name), "wb") as file:
            file.write(data)
    path = os.path.join(folder, "bin", os.path.basename(program))
    with open(program, "rb") as source, open(path, "wb") as file:
        file.write(source.read())
    os.chmod(path, 0o755)


def judge(status, said, errors, kind):
    """Take the last line apart; the device must have been used, or not."""
    figures = said.splitlines()[-1].split() if said else []
    if status or len(figures) != 4 or figures[0] != "measured":
        return Outcome(said.splitlines()[-10:] + errors.splitlines()[-10:] or ["no output"])
    instructions, memory, mapped = map(int, figures[1:])
    if (mapped > 0) != (kind == "pages"):
        return Outcome([f"{mapped} bytes were mapped from /dev/pages at the most"])
    return Outcome([], instructions, memory)


def boot(workload, kind):
    """One program, linked in one way."""
    program = os.path.join(PROGRAMS, f"{workload.name}-{kind}")
    steps = shlex.split(workload.steps.replace("PROGRAM", f"/bin/{os.path.basename(program)}"))
    with tempfile.TemporaryDirectory(dir=BUILD) as folder:
        fill(folder, workload, program)
        done = subprocess.run(
            [os.path.join(TOP, "tools", "boot"), f"NAME=program-{workload.name}-{kind}",
             f"FILES={folder}", "ICOUNT=1", "MEM=256M", "TIMEOUT=300",
             os.path.join(PROGRAMS, "measure"), *steps],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            check=False,
        )  # fmt: skip
    return judge(done.returncode, done.stdout.replace("\r\n", "\n"), done.stderr, kind)
