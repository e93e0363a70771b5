# SPDX-License-Identifier: GPL-2.0
"""Where the parts of this project go in a kernel source tree, and as what."""

import glob
import os
import re
import tempfile

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

# Next to mem.c, which has /dev/zero; the name is that of the module and of
# its parameters.
DRIVER = "drivers/char/rust_uncleared"
SELFTESTS = "tools/testing/selftests/pages"
# Named after the device, since that is what an administrator looks for; next
# to nommu-mmap.rst. How it is built is for those who read drivers.
GUIDE = "Documentation/admin-guide/mm/dev-pages.rst"
DESIGN = "Documentation/driver-api/dev-pages.rst"

# What gets a line of ours, and what a tree is known by.
TOUCHED = (
    "MAINTAINERS", "drivers/char/Kconfig", "drivers/char/Makefile",
    "tools/testing/selftests/Makefile", "Documentation/admin-guide/mm/index.rst",
    "Documentation/driver-api/index.rst",
)  # fmt: skip
KNOWN = ("Kbuild", "scripts/checkpatch.pl", "rust/kernel/miscdevice.rs")

# Copied as they are: what of ours, the directory that it goes to.
DRIVER_FILES = (
    ("rust_uncleared.rs", DRIVER),
    ("Kconfig", DRIVER),
    ("device/*.rs", f"{DRIVER}/device"),
    ("nommu/*.rs", f"{DRIVER}/nommu"),
    ("mmu/*.rs", f"{DRIVER}/mmu"),
    ("include/uapi/linux/pages.h", "include/uapi/linux"),
)
SELFTEST_FILES = (
    ("selftests/pages_*.c", SELFTESTS),
    ("selftests/start.c", SELFTESTS),
    ("selftests/*.h", SELFTESTS),
    ("selftests/check-pie", SELFTESTS),
    ("selftests/config", SELFTESTS),
)
# Nothing else with these endings belongs there: what an earlier version of
# ours has left goes away.
OWN = {f"{DRIVER}/**/*.rs", f"{SELFTESTS}/*.[ch]"}

# From here on the design is about the repository, not about the driver.
DESIGN_END = "Parts that are not ours\n======="

LICENCE = "# SPDX-License-Identifier: GPL-2.0\n"


class Misfit(Exception):
    """The tree is not one that the parts fit into."""


class Tree:
    """A kernel source tree and what is to be changed in it, all at once."""

    def __init__(self, root):
        self.root = root
        self.changed = {}
        self.placed = set()
        self.removed = []
        for name in KNOWN[:2] + TOUCHED[:2]:
            if not os.path.isfile(os.path.join(root, name)):
                raise Misfit(f"not a kernel source tree (no {name})")
        if not os.path.isfile(os.path.join(root, KNOWN[2])):
            raise Misfit(f"has no Rust misc devices ({KNOWN[2]}); take 7.2 or newer")

    def has(self, name):
        """Whether there will be a file of that name, or a directory of it."""
        return os.path.exists(os.path.join(self.root, name)) or any(
            new == name or (name.endswith("/") and new.startswith(name)) for new in self.changed
        )

    def read(self, name):
        """A file of the tree, as it will be."""
        if name not in self.changed:
            try:
                with open(os.path.join(self.root, name), encoding="utf-8") as file:
                    return file.read()
            except OSError as error:
                raise Misfit(f"cannot read {name}: {error.strerror}") from error
        return self.changed[name]

    def write(self, name, text):
        """Have this text in a file."""
        path = os.path.join(self.root, name)
        self.placed.add(name)
        if name in self.changed or not os.path.exists(path) or self.read(name) != text:
            self.changed[name] = text

    def copy(self, files):
        """Have copies of these files of ours."""
        for pattern, folder in files:
            paths = sorted(glob.glob(os.path.join(TOP, pattern)))
            if not paths:
                raise Misfit(f"this checkout has no {pattern}")
            for path in paths:
                self.write(f"{folder}/{os.path.basename(path)}", ours(path))

    def insert(self, name, text, before):
        """Have these lines in a file, in front of the first that begins like this."""
        old = self.read(name)
        if text not in old:
            found = re.search(f"^{before}", old, re.MULTILINE)
            if not found:
                raise Misfit(f"no place for '{text.strip()}' in {name}")
            self.changed[name] = old[: found.start()] + text + old[found.start() :]

    def remove_stale(self):
        """Take away what an earlier version of ours has left."""
        for pattern in OWN:
            for path in glob.glob(os.path.join(self.root, pattern), recursive=True):
                name = os.path.relpath(path, self.root)
                if name not in self.placed:
                    self.removed.append(name)

    def commit(self):
        """Carry it out. Nothing has been touched before, and a file is old or new."""
        for name, text in sorted(self.changed.items()):
            path = os.path.join(self.root, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            mode = os.stat(path).st_mode & 0o777 if os.path.exists(path) else 0o644
            with tempfile.NamedTemporaryFile(
                "w", encoding="utf-8", dir=os.path.dirname(path), delete=False
            ) as file:
                file.write(text)
            os.chmod(file.name, mode)
            os.replace(file.name, path)
        for name in self.removed:
            os.unlink(os.path.join(self.root, name))


def ours(name):
    """The text of a file of this project."""
    with open(os.path.join(TOP, name), encoding="utf-8") as file:
        return file.read()


def titled(title, text):
    """A document of ours under this title, with paths as they are in the tree."""
    rule = "=" * len(title)
    text = re.sub(r"^=+\n.*\n=+\n", f"{rule}\n{title}\n{rule}\n", text, count=1, flags=re.MULTILINE)
    text = text.replace("are of\nthis project", f"are of\n``{DRIVER}``")
    text = text.replace("``selftests/", f"``{SELFTESTS}/")
    return text


def place_code(tree, files=DRIVER_FILES):
    """The driver, its options and its header."""
    tree.copy(files)
    tree.write(f"{DRIVER}/Makefile", ours("intree/driver.mk"))
    tree.insert("drivers/char/Kconfig", f'source "{DRIVER}/Kconfig"\n\n', before=r"endmenu\n*\Z")
    makefile = tree.read("drivers/char/Makefile")
    line = "obj-$(CONFIG_RUST_UNCLEARED)\t+= rust_uncleared/\n"
    if line not in makefile:
        tree.write("drivers/char/Makefile", makefile.rstrip("\n") + "\n" + line)


def maintainers():
    """Our entry in MAINTAINERS."""
    return ours("intree/maintainers").replace(LICENCE, "", 1)


def place_entry(tree, entry=None):
    """Who looks after what of it is there."""
    title, *lines = (entry or maintainers()).splitlines(True)
    lines = [line for line in lines if line[0] != "F" or tree.has(line.split()[1])]
    old = tree.read("MAINTAINERS")
    rest = re.sub(f"^{title}(.+\n)*\n", "", old, flags=re.MULTILINE)
    for match in re.finditer(r"(?<=\n\n)(\S.*\n)[A-Z]:\t", rest):
        if match[1] > title:
            new = rest[: match.start()] + title + "".join(lines) + "\n" + rest[match.start() :]
            tree.write("MAINTAINERS", new)
            return
    raise Misfit("no place for an entry in MAINTAINERS")


def place_tests(tree):
    """The test programs."""
    tree.copy(SELFTEST_FILES)
    tree.write(f"{SELFTESTS}/Makefile", ours("intree/selftests.mk"))
    programs = [os.path.basename(path)[:-2] for path in glob.glob(f"{TOP}/selftests/pages_*.c")]
    tree.write(f"{SELFTESTS}/.gitignore", LICENCE + "".join(f"{n}\n" for n in sorted(programs)))
    tree.write(f"{SELFTESTS}/settings", "timeout=300\n")
    targets = "tools/testing/selftests/Makefile"
    tree.insert(targets, "TARGETS += pages\n", before=r"TARGETS \+= p[b-z]")


def place_documents(tree):
    """What programs may rely on, and how it is built."""
    tree.write(GUIDE, titled("/dev/pages", ours("Documentation/abi.rst")))
    design, end, _ = ours("Documentation/design.rst").partition(DESIGN_END)
    if not end:
        raise Misfit("Documentation/design.rst of this checkout has lost its last part")
    tree.write(DESIGN, titled("Design of /dev/pages", design.rstrip("\n") + "\n"))
    for name, before in (
        ("admin-guide/mm", "   hugetlbpage$"),
        ("driver-api", "   dmaengine/index$"),
    ):
        tree.insert(f"Documentation/{name}/index.rst", "   dev-pages\n", before)


def place_all(tree):
    """Everything."""
    place_code(tree)
    place_tests(tree)
    place_documents(tree)
    place_entry(tree)
    tree.remove_stale()
