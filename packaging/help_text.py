"""Reads the text that a command prints for --help, as tools/command_line.cpp forms it."""

import re
import subprocess

COLUMN = 28  # Where the text of an entry begins, if what it is about leaves room.
LISTS = ("Options", "Positionals", "Subcommands")
NAMES = re.compile(r"((?:-\w,)?--?[\w-]+)(?: (.*))?$")
CHOICE = re.compile(r"[\w-]+(?:, [\w-]+)*(?:,? or [\w-]+)?(?=$|; )")


class Option:
    """An option: its names, what its value is called (None if it takes none), and its text."""

    def __init__(self, left, text):
        names, value = NAMES.match(left).groups()
        self.names = names.split(",")
        # A range is said behind the type: "UINT:INT in [1 - 1000]".
        self.value, _, range_of = (value or "").partition(":")
        limits = re.search(r"\[(\S+) - (\S+)\]", range_of)
        self.text = text + (f" ({limits[1]} to {limits[2]})" if limits else "")
        self.value = self.value or None
        # "--http [=ADDRESS]": a value is said in the same word, if at all.
        self.takes_next_word = bool(self.value) and not self.value.startswith("[=")

    def choices(self):
        """The values that its text lists, if it is a list: "openmpi or mpich; default: ..."."""
        found = CHOICE.match(self.text) if self.value else None
        words = re.split(r", or |, | or ", found[0]) if found else []
        return words if len(words) > 1 else []


class Command:
    """What --help says of the command with these words behind `piracema`."""

    def __init__(self, words, text):
        self.words = words
        head, *rest = re.split(r"^Usage: ", text, maxsplit=1, flags=re.MULTILINE)
        if not rest:
            raise ValueError(f"piracema {' '.join(words)} --help: want a line of usage, found none")
        usage, _, body = rest[0].partition("\n\n")
        self.about = " ".join(head.split())
        self.usage = [line.strip() for line in usage.splitlines()]
        self.options, self.positionals, self.subcommands = [], [], []
        self.sections = []  # The other ones: (title or "", lines).
        for paragraph in body.strip("\n").split("\n\n"):
            self._read(paragraph.splitlines())

    def _read(self, lines):
        title = lines[0][:-1] if lines and re.fullmatch(r"[A-Z][\w ]*:", lines[0]) else ""
        if title == "Options":
            self.options = [Option(left, text) for left, text in entries(lines[1:])]
        elif title in LISTS:
            target = self.positionals if title == "Positionals" else self.subcommands
            target.extend(entries(lines[1:]))
        elif lines:
            first = re.match(r"(Exit codes): (.*)", lines[0])
            if first:
                self.sections.append((first[1], [first[2], *lines[1:]]))
            else:
                self.sections.append((title, lines[1:] if title else lines))


def entries(lines):
    """What each entry of a list is about, and its text in one line."""
    found = []
    for line in lines:
        if line.startswith(" " * COLUMN):
            found[-1][1].append(line.strip())
        elif line[COLUMN - 1 : COLUMN] in (" ", ""):
            found.append((line[:COLUMN].strip(), [line[COLUMN:].strip()]))
        else:  # It leaves no room for its text, which is in the next lines.
            found.append((line.strip(), []))
    return [(left, " ".join(text).strip()) for left, text in found]


def read_command(program, words=()):
    """The command and, by its words, all below it; asks the program for each one's help."""
    done = subprocess.run(
        [program, *words, "--help"], capture_output=True, text=True, check=True, timeout=60
    )
    command = Command(list(words), done.stdout)
    below = {}
    for name, _ in command.subcommands:
        below.update(read_command(program, (*words, name)))
    return {tuple(words): command, **below}
