#!/usr/bin/env python3
"""Holds what the documents say of the tree to what is in the tree.

Code in them is an excerpt of a program that is compiled: a comment before the block names it.
Files, links and their anchors, classes, tests, options and variables that they name exist. Long
documents have all sections in their contents, the README stays short, and its figures are those of
the benchmarks.
"""

import importlib.machinery
import importlib.util
import json
import pathlib
import re
import sys
import tempfile
import textwrap
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent

BLOCK = re.compile(r"(?:<!-- *(\S+) *-->\n)?```cpp\n(.*?)```", re.DOTALL)
LINK = re.compile(r'\[[^\]]*\]\(([^)#\s]*)(?:#([^)\s]*))?\)')
SOURCE = re.compile(r'<(?:img|source|a)\b[^>]*?\b(?:src|srcset|href)="([^"#\s]*)(?:#([^"\s]*))?"')
FENCE = re.compile(r"^ *(```+|~~~+).*?^ *\1 *$", re.DOTALL | re.MULTILINE)
HEADING = re.compile(r"^(#{1,6}) +(.+?) *$", re.MULTILINE)
TOKEN = re.compile(r"`([^`\n]+)`")
FILE = re.compile(r"(?:src|include|tests|tools|bench|examples|apps|docs|scripts|cmake)/[\w./*-]+")
CLASS = re.compile(r"[A-Z][a-z]\w*(?:::\w+)*")
TEST = re.compile(r'`([\w./]+_test\.(?:cpp|py))`:\s+((?:"[^"]+"(?:[,;]\s+)?)+)')
TEST_CASE = re.compile(r'TEST_CASE(?:_TEMPLATE)?\(\s*((?:"(?:[^"\\]|\\.)*"\s*)+)')
OPTION = re.compile(r'"(?:-\w,)?(--[a-z][a-z-]+)')
VARIABLE = re.compile(r'"(PIRACEMA_[A-Z_]+)')

# A command line of ours up to the program that it runs, whose options are the program's.
COMMAND = re.compile(
    r"\bpiracema (run|graph|snapshots|top|kv|coll|ckpt)\b"
    r"((?:\\\n|(?! -- | \./|`|#|\n|\| ).)*)",
    re.DOTALL,
)
FIGURE = re.compile(r"\b\d+(?:\.\d+)? (?:[kM]?/s|[mu]?s)(?![\w/])")

README_LINES_MAX = 150
# Documents that begin with a list of all their sections.
WITH_CONTENTS = ["docs/tutorial.md", "docs/tutorial-services.md", "docs/examples.md", "docs/benchmarks.md",
                 "docs/reference.md"]
# The table of versions in docs/operations.md, row by row: the constants that its numbers are.
VERSIONS = [
    [("src/store/snapshot/manifest_format.h", "manifest_version")],
    [("src/control/job_metadata.cpp", "format_version")],
    [("src/net/session/handshake.h", "transport_version"), ("src/net/session/handshake.h", "control_version")],
    [("src/smr/link/leader_question.h", "wire_version")],
    [("src/store/log/log_format.h", "log_version"), ("src/smr/storage/checkpoint_format.cpp", "checkpoint_version")],
    [("src/jobs/state/cluster_image.h", "version"), ("src/jobs/protocol/operations.cpp", "answer_version")],
    [("src/store/document.h", "document_version")],
]
# Folders that hold no document of ours: what was built, and what hides itself.
NOT_OURS = re.compile(r"build|\..*")


def documents(root):
    """Every document, as its path from the root and its text."""
    for path in sorted(root.glob("**/*.md")):
        name = path.relative_to(root)
        if not any(NOT_OURS.fullmatch(folder) for folder in name.parts[:-1]):
            yield name, path.read_text()


def versions_in_code(root):
    """What the second column of the table of versions is to be, row by row."""
    def value(file, name):
        return re.search(rf"constexpr \S+ (?:\w+ = \w+, )*{name} = (\d+)", (root / file).read_text()).group(1)
    return [", ".join(value(*constant) for constant in row) for row in VERSIONS]


def versions_in_table(text):
    table = re.search(r"\| What \| Version now \|.*\n\|.*\n((?:\|.*\n)+)", text).group(1)
    return [row.split(" | ")[1] for row in table.splitlines()]


def headings(text):
    """Level, words and anchor of each heading, as GitHub makes anchors."""
    seen = {}
    for marks, words in HEADING.findall(FENCE.sub("", text)):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", words).replace("`", "")
        anchor = re.sub(r"[^\w\- ]", "", plain.lower()).replace(" ", "-")
        count = seen[anchor] = seen.get(anchor, -1) + 1
        yield len(marks), plain, f"{anchor}-{count}" if count else anchor


def links(text):
    """File and anchor of each link and picture that leads to no other site; either may be empty."""
    text = FENCE.sub("", text)
    for target, anchor in [*LINK.findall(text), *SOURCE.findall(text)]:
        if not re.match(r"[a-z]+:", target):
            yield target, anchor


def dead_links(root, document, text):
    """Links to files that do not exist, and to headings that a document does not have."""
    for target, anchor in links(text):
        path = (root / document).parent / target
        if not path.exists():
            yield f"a link to nothing: {target}"
        elif anchor and (not target or path.suffix == ".md"):
            there = path.read_text() if target else text
            if anchor not in {name for _, _, name in headings(there)}:
                yield f"a link to no heading of {target or 'this document'}: #{anchor}"


def contents(text):
    """The sections that the list at the head of a document names."""
    return {anchor for target, anchor in links(text.split("\n## ", 1)[0]) if not target}


def wrong_contents(text, levels=(2, 3)):
    """What that list lacks, with the line to add."""
    listed = contents(text)
    for level, words, anchor in headings(text):
        if level in levels and anchor not in listed:
            yield f"not in the contents: {'  ' * (level - 2)}- [{words}](#{anchor})"



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
    yield from dead_links(root, document, text)
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


def unknown_figures(benchmarks, figures):
    """Figures that no cell of a table of the benchmarks begins with."""
    cells = [cell.strip(" *") for line in benchmarks.splitlines() for cell in line.split("|")[1:-1]]
    for figure in figures:
        if not any(re.match(re.escape(figure) + r"(?![\w.])", cell) for cell in cells):
            yield f"docs/benchmarks.md has no such figure: {figure}"


def wrong_gallery(folder):
    """Pictures of a gallery that are not shown once, or of which it does not say how they were made.

    Sections begin with `### `. `kept.json` has of each picture whether the run was quick, and the load."""
    kept = json.loads((folder / "kept.json").read_text())
    sections = (folder / "README.md").read_text().split("\n### ")
    shown = [(target.removesuffix(".svg"), section) for section in sections
             for target, _ in links(section) if target.endswith(".svg")]
    files = {path.stem for path in folder.glob("*.svg")}
    names = [name for name, _ in shown]
    for name in sorted({*kept, *names, *files}):
        if name not in files:
            yield f"no such picture: {name}.svg"
        if name not in kept:
            yield f"kept.json does not say how {name} was made"
        if names.count(name) != 1:
            yield f"{name}.svg is shown {names.count(name)} times, not once"
    for name, section in shown:
        section = " ".join(section.split())
        for words in ["- The paper", "- Here:", "differ"]:
            if words not in section:
                yield f"{name}: want a sentence with {words!r}"
        made = kept.get(name, {})
        if made.get("quick", False) != ("Not run in full" in section):
            yield f"{name}: want 'Not run in full' if it was a quick run, and else not"
        busy = made.get("load", 0) > made.get("machine", {}).get("cores", 1) / 2
        if busy and "busy machine" not in section and "Nothing is measured" not in section:
            yield f"{name}: want 'busy machine', as the load was {made['load']:.1f}"


def script(name):
    """A script of ours as a module, although its name does not end in .py."""
    sys.dont_write_bytecode = True
    path = str(ROOT / "scripts" / name)
    loader = importlib.machinery.SourceFileLoader(name, path)
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(name, loader))
    loader.exec_module(module)
    return module


def options_of(root, product):
    """The options of a command, as the code has them."""
    folders = [product] if product else [".", "run"]
    files = [file for folder in folders for file in root.glob(f"tools/{folder}/*.cpp")]
    if product in ("cluster", "ckpt"):
        files.append(root / "tools/lent_options.cpp")
    return {"--help", "--version", *OPTION.findall("".join(file.read_text() for file in files))}


def wrong_options(root, text):
    """Options in command lines that the command does not have."""
    for name, words in COMMAND.findall(text):
        product = name if name in ("top", "cluster", "kv", "coll", "ckpt") else ""
        if words.startswith(" sbatch"):
            continue  # It passes on what it does not know.
        known = options_of(root, product)
        for option in re.findall(r"(?<!\S)--[a-z][a-z-]*", re.sub(r'"[^"]*"', "", words)):
            if option not in known:
                yield f"piracema {name} has no option {option}"


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

    def test_command_lines_have_options_that_exist(self):
        found = ((doc, w) for doc, text in documents(ROOT) for w in wrong_options(ROOT, text))
        self.check(f"{doc}: {w}" for doc, w in found)

    def test_long_documents_have_all_their_sections_in_their_contents(self):
        for name in WITH_CONTENTS:
            self.check(f"{name}: {w}" for w in wrong_contents((ROOT / name).read_text()))
        for path in (ROOT / "docs").glob("*.md"):
            if contents(text := path.read_text()):
                self.check(f"{path.name}: {w}" for w in wrong_contents(text, levels=(2,)))

    def test_the_readme_is_short(self):
        lines = len((ROOT / "README.md").read_text().splitlines())
        self.assertLessEqual(lines, README_LINES_MAX, "lines of README.md")

    def test_figures_on_the_first_page_are_those_of_the_benchmarks(self):
        benchmarks = (ROOT / "docs/benchmarks.md").read_text()
        shown = FIGURE.findall((ROOT / "README.md").read_text().split("## Five numbers")[1])
        self.assertGreaterEqual(len(shown), 5)
        groups = json.loads((ROOT / "docs/pictures/against.json").read_text())
        bars = [bar["label"] for group in groups for bar in group["bars"]]
        self.check(unknown_figures(benchmarks, [*shown, *(bar for bar in bars if bar != "1")]))

    def test_the_benchmarks_are_made_of_their_results(self):
        benchmarks = script("benchmarks")
        self.check(benchmarks.wrong(ROOT))
        page = "".join((ROOT / name).read_text() for name in benchmarks.PAGES)
        tables = re.findall(r"(?:(.*)\n)?(?<=\n)\|.*\n\|-", page)
        self.check(f"{' or '.join(benchmarks.PAGES)}: a table without results before it, under {line!r}"
                   for line in tables if not line.startswith("<!-- bench/results/"))
        for path in ROOT.glob("bench/results/*.json"):
            for command in benchmarks.load(path)["command"]:
                self.assertIn(command, " ".join(page.split()), f"{path.name}: a command that is on no page")
                program = command.split()[0].removeprefix("build/release/bench/bench_")
                self.assertTrue((ROOT / program).exists() or [*ROOT.glob(f"bench/**/{program}.cpp")] or
                                [*ROOT.glob(f"bench/*/{program.split('_', 1)[-1]}.cpp")], f"no such benchmark: {command}")

    def test_the_chart_is_drawn_from_its_figures(self):
        sys.dont_write_bytecode = True
        sys.path.insert(0, str(ROOT / "scripts"))
        import picture_of_figures

        groups = json.loads((ROOT / "docs/pictures/against.json").read_text())
        self.assertEqual(
            picture_of_figures.draw(groups), (ROOT / "docs/pictures/against.svg").read_text(),
            "draw it again: scripts/picture_of_figures.py")

    def test_every_picture_of_the_papers_is_shown_with_how_it_was_made(self):
        self.check(wrong_gallery(ROOT / "docs/papers"))

    def test_decisions_are_numbered_without_gaps_and_listed(self):
        folder = ROOT / "docs/design"
        files = sorted(path.name for path in folder.glob("[0-9]*.md"))
        self.assertEqual([f"{i:03}" for i in range(1, len(files) + 1)], [f[:3] for f in files])
        listed = [target for target, _ in links((folder / "README.md").read_text())]
        self.assertEqual(files, listed)
        for name in files:
            self.assertTrue((folder / name).read_text().startswith(f"# {name[:3]}: "), name)

    def test_the_versions_of_formats_are_those_of_the_code(self):
        self.assertEqual(versions_in_code(ROOT), versions_in_table((ROOT / "docs/operations.md").read_text()))
        wire = versions_in_code(ROOT)[3]
        self.assertIn(f"Version {wire}.", (ROOT / "docs/formats/smr_wire.md").read_text())

    def test_the_architecture_names_classes_that_exist(self):
        for name in ["ARCHITECTURE.md", *ROOT.glob("docs/design/*.md")]:
            self.check(wrong_classes(ROOT, (ROOT / name).read_text()))

    def test_the_reference_has_every_option_and_variable(self):
        reference = (ROOT / "docs/reference.md").read_text()
        commands = [ROOT / "tools/run" / name for name in ["run_arguments.cpp", "snapshots_command.cpp"]]
        options = OPTION.findall("".join(file.read_text() for file in commands))
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

    def test_options_that_do_not_exist_are_found(self):
        def found_in(text):
            return list(wrong_options(ROOT, text))

        self.assertEqual([], found_in("piracema run -n 2 --rsh \"x --y\" --resume ./app --own"))
        self.assertEqual([], found_in("piracema coll --engine mst -- mpirun --oversubscribe"))
        self.assertEqual([], found_in("piracema ckpt sbatch --dir d --nodes=2 -- ./app"))
        self.assertEqual(1, len(found_in("piracema run --every 1s \\\n  --fast ./app")))
        self.assertEqual(1, len(found_in("`piracema kv put --engine x` or --more")))

    def test_anchors_are_those_of_github(self):
        code = "```sh\n# no heading\n```\n"
        text = f"# `kv`, a map\n{code}## 013: [This](x.md) & that\n## End\n## End\n"
        self.assertEqual(
            [(1, "kv-a-map"), (2, "013-this--that"), (2, "end"), (2, "end-1")],
            [(level, anchor) for level, _, anchor in headings(text)],
        )

    def test_dead_links_are_found(self):
        def found_in(text):
            return list(dead_links(ROOT, pathlib.Path("docs/some.md"), text))

        self.assertEqual([], found_in("[a](../README.md) [b](https://x.org/y#z)"))
        self.assertEqual([], found_in("[a](#here)\n# Here"))
        self.assertEqual([], found_in("```\n[a](nothing.md)\n```\n[Exit](reference.md#exit-codes)"))
        self.assertEqual(1, len(found_in("[a](nothing.md)")))
        self.assertEqual(1, len(found_in("[a](reference.md#nowhere)")))
        self.assertEqual(1, len(found_in("[a](#nowhere)\n# Here")))
        self.assertEqual(1, len(found_in('<img src="pictures/nothing.svg" alt="">')))

    def test_pictures_of_a_gallery_that_are_not_there_or_shown_as_something_else_are_found(self):
        page = "# G\n### A\n![a](a.svg)\n- The paper: x.\n- Here: y.\n- They differ. {}\n"

        def found_in(text, files=("a",), **made):
            with tempfile.TemporaryDirectory() as name:
                folder = pathlib.Path(name)
                (folder / "README.md").write_text(text)
                (folder / "kept.json").write_text(json.dumps(
                    {"a": {"quick": False, "load": 0.1, "machine": {"cores": 2}, **made}}))
                for file in files:
                    (folder / f"{file}.svg").touch()
                return list(wrong_gallery(folder))

        self.assertEqual([], found_in(page.format("")))
        self.assertEqual([], found_in(page.format("Not run in full, on a busy machine."), quick=True, load=9))
        self.assertEqual(1, len(found_in(page.format(""), quick=True)))
        self.assertEqual(1, len(found_in(page.format("Not run in full."))))
        self.assertEqual(1, len(found_in(page.format(""), load=9)))
        self.assertEqual(1, len(found_in(page.format(""), files=())))
        self.assertEqual(2, len(found_in(page.format(""), files=("a", "b"))))
        self.assertEqual(1, len(found_in(page.format("") + "![a](a.svg)\n")))
        self.assertEqual(1, len(found_in(page.format("").replace("Here", "There"))))

    def test_sections_that_the_contents_lack_are_found(self):
        text = "- [One](#one)\n{}\n## One\n## Two\n#### Small\n"
        self.assertEqual([], list(wrong_contents(text.format("- [Two](#two)"))))
        self.assertEqual(
            ["not in the contents: - [Two](#two)"], list(wrong_contents(text.format("")))
        )

    def test_figures_that_were_not_measured_are_found(self):
        table = "| what | ours |\n|---|---:|\n| this | 42 M/s (38 to 53) |\n"
        self.assertEqual([], list(unknown_figures(table, ["42 M/s"])))
        self.assertEqual(2, len(list(unknown_figures(table, ["4 M/s", "43 M/s"]))))
        self.assertEqual(["6.8 ms", "75 k/s"], FIGURE.findall("6.8 ms (4.7 to 12.1), 75 k/s, 8 go"))

    def test_a_page_that_its_results_do_not_make_is_found(self):
        benchmarks = script("benchmarks")
        result = {"command": ["x"], "machine": "m", "date": "2026-11", "version": "0", "columns": ["what", "how fast"],
                  "align": ["left", "right"], "rows": [["a", "3 M/s"], ["b", ""]],
                  "chart": {"title": "It", "better": "longer is better", "columns": ["how fast"]}}
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            (root / "docs").mkdir()
            (root / "bench/results").mkdir(parents=True)
            (root / "bench/results/it.json").write_text(json.dumps(result))
            page, marker = root / "docs/benchmarks.md", "Before\n\n<!-- bench/results/it.json -->\n"
            table = "| what | how fast |\n|---|---:|\n| a | 3 M/s |\n| b | |\n\n![It: bars](pictures/results/it.svg)\n\n"
            page.write_text(marker + table + "Behind\n")
            (root / "docs/scale.md").write_text("")
            self.assertEqual({"docs/benchmarks.md": page.read_text(), "docs/scale.md": ""}, {
                name: text for name, text in benchmarks.made(root).items() if name.endswith(".md")})
            self.assertEqual(1, len(list(benchmarks.wrong(root))), "the picture is not there")
            page.write_text(marker + table.replace("3", "4") + "Behind\n")
            self.assertEqual(2, len(list(benchmarks.wrong(root))), "another figure on the page")
            page.write_text("Before\n")
            with self.assertRaisesRegex(ValueError, "do not show"):
                benchmarks.made(root)
            (root / "bench/results/it.json").write_text(json.dumps({**result, "command": []}))
            with self.assertRaisesRegex(ValueError, "want command"):
                benchmarks.load(root / "bench/results/it.json")

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
