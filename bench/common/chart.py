"""Charts of lines and of bars as SVG, with nothing but Python."""

import math
from xml.sax.saxutils import escape

COLORS = ["#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#ff7f0e", "#8c564b", "#17becf", "#7f7f7f",
          "#bcbd22", "#e377c2"]
WIDTH, HEIGHT, LEFT, TOP, PLOT_WIDTH, PLOT_HEIGHT = 560, 380, 60, 40, 300, 280


def nice_step(span):
    """1, 2 or 5 times a power of ten, for about five lines."""
    rough = max(span, 1e-9) / 5
    power = 10 ** math.floor(math.log10(rough))
    return next(power * factor for factor in [1, 2, 5, 10] if power * factor >= rough)


def even_marks(most):
    step = nice_step(most)
    return [i * step for i in range(math.ceil(most / step) + 1)]


def decades(values):
    """Powers of ten around what is greater than 0."""
    positive = [value for value in values if value > 0] or [1]
    first, last = math.floor(math.log10(min(positive))), math.ceil(math.log10(max(positive)))
    return [10.0 ** power for power in range(first, max(last, first + 1) + 1)]


def place(value, marks, log):
    """Between the first mark, 0, and the last, 1."""
    first, last = marks[0], marks[-1]
    if log:
        return math.log10(max(value, first) / first) / math.log10(last / first)
    return (value - first) / (last - first)


def bar(x, y, width, bottom, color):
    return (f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{max(bottom - y, 0):.1f}" '
            f'fill="{color}"/>')


def panel(at, title, x_label, lines, names=None, log_y=False, apart=(), upright=(), bars=False):
    """One chart at x = `at`; `lines` are (label, [(x, low, middle, high)]). With `names` x is a
    number of one of them. Points of labels in `apart` are not joined: nothing is known between them. `upright` are
    (label, [x]), drawn from bottom to top: where something is said to happen, whatever its value.
    With `bars`, and names, each point is a bar up to its middle, those of one name side by side."""
    points = [point for _, line in lines for point in line]
    x_max = max([x for x, *_ in points], default=1) or 1
    x_step = nice_step(x_max)
    x_marks = {i * x_step: f"{i * x_step:g}" for i in range(int(x_max / x_step) + 1)}
    if names:
        x_max, x_marks = max(len(names) - 1, 1), dict(enumerate(names))
    if bars:
        x_max = len(names)
        group, x_marks = 0.8 / max(len(lines), 1), {i + 0.5: name for i, name in enumerate(names)}
    ys = [y for _, *spread in points for y in spread]
    y_marks = decades(ys) if log_y else even_marks(max(ys, default=1) or 1)

    def sx(x):
        return at + LEFT + x / x_max * PLOT_WIDTH

    def sy(y):
        return TOP + PLOT_HEIGHT - place(y, y_marks, log_y) * PLOT_HEIGHT

    bottom = TOP + PLOT_HEIGHT
    out = [f'<text x="{at + LEFT}" y="{TOP - 10}">{escape(title)}</text>']
    for mark in y_marks:
        y = sy(mark)
        out.append(f'<line x1="{sx(0)}" y1="{y:.1f}" x2="{sx(x_max)}" y2="{y:.1f}" stroke="#ddd"/>')
        out.append(f'<text x="{sx(0) - 6}" y="{y + 4:.1f}" text-anchor="end">{mark:g}</text>')
    for x, name in x_marks.items():
        out.append(f'<text x="{sx(x):.1f}" y="{bottom + 18}" text-anchor="middle">{escape(name)}</text>')
    out.append(f'<text x="{sx(x_max / 2):.1f}" y="{bottom + 36}" text-anchor="middle">'
               f'{escape(x_label)}</text>')
    for number, (label, line) in enumerate(lines):
        color = COLORS[number % len(COLORS)]
        if bars:
            out += [bar(sx(x + 0.1 + number * group), sy(middle), group / x_max * PLOT_WIDTH, bottom, color)
                    for x, _, middle, _ in line]
        path = " ".join(f"{sx(x):.1f},{sy(middle):.1f}" for x, _, middle, _ in line)
        if label not in apart and not bars:
            out.append(f'<polyline points="{path}" fill="none" stroke="{color}" stroke-width="2"/>')
        for x, low, middle, high in [] if bars else line:
            out.append(f'<line x1="{sx(x):.1f}" y1="{sy(low):.1f}" x2="{sx(x):.1f}" '
                       f'y2="{sy(high):.1f}" stroke="{color}"/>')
            out.append(f'<circle cx="{sx(x):.1f}" cy="{sy(middle):.1f}" r="3" fill="{color}"/>')
        out.append(f'<text x="{at + LEFT + PLOT_WIDTH + 12}" y="{TOP + 16 * number}" '
                   f'fill="{color}">{escape(label)}</text>')
    for number, (label, places) in enumerate(upright, len(lines)):
        color = COLORS[number % len(COLORS)]
        out += [f'<line x1="{sx(x):.1f}" y1="{TOP}" x2="{sx(x):.1f}" y2="{bottom}" stroke="{color}" '
                'stroke-width="2" stroke-dasharray="6 4"/>' for x in places]
        out.append(f'<text x="{at + LEFT + PLOT_WIDTH + 12}" y="{TOP + 16 * number}" '
                   f'fill="{color}">{escape(label)}</text>')
    return "\n".join(out)


def write(path, title, panels, columns=None):
    """`panels` are (title, x label, lines), or the same and a dictionary of `panel`'s options, side
    by side, in so many columns."""
    columns = columns or len(panels)
    rows = ["\n".join(panel(WIDTH * i, *one[:3], **(one[3] if len(one) > 3 else {}))
                      for i, one in enumerate(panels[first:first + columns]))
            for first in range(0, len(panels), columns)]
    body = "\n".join([*rows[:1], *(f'<g transform="translate(0 {HEIGHT * number})">\n{row}\n</g>'
                                   for number, row in enumerate(rows[1:], 1))])
    path.write_text(f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH * columns}" '
                    f'height="{HEIGHT * len(rows)}" font-family="sans-serif" font-size="12">\n'
                    f'<rect width="100%" height="100%" fill="white"/>\n'
                    f'<text x="{LEFT}" y="16" font-weight="bold">{escape(title)}</text>\n'
                    f'{body}\n</svg>\n')
