#!/usr/bin/env python3
"""Figs. 3 to 6 of paper 003, execution alone: measures, prints the paper's values beside ours, and
draws them.

    bench/smr/figures.py build/release/bench/bench_smr_parallel [--full | --quick] [--minutes 20] [--out DIR]
    bench/smr/figures.py --from figures.json [--out DIR]

Without --full the ends of each curve and its middle, which takes a few minutes; with it all points of
the paper. --quick is to see that it works: ends alone, each measured once and for a moment. A run that is ended goes on where it was when it is started again.

The paper has three replicas on machines with 8 hardware threads and 100 clients on a fourth; here
one replica executes operations that are ordered already, 100 at a time, on the cores that there
are. So curves are to be compared by their shape, and ratios to sequential execution by their size.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "common"))
import chart  # noqa: E402

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
    ("not in the paper: tuples by first field, 100 % conflicts", "-",
     dict(service="tuples-first", size=100_000, conflict_percent=100, best=True)),
]

# What is measured, and each point how often and for how long.
EXTENTS = {
    "quick": dict(shares=[0, 100], threads=[2], sizes=[10_000], runs=1, seconds=0.01),
    "reduced": dict(shares=[0, 100, 25, 50], threads=[2, 8], sizes=[10_000, 1_000_000], runs=3,
                    seconds=0.05),
    "full": dict(shares=[0, 100, 25, 50, 10, 5, 15, 20, 75], threads=[2, 8, 1, 4, 6],
                 sizes=[10_000, 1_000_000], runs=5, seconds=0.15),
}


def points(extent):
    """What is measured, each once: (service, size, conflicting share, threads). Ends first, so that a
    run that is cut short has the shape."""
    shares, threads = EXTENTS[extent]["shares"], EXTENTS[extent]["threads"]
    all_points = []
    for service in ["list", "tuples-ts1", "tuples-ts2", "tuples-first"]:
        all_points += [(service, 100_000, share, count) for share in [0, 100] for count in threads]
    for service in ["list", "tuples-ts1"]:
        all_points += [(service, 100_000, share, 2) for share in shares]
    all_points += [("list", size, share, count)
                   for size in EXTENTS[extent]["sizes"] for share in [0, 100]
                   for count in threads[:2]]
    return list(dict.fromkeys(all_points))


def measure_one(program, extent, point):
    service, size, share, threads = point
    command = [program, "--json", "--service", service, "--runs", str(EXTENTS[extent]["runs"]),
               "--seconds", str(EXTENTS[extent]["seconds"]), "--size", str(size),
               "--conflicts", str(share), "--threads", str(threads)]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)


def measure(program, extent, minutes, out):
    """One document with all rows. What `out` has from a run that was cut short is not done again."""
    out.mkdir(parents=True, exist_ok=True)
    kept = out / "points.json"
    done = json.loads(kept.read_text()) if kept.exists() else {}
    wanted = points(extent)
    begin, measured, left_out = time.monotonic(), 0, 0
    for number, point in enumerate(wanted):
        name = " ".join(str(word) for word in [*point, extent])
        if name in done:
            continue
        took = time.monotonic() - begin
        if took > 60 * minutes:
            left_out += 1
            continue
        rest = f", about {took / measured * (len(wanted) - number) / 60:.0f} min left" if measured else ""
        service, size, share, threads = point
        print(f"{number + 1} of {len(wanted)}: {service}, {size}, {share} % conflicts, "
              f"{threads} threads{rest}", file=sys.stderr, flush=True)
        done[name] = measure_one(program, extent, point)
        kept.write_text(json.dumps(done))
        measured += 1
    if left_out:
        print(f"{left_out} points are left out: {minutes} minutes are over; again goes on from here",
              file=sys.stderr)
    documents = list(done.values())
    document = {**documents[0], "rows": [row for one in documents for row in one["rows"]]}
    (out / "figures.json").write_text(json.dumps(document))
    if not left_out:
        kept.unlink()
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


def draw_one(path, title, x, x_label, lines):
    def line_of(points, value, scale):
        return [(p[x], p[value]["min"] * scale, p[value]["median"] * scale, p[value]["max"] * scale)
                for p in points]

    chart.write(path, title, [
        (what, x_label, [(label, line_of(points, value, scale)) for label, points in lines])
        for what, value, scale in [("thousand operations a second", "ops_per_s", 1e-3),
                                   ("latency in ms", "latency_ms", 1)]])
    print(f"drew {path}")


def draw(document, out):
    out.mkdir(parents=True, exist_ok=True)
    rows = document["rows"]
    for number, service, title in [(3, "list", "Linked list"), (5, "tuples-ts1", "Tuple space")]:
        lines = curves(rows, "conflict_percent", service=service, size=100_000, threads=2)
        draw_one(out / f"figure{number}.svg", f"Fig. {number}: {title}, 2 threads",
                 "conflict_percent", "conflicting operations in percent", list(lines.items()))
    for number, services in [(4, ["list"]), (6, ["tuples-ts1", "tuples-ts2", "tuples-first"])]:
        lines = []
        for service in services:
            for share in [0, 100]:
                found = curves(rows, "threads", service=service, size=100_000,
                               conflict_percent=share)
                lines += [(f"{service} {name} {share} %", points) for name, points in found.items()]
        draw_one(out / f"figure{number}.svg", f"Fig. {number}: by threads", "threads",
                 "execution threads", lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("program", nargs="?", help="bench_smr_parallel")
    extent = parser.add_mutually_exclusive_group()
    extent.add_argument("--full", action="store_const", const="full", dest="extent",
                        default="reduced", help="every point of the paper's figures")
    extent.add_argument("--quick", action="store_const", const="quick", dest="extent",
                        help="a few points, a moment each: to see that it works")
    parser.add_argument("--minutes", type=float, default=20, help="to measure at most; default: 20")
    parser.add_argument("--from", dest="source", type=pathlib.Path, help="measured before")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("figures"))
    arguments = parser.parse_args()
    if (arguments.program is None) == (arguments.source is None):
        parser.error("want the program, or --from")
    if arguments.source:
        document = json.loads(arguments.source.read_text())
    else:
        document = measure(arguments.program, arguments.extent, arguments.minutes, arguments.out)
    print_table(document)
    draw(document, arguments.out)


if __name__ == "__main__":
    sys.exit(main())
