#!/usr/bin/env python3
"""The reference and what commands say for --help have the same commands, options and defaults.

    tests/site/reference_test.py PIRACEMA
"""

import pathlib
import re
import sys
import unittest

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "packaging"))
import help_text

PROGRAM = ""
# Which section tells of a command; "kv" stands for all below it.
SECTIONS = {
    "run": "piracema run",
    "graph": "piracema graph, piracema snapshots",
    "snapshots": "piracema graph, piracema snapshots",
    "top": "piracema top",
    "scale": "piracema scale",
    "savepoint": "piracema savepoint",
    "doctor": "piracema doctor",
    "new": "piracema new",
    "cluster": "piracema cluster",
    "kv": "piracema kv",
    "coll": "Collectives of MPI programs",
    "ckpt": "piracema ckpt",
}
# Said once for all commands.
FOR_ALL = {"--help", "--version"}
# Options of other programs that the reference names: a shell's, a launcher's, those of CMake and apt.
OF_OTHERS = {"--overlap", "--preset", "--prefix", "--component", "--now", "--nodes", "--with-packages"}
NAME = re.compile(r"(?<![\w-])--[a-z][a-z-]*")
CODE = re.compile(r"`([^`\n]+)`")
DEFAULT = re.compile(r"default: ([^\s,;]+)")


def sections(text):
    """Each section of the second level by its heading."""
    parts = re.split(r"^## (.+)$", text, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2]))


def options_of(command):
    """What a command takes, by the long names."""
    return {name: option for option in command.options for name in option.names if name.startswith("--")}


def all_of(command):
    """These, and those that its lines of usage have of a form with words of its own."""
    return set(options_of(command)) | set(NAME.findall(" ".join(command.usage)))


def in_code(text):
    """The options that stand in code: between backticks, or in a block."""
    blocks = re.findall(r"^```.*?^```", text, flags=re.DOTALL | re.MULTILINE)
    rest = re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)
    return {name for piece in [*CODE.findall(rest), *blocks] for name in NAME.findall(piece)}


def rows(text):
    """The first and the last cell of each row of its tables."""
    for line in text.splitlines():
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        if len(cells) > 1:
            yield cells[0], cells[-1]


def differences(commands, reference):
    """What one side has and the other has not, a line each."""
    parts = sections(reference)
    known = {name for command in commands.values() for name in all_of(command)} | OF_OTHERS | FOR_ALL
    for first, heading in SECTIONS.items():
        text = parts.get(heading)
        if text is None:
            yield f"the reference has no section '{heading}'"
            continue
        said, mine = in_code(text), set()
        for words, command in commands.items():
            if words[:1] != (first,):
                continue
            line = "piracema " + " ".join(words)
            mine |= all_of(command)
            for name in sorted(set(options_of(command)) - said - FOR_ALL):
                yield f"the section '{heading}' has nothing of {name}, which {line} --help has"
            last = words[-1]
            if not any(re.search(rf"(?<![\w-]){re.escape(last)}(?![\w-])", code) for code in CODE.findall(text)):
                yield f"the section '{heading}' has nothing of the command {line}"
        same = {one for one, its in SECTIONS.items() if its == heading}
        mine |= {name for words, command in commands.items() if words[:1] and words[0] in same
                 for name in all_of(command)}
        for cell, _ in rows(text):
            for name in sorted(in_code(cell) - mine - OF_OTHERS - FOR_ALL):
                yield f"the section '{heading}' has a row about {name}, which no --help of its commands has"
        for name in sorted(said - known):
            yield f"the section '{heading}' names {name}, which no command has"
    yield from other_defaults(commands, parts)


def other_defaults(commands, parts):
    """Defaults of which the two sides say different things."""
    for first in ["run", "ckpt"]:
        helps = {}
        for words, command in commands.items():
            if words[:1] == (first,):
                for name, option in options_of(command).items():
                    found = DEFAULT.search(option.text)
                    if found:
                        helps.setdefault(name, set()).add(found[1].rstrip(".").removeprefix("./"))
        for cell, last in rows(parts.get(SECTIONS[first], "")):
            told = re.match(r"`([^`]+)`|(\d[\w.]*)", last)
            for name in NAME.findall(cell):
                value = told and (told[1] or told[2])
                if value and name in helps and value not in helps[name]:
                    yield f"--help of {first} has {sorted(helps[name])} as the default of {name}, the reference {value}"


class Reference(unittest.TestCase):
    def test_it_has_what_the_commands_say_of_themselves(self):
        commands = help_text.read_command(PROGRAM)
        self.assertLess(30, len(commands))
        self.assertEqual(set(SECTIONS), {words[0] for words in commands if words}, "a command without a section")
        found = list(differences(commands, (ROOT / "docs/reference.md").read_text()))
        if found:
            self.fail("\n" + "\n".join(found))


class Rules(unittest.TestCase):
    HELP = "Run\nUsage: piracema run\n\nOptions:\n  --every TIME              Time; default: 1s\n"

    def differences(self, run):
        text = "".join(f"## {heading}\n`{' '.join(k for k, v in SECTIONS.items() if v == heading)}`\n\n{run if heading == 'piracema run' else ''}\n"
                       for heading in dict.fromkeys(SECTIONS.values()))
        return list(differences({("run",): help_text.Command(["run"], self.HELP)}, text))

    def test_sides_that_agree_are_left_alone(self):
        self.assertEqual([], self.differences("| `--every T` | time | `1s` |"))

    def test_an_option_that_the_reference_lacks_is_found(self):
        self.assertIn("nothing of --every", self.differences("")[0])

    def test_an_option_that_no_command_has_is_found(self):
        found = self.differences("| `--every T` | time | `1s` |\n| `--fast` | more | |")
        self.assertIn("a row about --fast", found[0])
        self.assertIn("names --slow", self.differences("| `--every T` | time | `1s` |\n\nor `--slow`")[0])

    def test_another_default_is_found(self):
        self.assertIn("the default of --every", self.differences("| `--every T` | time | `2s` |")[0])


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit("usage: tests/site/reference_test.py PIRACEMA")
    PROGRAM = sys.argv.pop()
    unittest.main()
