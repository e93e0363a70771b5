# SPDX-License-Identifier: GPL-2.0
"""Tests of tools/boot: what it passes on and what it refuses."""

import importlib.machinery
import importlib.util
import os
import struct
import subprocess
import tempfile
import unittest

import machines

HERE = os.path.dirname(os.path.abspath(__file__))
BOOT = os.path.join(HERE, "boot")

LOADER = importlib.machinery.SourceFileLoader("boot", BOOT)
SPEC = importlib.util.spec_from_loader("boot", LOADER)
boot = importlib.util.module_from_spec(SPEC)
LOADER.exec_module(boot)

# addi a7, zero, 93 (exit); ecall: with the status in a0 before it
EXIT = (0x05D00893, 0x00000073)
LOOP = (0x0000006F,)
BREAKPOINT = (0x00100073,)


def status(number):
    """addi a0, zero, number"""
    return (number << 20 | 0x00000513,)


def program(code, kind=3, machine=243, interpreter=False):
    """A static-pie program: one loaded segment, a stack of 64 KiB."""
    text = b"".join(struct.pack("<I", word) for word in code)
    segments = [(1, 5), (0x6474E551, 6)] + [(3, 4)] * interpreter
    entry = 64 + 56 * len(segments)
    size = entry + len(text)
    elf = b"\x7fELF\x02\x01\x01".ljust(16, b"\0")
    elf += struct.pack("<HHIQQQ", kind, machine, 1, entry, 64, 0)
    elf += struct.pack("<IHHHHHH", 0, 64, 56, len(segments), 64, 0, 0)
    for what, flags in segments:
        length = (size, size) if what == 1 else (0, 65536)
        elf += struct.pack("<IIQQQQQQ", what, flags, 0, 0, 0, *length, 4096)
    return elf + text


class Booting(unittest.TestCase):
    """Real boots of programs a few instructions long."""

    def boot(self, code, *settings):
        """The outcome of one boot."""
        with tempfile.NamedTemporaryFile(prefix="boot-test-") as file:
            file.write(program(code))
            file.flush()
            return self.boot_path(file.name, *settings)

    def boot_path(self, path, *settings):
        """The outcome of a boot of whatever is at path."""
        return subprocess.run(
            [BOOT, "NAME=boot-test", "MODULE=", *settings, path],
            stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8", check=False,
        )  # fmt: skip

    def assert_refused(self, done, text):
        """Wrong usage: one line, exit status 2."""
        self.assertEqual(done.returncode, 2)
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        self.assertIn(text, done.stderr)

    def test_exit_status(self):
        """boot: the program's exit status is passed on"""
        self.assertEqual(self.boot(status(0) + EXIT).returncode, 0)
        self.assertEqual(self.boot(status(7) + EXIT).returncode, 7)

    def test_signal(self):
        """boot: a program killed by a signal gives 128 and its number"""
        self.assertEqual(self.boot(BREAKPOINT).returncode, 128 + 5)

    def test_time_limit(self):
        """boot: a program that does not end is stopped, exit status 124"""
        done = self.boot(LOOP, "TIMEOUT=3")
        self.assertEqual(done.returncode, 124)
        self.assertIn("not finished after 3 s", done.stderr)

    def test_panic(self):
        """boot: a kernel panic is exit status 125 with the log's end"""
        done = self.boot(status(0) + EXIT, "APPEND=rdinit=/nowhere")
        self.assertEqual(done.returncode, 125)
        self.assertIn("Kernel panic", done.stderr)

    def test_module_refused(self):
        """boot: a module that does not load is exit status 125 with the errno"""
        default = os.path.join(boot.BUILD, "module", "rust_uncleared.ko")
        done = self.boot(status(0) + EXIT, f"MODULE={default}", "MODPARAMS=policy=9")
        self.assertEqual(done.returncode, 125, done.stderr)
        self.assertIn("module load failed: errno 22", done.stderr)

    def test_refused(self):
        """boot: a missing or unfit program is one line and exit status 2"""
        self.assert_refused(self.boot_path("/nowhere/at/all"), "No such file")
        self.assert_refused(self.boot_path(BOOT), "not an ELF program")
        self.assert_refused(self.boot_path("-", "KDIR=/nowhere"), "no kernel at")
        self.assert_refused(self.boot_path("-", "COLOUR=red"), "unknown setting")
        self.assert_refused(self.boot_path("-", "ICOUNT=1", "SMP=2"), "one hart")


class Judging(unittest.TestCase):
    """The verdict on a console log, without a boot."""

    def judge(self, *lines, in_time=True):
        """The exit status for a log of these lines."""
        return boot.judge("\n".join(lines) + "\n", in_time, "9")[0]

    def test_verdict(self):
        """judge: both the verdict and the power-off line are needed"""
        off = "[    1.0] reboot: Power down"
        self.assertEqual(self.judge("[    0.9] guest: exit 3", off), 3)
        self.assertEqual(self.judge("[    0.9] guest: signal 9", off), 137)
        self.assertEqual(self.judge("[    0.9] guest: exit 3"), 125)
        self.assertEqual(self.judge(off), 125)
        self.assertEqual(self.judge(off, in_time=False), 124)

    def test_complaints(self):
        """judge: a complaint of the kernel outweighs a good verdict"""
        good = ("guest: exit 0", "reboot: Power down")
        self.assertEqual(self.judge(*good), 0)
        for line in (
            "BUG: Bad page state in process x", "WARNING: mm/nommu.c:1 at x",
            "Oops [#1]", "Call Trace:", "UBSAN: shift-out-of-bounds",
        ):  # fmt: skip
            self.assertEqual(self.judge(f"[    0.5] {line}", *good), 125, line)

    def test_programs(self):
        """judge: what is and is not a static-pie program for the machine"""

        def why(elf, target=machines.RISCV):
            return boot.why_not_a_program(elf, target)

        self.assertIsNone(why(program(EXIT)))
        self.assertIn("riscv64", why(program(EXIT, machine=62)))
        self.assertIsNone(why(program(EXIT, machine=62), machines.X86_64))
        self.assertIn("x86_64", why(program(EXIT), machines.X86_64))
        self.assertIn("position-independent", why(program(EXIT, kind=2)))
        self.assertIn("dynamically linked", why(program(EXIT, interpreter=True)))
        self.assertIn("not an ELF", why(b"\x7fELF"))
