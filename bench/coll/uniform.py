#!/usr/bin/env python3
"""What the preloaded library costs where there is nothing to win, beside the MPI library's own calls.

    bench/coll/uniform.py BUILD_DIRECTORY [--ranks 2,4] [--runs 5] [--pairs 101] [--hosts]

The goal is 20 us or 2 % at most. Both sides run in turns in one process (PMPI_ names are the MPI
library's own): between processes the same native call of 1 MB scatters by more than that. More ranks
than cores measure the scheduler. On one host the library does nothing; with --hosts (wants root) every
rank sees a host of its own name, so that all of it is at work: links are measured, windows planned, the
other way tried. The mean has those trials in it, and every slice of time that somebody else gets: the
last column is how many batches took twice the median and more, native and ours. Unless ours are more,
the mean is noise.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess

from launch import library, mpirun

OWN_HOST = ["unshare", "-u", "sh", "-c", 'hostname "rank$OMPI_COMM_WORLD_RANK"; exec "$0" "$@"']


def run(build, ranks, pairs, hosts):
    command = mpirun(ranks, {"LD_PRELOAD": library(build)}) + (OWN_HOST if hosts else [])
    done = subprocess.run([*command, build / "bench/bench_coll_uniform", str(pairs)],
                          capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--ranks", default="2")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--pairs", type=int, default=101)
    parser.add_argument("--hosts", action="store_true", help="each rank as on a host of its own")
    arguments = parser.parse_args()
    build = arguments.build.resolve()
    print(f"load {os.getloadavg()[0]:.1f} at the start, {os.cpu_count()} cores; us a call, medians of"
          f" {arguments.runs} runs of {arguments.pairs} pairs")
    for ranks in map(int, arguments.ranks.split(",")):
        runs = [run(build, ranks, arguments.pairs, arguments.hosts) for _ in range(arguments.runs)]
        for name in runs[0]:
            native, ours, pair, mean = (statistics.median(r[name][i] for r in runs) for i in range(4))
            late, ours_late = (sum(r[name][i] for r in runs) for i in (4, 5))
            verdict = "" if pair <= max(20, 0.02 * native) else "  MORE THAN 20 us AND 2 %"
            print(f"{ranks} ranks, {name:>18}: native {native:10.2f}  ours {ours:10.2f}"
                  f"  pairs {pair:+8.2f}  mean {mean:+9.2f}  long {late:3} {ours_late:3}{verdict}")


if __name__ == "__main__":
    main()
