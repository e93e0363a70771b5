# SPDX-License-Identifier: GPL-2.0
"""The files of a report: CSVs, and meta.json that says what each is.

meta.json holds, for each CSV, its checksum and how it was made. So a CSV
that was made on another clock, or edited, cannot pass for one that was made
by counting instructions.
"""

import csv
import hashlib
import io
import json
import os
from dataclasses import dataclass

from guest import BenchError

META = "meta.json"


@dataclass
class Row:
    """One series at one size: figures by column name, or an errno."""

    figures: dict
    errno: str

    def pair(self):
        """The average cost of map + unmap, or None when it failed."""
        if self.errno:
            return None
        return self.figures["map_avg"] + self.figures["unmap_avg"]


def read_rows(text, *keys):
    """The rows of a CSV, each with the words in its key columns."""
    for line in csv.DictReader(io.StringIO(text)):
        words = [line.pop(key) for key in keys]
        errno = line.pop("errno") or ""
        yield words, Row({k: float(v) for k, v in line.items() if v}, errno)


class Table:
    """A CSV in memory: rows by (series, size in KiB), in the file's order."""

    def __init__(self, text, meta=None):
        self.rows, self.series, self.sizes = {}, [], []
        self.meta = meta or {}
        for (name, size), row in read_rows(text, "series", "size_kib"):
            size = int(size) if size.isdigit() else float(size)
            self.rows[name, size] = row
            if name not in self.series:
                self.series.append(name)
            if size not in self.sizes:
                self.sizes.append(size)
        self.sizes.sort()

    def row(self, series, size):
        """The row of a series at a size; a missing one counts as failed."""
        return self.rows.get((series, size)) or Row({}, "not measured")

    def pair(self, series, size):
        """The cost of map + unmap, or None."""
        return self.row(series, size).pair()

    def measured(self, *series):
        """The sizes at which each of the series has figures."""
        return [
            size
            for size in self.sizes
            if all(self.pair(name, size) is not None for name in series)
        ]


class Malloc(Table):
    """A CSV of malloc() and free(). They are short, so what reading the clock has
    added is taken off again."""

    def pair(self, series, size):
        """The cost of malloc() + free(), or None."""
        row = self.row(series, size)
        if row.errno:
            return None
        clock = float(self.meta["clock_read_ns"])
        return row.figures["malloc_avg"] + row.figures["free_avg"] - 2 * clock


class Joined:
    """Tables of different series, as one."""

    def __init__(self, *tables):
        self.tables = tables
        self.sizes = sorted({size for table in tables for size in table.sizes})

    def _of(self, series):
        return next((t for t in self.tables if series in t.series), self.tables[0])

    def row(self, series, size):
        """As in Table."""
        return self._of(series).row(series, size)

    def pair(self, series, size):
        """As in Table."""
        return self._of(series).pair(series, size)

    def measured(self, series):
        """As in Table, of one series."""
        return self._of(series).measured(series)


class Live:
    """A CSV of costs beside live mappings: rows by (series, series of the live
    mappings, their number)."""

    def __init__(self, text, meta=None):
        self.rows, self.counts = {}, []
        self.meta = meta or {}
        for (name, beside, live), row in read_rows(text, "series", "beside", "live"):
            self.rows[name, beside, int(live)] = row
            if int(live) not in self.counts:
                self.counts.append(int(live))
        self.counts.sort()

    def row(self, series, beside, live):
        """One row; a missing one counts as failed."""
        return self.rows.get((series, beside, live)) or Row({}, "not measured")

    def pairs(self):
        """Which series was measured beside which, in the file's order."""
        return list(dict.fromkeys((name, beside) for name, beside, _ in self.rows))


def write(path, text):
    """Write a whole file or nothing."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path + ".new", "w", encoding="utf-8") as file:
        file.write(text)
    os.replace(path + ".new", path)


def checksum(text):
    """The checksum that ties a CSV to its entry in meta.json."""
    return hashlib.sha256(text.encode()).hexdigest()


def save_all(directory, run, output):
    """Write the CSVs of one run."""
    for table, name in run.saves.items():
        if table not in output.tables:
            raise BenchError(f"boot '{run.name}' gave no table '{table}'")
        save(directory, name, output.tables[table], output.meta)


def save(directory, name, text, meta):
    """Write a CSV and its entry in meta.json."""
    path = os.path.join(directory, META)
    entries = {}
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            entries = json.load(file)
    entries[name] = {"sha256": checksum(text), **meta}
    write(os.path.join(directory, name), text)
    write(path, json.dumps(entries, indent=2, sort_keys=True) + "\n")


def read_text(directory, name):
    """The text of one file of a report."""
    try:
        with open(os.path.join(directory, name), encoding="utf-8") as file:
            return file.read()
    except OSError as error:
        raise BenchError(
            f"no {name} in {directory} ({error.strerror}); run 'make bench'"
        ) from None


def why_not_instructions(text, entry):
    """What speaks against the figures being instructions, or None."""
    if not entry:
        return "meta.json does not know it"
    if entry.get("sha256") != checksum(text):
        return "it is not the file that meta.json describes"
    if entry.get("icount") is not True:
        return "it was not made under icount"
    # The guest timed a loop of known length: the proof by the clock itself.
    wanted = float(entry.get("calibration_instructions", 0))
    shown = float(entry.get("calibration_ns", 0))
    if not wanted or abs(shown - wanted) > wanted / 100:
        return f"the guest's clock showed {shown:.0f} ns for {wanted:.0f} instructions"
    return None


def load_counted(directory, name, kind=Table):
    """A table whose figures are instructions, and what is known of it."""
    text = read_text(directory, name)
    try:
        entry = json.loads(read_text(directory, META)).get(name)
    except ValueError:
        raise BenchError(f"{directory}/{META} is damaged; run 'make bench'") from None
    reason = why_not_instructions(text, entry)
    if reason:
        raise BenchError(f"{name} cannot be judged: {reason}; run 'make bench'")
    return kind(text, entry), entry


def first_difference(one, other):
    """The first line in which two texts differ: (number, line, line)."""
    left, right = one.splitlines(), other.splitlines()
    for number in range(max(len(left), len(right))):
        pair = [s[number] if number < len(s) else "(no line)" for s in (left, right)]
        if pair[0] != pair[1]:
            return (number + 1, *pair)
    return None
