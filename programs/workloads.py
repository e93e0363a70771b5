# SPDX-License-Identifier: GPL-2.0
"""What the programs are given to do, and what must come out.

The answers are worked out here, by other means than the program's.
"""

import collections
import gzip
import json
import os
import random
from dataclasses import dataclass

HERE = os.path.dirname(os.path.abspath(__file__))


@dataclass
class Workload:
    """One boot: the program, the files by their names in /data of the guest, and
    the steps for measure, in which PROGRAM stands for the program."""

    name: str
    files: dict
    steps: str


def source(name):
    """One of the scripts next to this file."""
    with open(os.path.join(HERE, name), "rb") as file:
        return file.read()


class Numbers:
    """The generator of work.lua."""

    def __init__(self):
        self.state = 1

    def __call__(self):
        self.state = (self.state * 1103515245 + 12345) % 2147483648
        return self.state


def lua_answers():
    """What work.lua prints."""
    number = Numbers()
    joined = "".join(f"{i}:{i * 7:x};" for i in range(1, 40001))
    numbers = sorted(number() for _ in range(30000))
    values = [number() % 1000 for _ in range(60000)]
    kept = range(100, 60001, 100)
    rest = sum(values[i - 1] + len(f"row{i}") for i in kept)
    count = collections.Counter(f"w{number() % 5000}" for _ in range(50000))
    first, last = min(count), max(count)
    lines = [
        ("text", 1 << 20, "cdef"),
        ("joined", len(joined), joined.count("7")),
        ("sorted", numbers[0], numbers[14999], numbers[29999]),
        ("rows", sum(values), len(kept), rest),
        ("words", len(count), first, count[first], last, count[last]),
    ]
    return "".join("\t".join(map(str, line)) + "\n" for line in lines).encode()


def sqlite_answers():
    """What work.sql prints."""
    notes = {i: f"note {i} of group {i % 37}" for i in range(1, 10001)}
    values = {i: i * 7919 % 10007 for i in notes}
    lines = [(len(values), sum(values.values()), min(values.values()), max(values.values()))]
    for group in range(37):
        ids = [i for i in notes if i % 37 == group]
        longest = max(len(notes[i]) for i in ids)
        lines.append((group, len(ids), sum(values[i] for i in ids), longest))
    found = sorted((value, i) for i, value in values.items() if 500 <= value <= 520)
    lines += [(i, notes[i]) for _, i in found]
    lines.append((5000,))
    values.update({i: values[i] + 1 for i in notes if i % 37 == 5})
    lines.append((sum(values[i] for i in notes if i % 37 == 5),))
    having = collections.Counter(values.values())
    lines.append((sum(having[values[i] + 1] for i in notes if i % 37 == 3),))
    lines.append((len(",".join(notes.values())),))
    lines.append(("ok",))
    return "".join("|".join(map(str, line)) + "\n" for line in lines).encode()


def words_and_noise(size):
    """Bytes that compress by about half, the same each time."""
    dice = random.Random(2007)
    words = [dice.randbytes(dice.randint(2, 9)) for _ in range(400)]
    out = bytearray()
    while len(out) < size:
        out += dice.choice(words) if dice.random() < 0.8 else dice.randbytes(6)
    return bytes(out[:size])


def document(size):
    """A JSON document of about this many bytes."""
    dice = random.Random(1975)
    rows = [
        {
            "id": i,
            "name": f"item {i}",
            "tags": [dice.choice(("red", "green", "blue")) for _ in range(3)],
            "size": {"width": dice.randint(1, 999), "height": dice.randint(1, 999)},
            "on": dice.random() < 0.5,
            "none": None,
        }
        for i in range(size // 110)
    ]
    return {"rows": rows, "text": "x" * (size // 8)}


COMPARE = " -- same /tmp/out /data/expected"


def lua():
    """A script with strings, tables, sorting and garbage."""
    files = {"work.lua": source("work.lua"), "expected": lua_answers()}
    return Workload("lua", files, "to /tmp/out PROGRAM /data/work.lua" + COMPARE)


def sqlite3():
    """The shell of SQLite with 10^4 rows, in a file."""
    files = {"work.sql": source("work.sql"), "expected": sqlite_answers()}
    shell = "PROGRAM -init /dev/null -batch /tmp/test.db '.read /data/work.sql'"
    return Workload("sqlite3", files, f"to /tmp/out {shell}" + COMPARE)


def minigzip():
    """Compress and back; and decompress what Python's zlib compressed."""
    plain = words_and_noise(2 << 20)
    files = {"plain": plain, "work": plain, "python.gz": gzip.compress(plain, mtime=0)}
    steps = (
        "PROGRAM /data/work -- PROGRAM -d /data/work.gz -- same /data/work /data/plain"
        " -- PROGRAM -d /data/python.gz -- same /data/python /data/plain"
    )
    return Workload("minigzip", files, steps)


def zlib_example():
    """The test that comes with zlib: it exits with 1 when an answer is wrong."""
    return Workload("zlib-example", {}, "PROGRAM /tmp/example.gz")


def cjson():
    """Parse a document that Python has written with blanks, print it without."""
    rows = document(1 << 20)
    # The first two letters tell the program how to print.
    files = {
        "in.json": b"bu" + json.dumps(rows, indent=1).encode(),
        "expected": json.dumps(rows, separators=(",", ":")).encode() + b"\n",
    }
    return Workload("cjson", files, "to /tmp/out PROGRAM /data/in.json yes" + COMPARE)


# By the names of the programs, in the order of the table.
WORKLOADS = {
    "lua": lua,
    "sqlite3": sqlite3,
    "minigzip": minigzip,
    "zlib-example": zlib_example,
    "cjson": cjson,
}
