#!/usr/bin/env python3
"""Holds what the documents say of the tree to what is in the tree.

Code in them is an excerpt of a program that is compiled: a comment before the block names it.
Files, links, classes, tests, options and variables that they name exist.
"""

import pathlib
import re
import sys
import textwrap
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent

BLOCK = re.compile(r"(?:<!-- *(\S+) *-->\n)?```cpp\n(.*?)```", re.DOTALL)
LINK = re.compile(r"\[[^\]]*\]\(([^)#\s]+)(?:#[^)]*)?\)")
TOKEN = re.compile(r"`([^`\n]+)`")
FILE = re.compile(r"(?:src|include|tests|tools|bench|examples|apps|docs|scripts|cmake)/[\w./*-]+")
CLASS = re.compile(r"[A-Z][a-z]\w*(?:::\w+)*")
TEST = re.compile(r'`([\w./]+_test\.(?:cpp|py))`:\s+((?:"[^"]+"(?:[,;]\s+)?)+)')
TEST_CASE = re.compile(r'TEST_CASE(?:_TEMPLATE)?\(\s*((?:"(?:[^"\\]|\\.)*"\s*)+)')
OPTION = re.compile(r'"(?:-\w,)?(--[a-z][a-z-]+)')
VARIABLE = re.compile(r'"(PIRACEMA_[A-Z_]+)')


def documents(root):
    """Every document, as its path from the root and its text."""
    for path in sorted([*root.glob("*.md"), *root.glob("docs/**/*.md")]):
        yield path.relative_to(root), path.read_text()


def holds(text, excerpt):
    """Whether `text` has the lines of `excerpt` one behind the other, indented alike."""
    lines, wanted = text.splitlines(), textwrap.dedent(excerpt).strip("\n").splitlines()
    for first in range(len(lines) - len(wanted) + 1):
        found = textwrap.dedent("\n".join(lines[first : first + len(wanted)]))
        if found.splitlines() == wanted:
            return True
    return False


def wrong_code(root, text):
    """Blocks of C++ that are in no program. A line of `// ...` leaves something out."""
    for name, code in BLOCK.findall(text):
        if not name or not (root / name).is_file():
            yield f"a block of C++ without the name of its program before it: {code[:40]!r}"
            continue
        program = (root / name).read_text()
        for part in re.split(r"^ *// \.\.\.$", code, flags=re.MULTILINE):
            if part.strip() and not holds(program, part):
                yield f"not in {name}: {part.strip()[:60]!r}"


def wrong_names(root, document, text):
    """Links, files and tests that do not exist."""
    for target in LINK.findall(text):
        if "://" not in target and not (root / document).parent.joinpath(target).exists():
            yield f"a link to nothing: {target}"
    for token in TOKEN.findall(text):
        if FILE.fullmatch(token) and not list(root.glob(token.rstrip("/"))):
            yield f"no such file: {token}"
    for name, quoted in TEST.findall(text):
        path = root / name
        source = path.read_text() if path.is_file() else ""
        cases = ["".join(re.findall(r'"((?:[^"\\]|\\.)*)"', c)) for c in TEST_CASE.findall(source)]
        for case in re.findall(r'"([^"]+)"', quoted):
            if " ".join(case.split()) not in cases:
                yield f"no such test in {name}: {case}"


def wrong_classes(root, text):
    """Classes of the architecture that the code does not have."""
    files = [*root.glob("src/**/*.h"), *root.glob("include/**/*.h"), *root.glob("tests/**/*.h")]
    words = set(re.findall(r"\w+", "\n".join(file.read_text() for file in files)))
    for token in TOKEN.findall(text):
        if CLASS.fullmatch(token) and not set(token.split("::")) <= words:
            yield f"no such class: {token}"


class Documents(unittest.TestCase):
    def check(self, found):
        found = list(found)
        if found:
            self.fail("\n" + "\n".join(found))

    def test_code_is_part_of_a_program(self):
        self.check(f"{doc}: {w}" for doc, text in documents(ROOT) for w in wrong_code(ROOT, text))

    def test_what_is_named_exists(self):
        self.check(
            f"{doc}: {w}" for doc, text in documents(ROOT) for w in wrong_names(ROOT, doc, text)
        )

    def test_the_architecture_names_classes_that_exist(self):
        for name in ["ARCHITECTURE.md", *ROOT.glob("docs/design/*.md")]:
            self.check(wrong_classes(ROOT, (ROOT / name).read_text()))

    def test_the_reference_has_every_option_and_variable(self):
        reference = (ROOT / "docs/reference.md").read_text()
        options = OPTION.findall((ROOT / "tools/main.cpp").read_text())
        sources = [f for f in ROOT.glob("src/**/*.cpp") if not f.stem.endswith("_test")]
        variables = VARIABLE.findall("".join(file.read_text() for file in sources))
        self.assertIn("--snapshots", options)
        self.assertIn("PIRACEMA_SNAPSHOTS", variables)
        self.check(
            f"docs/reference.md: nothing about {name}"
            for name in sorted({*options, *variables})
            if name not in reference
        )


class Rules(unittest.TestCase):
    def test_an_excerpt_may_be_indented_otherwise_but_not_changed(self):
        program = "int main() {\n  if (a) {\n    b();\n  }\n}\n"
        self.assertTrue(holds(program, "if (a) {\n  b();\n}"))
        self.assertFalse(holds(program, "if (a) {\n  c();\n}"))
        self.assertFalse(holds(program, "if (a) {\n}"))

    def test_code_of_no_program_is_found(self):
        self.assertEqual([], list(wrong_code(ROOT, "```sh\nls\n```\n")))
        self.assertEqual(1, len(list(wrong_code(ROOT, "```cpp\nint a;\n```\n"))))
        named = "<!-- examples/01_pipeline.cpp -->\n```cpp\n{}\n```\n"
        self.assertEqual([], list(wrong_code(ROOT, named.format("#include <cstdio>"))))
        self.assertEqual(1, len(list(wrong_code(ROOT, named.format("#include <nothing>")))))

    def test_names_of_nothing_are_found(self):
        def found_in(text):
            return list(wrong_names(ROOT, pathlib.Path("README.md"), text))

        self.assertEqual([], found_in("`src/run/` [this](LICENSE) `tests/docs_test.py`"))
        self.assertEqual(2, len(found_in("`src/nowhere.cpp` [that](NOTHING.md#part)")))
        test = '`src/run/barrier/aligner_test.cpp`: "{}"'
        self.assertEqual([], found_in(test.format("the next barrier is aligned like the first")))
        self.assertEqual(1, len(found_in(test.format("pigs fly"))))
        self.assertEqual(1, len(list(wrong_classes(ROOT, "`Aligner` `Replica::Next` `Pigs`"))))


if __name__ == "__main__":
    sys.exit(unittest.main())
