#!/usr/bin/env python3
"""Compiles each header of include/ and src/ alone: it names all that it uses.

To compile all of them takes some minutes. So what they read of others is compiled ahead (Ahead), and what has
been compiled is remembered, for all clones, in $XDG_CACHE_HOME/piracema/headers, by what the compiler read of
ours: a run compiles the headers that have changed, and those that include them.

    headers_test.py [COMPILER]

Headers that want an MPI are compiled by mpicxx, and left out, with a word, where there is none.
"""

import concurrent.futures
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
FLAGS = ["-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", "-Wno-unused-function"]
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', re.MULTILINE)
# So many headers as they once were.
REMEMBERED_MAX = 20_000


class Headers:
    """The headers of a tree, with what each of them reads."""

    def __init__(self, root):
        self.root = root
        self.texts = {
            path.relative_to(root / top).as_posix(): (top, path.read_text())
            for top in ["include", "src"]
            for path in sorted((root / top).rglob("*.h"))
        }
        self.closures = {}

    def read_by(self, name):
        """The header, those of ours that it includes, and so on; names of others as they stand."""
        if name not in self.closures:
            found, left = set(), [name]
            while left:
                one = left.pop()
                if one not in found:
                    found.add(one)
                    left += INCLUDE.findall(self.texts[one][1]) if one in self.texts else []
            self.closures[name] = found
        return self.closures[name]

    def of_others(self, name):
        """Those of the system and of libraries among what it reads."""
        return frozenset(one for one in self.read_by(name) if one not in self.texts)

    def wants_mpi(self, name):
        return "mpi.h" in self.read_by(name)

    def mark(self, name, compiler):
        """Of all that decides whether the header compiles, but for the system's own headers."""
        mark = hashlib.sha256(repr([name, compiler, FLAGS]).encode())
        for one in sorted(self.read_by(name)):
            mark.update(repr((one, self.texts.get(one))).encode())
        return mark.hexdigest()


class Remembered:
    """Marks of headers that have compiled, the newest last."""

    def __init__(self, file):
        self.file = file
        try:
            self.marks = dict.fromkeys(file.read_text().split())
        except OSError:
            self.marks = {}

    def add(self, marks):
        for mark in marks:
            self.marks.pop(mark, None)
            self.marks[mark] = None
        kept = list(self.marks)[-REMEMBERED_MAX:]
        try:
            self.file.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile("w", dir=self.file.parent, delete=False) as new:
                new.write("\n".join(kept) + "\n")
            os.replace(new.name, self.file)
        except OSError:
            pass  # Then the next run compiles them again.


class Compiler:
    def __init__(self, command):
        self.command = command
        self.version = subprocess.run(
            [command, "--version"], capture_output=True, text=True, check=True
        ).stdout.splitlines()[0]

    def complaint(self, root, name, ahead):
        """Why the header does not compile alone; None if it does. What `ahead` has is compiled already."""
        begin = ["-include", ahead] if ahead else []
        done = subprocess.run(
            [self.command, *FLAGS, *begin, f"-I{root}/include", f"-I{root}/src", "-x", "c++", "-"],
            input=f'#include "{name}"\n', capture_output=True, text=True,
        )
        return None if done.returncode == 0 else done.stderr

    def precompile(self, headers, file):
        """Whether these headers of others are compiled ahead by now, for `-include FILE`."""
        file.write_text("".join(f"#include <{one}>\n" for one in sorted(headers)))
        flags = [flag for flag in FLAGS if flag != "-fsyntax-only"]
        return subprocess.run([self.command, *flags, "-x", "c++-header", file, "-o", f"{file}.gch"],
                              capture_output=True).returncode == 0


class Ahead:
    """Headers of others, compiled once for all of ours that read them anyway: what such a header does not
    name is missed as if it were compiled alone. Most of its time goes to those."""

    SETS = 12
    # So many headers read less, summed up over ours, or a set is not worth its own time.
    LEAST_GAIN = 12

    def __init__(self, compiler, wanted):
        """`wanted`: of each header of ours, what it reads of others."""
        self.folder = tempfile.TemporaryDirectory()
        self.files = []
        for number, chosen in enumerate(self.choose(list(wanted))):
            file = pathlib.Path(self.folder.name) / f"ahead{number}.h"
            if compiler.precompile(chosen, file):
                self.files.append((chosen, file))

    @classmethod
    def choose(cls, wanted):
        """So many of these sets, each of use to all that have all of it."""
        chosen, has = [], [0] * len(wanted)
        for _ in range(cls.SETS):
            def gain(one):
                return sum(max(0, len(one) - had) for had, all_of_it in zip(has, wanted) if one <= all_of_it)
            best = max(set(wanted), key=gain, default=frozenset())
            if gain(best) < cls.LEAST_GAIN:
                break
            chosen.append(best)
            has = [max(had, len(best)) if best <= all_of_it else had for had, all_of_it in zip(has, wanted)]
        return chosen

    def best_for(self, wanted):
        fitting = [(len(chosen), str(file)) for chosen, file in self.files if chosen <= wanted]
        return max(fitting)[1] if fitting else None


def check(headers, compilers, remembered):
    """What is wrong with each header that does not compile alone, and how many were compiled.
    `compilers`: without an MPI, and with one, which may be None."""
    want = {}
    for name in headers.texts:
        compiler = compilers[headers.wants_mpi(name)]
        if compiler:
            want[name] = (compiler, headers.mark(name, compiler.version))
    left = [name for name, (_, mark) in want.items() if mark not in remembered.marks]
    without_mpi = {name: headers.of_others(name) for name in left if not headers.wants_mpi(name)}
    ahead = Ahead(compilers[False], without_mpi.values())
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        complaints = list(pool.map(
            lambda name: want[name][0].complaint(headers.root, name, ahead.best_for(without_mpi.get(name, frozenset()))),
            left))
    wrong = {name: why for name, why in zip(left, complaints) if why}
    remembered.add(mark for name, (_, mark) in want.items() if name not in wrong)
    return wrong, len(left)


def cache_directory():
    home = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache")
    return home / "piracema"


class HeadersCompile(unittest.TestCase):
    compiler = shutil.which("c++")

    def test_each_header_compiles_alone(self):
        mpi = shutil.which("mpicxx")
        if not mpi:
            print("headers that want an MPI are left out: there is no mpicxx", file=sys.stderr)
        wrong, _ = check(
            Headers(ROOT),
            (Compiler(self.compiler), Compiler(mpi) if mpi else None),
            Remembered(cache_directory() / "headers"),
        )
        if wrong:
            self.fail("\n".join(f"{name} does not compile alone:\n{why}" for name, why in wrong.items()))


class Rules(unittest.TestCase):
    """On a tree of two headers, of which the upper one includes the lower one."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        self.write("src/a/low.h", "#pragma once\n#include <string>\nusing Low = std::string;\n")
        self.write("src/a/up.h", '#pragma once\n#include "a/low.h"\nstruct Up { Low low; };\n')
        self.write("include/b/own.h", "#pragma once\nstruct Own {};\n")

    def write(self, name, text):
        (self.root / name).parent.mkdir(parents=True, exist_ok=True)
        (self.root / name).write_text(text)

    def checked(self):
        compiler = Compiler(HeadersCompile.compiler)
        return check(Headers(self.root), (compiler, None), Remembered(self.root / "cache/headers"))

    def test_what_names_all_that_it_uses_is_right_and_compiled_once(self):
        self.assertEqual(({}, 3), self.checked())
        self.assertEqual(({}, 0), self.checked())

    def test_a_change_has_those_compiled_that_read_it(self):
        self.checked()
        self.write("src/a/low.h", "#pragma once\n#include <string>\nusing Low = std::u8string;\n")
        self.assertEqual(({}, 2), self.checked())

    def test_what_only_others_include_is_missed_each_time(self):
        self.write("src/a/up.h", "#pragma once\nstruct Up { Low low; };\n")
        for compiled in [3, 1]:
            wrong, count = self.checked()
            self.assertEqual(["a/up.h"], list(wrong))
            self.assertIn("Low", wrong["a/up.h"])
            self.assertEqual(compiled, count)

    def test_what_is_mended_below_mends_what_is_above(self):
        self.write("src/a/low.h", "#pragma once\nusing Low = std::string;\n")
        self.assertEqual({"a/low.h", "a/up.h"}, set(self.checked()[0]))
        self.write("src/a/low.h", "#pragma once\n#include <string>\nusing Low = std::string;\n")
        self.assertEqual(({}, 2), self.checked())

    def test_what_is_compiled_ahead_is_not_there_for_those_that_do_not_read_it(self):
        with_map, with_string = frozenset({"map", "string"}), frozenset({"string"})
        compiler = Compiler(HeadersCompile.compiler)
        ahead = Ahead(compiler, [with_map] * 40 + [with_string] * 40)
        self.assertEqual({with_map, with_string}, {chosen for chosen, _ in ahead.files})
        self.write("src/a/uses_map.h", "#pragma once\n#include <string>\nusing Map = std::map<int, std::string>;\n")
        for wanted, is_right in [(with_map, True), (with_string, False)]:
            why = compiler.complaint(self.root, "a/uses_map.h", ahead.best_for(wanted))
            self.assertEqual(is_right, why is None, why)

    def test_without_an_mpi_what_wants_one_is_left_out(self):
        self.write("src/a/ranks.h", "#pragma once\n#include <mpi.h>\n")
        self.write("src/a/above.h", '#pragma once\n#include "a/ranks.h"\n')
        self.assertEqual(({}, 3), self.checked())


if __name__ == "__main__":
    if len(sys.argv) > 1 and not sys.argv[1].startswith("-"):
        HeadersCompile.compiler = sys.argv.pop(1)
    sys.exit(unittest.main())
