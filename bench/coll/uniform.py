#!/usr/bin/env python3
"""What the preloaded library costs where there is nothing to win: one host, bare and preloaded in turns.

    bench/coll/uniform.py BUILD_DIRECTORY [--ranks 2,4] [--runs 7] [--hosts]

The goal is 20 us or 2 % at most. More ranks than cores measure the scheduler. On one host the library
does nothing; with --hosts (wants root) every rank sees a host of its own name, bare and preloaded, so
that all of it is at work: links are measured, windows planned, the other way tried.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess


OWN_HOST = ["unshare", "-u", "sh", "-c", 'hostname "rank$OMPI_COMM_WORLD_RANK"; exec "$0" "$@"']


def run(build, ranks, preload, hosts):
    command = ["mpirun.openmpi", "--allow-run-as-root", "--oversubscribe", "--mca", "pml", "ob1"]
    command += ["--mca", "btl", "vader,self", "-n", str(ranks)]
    if preload:
        command += ["-x", f"LD_PRELOAD={build}/src/coll/mpi/openmpi/libpiracema_coll.so"]
    command += OWN_HOST if hosts else []
    done = subprocess.run([*command, build / "bench/bench_coll_uniform"], capture_output=True,
                          text=True, check=True)
    return json.loads(done.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--ranks", default="2")
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--hosts", action="store_true", help="each rank as on a host of its own")
    arguments = parser.parse_args()
    build = arguments.build.resolve()
    print(f"load {os.getloadavg()[0]:.1f} at the start, {os.cpu_count()} cores; us a call, medians")
    for ranks in map(int, arguments.ranks.split(",")):
        bare, ours = [], []
        for _ in range(arguments.runs):
            bare.append(run(build, ranks, False, arguments.hosts))
            ours.append(run(build, ranks, True, arguments.hosts))
        for name in bare[0]:
            one, other = (statistics.median(r[name] for r in side) for side in (bare, ours))
            verdict = "" if other - one <= max(20, 0.02 * one) else "  MORE THAN 20 us AND 2 %"
            print(f"{ranks} ranks, {name:>18}: bare {one:10.2f}  preloaded {other:10.2f}"
                  f"  {other - one:+8.2f}{verdict}")


if __name__ == "__main__":
    main()
