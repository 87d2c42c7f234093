#!/usr/bin/env python3
"""Figs. 3 to 6 of paper 003, execution alone: measures, prints the paper's values beside ours, and
draws if matplotlib is there (package python3-matplotlib).

    bench/smr/figures.py build/release/bench/bench_smr_parallel [--quick] [--out DIRECTORY]
    bench/smr/figures.py --from figures.json [--out DIRECTORY]

The paper has three replicas on machines with 8 hardware threads and 100 clients on a fourth; here
one replica executes operations that are ordered already, 100 at a time, on the cores that there
are. So curves are to be compared by their shape, and ratios to sequential execution by their size.
"""

import argparse
import json
import pathlib
import subprocess
import sys

# What paper 003 says in words, sections 4 and 5: (what, its ratio to sequential execution, ours).
PAPER = [
    ("Fig. 3: list of 100 k, 0 % conflicts, best of its threads", "2.2",
     dict(service="list", size=100_000, conflict_percent=0, best=True)),
    ("Fig. 3: list of 100 k, 25 % conflicts", "about 1",
     dict(service="list", size=100_000, conflict_percent=25, best=True)),
    ("Fig. 4: list of 100 k, 100 % conflicts, 8 threads", "0.42",
     dict(service="list", size=100_000, conflict_percent=100, threads=8)),
    ("Section 5: list of 10 k, 0 % conflicts, 8 threads", "0.40",
     dict(service="list", size=10_000, conflict_percent=0, threads=8)),
    ("Section 5: list of 1000 k, 100 % conflicts, 8 threads", "1",
     dict(service="list", size=1_000_000, conflict_percent=100, threads=8)),
    ("Fig. 5: tuples, TS1, 0 % conflicts, best of its threads", "4.25",
     dict(service="tuples-ts1", size=100_000, conflict_percent=0, best=True)),
    ("Fig. 5: tuples, TS1, 50 % conflicts", "about 1",
     dict(service="tuples-ts1", size=100_000, conflict_percent=50, best=True)),
    ("Fig. 6: tuples, TS1, 100 % conflicts, 8 threads", "0.6",
     dict(service="tuples-ts1", size=100_000, conflict_percent=100, threads=8)),
    ("Fig. 6: tuples, TS2, 100 % conflicts, best of its threads", "2.9",
     dict(service="tuples-ts2", size=100_000, conflict_percent=100, best=True)),
]


def runs(quick):
    """The arguments of each call of the benchmark."""
    shares = ["0", "25", "100"] if quick else ["0", "5", "10", "15", "20", "25", "50", "75", "100"]
    threads = ["2", "8"] if quick else ["1", "2", "4", "6", "8"]
    ends = ["0", "100"]
    yield "list", ["100000"], shares, ["2"]
    yield "list", ["100000"], ends, threads
    yield "list", ["10000", "1000000"], ends, ["2", "8"]
    yield "tuples-ts1", ["100000"], shares if quick else [*shares[:6], "50", "75", "100"], ["2"]
    yield "tuples-ts1", ["100000"], ends, threads
    yield "tuples-ts2", ["100000"], ends, threads


def measure(program, quick, out):
    """One document with all rows. What `out` has from a run that was cut short is not done again."""
    out.mkdir(parents=True, exist_ok=True)
    document, rows, parts = {}, [], []
    for number, (service, sizes, shares, threads) in enumerate(runs(quick)):
        part = out / f"part{number}.json"
        parts.append(part)
        if not part.exists():
            command = [program, "--json", "--service", service, "--runs", "3" if quick else "5",
                       "--seconds", "0.05" if quick else "0.15",
                       "--size", *sizes, "--conflicts", *shares, "--threads", *threads]
            print(" ".join(command[1:]), file=sys.stderr)
            done = subprocess.run(command, check=True, stdout=subprocess.PIPE)
            part.write_bytes(done.stdout)
        document = json.loads(part.read_text())
        rows += document["rows"]
    document["rows"] = rows
    (out / "figures.json").write_text(json.dumps(document))
    for part in parts:
        part.unlink()
    return document


def select(rows, **wanted):
    return [row for row in rows if all(row[name] == value for name, value in wanted.items())]


def ratio(rows, executor, best=False, **wanted):
    """Ours as text: the median of runs in pairs, and the spread."""
    found = select(rows, executor=executor, **wanted)
    if not found:
        return "-"
    row = max(found, key=lambda r: r["ratio"]["median"]) if best else found[0]
    r = row["ratio"]
    return f"{r['median']:.2f} [{r['min']:.2f}-{r['max']:.2f}] ({row['threads']} threads)"


def print_table(document):
    print(f"{document['machine']}; {document['window']} operations at a time")
    print(f"{'ratio to sequential execution':60} {'paper':>8}  {'groups':32} keys")
    for what, paper, wanted in PAPER:
        groups, keys = (ratio(document["rows"], e, **wanted) for e in ["group", "key"])
        print(f"{what:60} {paper:>8}  {groups:32} {keys}")


def curves(rows, x, **wanted):
    """Executor -> the points of its curve, by x."""
    found = {}
    for row in select(rows, **wanted):
        found.setdefault(row["executor"], {})[row[x]] = row
    return {name: [points[key] for key in sorted(points)] for name, points in found.items()}


def draw_one(pyplot, path, title, x, x_label, lines):
    figure, axes = pyplot.subplots(1, 2, figsize=(10, 4))
    for label, points in lines:
        xs = [p[x] for p in points]
        for ax, value, scale in [(axes[0], "ops_per_s", 1e-3), (axes[1], "latency_ms", 1)]:
            middle = [p[value]["median"] * scale for p in points]
            low = [m - p[value]["min"] * scale for m, p in zip(middle, points)]
            high = [p[value]["max"] * scale - m for m, p in zip(middle, points)]
            ax.errorbar(xs, middle, yerr=[low, high], label=label, marker="o", capsize=2)
    axes[0].set_ylabel("thousand operations a second")
    axes[1].set_ylabel("latency in ms")
    for ax in axes:
        ax.set_xlabel(x_label)
        ax.set_ylim(bottom=0)
    axes[0].legend()
    figure.suptitle(title)
    figure.savefig(path)
    pyplot.close(figure)
    print(f"drew {path}")


def draw(document, out):
    try:
        import matplotlib
    except ImportError:
        print("no figures: install python3-matplotlib", file=sys.stderr)
        return
    matplotlib.use("svg")
    from matplotlib import pyplot

    out.mkdir(parents=True, exist_ok=True)
    rows = document["rows"]
    for number, service, title in [(3, "list", "Linked list"), (5, "tuples-ts1", "Tuple space")]:
        lines = curves(rows, "conflict_percent", service=service, size=100_000, threads=2)
        draw_one(pyplot, out / f"figure{number}.svg", f"Fig. {number}: {title}, 2 threads",
                 "conflict_percent", "conflicting operations in percent", lines.items())
    for number, services in [(4, ["list"]), (6, ["tuples-ts1", "tuples-ts2"])]:
        lines = []
        for service in services:
            for share in [0, 100]:
                found = curves(rows, "threads", service=service, size=100_000,
                               conflict_percent=share)
                lines += [(f"{service} {name} {share} %", points) for name, points in found.items()]
        draw_one(pyplot, out / f"figure{number}.svg", f"Fig. {number}: by threads", "threads",
                 "execution threads", lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("program", nargs="?", help="bench_smr_parallel")
    parser.add_argument("--quick", action="store_true", help="few points, for a first look")
    parser.add_argument("--from", dest="source", type=pathlib.Path, help="measured before")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("figures"))
    arguments = parser.parse_args()
    if (arguments.program is None) == (arguments.source is None):
        parser.error("want the program, or --from")
    if arguments.source:
        document = json.loads(arguments.source.read_text())
    else:
        document = measure(arguments.program, arguments.quick, arguments.out)
    print_table(document)
    draw(document, arguments.out)


if __name__ == "__main__":
    sys.exit(main())
