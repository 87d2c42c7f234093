#!/usr/bin/env python3
"""Runs what documents show: each block under `<!-- run -->` is a shell's, and prints what stands in it.

    tests/site/console_test.py COMMANDS EXAMPLES

The two folders come first in PATH. Blocks of a section go on in the same folder and the same shell.
"""

import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SECONDS_MAX = 60
BLOCK = re.compile(r"^<!-- run -->\n```console\n(.*?)^```$", re.DOTALL | re.MULTILINE)
PATHS = []


def commands(block):
    """Each command of a block with the lines that stand under it. `> ` goes on with a command."""
    found = []
    for line in block.splitlines():
        if line.startswith("$ "):
            found.append([line[2:], []])
        elif line.startswith("> ") and found and not found[-1][1]:
            found[-1][0] += "\n" + line[2:]
        else:
            found[-1][1].append(line)
    return found


def sections(text):
    """The commands of each section that has some to run."""
    for part in re.split(r"^## ", text, flags=re.MULTILINE)[1:]:
        found = [pair for block in BLOCK.findall(part) for pair in commands(block)]
        if found:
            yield part.splitlines()[0], found


def outputs(lines, folder):
    """What each of the commands prints, all in one shell. What goes to standard error is left with them."""
    mark = "-- the next command --"
    script = ["shopt -s expand_aliases"]
    for line in lines:
        script += [line, f"echo '{mark}'"]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PIRACEMA_")}
    environment.update(PATH=os.pathsep.join([*PATHS, environment["PATH"]]), LC_ALL="C")
    process = subprocess.Popen(["bash", "--norc"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, text=True, cwd=folder, env=environment,
                               start_new_session=True)
    try:
        said, _ = process.communicate("\n".join(script) + "\n", timeout=SECONDS_MAX)
    except subprocess.TimeoutExpired:
        raise AssertionError(f"not over within {SECONDS_MAX} s: {lines}") from None
    finally:
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass  # As it should be: the shell and all that it has started are gone.
        process.wait()
        process.stdout.close()
    return [part.splitlines() for part in said.split(mark + "\n")][: len(lines)]


def differences(pairs):
    folder = tempfile.mkdtemp()
    try:
        found = outputs([command for command, _ in pairs], folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    for (command, wanted), said in zip(pairs, found):
        if said != wanted:
            yield f"$ {command}\n  the document has: {wanted}\n  it printed: {said}"


class Consoles(unittest.TestCase):
    def test_commands_print_what_documents_show(self):
        count = 0
        for path in sorted(ROOT.glob("docs/*.md")):
            for title, pairs in sections(path.read_text()):
                with self.subTest(document=path.name, section=title):
                    self.assertEqual("", "\n".join(differences(pairs)))
                count += len(pairs)
        self.assertLess(15, count, "commands that are run")


class Rules(unittest.TestCase):
    TEXT = "## One\n<!-- run -->\n```console\n$ cat << END\n> a\n> END\na\n$ echo b\n{}\n```\n"

    def test_what_is_printed_is_left_alone(self):
        (title, pairs), = sections(self.TEXT.format("b"))
        self.assertEqual(("One", ["cat << END\na\nEND", ["a"]]), (title, pairs[0]))
        self.assertEqual([], list(differences(pairs)))

    def test_what_is_printed_otherwise_is_found(self):
        (_, pairs), = sections(self.TEXT.format("c"))
        self.assertEqual(1, len(list(differences(pairs))))


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit("usage: tests/site/console_test.py COMMANDS EXAMPLES")
    PATHS = [str(pathlib.Path(sys.argv.pop()).resolve()), str(pathlib.Path(sys.argv.pop()).resolve())]
    unittest.main()
