# SPDX-License-Identifier: GPL-2.0
"""The project's own rules on its files, for tools/lint."""

import os
import re
import subprocess

MOST_LINES = 450
MOST_COLUMNS = 100
# Wrong on purpose: no letters to anybody.
MUTANTS = "prove/mutants/"
# Measured or taken from elsewhere, not written: as long as it has to be.
DATA = (".csv",)
# Written apart, so that this line does not find itself.
MARKERS = re.compile(r"\b(TO" r"DO|FIX" r"ME|XX" r"X|HA" r"CK)\b|^(<{7}|>{7}) |[ \t]+$")
# What only these may say: they hold the unsafe code, behind safe types.
FENCE = re.compile(r"\b(unsafe|bindings)\b")
FENCED_OFF = ("nommu/", "mmu/")
# Of the crates for user space: their system layers, and what tests these.
FENCED_OFF += ("lib/pages/src/sys/", "lib/pages-alloc/src/sys/", "lib/pages-alloc/src/tests/")


class Tree:
    """The files that git tracks, or would if they were added."""

    def __init__(self, top):
        self.top = top
        listed = subprocess.run(
            ["git", "-C", top, "ls-files", "-co", "--exclude-standard"],
            capture_output=True, encoding="utf-8", check=True,
        ).stdout  # fmt: skip
        self.names = [name for name in sorted(set(listed.split("\n"))) if self.exists(name)]

    def exists(self, name):
        """Listed files may have been deleted meanwhile."""
        return bool(name) and os.path.isfile(os.path.join(self.top, name))

    def ending(self, *suffixes):
        """The names that end so."""
        return [name for name in self.names if name.endswith(suffixes)]

    def scripts(self, interpreter, suffix):
        """Scripts by their first line, and files by their suffix."""
        return [
            name
            for name in self.names
            if name.endswith(suffix)
            or re.match(rf"#!.*\b{interpreter}\b", (self.lines(name) or [""])[0])
        ]

    def lines(self, name):
        """The lines of a file."""
        with open(os.path.join(self.top, name), encoding="utf-8", errors="replace") as file:
            return file.read().splitlines()


def fence(tree):
    """unsafe code and bindings in nommu/ only"""
    for name in tree.ending(".rs"):
        if name.startswith(FENCED_OFF):
            continue
        for number, line in enumerate(tree.lines(name), 1):
            code = re.sub(r'//.*|"[^"]*"', "", line)
            if match := FENCE.search(code):
                yield f"{name}:{number}: '{match[0]}' belongs into {FENCED_OFF[0]}"


def spdx(tree):
    """a licence line in every file"""
    for name in tree.names:
        if name.startswith("LICENSES/") or name in ("COPYING", "LICENSE"):
            continue
        sidecar = f"{name}.license"
        where = tree.lines(sidecar if tree.exists(sidecar) else name)
        # Patches are letters; theirs comes after the message.
        head = where if name.endswith(".patch") else where[:2]
        if not any("SPDX-License-Identifier: " in line for line in head):
            yield f"{name}:1: no SPDX-License-Identifier"


def length(tree):
    """no file longer than a person reads"""
    for name in tree.names:
        count = len(tree.lines(name))
        if count > MOST_LINES and not name.endswith(DATA) and not name.startswith("LICENSES/"):
            yield f"{name}:{count}: more than {MOST_LINES} lines"


def width(tree):
    """no line of Rust longer than checkpatch takes; rustfmt leaves comments alone"""
    for name in tree.ending(".rs"):
        for number, line in enumerate(tree.lines(name), 1):
            if len(line) > MOST_COLUMNS:
                yield f"{name}:{number}: {len(line)} columns, more than {MOST_COLUMNS}"


def leftovers(tree):
    """no markers of unfinished work, no blanks at the end of a line"""
    for name in tree.names:
        # In a patch a blank line of context is a single blank.
        if name.endswith((".patch", *DATA)):
            continue
        for number, line in enumerate(tree.lines(name), 1):
            if match := MARKERS.search(line):
                yield f"{name}:{number}: left over: '{match[0]}'"
