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
