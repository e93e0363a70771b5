# SPDX-License-Identifier: GPL-2.0
"""The virtual machines that tools/boot knows, as data."""

import os
import re
import struct
from typing import NamedTuple

MEGABYTE = 1 << 20
RAM_START = 0x80000000  # of QEMU's machine "virt" of riscv


class Machine(NamedTuple):
    """What one kind of kernel runs on."""

    name: str
    elf: int  # e_machine of its programs
    folder: str  # what comes behind "selftests" and "guest" in build/
    image: str  # within the kernel's build tree
    qemu: str
    arguments: tuple
    # Our own place for the initrd, and a clock that counts instructions.
    places_initrd: bool
    counts: bool
    bus: str  # what its virtio devices are on
    append: str  # to the kernel's command line


RISCV = Machine(
    "riscv64", 243, "", "arch/riscv/boot/Image", "qemu-system-riscv64",
    ("-M", "virt", "-cpu", "rv64", "-bios", "none"), True, True, "device", "",
)  # fmt: skip
# QEMU's default firmware is OpenSBI.
RISCV_MMU = RISCV._replace(arguments=("-M", "virt", "-cpu", "rv64", "-bios", "default"))
X86_64 = Machine(
    "x86_64", 62, "-x86_64", "arch/x86/boot/bzImage", "qemu-system-x86_64",
    ("-M", "pc"), False, False, "pci",
    # Or the clock is calibrated again, with lines in the log, when tests have begun.
    " tsc=unstable",
)  # fmt: skip


def has(config, option):
    """Whether a kernel's .config says yes to this option."""
    return re.search(f"^CONFIG_{option}=y$", config, re.MULTILINE) is not None


def of_kernel(build_tree):
    """The machine for a kernel, by its configuration."""
    try:
        with open(os.path.join(build_tree, ".config"), encoding="utf-8") as file:
            config = file.read()
    except OSError:
        config = ""
    if has(config, "X86_64"):
        return X86_64
    return RISCV_MMU if has(config, "MMU") else RISCV


def accelerator(machine):
    """QEMU's arguments for the fastest processor that this host has for it.

    /dev/kvm alone does not say that any kernel runs: kvm_pvm, which has it too,
    takes kernels only that were made for it.
    """
    if machine is not X86_64:
        return ()
    hardware = any(os.path.exists(f"/sys/module/kvm_{maker}") for maker in ("intel", "amd"))
    if hardware and os.access("/dev/kvm", os.R_OK | os.W_OK):
        return ("-accel", "kvm", "-cpu", "host")
    return ("-accel", "tcg", "-cpu", "max")


def behind_kernel(image):
    """Where the initrd goes on riscv: right behind the kernel.

    QEMU's own -initrd puts it into the middle of RAM, where what is left of
    it splits the memory that could be mapped in one piece.
    """
    with open(image, "rb") as file:
        header = file.read(32)
    # Documentation/arch/riscv/boot-image-header.rst
    offset, size = struct.unpack_from("<QQ", header, 8)
    return -(-(RAM_START + offset + size) // MEGABYTE) * MEGABYTE
