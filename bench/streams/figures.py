#!/usr/bin/env python3
"""Figs. 9 to 11 of paper 004: measures, prints the paper's values beside ours, and draws both.

    bench/streams/figures.py sizes|protocols|serialization|alltoall|grain|words|all
        [--build build/release] [--runs 5] [--minutes 10 | --quick] [--out figures]

--minutes are for each figure: as many of the runs are made, but one of each, as there is time for. So
long they take with all five runs, on two cores that do nothing else: sizes 4, protocols 3,
serialization 2, alltoall 2, grain 2, words 4. --quick is to see that all works: few points, each once
and for a moment, less than a minute in all.

The paper has 16 nodes with 20 cores each and 1 Gbit/s between them; here all groups are processes of
one host. So curves are to be compared by their shape, and shares by their size.
"""

import argparse
import json
import os
import pathlib
import shutil
import sys
import time

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1] / "common")]
import chart  # noqa: E402
import paper  # noqa: E402
from measure import Bench, spread  # noqa: E402

BATCHES = [1, 8, 32, None]  # None: as many as fit the load.


class Figure:
    """One of the figures: measures its points in turns, and draws what was found."""

    def __init__(self, name, arguments, points):
        self.name = name
        self.quick = arguments.quick
        self.seconds = 0.2 if self.quick else 1  # That a run is to take, about.
        self.out = arguments.out
        self.bench = Bench(arguments.build.resolve(), 1 if self.quick else arguments.runs,
                           arguments.minutes, points)
        self.measured = {}

    def point(self, x, sides, unit="MB/s"):
        """Name of a side -> its values, which are kept and printed."""
        values = self.bench.in_turns(sides)
        self.measured[str(x)] = values
        print(f"{x!s:>9}  " + "   ".join(f"{name} {show(found)}" for name, found in values.items())
              + f"  {unit}", flush=True)
        return values

    def draw(self, title, panels):
        self.out.mkdir(parents=True, exist_ok=True)
        path = self.out / f"{self.name}.svg"
        path.with_suffix(".json").write_text(json.dumps(self.measured, indent=1))
        chart.write(path, title, panels)
        print(f"drew {path}\n", flush=True)


def show(values):
    low, middle, high = spread(values)
    return f"{middle:.4g}" + (f" [{low:.4g}-{high:.4g}]" if len(values) > 1 else "")


def lines_of(points, per=None):
    """The lines of a chart: points are what `Figure.point` gave, by their places; with `per` a
    percentage of what that side had in the same turn."""
    return [(name, [(i, *spread(values[name] if per is None else
                                [100 * v / w for v, w in zip(values[name], values[per])]))
                    for i, values in enumerate(points)])
            for name in points[0]]


def flat(label, points):
    """A line of the paper's: (place, value)."""
    return (label, [(x, y, y, y) for x, y in points])


def text_of(size):
    return f"{size >> 20} Mi" if size >> 20 else f"{size >> 10} Ki" if size >> 10 else str(size)


def p2p(figure, size, batch, kind="raw", protocol="tcp", **settings):
    """A side: MB/s from one group to another. A first short run says how many items take a moment."""
    if batch is not None:
        settings["batchSize"] = batch

    def seconds(items):
        return figure.bench.in_groups(["A", "B"], "p2p_app", size, items, kind, protocol=protocol,
                                      **settings)[0]

    items = []

    def run():
        if not items:
            few = max(100, min(5_000 * (batch or 64), 10_000_000 // size))
            items.append(int(max(few, min(20e6, figure.seconds * few / seconds(few)))))
        return size * items[0] / seconds(items[0]) / 1e6

    return run


def plain(figure, size, congestion=None):
    """A side: the same from a plain socket to another, 32 items a write."""
    return lambda: figure.bench.plain_socket(size, 200 if figure.quick else 1_000, congestion)


def sizes(arguments):
    """Fig. 9, top left: sizes of items and batches over TCP"""
    all_sizes = [8, 512, 65536] if arguments.quick else [8, 64, 512, 4096, 65536, 1048576]
    figure = Figure("figure9_sizes", arguments, len(all_sizes))
    print(f"paper: {paper.SIZES}")
    points = [figure.point(size, {"plain socket": plain(figure, size),
                                  "the same by Reno": plain(figure, size, "reno"),
                                  **{f"batch {b or 'by itself'}": p2p(figure, size, b) for b in BATCHES}})
              for size in all_sizes]
    names = [text_of(size) for size in all_sizes]
    reached = flat("paper, batches of 8 to 32", [(i, 100) for i in range(len(names))])
    figure.draw(sizes.__doc__, [
        ("MB/s", "bytes of an item", lines_of(points), {"names": names, "log_y": True}),
        ("percent of the plain socket", "bytes of an item",
         [*lines_of(points, "plain socket"), reached], {"names": names})])


def protocols(arguments):
    """Fig. 9, bottom left: protocols"""
    all_sizes = [8, 512, 65536] if arguments.quick else [8, 64, 512, 4096, 65536, 1048576]
    figure = Figure("figure9_protocols", arguments, len(all_sizes))
    print(f"paper: {paper.PROTOCOLS}")
    has_mpi = (shutil.which("mpirun.openmpi") is not None
               and (figure.bench.build / "plugins/libpiracema_mpi_openmpi.so").exists())
    if not has_mpi:
        print("MPI is left out: there is no Open MPI, or no plug-in for it (scripts/setup --with-mpi)")
    kinds = {"TCP": "tcp", **({"MPI over TCP": "mpi"} if has_mpi else {}), "shared memory": "shm"}
    points = [figure.point(size, {name: p2p(figure, size, None, protocol=kind)
                                  for name, kind in kinds.items()}) for size in all_sizes]
    names = [text_of(size) for size in all_sizes]
    figure.draw(protocols.__doc__, [
        ("MB/s", "bytes of an item", lines_of(points), {"names": names, "log_y": True}),
        ("percent of TCP", "bytes of an item",
         [*lines_of(points, "TCP"),
          flat("paper, MPI over TCP", [(i, 100) for i in range(len(names))])], {"names": names})])


def serialization(arguments):
    """Fig. 9, top right: serialization, batches of 1, groups on cores of their own"""
    all_sizes = ([512, 8192, 65536] if arguments.quick else
                 [64, 512, 4096, 8192, 65536, 262144, 1048576])
    figure = Figure("figure9_serialization", arguments, len(all_sizes))
    print(f"paper: {paper.SERIALIZATION}")
    cores = sorted(os.sched_getaffinity(0))
    halves = [cores[:len(cores) // 2], cores[len(cores) // 2:]]
    mapping = {} if len(cores) < 2 else {
        "threadMapping": [",".join(map(str, half)) for half in halves]}
    points = [figure.point(size, {kind: p2p(figure, size, 1, kind=kind, **mapping)
                                  for kind in ["cereal", "raw", "handed"]}) for size in all_sizes]
    names = [text_of(size) for size in all_sizes]
    alike = [(i, 100) for i, size in enumerate(all_sizes) if size <= 8192]
    figure.draw(serialization.__doc__, [
        ("MB/s", "bytes of an item", lines_of(points), {"names": names, "log_y": True}),
        ("percent of cereal", "bytes of an item",
         [*lines_of(points, "cereal"), flat("paper, below 8 KB", alike)], {"names": names})])


def alltoall(arguments):
    """Fig. 9, bottom right: all to all, TCP"""
    right, megabytes = (4, 200) if arguments.quick else (16, 2_000)
    lefts = [1, 4] if arguments.quick else [1, 2, 4, 8, 16]
    figure = Figure("figure9_alltoall", arguments, len(lefts))
    print(f"paper: grows with the left workers to {paper.ALL_TO_ALL_MB_S} MB/s, "
          f"{paper.ALL_TO_ALL_PERCENT} % of what the network can do, with {paper.ALL_TO_ALL_LEFT}")

    def together(left):
        def run():
            names = [f"G{i}" for i in range(1 + left + right)]
            took, *_ = figure.bench.in_groups(names, "paper_app", "alltoall", left, right, megabytes)
            return megabytes / took
        return run

    points = [figure.point(left, {"plain socket": plain(figure, 65536), "together": together(left)})
              for left in lefts]
    names = [str(left) for left in lefts]
    most = [(i, paper.ALL_TO_ALL_PERCENT) for i, left in enumerate(lefts) if left == paper.ALL_TO_ALL_LEFT]
    x_label = f"left workers; {right} right ones"
    figure.draw(alltoall.__doc__, [
        ("MB/s", x_label, lines_of(points), {"names": names}),
        ("percent of one plain socket", x_label,
         [*lines_of(points, "plain socket"), flat("paper, of its network", most)], {"names": names})])


def grain(arguments):
    """Fig. 10: master and workers by grain"""
    groups, workers = 4, 4
    grains = [0.1, 1] if arguments.quick else list(paper.GRAINS)
    figure = Figure("figure10_grain", arguments, len(grains))
    print(f"paper: {paper.NODES} groups of 20 workers; here {groups} of {workers}, which sleep")
    local, linear = [], []
    for ms in grains:
        tasks = int((1_000 if arguments.quick else 16_000) / ms)

        def run():
            took, *done = figure.bench.in_groups(
                [f"G{i}" for i in range(groups)], "paper_app", "grain", groups, workers, tasks,
                int(ms * 1000), batchSize=32, messageOTF=1)
            return 100 * done[0] / tasks, 100 * tasks * ms / 1e3 / (groups * workers) / took

        values = figure.bench.in_turns({"ours": run})["ours"]
        figure.measured[str(ms)] = values
        local.append([one for one, _ in values])
        linear.append([one for _, one in values])
        print(f"{ms:4} ms: {show(local[-1])} % of the tasks in the master's group, even is "
              f"{100 / groups:.0f} (paper {paper.local_percent(ms):.1f}, even {100 / paper.NODES:.0f}); "
              f"{show(linear[-1])} % of all workers' speed (paper {paper.percent_of_linear(ms):.0f})",
              flush=True)
    names = [str(ms) for ms in grains]
    panels = []
    for title, ours, theirs in [
            ("percent of tasks in the master's group", local, paper.local_percent),
            ("percent of all workers' speed", linear, paper.percent_of_linear)]:
        panels.append((title, "grain in ms",
                       [("ours", [(i, *spread(one)) for i, one in enumerate(ours)]),
                        flat("paper", [(i, theirs(ms)) for i, ms in enumerate(grains)])],
                       {"names": names}))
    figure.draw(grain.__doc__, panels)


def words(arguments):
    """Fig. 11: word count by sources"""
    counts = [1, 4, 16] if arguments.quick else [1, 2, 4, 8, 12, 13, 14, 16]
    seconds = 0.5 if arguments.quick else 4
    figure = Figure("figure11_words", arguments, 1 + len(counts))

    def rate_of(sources, rate, lines):
        names = [f"G{i}" for i in range(sources + 1)]
        took, *_ = figure.bench.in_groups(names, "paper_app", "words", sources, rate, lines)
        return sources * lines / took / 1e3

    print(f"paper: {paper.WORDS_MOST} k lines/s unbounded; linear in the sources to "
          f"{paper.WORDS[13]} k with 13, {paper.WORDS[16]} k with 16")
    unbounded = figure.point("unbounded", {"one source": lambda: rate_of(1, 0, int(300_000 * seconds))},
                             "k lines/s")
    most = spread(unbounded["one source"])[1]
    each = int(most * 1e3 / 16)  # Lines a second, as the paper chose them.
    points = [figure.point(count, {"ours": lambda: rate_of(count, each, int(each * seconds))}, "k lines/s")
              for count in counts]
    ours = [(count, *(100 * v / most for v in spread(point["ours"])))
            for count, point in zip(counts, points)]
    given = flat("given", [(count, 100 * count / 16) for count in counts])
    figure.draw(words.__doc__, [
        (f"percent of one unbounded source ({most:.0f} k lines/s here)", "sources",
         [("ours", ours), flat("paper", [(x, 100 * y / paper.WORDS_MOST) for x, y in paper.WORDS.items()]),
          given])])


FIGURES = {one.__name__: one for one in [sizes, protocols, serialization, alltoall, grain, words]}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("figure", choices=[*FIGURES, "all"])
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build/release"))
    parser.add_argument("--runs", type=int, default=5, help="of each point at most; default: 5")
    parser.add_argument("--minutes", type=float, default=10, help="for each figure; default: 10")
    parser.add_argument("--quick", action="store_true", help="few points, once each, for a moment")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("figures"))
    arguments = parser.parse_args()
    for name, figure in FIGURES.items():
        if arguments.figure in [name, "all"]:
            begin = time.monotonic()
            print(figure.__doc__)
            figure(arguments)
            print(f"{name} took {time.monotonic() - begin:.0f} s\n", flush=True)


if __name__ == "__main__":
    sys.exit(main())
