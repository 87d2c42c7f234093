#!/usr/bin/env python3
"""Draws docs/pictures/loss.svg: a terminal in which a job loses a process and goes on.

    scripts/build release piracema_command example_04_file_to_file
    scripts/picture_of_a_loss.py build/release docs/pictures/loss.svg

The commands are run as they are shown, and each line appears when it came. Nothing is made up; only
the directory in which the run was made is left out of lines. The picture plays once and then stands
still. Where animations are switched off it shows everything at once.
"""

import argparse
import os
import pathlib
import subprocess
import sys
import tempfile
import textwrap
import time
from xml.sax.saxutils import escape

COLUMNS, CHAR_WIDTH, LINE_HEIGHT, MARGIN, BAR = 98, 7.6, 19, 16, 26
# Time that a reader has for a command before its output begins, in seconds.
READING = 0.9

COMMANDS = [
    "seq 10000 20000 > numbers.txt",
    "piracema run -n 4 --snapshots snapshots --every 200ms --kill primes.1@50 \\\n"
    "    ./04_file_to_file numbers.txt primes.txt",
    "./04_file_to_file numbers.txt alone.txt      # one process, no loss",
    "cmp alone.txt primes.txt && echo the same",
]

STYLE = """
text{font:13px ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace}
text{fill:#c9d1d9;white-space:pre}
.command{fill:#fff;font-weight:600}.loss{fill:#f0883e}.back{fill:#56d364}
g{animation:show .01s backwards}@keyframes show{from{opacity:0}}
@media (prefers-reduced-motion:reduce){g{animation:none}}
"""


def look(line):
    """The class of a line: what was lost, and what came back."""
    if "killing worker" in line or "is lost" in line or "warning" in line:
        return "loss"
    if any(word in line for word in ["recovering", "running again", "the first item", "the same"]):
        return "back"
    return ""


def play(command, directory, path):
    """The lines of a command, each with the seconds since its start, and how long it took."""
    start = time.monotonic()
    process = subprocess.Popen(["bash", "-c", command], cwd=directory, text=True,
                               env={**os.environ, "PATH": path, "LC_ALL": "C.UTF-8"},
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT)
    lines = [(time.monotonic() - start, line.rstrip("\n")) for line in process.stdout]
    if process.wait() != 0:
        sys.exit(f"want exit code 0 of {command!r}, found {process.returncode}:\n"
                 + "\n".join(line for _, line in lines))
    return lines, time.monotonic() - start


def record(build):
    """Everything that is shown: seconds, class, text."""
    shown, now = [], 0.0
    path = f"{build}/tools:{os.environ['PATH']}"
    with tempfile.TemporaryDirectory() as directory:
        os.symlink(build / "examples/04_file_to_file", f"{directory}/04_file_to_file")
        for command in COMMANDS:
            for i, line in enumerate(command.split("\n")):
                shown.append((now, "command", ("$ " if i == 0 else "  ") + line))
            now += READING
            lines, took = play(command, directory, path)
            for at, line in lines:
                for part in wrap(line.replace(f"{directory}/", "")):
                    shown.append((now + at, look(line), part))
            now += took
    return shown


def wrap(line):
    return textwrap.wrap(line, COLUMNS, subsequent_indent="    ") or [""]


def draw(shown):
    width = COLUMNS * CHAR_WIDTH + 2 * MARGIN
    height = BAR + len(shown) * LINE_HEIGHT + MARGIN
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height}" '
           f'width="{width:.0f}" height="{height}" role="img">',
           "<title>A job of four processes loses one and goes on; its output is the same</title>",
           f"<style>{STYLE.strip()}</style>",
           f'<rect width="{width:.0f}" height="{height}" rx="8" fill="#0d1117"/>']
    out += [f'<circle cx="{MARGIN + 4 + 16 * i}" cy="14" r="5" fill="#30363d"/>' for i in range(3)]
    for row, (at, kind, line) in enumerate(shown):
        y = BAR + (row + 0.8) * LINE_HEIGHT
        text = line.lstrip(" ")
        x = MARGIN + (len(line) - len(text)) * CHAR_WIDTH
        style = f' class="{kind}"' if kind else ""
        out.append(f'<g style="animation-delay:{at:.2f}s"><text{style} x="{x:.1f}" y="{y:.1f}" '
                   f'textLength="{len(text) * CHAR_WIDTH:.1f}">{escape(text)}</text></g>')
    return "\n".join([*out, "</svg>", ""])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path, help="such as build/release")
    parser.add_argument("picture", type=pathlib.Path)
    arguments = parser.parse_args()
    arguments.picture.write_text(draw(record(arguments.build.resolve())))


if __name__ == "__main__":
    main()
