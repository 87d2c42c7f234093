#!/usr/bin/env python3
"""Makes manual pages and completion from what `piracema --help` and its commands' --help say.

    packaging/help_pages.py PIRACEMA DIRECTORY

The directory gets man/*.1.gz, bash/piracema and zsh/_piracema. The same help makes the same bytes.
"""

import gzip
import pathlib
import subprocess
import sys

sys.dont_write_bytecode = True  # Nothing is left in the source tree.
import completion
import help_text
import manual


def main(program, directory):
    version = subprocess.run(
        [program, "--version"], capture_output=True, text=True, check=True, timeout=60
    ).stdout.split()[-1]
    commands = help_text.read_command(program)
    for folder in ("man", "bash", "zsh"):
        (directory / folder).mkdir(parents=True, exist_ok=True)
    for words in commands:
        if len(words) < 2:
            name, text = manual.page(commands, words, version)
            packed = gzip.compress(text.encode(), compresslevel=9, mtime=0)
            (directory / "man" / (name + ".gz")).write_bytes(packed)
    (directory / "bash/piracema").write_text(completion.bash(commands))
    (directory / "zsh/_piracema").write_text(completion.zsh(commands))


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: packaging/help_pages.py PIRACEMA DIRECTORY")
    main(sys.argv[1], pathlib.Path(sys.argv[2]))
