#!/usr/bin/env python3
"""Holds what the shared library shows to what include/piracema declares, either way.

    tests/install/exports_test.py BUILD_DIRECTORY

A function that a public header declares and the library defines is shown, and nothing else but typeinfo
and tables of public classes. What the examples want of the library, templates included, is there.
"""

import pathlib
import re
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(sys.argv[1]).resolve()

COMMENTS = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|^\s*#[^\n]*', re.S | re.M)
TOKENS = re.compile(r"operator\s*(?:\(\)|[^\s\w(]+)|~?[A-Za-z_]\w*|::|[^\s\w]")
OF_A_CLASS = re.compile(r"(typeinfo(?: name)?|vtable|VTT) for (.*)")


def opened_by(head):
    """The names of the scope that an opening brace begins after these tokens, and None if it is a body."""
    if "namespace" in head:
        return [word for word in head[head.index("namespace") + 1:] if word != "::"]
    depth, plain = 0, []
    for word in head:  # Without what templates have between < and >.
        depth += (word == "<") - (word == ">")
        if depth == 0 and word != ">":
            plain.append(word)
    if "enum" in plain or "(" in plain:
        return None
    kinds = [at for at, word in enumerate(plain) if word in ("class", "struct")]
    if not kinds:
        return None
    return [next(word for word in plain[kinds[0] + 1:] if re.match(r"[A-Za-z_]", word) and word != "nodiscard")]


def declared():
    """Types, and functions of namespaces and classes, by their whole names."""
    types, functions = set(), set()
    for header in sorted((ROOT / "include").rglob("*.h")):
        words = TOKENS.findall(COMMENTS.sub(" ", header.read_text()))
        scopes, head, body = [], [], 0
        for at, word in enumerate(words):
            if body:
                body += (word == "{") - (word == "}")
                continue
            if word == "{":
                inside = [name for scope in scopes for name in scope]
                names = opened_by(head)
                if names is None:
                    body = 1
                else:
                    scopes.append(names)
                    types.add("::".join([*inside, *names]))
                if "enum" in head:
                    types.add("::".join([*inside, *head[head.index("class") + 1:][:1]]))
            elif word == "}" and scopes:
                scopes.pop()
            elif words[at + 1:at + 2] == ["("] and re.match(r"[A-Za-z_~]", word):
                inside = [name for scope in scopes for name in scope]
                functions.add("::".join([*inside, re.sub(r"\s", "", word)]))
            head = [] if word in ("{", "}", ";") else [*head, word]
    return types, functions


def whole_name(symbol):
    """The name of a function without its result, arguments and tags."""
    symbol = re.sub(r"@@.*|\[abi:\w+\]", "", symbol).replace("operator()", "operator\0")
    symbol = re.sub(r"\(.*", "", symbol).replace("\0", "()")
    return symbol.split(" ")[-1]


def arguments(symbol):
    """The types of ours that its arguments name."""
    return set(re.findall(r"piracema(?:::\w+)+", symbol.partition("(")[2]))


def symbols(*words):
    """(sort, symbol) of everything that nm lists."""
    listed = subprocess.run(["nm", "-C", *words], capture_output=True, text=True, check=True).stdout
    found = (re.match(r"(?:[0-9a-f]{16}| {16}) (\w) (.*)", line) for line in listed.splitlines())
    return [match.groups() for match in found if match]


def signature(symbol):
    return re.sub(r"@@.*", "", symbol)


class Exports(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.types, cls.functions = declared()
        cls.shown = [(sort, signature(symbol)) for sort, symbol in
                     symbols("-D", "--defined-only", BUILD / "libpiracema.so") if sort != "A"]

    def is_declared(self, symbol):
        of_a_class = OF_A_CLASS.fullmatch(symbol)
        if of_a_class:
            return of_a_class[2] in self.types
        inside, _, name = whole_name(symbol).rpartition("::")
        # The compiler makes what copies and ends a class if nobody says how.
        is_special = name.lstrip("~") == inside.rpartition("::")[2]
        return whole_name(symbol) in self.functions or is_special and inside in self.types

    def test_nothing_is_shown_but_what_the_public_headers_declare(self):
        self.assertGreater(len(self.shown), 100)
        self.assertEqual([], [symbol for _, symbol in self.shown if not self.is_declared(symbol)])

    def test_all_that_the_public_headers_declare_and_the_library_defines_is_shown(self):
        shown = {symbol for _, symbol in self.shown}
        defined = {symbol for library in ("libpiracema.a", "libpiracema_smr.a")
                   for sort, symbol in symbols("--defined-only", BUILD / library) if sort in "TDBR"}
        # What has the name of a public function and takes what is ours alone is another function.
        self.assertEqual([], sorted(
            symbol for symbol in defined - shown
            if whole_name(symbol) in self.functions and arguments(symbol) <= self.types))

    def test_what_the_examples_want_is_shown(self):
        shown = {symbol for _, symbol in self.shown}
        objects = list((BUILD / "examples").rglob("*.o"))
        self.assertGreater(len(objects), 10)
        wanted = {symbol for sort, symbol in symbols("--undefined-only", *objects) if "piracema::" in symbol}
        self.assertGreater(len(wanted), 50)
        self.assertEqual([], sorted(wanted - shown))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
