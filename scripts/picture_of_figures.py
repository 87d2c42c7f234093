#!/usr/bin/env python3
"""Draws docs/pictures/against.svg: figures of docs/benchmarks.md beside what one would use instead.

    scripts/picture_of_figures.py docs/pictures/against.json docs/pictures/against.svg

Each group has a scale of its own that begins at 0. Bars whose name says piracema, or begins with ours, are ours.
"""

import argparse
import json
import pathlib
import re
from xml.sax.saxutils import escape

WIDTH, NAMES, BARS, ROW, TITLE, MARGIN = 720, 230, 400, 20, 30, 12

STYLE = """
text{font:13px system-ui,-apple-system,'Segoe UI',Helvetica,Arial,sans-serif;fill:#24292f}
.title{font-weight:600}.quiet{fill:#57606a;font-size:12px}.ours{fill:#0969da}.other{fill:#afb8c1}
@media (prefers-color-scheme:dark){
text{fill:#e6edf3}.quiet{fill:#9198a1}.ours{fill:#4493f8}.other{fill:#656c76}
}
"""


def draw(groups):
    out, y = [], MARGIN
    for group in groups:
        out.append(f'<text x="0" y="{y + 14}"><tspan class="title">{escape(group["title"])}</tspan>'
                   f'<tspan class="quiet" dx="8">{escape(group["better"])}</tspan></text>')
        y += TITLE - 6
        most = max(bar["value"] for bar in group["bars"])
        for bar in group["bars"]:
            side = "ours" if re.search("piracema|^ours", bar["name"].lower()) else "other"
            length = max(2, bar["value"] / most * BARS)
            out.append(f'<text x="{NAMES - 10}" y="{y + 14}" text-anchor="end">'
                       f'{escape(bar["name"])}</text>')
            out.append(f'<rect class="{side}" x="{NAMES}" y="{y + 3}" width="{length:.0f}" '
                       f'height="{ROW - 6}" rx="2"/>')
            out.append(f'<text x="{NAMES + length + 6:.0f}" y="{y + 14}">'
                       f'{escape(bar["label"])}</text>')
            y += ROW
        y += MARGIN
    head = (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {y}" width="{WIDTH}" '
            f'height="{y}" role="img">')
    title = "<title>Piracema beside what one would use instead</title>"
    return "\n".join([head, title, f"<style>{STYLE.strip()}</style>", *out, "</svg>", ""])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("figures", type=pathlib.Path)
    parser.add_argument("picture", type=pathlib.Path)
    arguments = parser.parse_args()
    arguments.picture.write_text(draw(json.loads(arguments.figures.read_text())))


if __name__ == "__main__":
    main()
