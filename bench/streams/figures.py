#!/usr/bin/env python3
"""Figs. 9 to 11 of paper 004: measures, prints the paper's values beside ours, and draws them.

    bench/streams/figures.py sizes|protocols|serialization|alltoall|grain|words
        [--build build/release] [--runs 5] [--quick] [--out DIR]
    bench/streams/figures.py all --quick

The paper has 16 nodes with 20 cores each and 1 Gbit/s between them; here all groups are processes of
one host. So curves are to be compared by their shape, and shares by their size.
"""

import argparse
import json
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import chart  # noqa: E402

SIZES = [8, 64, 512, 4096, 65536, 1048576]
BATCHES = [1, 8, 32, None]  # None: as many as fit the load.


class Bench:
    def __init__(self, arguments):
        self.build = arguments.build.resolve()
        self.runs = 2 if arguments.quick else arguments.runs
        self.quick = arguments.quick
        self.out = arguments.out
        self.measured = {}

    def run(self, options, program, *words):
        """What a program prints under `piracema run`, as numbers."""
        command = [self.build / "tools/piracema", "run", "--quiet", *options,
                   self.build / "bench" / program, *words]
        done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=600)
        if done.returncode != 0:
            raise SystemExit(f"{program} {words}: {done.stderr.decode()}")
        return [float(word) for word in done.stdout.split()]

    def in_groups(self, names, program, *words, protocol="auto", **settings):
        """The same with a file of groups, which all have these settings."""
        groups = [{"name": name, "endpoint": "localhost", **settings} for name in names]
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            json.dump({"protocol": protocol, "groups": groups}, file)
            file.flush()
            return self.run(["--groups", file.name], program, *words)

    def repeat(self, call):
        """(lowest, median, highest) of several calls."""
        values = [call() for _ in range(self.runs)]
        return min(values), statistics.median(values), max(values)

    def finish(self, name, title, panels):
        self.out.mkdir(parents=True, exist_ok=True)
        (self.out / f"{name}.json").write_text(json.dumps(self.measured))
        chart.write(self.out / f"{name}.svg", title, panels)
        print(f"drew {self.out / name}.svg")


def items_of(size, quick):
    """So many that a run takes a moment: batches of one are a thousand times as slow as others."""
    return max(50, min(40_000 if quick else 200_000, (200_000_000 if quick else 1_000_000_000) // size))


def throughput(bench, size, batch, kind="raw", protocol="tcp"):
    """MB/s from one group to another."""
    items = items_of(size, bench.quick) * (20 if batch is None and size < 4096 else 1)
    settings = {} if batch is None else {"batchSize": batch}

    def once():
        took = bench.in_groups(["A", "B"], "p2p_app", size, items, kind, protocol=protocol, **settings)[0]
        return size * items / took / 1e6

    low, middle, high = bench.repeat(once)
    bench.measured[f"{protocol} {kind} {size} B batch {batch}"] = [low, middle, high]
    print(f"{protocol:4} {kind:6} {size:8} B  batch {batch or 'auto':>4}  "
          f"{middle:9.1f} MB/s [{low:.1f}-{high:.1f}]  {middle / size * 1e3:10.1f} k items/s", flush=True)
    return low, middle, high


def by_size(values):
    """Points of a line; sizes are told by their place."""
    return [(i, *value) for i, value in enumerate(values)]


LABEL = "item: " + ", ".join(f"{i} = {size} B" for i, size in enumerate(SIZES))


def sizes(bench):
    """Fig. 9, top left."""
    print("paper: 8 to 32 messages a batch reach the most there is; above 512 B batches hardly matter")
    lines = [(f"batch {batch or 'auto'}", by_size([throughput(bench, size, batch) for size in SIZES]))
             for batch in BATCHES]
    bench.finish("figure9_sizes", "Fig. 9: sizes and batches, TCP", [("MB/s", LABEL, lines)])


def protocols(bench):
    """Fig. 9, bottom left."""
    print("paper: no appreciable difference between TCP and MPI over TCP")
    names = ["tcp", "shm"] + (["mpi"] if shutil.which("mpirun") else [])
    lines = [(name, by_size([throughput(bench, size, None, protocol=name) for size in SIZES]))
             for name in names]
    bench.finish("figure9_protocols", "Fig. 9: protocols", [("MB/s", LABEL, lines)])


def serialization(bench):
    """Fig. 9, top right: no batches, as there."""
    print("paper: cereal and raw are alike below 8 KB, raw is faster above")
    lines = [(kind, by_size([throughput(bench, size, 1, kind=kind) for size in SIZES]))
             for kind in ["raw", "cereal"]]
    bench.finish("figure9_serialization", "Fig. 9: serialization, batches of 1", [("MB/s", LABEL, lines)])


def alltoall(bench):
    """Fig. 9, bottom right."""
    print("paper: grows with the left workers, to 93 % of what the network can do")
    right, megabytes = (4, 500) if bench.quick else (16, 4000)
    points = []
    for left in [1, 2, 4] if bench.quick else [1, 2, 4, 8, 16]:
        names = [f"G{i}" for i in range(1 + left + right)]

        def once():
            return megabytes / bench.in_groups(names, "paper_app", "alltoall", left, right, megabytes,
                                               protocol="tcp")[0]

        low, middle, high = bench.repeat(once)
        bench.measured[f"{left} left, {right} right"] = [low, middle, high]
        print(f"{left:3} left, {right} right: {middle:8.0f} MB/s [{low:.0f}-{high:.0f}]", flush=True)
        points.append((left, low, middle, high))
    bench.finish("figure9_alltoall", "Fig. 9: all to all, TCP",
                 [("MB/s together", "left workers", [(f"{right} right workers", points)])])


# Grain in ms -> tasks of 100,000 that stay in the master's group, and in which time (Fig. 10).
PAPER_LOCAL = {0.1: (89_011, 0.464), 0.5: (36_048, 0.915), 1: (20_339, 1.02), 2: (10_680, 1.075),
               5: (6_239, 1.583)}


def grain(bench):
    """Fig. 10: 16 groups there, 4 here; batches of 32, one message on its way, as there."""
    groups, workers, tasks = 4, 4, 2_000 if bench.quick else 10_000
    ours, paper = [], []
    for ms, (paper_local, paper_s) in PAPER_LOCAL.items():
        local_percent, seconds = [], []
        for _ in range(bench.runs):
            took, local, *_ = bench.in_groups([f"G{i}" for i in range(groups)], "paper_app", "grain", groups,
                                              workers, tasks, int(ms * 1000), protocol="tcp")
            local_percent.append(100 * local / tasks)
            seconds.append(took)
        low, middle, high = min(local_percent), statistics.median(local_percent), max(local_percent)
        ideal = tasks * ms / 1e3 / (groups * workers)
        bench.measured[f"{ms} ms"] = {"local_percent": local_percent, "seconds": seconds, "ideal_s": ideal}
        print(f"{ms:4} ms: {middle:5.1f} % [{low:.1f}-{high:.1f}] in the master's group, even would be "
              f"{100 / groups:.1f} (paper: {paper_local / 1000:.1f}, even 6.3); "
              f"{ideal / statistics.median(seconds) * 100:.0f} % of ideal "
              f"(paper: {100_000 * ms / 1e3 / 320 / paper_s * 100:.0f})", flush=True)
        ours.append((ms, low, middle, high))
        paper.append((ms, *[paper_local / 1000] * 3))
    bench.finish("figure10_grain", "Fig. 10: master and workers",
                 [("percent of tasks done locally", "grain in ms", [("ours", ours), ("paper", paper)])])


def words(bench):
    """Fig. 11: each source gives a sixteenth of what one counter's group was measured to take."""
    print("paper: 120 k lines/s unbounded; linear in the sources up to 97 k, 84 % of the most at 16")
    lines = 20_000 if bench.quick else 200_000
    took = bench.in_groups(["G0", "G1"], "paper_app", "words", 1, 0, lines)[0]
    most = lines / took
    rate = int(most / 16)
    print(f"ours: {most / 1e3:.0f} k lines/s unbounded, so {rate} a second from each source")
    points = []
    for sources in [1, 4, 8] if bench.quick else [1, 2, 4, 8, 12, 16]:
        names = [f"G{i}" for i in range(sources + 1)]

        def once():
            each = rate * (1 if bench.quick else 5)
            return sources * each / bench.in_groups(names, "paper_app", "words", sources, rate, each)[0]

        low, middle, high = bench.repeat(once)
        bench.measured[f"{sources} sources"] = [low, middle, high]
        print(f"{sources:3} sources: {middle / 1e3:8.1f} k lines/s, {100 * middle / (rate * sources):.0f} % "
              f"of what they give", flush=True)
        points.append((sources, low / 1e3, middle / 1e3, high / 1e3))
    ideal = [(x, *[x * rate / 1e3] * 3) for x, *_ in points]
    bench.finish("figure11_words", "Fig. 11: word count",
                 [("thousand lines a second", "sources", [("ours", points), ("given", ideal)])])


FIGURES = {"sizes": sizes, "protocols": protocols, "serialization": serialization, "alltoall": alltoall,
           "grain": grain, "words": words}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("figure", choices=[*FIGURES, "all"])
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build/release"))
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--quick", action="store_true", help="few points and short runs, for a first look")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("figures"))
    arguments = parser.parse_args()
    for name, figure in FIGURES.items():
        if arguments.figure in [name, "all"]:
            figure(Bench(arguments))


if __name__ == "__main__":
    sys.exit(main())
