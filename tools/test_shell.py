# SPDX-License-Identifier: GPL-2.0
"""Tests of tools/shell: a person's session, typed by a program on a terminal."""

import os
import pty
import re
import select
import subprocess
import time
import unittest

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BUILD = os.path.join(TOP, os.environ.get("BUILD") or "build")
PROMPT = "/ # "
LIMIT_SECONDS = 120
GREP = "grep . /sys/kernel/debug/pages/*"
# In the order of pagestat.
FIGURES = (
    "mappings", "mapped_bytes", "peak_bytes", "cached_clean_bytes", "cached_dirty_bytes",
    "reserve_bytes", "reserve_free_bytes", "cleared_bytes", "uncleared_bytes", "recycled_bytes",
    "failures",
)  # fmt: skip


class Session:
    """A shell in the guest, and what it has shown so far."""

    def __init__(self):
        self.ours, theirs = pty.openpty()
        self.process = subprocess.Popen(
            [os.path.join(TOP, "tools", "shell")],
            stdin=theirs, stdout=theirs, stderr=subprocess.PIPE, close_fds=True,
        )  # fmt: skip
        os.close(theirs)
        self.seen = ""

    def read_until(self, text):
        """What is shown up to this text."""
        end = time.monotonic() + LIMIT_SECONDS
        while text not in self.seen:
            ready, _, _ = select.select([self.ours], [], [], max(0, end - time.monotonic()))
            if not ready:
                raise AssertionError(f"no {text!r} after {self.seen[-500:]!r}")
            try:
                self.seen += os.read(self.ours, 4096).decode(errors="replace")
            except OSError as error:
                raise AssertionError(f"ended before {text!r}: {self.seen[-500:]!r}") from error
        shown, _, self.seen = self.seen.partition(text)
        # What the line editor does with the cursor.
        return re.sub(r"\x1b\[[0-9;]*[A-Za-z]|\r", "", shown)

    def run(self, command):
        """What a command shows."""
        os.write(self.ours, command.encode() + b"\n")
        return self.read_until(PROMPT).partition("\n")[2]

    def end(self, keys):
        """Type the last keys; the exit status."""
        os.write(self.ours, keys)
        # Somebody has to take what is still shown, or the other side waits.
        end = time.monotonic() + LIMIT_SECONDS
        while self.process.poll() is None and time.monotonic() < end:
            if select.select([self.ours], [], [], 0.1)[0]:
                try:
                    os.read(self.ours, 4096)
                except OSError:
                    break
        return self.process.wait(LIMIT_SECONDS)

    def close(self):
        """Leave nothing behind."""
        if self.process.poll() is None:
            self.process.terminate()
        self.process.wait()
        self.process.stderr.close()
        os.close(self.ours)


class Shell(unittest.TestCase):
    """make shell."""

    def setUp(self):
        self.session = Session()
        self.addCleanup(self.session.close)
        self.banner = self.session.read_until(PROMPT)

    def test_look_around(self):
        """shell: what is promised at the start is there and runs"""
        self.assertIn("with /dev/pages", self.banner)
        names = r"\b(?:pages_|malloc-)\w+|pagestat|double_buffer|packets|words"
        promised = re.findall(names, self.banner)
        self.assertGreaterEqual(len(promised), 7)
        for name in promised:
            self.assertIn(f"/bin/{name}\n", self.session.run(f"ls /bin/{name}"))
        self.assertIn("60 frames", self.session.run("double_buffer"))
        self.assertIn("packets received, ", self.session.run("packets"))
        self.assertIn("bytes of text", self.session.run("words"))
        self.assertEqual(self.session.end(b"false\nexit\n"), 0)

    def test_pagestat(self):
        """shell: pagestat says what debugfs says"""
        self.session.run("double_buffer")
        self.session.run("sleep 1")  # until what waits has been cleared
        stats = re.findall(r"^\D*?(\d+)$", self.session.run("pagestat -b"), re.MULTILINE)
        # Short enough for one line of the terminal.
        files = dict(re.findall(r"(\w+):(\d+)$", self.session.run(GREP), re.MULTILINE))
        self.assertEqual(sorted(files), sorted(FIGURES))
        self.assertEqual(stats, [files[name] for name in FIGURES])
        self.assertGreaterEqual(int(stats[FIGURES.index("peak_bytes")]), 2 * 800 * 480 * 2)
        for wrong in ("-w 0", "-w 1x", "-w 99999999999"):
            self.assertIn("want a number of seconds", self.session.run(f"pagestat {wrong}"))
        self.session.run("rmmod rust_uncleared")
        self.assertIn("load the module", self.session.run("pagestat"))
        self.assertEqual(self.session.end(b"exit\n"), 0)

    def test_open_files(self):
        """shell: pagestat shows who has the device open; ^C ends it and not the shell"""
        self.assertIn("nobody has /dev/pages open", self.session.run("pagestat"))
        self.session.run("sleep 100 </dev/pages &")
        self.assertRegex(self.session.run("pagestat"), r"\d+ sleep +0 +0 +0 B\n")
        os.write(self.session.ours, b"pagestat -w\n")
        self.session.read_until("PID")
        self.session.read_until("PID")
        os.write(self.session.ours, b"\x03")
        self.session.read_until(PROMPT)
        self.assertIn("status 130", self.session.run("echo status $?"))
        self.assertEqual(self.session.end(b"exit\n"), 0)

    def test_power_off(self):
        """shell: poweroff ends it well"""
        self.assertEqual(self.session.end(b"poweroff\n"), 0)
        with open(os.path.join(BUILD, "log", "shell.console"), encoding="utf-8") as log:
            self.assertIn("Power down", log.read())


class NoTerminal(unittest.TestCase):
    """Somebody runs it in a pipe."""

    def test_pipe(self):
        """shell: without a terminal it is one line and no boot"""
        done = subprocess.run(
            [os.path.join(TOP, "tools", "shell")],
            stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8", check=False,
        )  # fmt: skip
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stderr.count("\n"), 1)
        self.assertIn("terminal", done.stderr)
