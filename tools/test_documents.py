# SPDX-License-Identifier: GPL-2.0
"""Tests of the documents: the programs in them are built and run as they stand."""

import os
import re
import subprocess
import tempfile
import textwrap
import unittest

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BUILD = os.path.join(TOP, os.environ.get("BUILD") or "build")
TOOLS = os.path.join(TOP, "tools")

# A program in Markdown and what it prints; a program in reStructuredText.
MARKDOWN = re.compile(r"^```c\n(.*?)^```\n.*?^```text\n(.*?)^```\n", re.DOTALL | re.MULTILINE)
RST = re.compile(r"^\.\. code-block:: c\n\n((?:\t.*\n|\n)+)", re.MULTILINE)

# musl alone cannot do this without an MMU.
MALLOC = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(void)
{
	char *block = malloc(16 << 20);

	if (!block)
		return 1;
	memset(block, 1, 16 << 20);
	printf("%d MiB\\n", 16);
	free(block);
	return 0;
}
"""


class Documents(unittest.TestCase):
    """What a reader would do with a program: save, build, boot."""

    def read(self, name):
        """The text of a document."""
        with open(os.path.join(TOP, name), encoding="utf-8") as file:
            return file.read()

    def run_program(self, source):
        """What a program prints; it must build, and end well."""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "document.c")
            with open(path, "w", encoding="utf-8") as file:
                file.write(source)
            self.run_tool("cc", path)
        program = os.path.join(BUILD, "programs", "document")
        output = self.run_tool("boot", program)
        os.unlink(program)
        return output

    def run_tool(self, name, *words):
        """What a tool prints; it must succeed."""
        done = subprocess.run(
            [os.path.join(TOOLS, name), *words],
            stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8", check=False,
        )  # fmt: skip
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_readme(self):
        """README: the program builds and prints what is shown"""
        source, output = MARKDOWN.search(self.read("README.md")).groups()
        self.assertEqual(self.run_program(source), output)

    def test_user_guide(self):
        """user guide: every program builds and ends well"""
        sources = RST.findall(self.read("Documentation/user-guide.rst"))
        self.assertTrue(sources)
        for source in sources:
            self.assertTrue(self.run_program(textwrap.dedent(source)))

    def test_excerpts(self):
        """README: what it shows of an example is in the example"""
        excerpt = re.compile(
            r"\]\((examples/\S+?)\):\n\n```\w+\n(.*?)^```\n", re.DOTALL | re.MULTILINE
        )
        found = excerpt.findall(self.read("README.md"))
        self.assertGreaterEqual(len(found), 2)
        for name, text in found:
            self.assertIn(text, self.read(name))

    def test_link(self):
        """README: a program is linked with the allocator as it says, and runs"""
        command = re.search(r"^    (tools/musl-cc program\.c .*)$", self.read("README.md"), re.M)[1]
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "program.c"), "w", encoding="utf-8") as file:
                file.write(MALLOC)
            words = command.replace("build/", f"{BUILD}/").split()
            program = os.path.join(folder, "program")
            done = subprocess.run(
                [os.path.join(TOP, words[0]), *words[1:]],
                cwd=folder, capture_output=True, encoding="utf-8", check=False,
            )  # fmt: skip
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(self.run_tool("boot", "NAME=linked", program), "16 MiB\n")
