#!/usr/bin/env python3
"""What it costs an MPI job that its rank 0 shows itself (PIRACEMA_COLL_FIGURES, as `piracema coll --http` sets it).

    bench/coll/shown.py BUILD_DIRECTORY [--runs 5] [--pairs 101] [--ranks 4,24] [--seconds 20]

First calls between two ranks with it and without, in turns (bench_coll_uniform; wants root, as every rank sees a
host of its own name, so that the library is at work). Then the processor time that the thread which writes the
file takes in a second, in jobs that broadcast without an end, on emulated links.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import tempfile
import time

from launch import library, mpirun, preloads
from uniform import OWN_HOST


def calls(build, pairs, figures):
    """For each call what ours took, and how much more than the MPI library's own beside it; microseconds."""
    variables = {"LD_PRELOAD": library(build), **({"PIRACEMA_COLL_FIGURES": figures} if figures else {})}
    done = subprocess.run([*mpirun(2, variables), *OWN_HOST, build / "bench/bench_coll_uniform", str(pairs)],
                          capture_output=True, text=True, check=True)
    return {name: (one[1], one[2]) for name, one in json.loads(done.stdout).items()}


def compare(build, runs, pairs, folder):
    without, with_it = [], []
    for _ in range(runs):
        without.append(calls(build, pairs, None))
        with_it.append(calls(build, pairs, folder / "figures"))
        (folder / "figures").unlink()  # It is there, or nothing was measured.
    for name in without[0]:
        a, b = ([statistics.median(run[name][i] for run in runs) for i in (0, 1)] for runs in (without, with_it))
        print(f"2 ranks, {name:>18}: ours {a[0]:9.2f} without, {b[0]:9.2f} with;"
              f" more than native beside them {a[1]:+7.2f}, {b[1]:+7.2f}")


def thread_seconds(pid):
    """Processor time of the thread that shows a rank; nothing if it has none."""
    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
        if task.joinpath("comm").read_text().strip() == "piracema_shows":
            return int(task.joinpath("schedstat").read_text().split()[0]) / 1e9
    return None


def measure(build, ranks, seconds, folder):
    links, stop, figures = folder / "links", folder / "stop", folder / "figures"
    links.write_text(f"0-{ranks // 2 - 1} {ranks // 2}-{ranks - 1} 2ms\n")
    stop.unlink(missing_ok=True)
    variables = {"LD_PRELOAD": ":".join(map(str, preloads(build))), "PIRACEMA_COLL_ENGINE": "tree",
                 "PIRACEMA_COLL_EMULATE": links, "PIRACEMA_COLL_FIGURES": figures}
    job = subprocess.Popen([*mpirun(ranks, variables), build / "tests/conformance/coll/coll_rounds_openmpi", stop],
                           stdout=subprocess.DEVNULL)
    found = None
    while found is None:
        time.sleep(0.1)
        for one in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                if one.joinpath("comm").read_text().startswith("coll_rounds") and thread_seconds(one.name) is not None:
                    found = one.name
            except OSError:
                pass  # It has ended.
    # Links are measured and the first trees are made.
    time.sleep(5)
    before, began = thread_seconds(found), time.monotonic()
    time.sleep(seconds)
    took, passed = thread_seconds(found) - before, time.monotonic() - began
    size = figures.stat().st_size
    stop.touch()
    job.wait()
    print(f"{ranks} ranks: the thread takes {took / passed * 1e3:.2f} ms of processor time a second; {size} bytes")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--pairs", type=int, default=101)
    parser.add_argument("--ranks", default="4,24")
    parser.add_argument("--seconds", type=float, default=20)
    arguments = parser.parse_args()
    build = arguments.build.resolve()
    print(f"load {os.getloadavg()[0]:.1f} at the start, {os.cpu_count()} cores; us a call, medians of"
          f" {arguments.runs} runs of {arguments.pairs} pairs each")
    with tempfile.TemporaryDirectory() as folder:
        compare(build, arguments.runs, arguments.pairs, pathlib.Path(folder))
        for ranks in map(int, arguments.ranks.split(",")):
            measure(build, ranks, arguments.seconds, pathlib.Path(folder))


if __name__ == "__main__":
    main()
