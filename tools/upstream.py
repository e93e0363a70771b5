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
# The first part of nommu/ is these and what they use, the second all the rest.
RUNS = ("page_run", "reserve")
# There is but one kernel to be compatible with then.
LEFT_OUT = {"mod", "compat"}


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
    no_wrapper = r"\s+that\s[/!\s]*`rust/kernel`[/!\s]*has\s[/!\s]*no wrapper for"
    text = replace(text, no_wrapper, "", "nommu/mod.rs, points")
    head, *points = re.split(r"^(?=//! - )", text, flags=re.MULTILINE)
    last, blank, rest = points[-1].partition("//!\n")
    points[-1] = last
    points = [p for p in points if set(re.findall(r"\[`(\w+)`\]", p)) & placed]
    there = lambda m: m[0] if m[1] in placed else ""
    # A point that names several may be true of some of them.
    points = [re.sub(r"\[`(\w+)`\](?:, )?", there, p).replace(", :", ":") for p in points]
    rest = re.sub(r"^(?:pub )?mod (\w+);\n", there, rest, flags=re.M)
    return head + "".join(points) + blank + rest


def operations(text, name):
    """The file with the table of operations: kernel::miscdevice itself makes one now."""
    table = re.search(
        r"    (?:pub(?:\(super\))? )?const (\w+): bindings::file_operations = [\w:]+ \{\n(.*?)"
        r"        // SAFETY: `into_raw\(\)`.*?^    \};\n",
        text, re.MULTILINE | re.DOTALL,
    )  # fmt: skip
    own = r"    /// The operations of `kernel::miscdevice`, and[^{]*\{.*?^    const OPTIONS: .*?;\n\n"
    text = replace(text, own, "", f"{name}, {table[1]} and OPTIONS")
    text = text.replace(f"privacy of `{table[1]}`", "privacy of this type")
    text = replace(
        text, r"    type Ptr = Pin<KBox<Self>>;\n",
        "    type Ptr = Pin<KBox<Self>>;\n    type OwnerModule = D::OwnerModule;\n\n"
        "    // SAFETY: The first two want a file of `OpenFile<D>`, which is what these are for;\n"
        "    // the others do with any file.\n"
        "    const RAW_OPERATIONS: RawOperations = unsafe {\n"
        "        RawOperations::new(bindings::file_operations {\n"
        f"{table[2]}            ..pin_init::zeroed()\n        }})\n    }};\n",
        f"{name}, Ptr",
    )  # fmt: skip
    text = replace(
        text, r"        MiscDeviceRegistration, //\n",
        "        MiscDeviceRegistration,\n        RawOperations, //\n", f"{name}, imports",
    )  # fmt: skip
    if text.count("MiscDeviceOptions") == 1:
        text = replace(text, r"        MiscDeviceOptions,\n", "", f"{name}, imports")
    return replace(
        text, r"^//! `kernel::miscdevice` sets neither.*?\n//!\n",
        "//! [`MiscDevice`] has no method for `mmap_capabilities` and `get_unmapped_area`.\n"
        "//! Without them every mapping of a character device is `ENODEV` on nommu. This file\n"
        "//! adds them as [`RawOperations`].\n//!\n", f"{name}, head",
    )  # fmt: skip


def registration(text, name):
    """The file with the trait for drivers, and the registration."""
    text = replace(
        text, r"let device = bindings::miscdevice \{.*?\};\n",
        "let device = MiscDeviceOptions { name, mode }.into_raw::<OpenFile<D>>();\n",
        f"{name}, device",
    )  # fmt: skip
    trait = "pub trait NommuMiscDevice"
    return replace(text, f"^{trait}", f"#[vtable]\n{trait}", f"{name}, trait")


def without_compat(text):
    """Code that is for one kernel only, this one."""
    text = re.sub(r"^    compat(::\w+)?,\n", "", text, flags=re.MULTILINE)
    owner = r"const \{\s+&\S+ \{\s+owner: compat::OWNER,\s+\.\.(\S+)\s+\}\s+\},"
    text = re.sub(owner, r"&\1,", text)
    text = text.replace("compat::ENOSYS", "ENOSYS.to_errno()")
    text = text.replace("compat::VM_MAYSHARE", "bindings::VM_MAYSHARE")
    text = re.sub(r"\bvalue_of\((.*?\(\))\)", r"\1", text)
    if "compat" in text:
        raise Misfit(f"a use of compat is left: {text[text.index('compat') :][:40]!r}")
    return text


def placed_module(name):
    """A file of nommu/ as it is in the kernel crate."""
    text = without_compat(kernel_crate(ours_text(f"nommu/{name}.rs")))
    if "pub trait NommuMiscDevice" in text:
        text = registration(text, f"nommu/{name}.rs")
    if "bindings::file_operations =" in text:
        text = operations(text, f"nommu/{name}.rs")
    return rustfmt(text)


def needed(names):
    """These modules of nommu/ and all that they use."""
    found = set()
    while names:
        name = names.pop()
        found.add(name)
        text = ours_text(f"nommu/{name}.rs")
        imports = re.search(r"^use super::(?:\{.*?^\}|\w+)", text, re.M | re.S)
        words = re.findall(r"^    (\w+)[:,]| super::(\w+)", imports[0], re.M) if imports else ()
        names += [word for pair in words for word in pair if word and word not in found]
    return sorted(found)


def place_modules(target, names):
    """Put these modules of nommu/ into the kernel crate, beside those that are there."""
    paths = glob.glob(f"{target.root}/rust/kernel/nommu/*.rs")
    there = {os.path.basename(path)[:-3] for path in paths}
    for name in names:
        target.write(f"rust/kernel/nommu/{name}.rs", placed_module(name))
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
    names = needed(list(RUNS))
    place_modules(target, names)
    files = "".join(f"F:\trust/kernel/nommu/{name}.rs\n" for name in names)
    tree.place_entry(target, tree.maintainers().replace("F:\trust/kernel/nommu/\n", files))


def place_misc_device(target):
    """rust/kernel/nommu: misc devices that hand them out."""
    paths = glob.glob(os.path.join(tree.TOP, "nommu", "*.rs"))
    names = {os.path.basename(path)[:-3] for path in paths} - LEFT_OUT - set(needed(list(RUNS)))
    place_modules(target, sorted(names))
    tree.place_entry(target)


def place_driver(target):
    """The driver, which uses nommu from the kernel crate."""
    ours = [entry for entry in tree.DRIVER_FILES if "mmu/" not in entry[0]]
    tree.place_code(target, ours)
    root = f"{tree.DRIVER}/rust_uncleared.rs"
    text = without_compat(target.read(root))
    # The part for kernels with an MMU stays where it is.
    text = re.sub(r"^#\[cfg\(CONFIG_MMU\)\]\n(#.*\n)?(mod|use) mmu\b.*\n", "", text, flags=re.M)
    text = replace(text, r"^(#[^\n]*\n)+mod nommu;\n", "", "rust_uncleared.rs, mod")
    text = replace(
        text, r"^(#\[cfg[^\n]*\n)?use nommu as memory;", "use kernel::nommu as memory;",
        "rust_uncleared.rs, use",
    )  # fmt: skip
    text = replace(
        text, r"^//! - \[?`nommu`.*? carries out", "//! - [`kernel::nommu`] carries out",
        "rust_uncleared.rs, head",
    )  # fmt: skip
    target.write(root, text)
    options = f"{tree.DRIVER}/Kconfig"
    text = re.sub(r"depends on RUST$", "depends on RUST && !MMU", target.read(options), flags=re.M)
    target.write(options, text)
    name = f"{tree.DRIVER}/device/open_file.rs"
    target.write(name, replace(
        target.read(name), "^impl NommuMiscDevice for OpenFile",
        "#[vtable]\nimpl NommuMiscDevice for OpenFile", "device/open_file.rs",
    ))  # fmt: skip
    tree.place_entry(target)


def place_tests(target):
    """The driver's selftests and documents."""
    tree.place_tests(target)
    tree.place_documents(target)
    text = target.read(tree.DESIGN)
    text = re.sub(r"^``compat.rs``\n(\t.*\n)+", "", text, flags=re.MULTILINE)
    target.write(tree.DESIGN, text.replace("``nommu/``", "``rust/kernel/nommu/``"))
    tree.place_entry(target)


STEPS = (place_page_runs, place_misc_device, place_driver, place_tests)
