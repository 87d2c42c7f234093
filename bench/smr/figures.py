#!/usr/bin/env python3
"""Figs. 3 to 6 of paper 003: measures, prints the paper's values beside ours, and draws them.

    bench/smr/figures.py build/release/bench/bench_smr_parallel [--full | --quick] [--minutes 20] [--out DIR]
    bench/smr/figures.py --from figures.json [--out DIR]

Without --full the ends of each curve and its middle; with it all points of the paper. --quick is to see
that it works: ends alone, each measured once and for a moment. A run that is ended, or is longer than
--minutes, goes on where it was when it is started again.

The paper has three replicas on machines with 8 hardware threads and 100 clients on a fourth. Here all of
them share the cores of this machine: three or four replicas and as many clients; and beside that
execution alone, by one replica of operations that are ordered already, 100 at a time. So curves are to be
compared by their shape, and ratios to sequential execution by their size. Where a machine has no core for
each execution thread of each replica, threads gain less on the replicas than alone, or nothing.

`group` executes as the paper does, by the groups that clients name and are trusted with; `key` by what
operations read and write. Both fall back to one thread where threads were seen to lose; `-always` is
without that rule, so `group-always` is the paper's way. The paper tells no points of its curves: drawn
of it are the ratios that its sections 4 and 5 say in words.
"""

import argparse
import collections
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

# The same as it is drawn, by figure and share of conflicts (of Figs. 3 and 5 none): (what, [(x, ratio)]).
# Where the text says no number of threads it is a line over all of them.
PAPER_DRAWN = {
    (3, None): [("paper: 2.2, about 1 at 25 %", [(0, 2.2), (25, 1)])],
    (4, 0): [("paper: 8 threads, 2.2", [(8, 2.2)])],
    (4, 100): [("paper: 8 threads, 0.42", [(8, 0.42)])],
    (5, None): [("paper: 4.25, about 1 at 50 %", [(0, 4.25), (50, 1)])],
    (6, 0): [("paper: TS1, 8 threads, 4.25", [(8, 4.25)])],
    (6, 100): [("paper: TS1, down to 0.6", [(1, 0.6), (8, 0.6)]),
               ("paper: TS2, up to 2.9", [(1, 2.9), (8, 2.9)])],
}

Point = collections.namedtuple("Point", "service size conflict_percent threads replicas clients")

# What is measured, and each point how often and for how long: of execution alone, and of replicas.
EXTENTS = {
    "quick": dict(shares=[0, 100], threads=[2], sizes=[10_000], runs=1, seconds=0.01, ways=["group-always", "key"],
                  group_sizes=[10_000], clients=[10], models=["list"], group_seconds=0.1, warmup=0.05),
    "reduced": dict(shares=[0, 100, 25, 50], threads=[2, 8], sizes=[10_000, 1_000_000], runs=3, seconds=0.05,
                    ways=["group", "key", "group-always", "key-always"],
                    group_sizes=[1_000, 10_000], clients=[1, 10], models=["list"], group_seconds=0.2, warmup=0.1),
    "full": dict(shares=[0, 100, 25, 50, 10, 5, 15, 20, 75], threads=[2, 8, 1, 4, 6], sizes=[10_000, 1_000_000],
                 runs=5, seconds=0.15, ways=["group", "key", "group-always", "key-always"],
                 group_sizes=[1_000, 10_000], clients=[1, 10], models=["list", "tuples-ts1"], group_seconds=0.5,
                 warmup=0.2),
}
REPLICAS, CLIENTS = 3, 100  # The paper's.


def points(extent):
    """What is measured, each once. Of execution alone first, and of each the ends first, so that a run
    that is cut short has the shape."""
    shares, threads = extent["shares"], extent["threads"]
    found = []
    for replicas, clients, services, sizes in [
            (0, 0, ["list", "tuples-ts1", "tuples-ts2", "tuples-first"], extent["sizes"]),
            (REPLICAS, CLIENTS, ["list", "tuples-ts1", "tuples-ts2"], extent["group_sizes"])]:
        for service in services:
            found += [Point(service, 100_000, share, count, replicas, clients)
                      for share in [0, 100] for count in threads]
        for service in ["list", "tuples-ts1"]:
            found += [Point(service, 100_000, share, 2, replicas, clients) for share in shares]
        found += [Point("list", size, share, count, replicas, clients)
                  for size in sizes for share in [0, 100] for count in threads[:2]]
    found += [Point(service, 100_000, share, 2, 4, CLIENTS) for service in extent["models"] for share in [0, 100]]
    found += [Point("list", 100_000, share, 2, REPLICAS, clients) for clients in extent["clients"]
              for share in [0, 100]]
    return list(dict.fromkeys(found))


def measure_one(program, extent, point):
    command = [program, "--json", "--service", point.service, "--size", str(point.size),
               "--conflicts", str(point.conflict_percent), "--threads", str(point.threads),
               "--runs", str(extent["runs"])]
    for way in extent["ways"]:
        command += ["--executor", way]
    if point.replicas:
        command += ["--replicas", str(point.replicas), "--clients", str(point.clients),
                    "--seconds", str(extent["group_seconds"]), "--warmup", str(extent["warmup"])]
    else:
        command += ["--seconds", str(extent["seconds"])]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)


def place(replicas, clients):
    return f"{replicas} replicas, {clients} clients" if replicas else "execution alone"


def measure(program, extent_name, minutes, out):
    """One document with all rows. What `out` has from a run that was cut short is not done again."""
    extent = EXTENTS[extent_name]
    out.mkdir(parents=True, exist_ok=True)
    kept = out / "points.json"
    done = json.loads(kept.read_text()) if kept.exists() else {}
    wanted = {" ".join(str(word) for word in [*point, extent_name]): point for point in points(extent)}
    begin, measured, left_out = time.monotonic(), 0, 0
    for number, (name, point) in enumerate(wanted.items()):
        if name in done:
            continue
        took = time.monotonic() - begin
        if took > 60 * minutes:
            left_out += 1
            continue
        rest = f", about {took / measured * (len(wanted) - number) / 60:.0f} min left" if measured else ""
        print(f"{number + 1} of {len(wanted)}: {point.service}, {point.size}, {point.conflict_percent} % conflicts, "
              f"{point.threads} threads, {place(point.replicas, point.clients)}{rest}", file=sys.stderr, flush=True)
        done[name] = measure_one(program, extent, point)
        kept.write_text(json.dumps(done))
        measured += 1
    if left_out:
        print(f"{left_out} points are left out: {minutes} minutes are over; again goes on from here",
              file=sys.stderr)
    documents = [done[name] for name in wanted if name in done]
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
    print(f"{document['machine']}; {document['window']} operations at a time where execution is alone")
    columns = [(REPLICAS, CLIENTS, "group-always"), (REPLICAS, CLIENTS, "key"), (0, 0, "group-always"), (0, 0, "key")]
    print(f"{'ratio to sequential execution':60} {'paper':>8}  "
          + " ".join(f"{f'{replicas} replicas, ' if replicas else 'alone, '}{way}".ljust(30)
                     for replicas, _, way in columns).rstrip())
    for what, paper, wanted in PAPER:
        ours = [ratio(document["rows"], way, replicas=replicas, clients=clients, **wanted)
                for replicas, clients, way in columns]
        print(f"{what:60} {paper:>8}  " + " ".join(text.ljust(30) for text in ours).rstrip())


def print_replicated(document):
    """Each point of the replicated service: what one thread gives, and each way by that. And what an
    operation takes of processors, all replicas and clients together, which tells more than time where
    cores are short."""
    rows = [row for row in document["rows"] if row["replicas"]]
    ways = [way for way in EXTENTS["full"]["ways"] if select(rows, executor=way)]
    print(f"\n{'replicated service':60} {'one thread':^28}   by one thread (CPU us)")
    print(" " * 60 + f"{'ops/s':>9} {'ms':>9} {'CPU us':>9}  " + " ".join(way.rjust(14) for way in ways))
    for one in select(rows, executor="sequential"):
        point = Point(*(one[name] for name in Point._fields))
        what = (f"{point.replicas} replicas, {point.clients:3} clients, {point.service} {point.size}, "
                f"{point.conflict_percent:g} %, {point.threads} threads")
        there = {row["executor"]: f"{row['ratio']['median']:.2f} ({row['cpu_us']['median']:.0f})"
                 for row in select(rows, **point._asdict())}
        print(f"{what:60}{one['ops_per_s']['median']:9.0f} {one['latency_ms']['median']:9.2f} "
              f"{one['cpu_us']['median']:9.0f}  " + " ".join(there.get(way, "-").rjust(14) for way in ways))


def curves(rows, x, **wanted):
    """Executor -> the points of its curve, by x."""
    found = {}
    for row in select(rows, **wanted):
        found.setdefault(row["executor"], {})[row[x]] = row
    return {name: [points[key] for key in sorted(points)] for name, points in found.items()}


def panels_of(title, x, x_label, lines, papers):
    """Throughput, latency, and ratios to sequential execution with those of the paper."""
    def line_of(points, value, scale):
        return [(p[x], p[value]["min"] * scale, p[value]["median"] * scale, p[value]["max"] * scale)
                for p in points]

    found = [(f"{title}: {what}", x_label, [(label, line_of(points, value, scale)) for label, points in lines])
             for what, value, scale in [("1,000 operations/s", "ops_per_s", 1e-3), ("latency, ms", "latency_ms", 1)]]
    ratios = [(label, line_of(points, "ratio", 1)) for label, points in lines]
    said = [(label, [(at, value, value, value) for at, value in values]) for label, values in papers]
    # A text says how high it is, and not how it gets there.
    apart = {label for label, values in papers if len({value for _, value in values}) > 1}
    return [*found, (f"{title}: by one thread", x_label, ratios + said, {"apart": apart})]


def places(rows):
    """The rows of the replicated service, and those of execution alone, each with its title."""
    for replicas, clients in [(REPLICAS, CLIENTS), (0, 0)]:
        found = select(rows, replicas=replicas, clients=clients)
        if found:
            yield place(replicas, clients), found


def lines_by_threads(rows, services, share):
    """Of the first service each way; of others, where other operations conflict, the paper's way and keys."""
    lines = []
    for service in services:
        for name, line in curves(rows, "threads", service=service, size=100_000, conflict_percent=share).items():
            if service == services[0] or name in ["group-always", "key"]:
                lines.append((f"{service} {name}" if len(services) > 1 else name, line))
    return lines


def draw(document, out):
    out.mkdir(parents=True, exist_ok=True)
    rows = document["rows"]
    for number, service, title in [(3, "list", "Linked list"), (5, "tuples-ts1", "Tuple space")]:
        panels = []
        for where, there in places(rows):
            lines = curves(there, "conflict_percent", service=service, size=100_000, threads=2)
            panels += panels_of(where, "conflict_percent", "conflicting operations in percent", list(lines.items()),
                                PAPER_DRAWN[number, None])
        write(out, number, f"{title} of 100 k, 2 threads", panels)
    for number, services, title in [(4, ["list"], "Linked list"),
                                    (6, ["tuples-ts1", "tuples-ts2"], "Tuple space")]:
        panels = []
        for where, there in places(rows):
            for share in [0, 100]:
                panels += panels_of(f"{share} %, {where}", "threads", "execution threads",
                                    lines_by_threads(there, services, share), PAPER_DRAWN[number, share])
        write(out, number, f"{title} of 100 k by threads", panels)


def write(out, number, title, panels):
    path = out / f"figure{number}.svg"
    chart.write(path, f"Fig. {number}: {title}", panels, columns=3)
    print(f"drew {path}")


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
    print_replicated(document)
    draw(document, arguments.out)


if __name__ == "__main__":
    sys.exit(main())
