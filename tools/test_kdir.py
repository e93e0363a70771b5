# SPDX-License-Identifier: GPL-2.0
"""Tests of tools/kdir: a kernel that will not do is refused in one line."""

import os
import re
import subprocess
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
BUILD = os.environ.get("BUILD") or os.path.join(HERE, "..", "build")
KERNEL = os.environ.get("KDIR") or os.path.join(BUILD, "kernel")
FILES = (
    "Makefile", "Module.symvers", "include/config/auto.conf", "rust/libkernel.rmeta",
    "arch/riscv/boot/Image", "tools/include/nolibc/nolibc.h",
)  # fmt: skip


class Kdir(unittest.TestCase):
    """A made-up build tree with the test kernel's configuration, and one fault."""

    def complaints(self, pattern="^$", replacement="", without=(), only=(), makefile="",
                   release="7.3.4"):  # fmt: skip
        """What is said when the configuration has been changed, or files are gone."""
        with open(os.path.join(KERNEL, ".config"), encoding="utf-8") as file:
            config = file.read()
        changed = re.sub(pattern, replacement, config, flags=re.MULTILINE)
        if pattern != "^$":
            self.assertNotEqual(changed, config, pattern)
        with tempfile.TemporaryDirectory() as tree:
            for name in FILES:
                path = os.path.join(tree, name)
                os.makedirs(os.path.dirname(path), exist_ok=True)
                if name not in without:
                    with open(path, "w", encoding="utf-8") as file:
                        file.write(makefile if name == "Makefile" else "")
            name = os.path.join(tree, "include", "config", "kernel.release")
            with open(name, "w", encoding="utf-8") as file:
                file.write(f"{release}\n")
            with open(os.path.join(tree, ".config"), "w", encoding="utf-8") as file:
                file.write(changed)
            done = subprocess.run(
                [os.path.join(HERE, "kdir"), *only], env={**os.environ, "KDIR": tree, "LLVM": ""},
                capture_output=True, encoding="utf-8", check=False,
            )  # fmt: skip
        self.assertEqual(done.returncode != 0, bool(done.stderr), done.stderr)
        return done.stderr.splitlines()

    def assert_refused(self, text, *change, **kwargs):
        """One line, and it says this."""
        lines = self.complaints(*change, **kwargs)
        self.assertEqual(len(lines), 1, lines)
        self.assertIn(text, lines[0])

    def test_good(self):
        """kdir: the test kernel is fit"""
        self.assertEqual(self.complaints(), [])

    def test_config(self):
        """kdir: no Rust, another architecture, no modules, no console: one line each"""
        self.assert_refused("has no Rust", "^CONFIG_RUST=y", "")
        self.assert_refused(
            "CONFIG_DEBUG_VIRTUAL", "^# CONFIG_MMU is not set",
            "CONFIG_MMU=y\nCONFIG_BINFMT_ELF=y\nCONFIG_DEBUG_VIRTUAL=y",
        )  # fmt: skip
        self.assert_refused("cannot load modules", "^CONFIG_MODULES=y", "")
        self.assert_refused("VIRTIO_CONSOLE", "^CONFIG_VIRTIO_CONSOLE=y", "")
        self.assert_refused("not built for riscv", "^CONFIG_RISCV=y", "")

    def test_tool_chain(self):
        """kdir: gcc, another clang, another rustc: one line each"""
        self.assert_refused("built by gcc", "^CONFIG_CC_IS_CLANG=y", "")
        self.assert_refused("built with clang 12", "clang version [0-9]+", "clang version 12")
        self.assert_refused(
            "built with 'rustc 1.0'", "^CONFIG_RUSTC_VERSION_TEXT=.*",
            'CONFIG_RUSTC_VERSION_TEXT="rustc 1.0"',
        )  # fmt: skip

    def test_files(self):
        """kdir: what make has not made yet is named"""
        self.assert_refused("not the build tree", without=["include/config/auto.conf"])
        self.assert_refused("crates are not built", without=["rust/libkernel.rmeta"])
        self.assert_refused("to boot", without=["arch/riscv/boot/Image"])
        self.assert_refused("not built to the end", without=["Module.symvers"])
        self.assert_refused("nolibc", without=["tools/include/nolibc/nolibc.h"])

    def test_too_old(self):
        """kdir: 6.12 is refused in one line that says what to take instead"""
        for release in ("6.12.117+deb12-amd64", "6.19.3", "7.1.9"):
            self.assert_refused("take 7.2 or newer", release=release)
            self.assert_refused("take 7.2 or newer", "^CONFIG_RUST=y", "", release=release)
        for release in ("7.2.0", "7.10.1", "8.0.0"):
            self.assertEqual(self.complaints(release=release), [])

    def test_headers_package(self):
        """kdir: Debian's headers are known for what they lack, in one line"""
        debian = "include /usr/src/linux-headers-7.3.4+deb13-common/Makefile\n"
        self.assert_refused(
            "without Rust metadata", "^CONFIG_RISCV=y", "", makefile=debian,
            without=["rust/libkernel.rmeta", "arch/riscv/boot/Image"],
        )  # fmt: skip
        self.assertEqual(self.complaints(makefile=debian, only=["module"]), [])

    def test_module_only(self):
        """kdir: for the module alone, what only a boot needs may be missing"""
        for fault in (
            {"pattern": "^CONFIG_(VIRTIO_CONSOLE|DEVTMPFS|DEBUG_FS|BINFMT_ELF_FDPIC)=y"},
            {"without": ["arch/riscv/boot/Image", "tools/include/nolibc/nolibc.h"]},
        ):
            self.assertNotEqual(self.complaints(**fault), [])
            self.assertEqual(self.complaints(only=["module"], **fault), [])
        for fault in ({"pattern": "^CONFIG_MODULES=y"}, {"without": ["Module.symvers"]}):
            self.assertNotEqual(self.complaints(only=["module"], **fault), [])
