#!/usr/bin/env python3
"""Makes a copy of sources in which mistakes are planted, for the gate that asks whether the simulator would
find them.

    plant.py FOLDER MISTAKES SOURCES...

FOLDER gets each source that a mistake changes, under its own path. MISTAKES holds a file NAME.diff for each
one: `--- SOURCE`, then lines with '-' that are taken out, with '+' that come in, and with ' ' that stay. They are
found by what they say and not by a number, so code may move; what is not there exactly once is an error, and
then the mistake is to be planted anew. Which one is on is asked at run time: planted("NAME"), sim/smr/mutants.h.
"""

import pathlib
import sys

HEADER = '#include "sim/smr/mutants.h"\n'


def changes(text):
    """Of a mistake: the source, what is to be there, and what takes its place."""
    for part in text.split("--- ")[1:]:
        source, *lines = part.splitlines()
        old = "".join(line[1:] + "\n" for line in lines if line[:1] in "- ")
        new = "".join(line[1:] + "\n" for line in lines if line[:1] in "+ ")
        yield source.strip(), old, new


def line_starts(text):
    return [0] + [at + 1 for at, letter in enumerate(text) if letter == "\n"]


def plant(mistakes, sources):
    """Texts of the sources that are changed, by their paths. Raises ValueError with what was wanted."""
    changed = {}
    for file in sorted(mistakes.glob("*.diff")):
        text = file.read_text()
        if f'planted("{file.stem}")' not in text:
            raise ValueError(f'{file}: want planted("{file.stem}") in it')
        for source, old, new in changes(text):
            if source not in sources:
                raise ValueError(f"{file}: '{source}' is none of the sources that are built with mistakes")
            before = changed.get(source, sources[source])
            places = [at for at in line_starts(before) if before.startswith(old, at)]
            if len(places) != 1:
                raise ValueError(f"{file}: want this once in {source}, found it {len(places)} times:\n{old}")
            changed[source] = before[:places[0]] + new + before[places[0] + len(old):]
    return {source: HEADER + text for source, text in changed.items()}


def main(folder, mistakes, *names):
    folder = pathlib.Path(folder)
    try:
        changed = plant(pathlib.Path(mistakes), {name: pathlib.Path(name).read_text() for name in names})
    except ValueError as wrong:
        sys.exit(f"plant.py: {wrong}")
    for old in folder.rglob("*"):
        if old.is_file() and old.relative_to(folder).as_posix() not in changed:
            old.unlink()
    for name, text in changed.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        # What is the same is not compiled again.
        if not file.exists() or file.read_text() != text:
            file.write_text(text)
    (folder / "planted").touch()


if __name__ == "__main__":
    main(*sys.argv[1:])
