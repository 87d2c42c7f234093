#!/usr/bin/env python3
"""Tables 2 and 3 of paper 000: what it takes to write its applications, with the operator interface,
with blocks and by hand with MPI, beside the paper's values.

    bench/papers/effort.py [--out effort.json]

A program is its source file and the files of apps/ that it includes. What all three variants of an
application include, its work and the reading of its input, is in the numbers, as it is in the paper's
whole programs; the table has them without it as well.

SLOC are lines that are neither blank nor only a comment. Halstead's measures are counted over the
tokens that Pygments finds, without comments and preprocessor lines:

- operators: keywords, signs of the language (a pair of brackets is one), names that a `(` follows,
  which are called or declared;
- operands: all other names, numbers and texts, each literal as a whole.

With n1 and n2 different ones and N1 and N2 in all: volume V = (N1 + N2) log2(n1 + n2), difficulty
D = n1 / 2 * N2 / n2, effort E = D V, and E / 18 seconds, of which the paper gives hours. Its tool is
not named, and tools differ in what is an operator: compare ratios rather than hours.
"""

import argparse
import json
import math
import pathlib
import re
import sys
import unittest

try:
    from pygments.lexers import CppLexer
    from pygments.token import Comment, Keyword, Literal, Name, Operator, Punctuation, Text
except ImportError:
    print("skipped: effort.py wants Pygments, which finds the tokens; scripts/setup installs it for the "
          f"system's Python, and this one is {sys.executable}", file=sys.stderr)
    sys.exit(77)

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import record  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
VARIANTS = ["operators", "blocks", "mpi"]

# Application -> the source file of each variant, and where its includes lie beside that.
APPLICATIONS = {
    "prime numbers": (dict(operators="farm/primes_operators.cpp", blocks="farm/farm.cpp",
                           mpi="farm/mpi/farm.cpp"), "farm/primes"),
    "eye detector": (dict(operators="eyes/eyes_operators.cpp", blocks="eyes/eyes.cpp",
                          mpi="eyes/mpi/eyes_mpi.cpp"), None),
    "bzip2 decompression": (dict(operators="bzip2/bunzip2_operators.cpp", blocks="bzip2/bunzip2.cpp",
                                 mpi="bzip2/mpi/bunzip2_mpi.cpp"), None),
    "bzip2 compression": (dict(operators="bzip2/bzip2_operators.cpp", blocks="bzip2/bzip2.cpp",
                               mpi="bzip2/mpi/bzip2_mpi.cpp"), None),
}
# Tables 2 and 3: (the paper's interface, Open MPI).
PAPER_SLOC = {"prime numbers": (60, 119), "eye detector": (106, 154), "bzip2 decompression": (133, 204),
              "bzip2 compression": (106, 171)}
PAPER_HOURS = {"prime numbers": (1.53, 8.33), "eye detector": (3.46, 11.61),
               "bzip2 decompression": (6.29, 18.44), "bzip2 compression": (3.41, 13.46)}

# Signs of several characters, which Pygments gives one by one.
LONG_SIGNS = ["<<=", ">>=", "<=>", "...", "->*", "::", "->", "++", "--", "<<", ">>", "<=", ">=", "==",
              "!=", "&&", "||", "+=", "-=", "*=", "/=", "%=", "^=", "&=", "|=", ".*"]
SIGN = re.compile("|".join(map(re.escape, LONG_SIGNS)) + r"|\S")
PAIRS = {"(": "()", "[": "[]", "{": "{}", ")": None, "]": None, "}": None}


def pieces(source):
    """(kind, text) of what is neither blank nor comment: "sign", "keyword", "name", "literal" or
    "preprocessor". Signs and the parts of a literal that stand together are one piece."""
    found = []
    for kind, text in CppLexer(stripnl=False, ensurenl=False).get_tokens(source):
        if kind in Comment.Preproc or kind in Comment.PreprocFile:
            name = "preprocessor"
        elif kind in Comment or (kind in Text and not text.strip()):
            name = "nothing"
        elif kind in Literal:
            name = "literal"
        elif kind in Keyword or kind in Operator.Word:
            name = "keyword"
        elif kind in Operator or kind in Punctuation:
            name = "sign"
        elif kind in Name:
            name = "name"
        else:
            name = "sign" if text.strip() else "nothing"
        if found and found[-1][0] == name and name in ["sign", "literal"]:
            found[-1] = (name, found[-1][1] + text)
        else:
            found.append((name, text))
    return found


def tokens(source):
    """Operators and operands, as two lists in the order of the text."""
    flat = []
    for kind, text in pieces(source):
        if kind == "sign":
            flat += [("sign", one) for one in SIGN.findall(text)]
        elif kind not in ["nothing", "preprocessor"]:
            flat.append((kind, text.strip()))
    operators, operands = [], []
    for place, (kind, text) in enumerate(flat):
        if kind == "sign":
            text = PAIRS.get(text, text)
            operators += [text] if text else []
        elif kind == "keyword":
            operators.append(text)
        elif kind == "name" and flat[place + 1:place + 2] == [("sign", "(")]:
            operators.append(text)
        else:
            operands.append(text)
    return operators, operands


def sloc(source):
    """Lines on which something stands that is no comment."""
    used, line = set(), 1
    for kind, text in pieces(source):
        for number, part in enumerate(text.split("\n")):
            if kind != "nothing" and part.strip():
                used.add(line + number)
        line += text.count("\n")
    return len(used)


def measure(sources):
    operators, operands = [], []
    for source in sources:
        more = tokens(source)
        operators += more[0]
        operands += more[1]
    n1, n2, all1, all2 = len(set(operators)), len(set(operands)), len(operators), len(operands)
    volume = (all1 + all2) * math.log2(n1 + n2) if n1 + n2 else 0
    difficulty = n1 / 2 * all2 / n2 if n2 else 0
    return {"sloc": sum(map(sloc, sources)), "n1": n1, "n2": n2, "N1": all1, "N2": all2,
            "volume": volume, "difficulty": difficulty, "effort": volume * difficulty,
            "hours": volume * difficulty / 18 / 3600}


def files_of(main, beside):
    """A program's source file, and those that it includes as "…", each once."""
    found, left = [], [main]
    while left:
        path = left.pop()
        if path in found:
            continue
        found.append(path)
        for name in re.findall(r'^\s*#\s*include\s*"([^"]+)"', path.read_text(), re.MULTILINE):
            places = [folder / name for folder in [path.parent, beside] if folder]
            known = [place.resolve() for place in places if place.exists()]
            if not known:
                raise SystemExit(f"effort.py: {path}: includes '{name}', which is not there")
            left.append(known[0])
    return found


def table(root=ROOT):
    """Application -> variant -> measures of the whole, and of its own part."""
    found = {}
    for name, (mains, beside) in APPLICATIONS.items():
        files = {variant: files_of((root / "apps" / main).resolve(),
                                   (root / "apps" / beside).resolve() if beside else None)
                 for variant, main in mains.items()}
        shared = set.intersection(*map(set, files.values()))
        found[name] = {variant: {"whole": measure([path.read_text() for path in paths]),
                                 "own": measure([path.read_text() for path in paths if path not in shared]),
                                 "files": [str(path.relative_to(root.resolve())) for path in paths]}
                       for variant, paths in files.items()}
    return found


def show(found):
    head = "".join(f"{name:>22}" for name in APPLICATIONS)
    for key, title, paper, form in [("sloc", "Table 2: SLOC", PAPER_SLOC, "{:.0f}"),
                                    ("hours", "Table 3: Halstead, hours", PAPER_HOURS, "{:.2f}")]:
        print(f"{title:34}{head}")
        for variant in VARIANTS:
            for part in ["whole", "own"]:
                label = variant if part == "whole" else "  without what all share"
                print(f"  {label:32}" + "".join(
                    f"{form.format(found[name][variant][part][key]):>22}" for name in APPLICATIONS))
        for number, label in enumerate(["paper: its interface", "paper: Open MPI"]):
            print(f"  {label:32}" + "".join(
                f"{form.format(paper[name][number]):>22}" for name in APPLICATIONS))
        for label, part in [("operators by MPI, percent", "whole"), ("  without what all share", "own")]:
            print(f"  {label:32}" + "".join(
                f"{100 * found[name]['operators'][part][key] / found[name]['mpi'][part][key]:>22.0f}"
                for name in APPLICATIONS))
        print(f"  {'paper: by MPI, percent':32}" + "".join(
            f"{100 * paper[name][0] / paper[name][1]:>22.0f}" for name in APPLICATIONS) + "\n")


class Effort(unittest.TestCase):
    def test_lines_of_comments_and_blank_ones_do_not_count(self):
        self.assertEqual(3, sloc("// a\n\nint a;  // b\n/* c\n   d */\n#include <x>\nint /* e */ f;\n"))
        self.assertEqual(2, sloc('auto text = "// no comment\\n";\nauto raw = R"(x)";'))

    def test_tokens_are_those_of_the_language(self):
        operators, operands = tokens('x::f(a[1], "b \\n c") <<= y >= 2.5e3; // z\n#define Q 1\n')
        self.assertEqual(["::", "f", "()", "[]", ",", "<<=", ">=", ";"], operators)
        self.assertEqual(["x", "a", "1", '"b \\n c"', "y", "2.5e3"], operands)

    def test_halstead_s_measures_of_a_program_by_hand(self):
        # Operators: int main () { } return + ;  Operands: 1 twice.
        found = measure(["int main() { return 1 + 1; }\n"])
        self.assertEqual((7, 1, 7, 2), tuple(found[key] for key in ["n1", "n2", "N1", "N2"]))
        self.assertAlmostEqual(9 * 3, found["volume"])
        self.assertAlmostEqual(7 / 2 * 2 / 1, found["difficulty"])
        self.assertAlmostEqual(27 * 7 / 18 / 3600, found["hours"])

    def test_every_program_is_found_with_what_it_includes(self):
        found = table()
        self.assertEqual({"apps/farm/primes_operators.cpp", "apps/farm/primes/work.h",
                          "apps/common/times.h"}, set(found["prime numbers"]["operators"]["files"]))
        self.assertIn("apps/common/mpi/ordered_farm.h", found["eye detector"]["mpi"]["files"])
        for application in found.values():
            for variant in application.values():
                self.assertGreater(variant["whole"]["sloc"], variant["own"]["sloc"])
                self.assertGreater(variant["own"]["hours"], 0)

    def test_the_interface_takes_fewer_lines_than_mpi(self):
        for name, variants in table().items():
            for key in ["sloc", "hours"]:
                with self.subTest(application=name, measure=key):
                    self.assertLess(variants["operators"]["own"][key], variants["mpi"]["own"][key])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("effort.json"))
    arguments = parser.parse_args()
    found = table()
    show(found)
    arguments.out.write_text(json.dumps({**record.surroundings(), "applications": found}, indent=1) + "\n")
    print(f"wrote {arguments.out}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--test"]:
        unittest.main(argv=sys.argv[:1])
    main()
