# SPDX-License-Identifier: GPL-2.0
"""What the parts of this project become when they go upstream.

nommu/ goes into rust/kernel and the driver uses it from there. Each change to a
file is a substitution that must find its place, so that none is lost in silence.
"""

import glob
import os
import re
import subprocess

import tree
from tree import Misfit

HOOKS = "patches/upstream/0001-rust-miscdevice-nommu-hooks-and-mode.patch"
MESSAGES = "patches/upstream/messages.txt"
MM = "tools/testing/selftests/mm"
LIB = "rust/kernel/lib.rs"
TOUCHED = (LIB, f"{MM}/Makefile", f"{MM}/run_vmtests.sh")
# The first part of nommu/ is the type of the runs, the second all the rest.
RUNS = ("join", "page_run", "reserve", "task")


def ours_text(name):
    """A file of this project."""
    return tree.ours(name)


def message(step):
    """The commit message of a step, by the name of its function."""
    for part in re.split(r"^== ", ours_text(MESSAGES), flags=re.MULTILINE)[1:]:
        name, _, text = part.partition("\n")
        if name.strip() == step.__name__:
            return text.strip() + "\n"
    raise Misfit(f"{MESSAGES} has no message for {step.__name__}")


def replace(text, pattern, new, what):
    """Replace the one place that matches."""
    text, count = re.subn(pattern, lambda _: new, text, flags=re.MULTILINE | re.DOTALL)
    if count != 1:
        raise Misfit(f"{what}: {count} places instead of one")
    return text


def rustfmt(text):
    """As the kernel has it; the order of imports has changed."""
    done = subprocess.run(
        ["rustfmt", "--edition", "2021"],
        input=text, capture_output=True, encoding="utf-8", check=False,
    )  # fmt: skip
    if done.returncode:
        raise Misfit(f"rustfmt: {done.stderr.strip()}")
    return done.stdout


def kernel_crate(text):
    """Code of a driver, as code of the kernel crate."""
    lines = []
    for line in text.split("\n"):
        code, slashes, comment = line.partition("//")
        code = re.sub(r"(?<![:\w])kernel::", "crate::", code)
        code = code.replace("pub(crate)", "pub").replace("rust_uncleared", "rust_nommu")
        lines.append(code + slashes + comment)
    return "\n".join(lines)


def module_file(placed):
    """nommu/mod.rs with those modules that are there."""
    text = kernel_crate(ours_text("nommu/mod.rs"))
    text = replace(
        text, r"^//! This is the only place .*?safe Rust:\n",
        "//! Each file holds one concept and offers it as safe Rust:\n", "nommu/mod.rs, head",
    )  # fmt: skip
    text = replace(text, r" that\n//!   `rust/kernel` has no wrapper for", "", "nommu/mod.rs, points")
    head, *points = re.split(r"^(?=//! - )", text, flags=re.MULTILINE)
    last, blank, rest = points[-1].partition("//!\n")
    points[-1] = last
    points = [p for p in points if set(re.findall(r"\[`(\w+)`\]", p)) & placed]
    # A point that names several may be true of some of them.
    some = lambda m: m[0] if m[1] in placed else ""
    points = [re.sub(r"\[`(\w+)`\](?:, )?", some, p).replace(", :", ":") for p in points]
    rest = re.sub(r"^(?:pub )?mod (\w+);\n", lambda m: m[0] if m[1] in placed else "", rest, flags=re.M)
    return head + "".join(points) + blank + rest


def misc_device(text):
    """The table of operations is made by kernel::miscdevice itself."""
    name = "nommu/misc_device.rs"
    table = re.search(
        r"    const FOPS: bindings::file_operations = bindings::file_operations \{\n(.*?)"
        r"        // SAFETY: `into_raw\(\)`.*?^    \};\n",
        text, re.MULTILINE | re.DOTALL,
    )  # fmt: skip
    if not table:
        raise Misfit(f"{name}: no table of operations")
    text = replace(
        text, r"    /// The operations of `kernel::miscdevice`, and.*?^    const OPTIONS: .*?;\n\n", "",
        f"{name}, FOPS and OPTIONS",
    )  # fmt: skip
    text = replace(
        text, r"    type Ptr = Pin<KBox<Self>>;\n",
        "    type Ptr = Pin<KBox<Self>>;\n    type OwnerModule = D::OwnerModule;\n\n"
        "    // SAFETY: The first two want a file of `OpenFile<D>`, which is what these are for; the\n"
        "    // others do with any file.\n"
        "    const RAW_OPERATIONS: RawOperations = unsafe {\n"
        "        RawOperations::new(bindings::file_operations {\n"
        f"{table[1]}            ..pin_init::zeroed()\n        }})\n    }};\n",
        f"{name}, Ptr",
    )  # fmt: skip
    text = replace(
        text, r"let device = bindings::miscdevice \{.*?\};\n",
        "let device = MiscDeviceOptions { name, mode }.into_raw::<OpenFile<D>>();\n",
        f"{name}, device",
    )  # fmt: skip
    text = replace(
        text, r"        MiscDeviceRegistration, //\n",
        "        MiscDeviceRegistration,\n        RawOperations, //\n", f"{name}, imports",
    )  # fmt: skip
    text = replace(
        text, r"^//! `kernel::miscdevice` sets neither.*?\n//!\n",
        "//! [`MiscDevice`] has no method for `mmap_capabilities` and `get_unmapped_area`, without which\n"
        "//! every mapping of a character device is `ENODEV` on nommu. This file adds them as\n"
        "//! [`RawOperations`].\n//!\n", f"{name}, head",
    )  # fmt: skip
    return replace(
        text, r"^pub trait NommuMiscDevice", "#[vtable]\npub trait NommuMiscDevice", f"{name}, trait"
    )


def place_modules(target, names):
    """Put these modules of nommu/ into the kernel crate, with those that are there."""
    there = {os.path.basename(path)[:-3] for path in glob.glob(f"{target.root}/rust/kernel/nommu/*.rs")}
    for name in names:
        text = kernel_crate(ours_text(f"nommu/{name}.rs"))
        if name == "misc_device":
            text = misc_device(text)
        target.write(f"rust/kernel/nommu/{name}.rs", rustfmt(text))
    target.write("rust/kernel/nommu.rs", module_file(there | set(names)))
    target.insert(LIB, "#[cfg(not(CONFIG_MMU))]\npub mod nommu;\n", before="pub mod num;$")


def place_zero_test(target):
    """A test of /dev/zero, beside the others of mm."""
    target.write(f"{MM}/map_zero.c", ours_text("selftests/map_zero.c"))
    target.insert(
        f"{MM}/Makefile", "TEST_GEN_FILES += map_zero\n",
        before=r"ifneq .*\nTEST_GEN_FILES \+= memfd_secret",
    )  # fmt: skip
    target.insert(
        f"{MM}/run_vmtests.sh", 'CATEGORY="mmap" run_test ./map_zero\n\n',
        before=r"if \[ \S+ \]; then\n\S+ run_test ./mlock-random-test|CATEGORY=\"mlock\"",
    )  # fmt: skip
    target.insert("MAINTAINERS", f"F:\t{MM}/map_zero.c\n", before="X:\tdrivers/char/agp/$")


def place_page_runs(target):
    """rust/kernel/nommu: runs of page frames."""
    place_modules(target, RUNS)
    files = "".join(f"F:\trust/kernel/nommu/{name}.rs\n" for name in RUNS)
    tree.place_entry(target, tree.maintainers().replace("F:\trust/kernel/nommu/\n", files))


def place_misc_device(target):
    """rust/kernel/nommu: misc devices that hand them out."""
    paths = glob.glob(os.path.join(tree.TOP, "nommu", "*.rs"))
    names = sorted(os.path.basename(path)[:-3] for path in paths)
    place_modules(target, [name for name in names if name not in RUNS and name != "mod"])
    tree.place_entry(target)


def place_driver(target):
    """The driver, which uses nommu from the kernel crate."""
    tree.place_code(target, [entry for entry in tree.DRIVER_FILES if entry[0] != "nommu/*.rs"])
    root = f"{tree.DRIVER}/rust_uncleared.rs"
    text = replace(
        target.read(root), r"^#\[expect\(unsafe_code\)\]\nmod nommu;\n", "", "rust_uncleared.rs, mod"
    )
    text = replace(text, r"^use nommu as memory;", "use kernel::nommu as memory;", "rust_uncleared.rs, use")
    text = replace(
        text, r"^//! - \[`nommu`\] carries out", "//! - [`kernel::nommu`] carries out", "rust_uncleared.rs"
    )
    target.write(root, text)
    name = f"{tree.DRIVER}/device/open_file.rs"
    target.write(name, replace(
        target.read(name), r"^impl NommuMiscDevice for OpenFile", "#[vtable]\nimpl NommuMiscDevice for OpenFile",
        "device/open_file.rs",
    ))  # fmt: skip
    tree.place_entry(target)


def place_tests(target):
    """The driver's selftests and documents."""
    tree.place_tests(target)
    tree.place_documents(target)
    text = target.read(tree.DESIGN)
    target.write(tree.DESIGN, text.replace("``nommu/``", "``rust/kernel/nommu/``"))
    tree.place_entry(target)


STEPS = (place_page_runs, place_misc_device, place_driver, place_tests)
