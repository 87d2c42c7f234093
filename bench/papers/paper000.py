#!/usr/bin/env python3
"""Figs. 3 and 4 of paper 000: measures, prints the paper's values beside ours, and draws both.

    bench/papers/paper000.py compress|decompress|primes|eyes|recovery|overhead|all
        [--build build/release] [--runs 10] [--processes 3,4,6] [--quick] [--out figures]

compress, decompress, primes and eyes are Figs. 3a to 3d: items per second by the number of processes,
of which all but two are workers. The operator interface and blocks run under `piracema run` without
snapshots, each replica in a process of its own, beside a twin by hand with MPI that hands out work on
demand and prefetches. Time runs from the first item to the last result, so that no launcher is
measured. Sides run in turns; their outputs are compared, of primes their sum. p is of Mann and Whitney's test, two-sided.

recovery and overhead are Figs. 4a and 4b: four stages in four processes, without replicas. recovery
has operator 2 killed at message 90 of 100, overhead a state of 100 MB, both by the interval of
snapshots; throughput is in percent of the mean without failure and snapshots.

--quick is to see that all works: few points, small inputs, few runs; half a minute each at most. The paper
has 14 nodes of 24 threads; here all processes are on one host. So curves are to be compared by their
shape, and differences by their size.
"""

import argparse
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[0] / "common")]
import chart  # noqa: E402
import record  # noqa: E402
from samples import deviation, mann_whitney  # noqa: E402

RUN_SECONDS_MAX = 3_600

# Section 5.2: how much the interface is below Open MPI in the mean of all numbers of processes, in
# percent, and the most items per second where they are said.
PAPER_BELOW_MPI = {"compress": 2.03, "decompress": -0.98, "primes": 6.73, "eyes": 0.12}
PAPER_MOST = {"compress": {"operators": 173.09, "MPI": 181.52}}
# Section 5.3: interval in seconds -> what snapshots of 100 MB cost, in percent.
PAPER_OVERHEAD = {15: 8.17, 30: 4.26, 45: 6.25, 60: 7.22}


def mpirun():
    """How twins are started: by the MPI whose mpirun is found, all processes on cores that they share."""
    if shutil.which("mpirun") is None:
        return []  # There are no twins then either.
    version = subprocess.run(["mpirun", "--version"], stdout=subprocess.PIPE, text=True).stdout
    if "Open MPI" not in version and "OpenRTE" not in version:
        return ["mpirun", "-bind-to", "none"]
    return ["mpirun", "--oversubscribe", "--allow-run-as-root", "--bind-to", "none",
            "--mca", "pml", "ob1", "--mca", "btl", "vader,self"]


class Missing(Exception):
    """A program that was not built."""


class Bench:
    def __init__(self, arguments, folder):
        self.build = arguments.build.resolve()
        self.quick = arguments.quick
        self.runs = 3 if arguments.quick else arguments.runs
        self.processes = [3, 4] if arguments.quick else arguments.processes
        self.out = arguments.out
        self.folder = folder
        self.mpirun = mpirun()
        self.sums = set()  # What programs that write no file have found.

    def app(self, name):
        path = self.build / "apps" / name
        if not path.exists():
            raise Missing(f"want {path}, found none: scripts/setup --with-mpi --with-opencv installs what "
                          "it needs, scripts/build release builds it")
        return path

    def call(self, *command):
        words = list(map(str, command))
        done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              env={**os.environ, "APP_TIMES": "1"}, timeout=RUN_SECONDS_MAX)
        if done.returncode != 0:
            raise SystemExit(f"{' '.join(words)}: {done.stderr}")
        return done.stdout

    def rate(self, *command):
        """Items per second, from the first start to the last end that a program tells of."""
        starts, ends, items = [], [], 0
        output = self.call(*command)
        for line in output.splitlines():
            words = line.split()
            if words[:1] == ["start"]:
                starts.append(float(words[1]))
            if words[:1] == ["end"]:
                ends.append(float(words[1]))
                items += int(words[3])
            if words[:1] == ["sum"]:
                self.sums.add(int(words[1]))
        if not starts or not ends or items == 0:
            raise SystemExit(f"{command[0]}: want its times, found {output!r}")
        return items / (max(ends) - min(starts))

    def ours(self, processes, *options):
        return [self.build / "tools/piracema", "run", "--quiet", "-n", processes, *options]

    def save(self, name, title, result, panels):
        self.out.mkdir(parents=True, exist_ok=True)
        path = self.out / f"paper000_{name}.svg"
        chart.write(path, title, panels)
        path.with_suffix(".json").write_text(json.dumps(result, indent=1) + "\n")
        print(f"drew {path}, wrote {path.with_suffix('.json')}\n", flush=True)


def spread(values):
    """A point of a chart: the mean, and a deviation to either side."""
    mean, far = statistics.mean(values), deviation(values)
    return mean - far, mean, mean + far


def flat(label, points):
    return (label, [(x, y, y, y) for x, y in points])


def in_turns(bench, sides):
    """Name -> rates of its runs, all sides in turns."""
    found = {name: [] for name in sides}
    for _ in range(bench.runs):
        for name, side in sides.items():
            found[name].append(side())
    return found


def against_mpi(bench, name, title, unit, sides_of):
    """One of Figs. 3a to 3d. `sides_of(processes)` are the ways to run it, by their names."""
    result = {**record.surroundings(), "figure": title, "unit": unit, "runs": bench.runs, "points": {}}
    for processes in bench.processes:
        found = in_turns(bench, sides_of(processes))
        point = result["points"][processes] = {}
        for side, rates in found.items():
            mean = statistics.mean(rates)
            point[side] = {"rates": rates, "mean": mean, "deviation": deviation(rates)}
            line = f"{processes:3} processes  {side:18} {mean:10.4g} ± {deviation(rates):8.3g} {unit}"
            if side != "MPI":
                below = 100 * (1 - mean / statistics.mean(found["MPI"]))
                p = mann_whitney(rates, found["MPI"])
                point[side].update(below_mpi_percent=below, p=p, differs=p < 0.05)
                line += f"   below MPI {below:6.2f} %   p {p:.3f}{' *' if p < 0.05 else ''}"
            print(line, flush=True)
    points = result["points"]
    names = list(next(iter(points.values())))
    result["below_mpi_percent"] = {
        side: statistics.mean(point[side]["below_mpi_percent"] for point in points.values())
        for side in names if side != "MPI"}
    result["paper"] = {"below_mpi_percent": PAPER_BELOW_MPI[name], "most": PAPER_MOST.get(name)}
    for side, below in result["below_mpi_percent"].items():
        print(f"in the mean {side} {below:.2f} % below MPI; the paper's interface "
              f"{PAPER_BELOW_MPI[name]:.2f} %")
    if name in PAPER_MOST:
        print("at most " + ", ".join(
            f"{side} {max(point[side]['mean'] for point in points.values()):.4g}" for side in names)
            + f" {unit}; the paper: {PAPER_MOST[name]}")
    labels = [f"{processes}{'*' if point['operators']['differs'] else ''}"
              for processes, point in points.items()]
    places = range(len(labels))
    of_mpi = [(side, [(i, *(100 * value / point["MPI"]["mean"] for value in spread(point[side]["rates"])))
                      for i, point in enumerate(points.values())]) for side in names]
    of_mpi.append(flat("paper, in the mean", [(i, 100 - PAPER_BELOW_MPI[name]) for i in places]))
    if name in PAPER_MOST:
        share = 100 * PAPER_MOST[name]["operators"] / PAPER_MOST[name]["MPI"]
        of_mpi.append(flat("paper, of the most", [(i, share) for i in places]))
    x_label = "processes; *: the operators differ from MPI, p < 0.05"
    bench.save(name, title, result, [
        (unit, x_label, [(side, [(i, *spread(point[side]["rates"]))
                                 for i, point in enumerate(points.values())]) for side in names],
         {"names": labels}),
        ("percent of MPI", x_label, of_mpi, {"names": labels})])


def of_files(bench, folder, operators, blocks, twin, into):
    """Sides that read `into` and write a file, which has to be the same for all."""
    right = bench.folder / f"right.{operators}"

    def side(command):
        def run():
            out = bench.folder / "out"
            out.unlink(missing_ok=True)
            rate = bench.rate(*command, into, out)
            if not right.exists():
                out.rename(right)
            elif out.read_bytes() != right.read_bytes():
                raise SystemExit(f"{command}: another output than the first run's")
            return rate
        return run

    def sides(processes):
        workers = processes - 2
        return {"MPI": side([*bench.mpirun, "-n", processes, bench.app(f"{folder}/{twin}")]),
                "operators": side([*bench.ours(processes), bench.app(f"{folder}/{operators}"), workers]),
                "blocks": side([*bench.ours(processes), bench.app(f"{folder}/{blocks[0]}"), *blocks[1:],
                                workers])}
    return sides


def text_file(bench):
    path = bench.folder / "text"
    if not path.exists():
        bench.call(bench.build / "bench/text_corpus", "8M" if bench.quick else "200M", path)
    return path


def compress(bench):
    """Fig. 3a: bzip2 compression"""
    against_mpi(bench, "compress", compress.__doc__, "blocks/s",
                of_files(bench, "bzip2", "bzip2_operators", ["bzip2_app", "--workers"], "bzip2_mpi",
                         text_file(bench)))


def decompress(bench):
    """Fig. 3b: bzip2 decompression"""
    packed = bench.folder / "text.bz2"
    if not packed.exists():
        with packed.open("wb") as out:
            subprocess.run(["bzip2", "-c", text_file(bench)], stdout=out, check=True)
    against_mpi(bench, "decompress", decompress.__doc__, "blocks/s",
                of_files(bench, "bzip2", "bunzip2_operators", ["bunzip2_app"], "bunzip2_mpi", packed))


def primes(bench):
    """Fig. 3c: prime numbers"""
    last = 20_000 if bench.quick else 5_000_000
    bench.sums.clear()

    def side(*command):
        def run():
            rate = bench.rate(*command)
            if len(bench.sums) != 1:
                raise SystemExit(f"{command}: want one sum of all runs, found {bench.sums}")
            return rate
        return run

    def sides(processes):
        # We are measured against an expert's twin, 1,000 numbers a message. The paper's has one.
        twin = [*bench.mpirun, "-n", processes, bench.app("farm/primes_mpi"), last]
        return {"MPI": side(*twin, 1_000), "MPI, 1 a message": side(*twin, 1),
                "operators": side(*bench.ours(processes), bench.app("farm/primes_operators"), last,
                                  processes - 2),
                "blocks": side(*bench.ours(processes), bench.app("farm/primes_app"), last, processes - 2)}
    against_mpi(bench, "primes", primes.__doc__, "numbers/s", sides)


def eyes(bench):
    """Fig. 3d: eye detector"""
    clip = bench.folder / "clip.avi"
    size = [20, 480, 270] if bench.quick else [250, 1280, 720]
    bench.call(bench.app("eyes/eyes_clip"), *size, clip)
    against_mpi(bench, "eyes", eyes.__doc__, "frames/s",
                of_files(bench, "eyes", "eyes_operators", ["eyes_app"], "eyes_mpi", clip))


def chain(bench, messages, each_ms, state_bytes, fail_after, every):
    """Messages per second through the four stages."""
    folder = pathlib.Path(tempfile.mkdtemp(dir=bench.folder))
    snapshots = ["--snapshots", folder / "snapshots", "--every", f"{round(1000 * every)}ms"] if every else []
    rate = bench.rate(*bench.ours(4, *snapshots), bench.build / "bench/papers/paper_chain", messages,
                      each_ms, state_bytes, fail_after, folder)
    shutil.rmtree(folder)
    return rate


def by_interval(bench, name, title, runs, base, paper=None):
    """Figs. 4a and 4b: `runs` are name -> how it is run, `base` without failure and snapshots."""
    found = in_turns(bench, {"alone": base, **runs})
    of_base = 100 / statistics.mean(found.pop("alone"))
    result = {**record.surroundings(), "figure": title, "unit": "percent of the throughput without failure "
              "and snapshots", "runs": bench.runs, "points": {}, "paper": paper}
    points = []
    for i, (label, rates) in enumerate(found.items()):
        percents = [rate * of_base for rate in rates]
        result["points"][label] = {"percent": percents, "mean": statistics.mean(percents),
                                   "deviation": deviation(percents)}
        points.append((i, *spread(percents)))
        theirs = f"   paper {100 - paper[label]:.2f}" if paper and label in paper else ""
        print(f"{label:>12}: {statistics.mean(percents):6.2f} ± {deviation(percents):.2f} %{theirs}", flush=True)
    lines = [("ours", points)]
    if paper:
        lines.append(flat("paper", [(i, 100 - paper[label]) for i, label in enumerate(found) if label in paper]))
    bench.save(name, title, result, [("percent of throughput", "interval of snapshots", lines,
                                      {"names": list(found)})])


def recovery(bench):
    """Fig. 4a: throughput with a failure at message 90 of 100, by the interval of snapshots"""
    each_ms = 5 if bench.quick else 100
    job = 100 * each_ms / 1e3
    print("the paper says that any interval is better than none, and no values")
    # Without any the job goes back to its beginning.
    intervals = {"none": 3_600, **{f"{share * job:g} s": share * job for share in [0.5, 0.2, 0.1, 0.05]}}
    by_interval(bench, "recovery", recovery.__doc__,
                {label: lambda every=every: chain(bench, 100, each_ms, 8, 90, every)
                 for label, every in intervals.items()},
                lambda: chain(bench, 100, each_ms, 8, 0, None))


def overhead(bench):
    """Fig. 4b: throughput with a state of 100 MB, by the interval of snapshots"""
    # In small, all is shorter by the same factor but what a snapshot takes: it costs more then.
    scale = 30 if bench.quick else 1
    messages, each_ms = (150, 10) if bench.quick else (1_200, 100)
    state = 10_000_000 if bench.quick else 100_000_000
    if bench.quick:
        print(f"in small: {state // 1_000_000} MB, all intervals {scale} times shorter")
    by_interval(bench, "overhead", overhead.__doc__,
                {f"{seconds} s": lambda seconds=seconds: chain(bench, messages, each_ms, state, 0, seconds / scale)
                 for seconds in PAPER_OVERHEAD},
                lambda: chain(bench, messages, each_ms, state, 0, None),
                {f"{seconds} s": cost for seconds, cost in PAPER_OVERHEAD.items()})


FIGURES = {one.__name__: one for one in [compress, decompress, primes, eyes, recovery, overhead]}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("figure", choices=[*FIGURES, "all"])
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build/release"))
    parser.add_argument("--runs", type=int, default=10, help="of each point and side; default: 10")
    parser.add_argument("--processes", type=lambda text: [int(word) for word in text.split(",")],
                        default=[3, 4, 6], help="of Figs. 3a to 3d, at least 3 each; default: 3,4,6")
    parser.add_argument("--quick", action="store_true", help="few points, small inputs, three runs")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("figures"))
    arguments = parser.parse_args()
    if arguments.runs < 1 or min(arguments.processes) < 3:
        parser.error("want at least one run, and at least 3 processes: two of them are source and sink")
    if os.getloadavg()[0] > 0.5:
        print(f"note: the machine is busy (load {os.getloadavg()[0]:.1f}): believe no figure", file=sys.stderr)
    for name, figure in FIGURES.items():
        if arguments.figure not in [name, "all"]:
            continue
        begin = time.monotonic()
        print(figure.__doc__)
        with tempfile.TemporaryDirectory(prefix="piracema-paper000-") as folder:
            try:
                figure(Bench(arguments, pathlib.Path(folder)))
            except Missing as missing:
                print(f"left out: {name}: {missing}\n", file=sys.stderr)
                if arguments.figure == name:
                    return 77
                continue
        print(f"{name} took {time.monotonic() - begin:.0f} s\n", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
