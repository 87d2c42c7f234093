#!/usr/bin/env python3
"""What a capsule that makes no image costs a job, beside the same job without us.

    bench/ckpt/speed_overhead.py BUILD_DIRECTORY [--pairs 20] [--store DIR] [--json FILE]

Each pair runs heat2d under mpirun within a capsule and without one, by turns the other one first. What
counts is not the time that passed, which is noise where cores are shared, but the processor time, of
user and system, of the job's own processes as the kernel accounts for it: of all that mpirun has
started and waited for, itself included. It is taken by a small program around mpirun, inside of the
capsule, so that what making the capsule costs is not in it. With one rank nothing is waited for; with
two, MPI's turns of waiting are work as well. Beside it: what our own processes took of a core.
"""

import argparse
import contextlib
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tests/ckpt"))
from jobs import MPIRUN, want_ckpt  # noqa: E402

# Says when the program prints its first line, and how much its processes took, and is there until that
# has been read.
AROUND = """
import resource, subprocess, sys
with subprocess.Popen(sys.argv[2:], stdout=subprocess.PIPE, text=True) as program:
    print(program.stdout.readline(), end="", flush=True)
    program.stdout.read()
took = resource.getrusage(resource.RUSAGE_CHILDREN)
print(took.ru_utime + took.ru_stime if program.returncode == 0 else "failed", flush=True)
open(sys.argv[1]).close()
"""


def processor_time(where):
    """Seconds of all processes that were started with this word: a keeper, and what it has forked."""
    sum_of_all = 0
    for process in pathlib.Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if process.name.isdigit() and os.fsencode(where) in (process / "cmdline").read_bytes().split(b"\0"):
                sum_of_all += int((process / "schedstat").read_text().split()[0]) / 1e9
    return sum_of_all


class Bench:
    def __init__(self, arguments, store):
        self.piracema = arguments.build / "tools/piracema"
        self.heat2d = arguments.build / "apps/heat2d/heat2d_mpi"
        self.steps = arguments.steps
        self.where, self.hold = store / "job", store / "hold"
        os.mkfifo(self.hold)

    def run(self, ranks, inside):
        """Seconds of the job's processes, and what ours took of a core while it computed."""
        capsule = [self.piracema, "ckpt", "run", "--quiet", "--dir", self.where, "--"] if inside else []
        program = [*MPIRUN, ranks, self.heat2d, 1000, self.steps, 1]
        with subprocess.Popen([*map(str, [*capsule, sys.executable, "-c", AROUND, self.hold, *program])], text=True,
                              stdout=subprocess.PIPE) as job:
            job.stdout.readline()
            begin, ours = time.monotonic(), processor_time(self.where)
            took = job.stdout.readline()
            share = (processor_time(self.where) - ours) / (time.monotonic() - begin)
            self.hold.write_text("")
        if inside:
            shutil.rmtree(self.where)
        return float(took), share

    def pairs(self, ranks, count):
        """How much more it takes inside, of each pair, and our share of a core."""
        ratios, shares = [], []
        for number in range(count + 1):
            took = {}
            for inside in [False, True] if number % 2 == 0 else [True, False]:
                took[inside], share = self.run(ranks, inside)
                if inside:
                    shares.append(share)
            if number > 0:  # The first pair warms up.
                ratios.append(took[True] / took[False] - 1)
        return ratios, shares[1:]


def median_within(values):
    """(low, high): the median of what they are drawn from, with 95 %, whatever its shape: by the sign
    test, the k-th from either end."""
    ordered, count = sorted(values), len(values)
    below, chance, k = 0.0, 0.5 ** count, 0
    while below + chance <= 0.025:
        below += chance
        k += 1
        chance = chance * (count - k + 1) / k
    return ordered[max(k - 1, 0)], ordered[min(count - k, count - 1)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--pairs", type=int, default=20)
    parser.add_argument("--ranks", default="1,2")
    parser.add_argument("--steps", type=int, default=600, help="of heat2d, 1000 points squared")
    parser.add_argument("--store", type=pathlib.Path, default=pathlib.Path("/var/tmp"))
    parser.add_argument("--json", type=pathlib.Path)
    arguments = parser.parse_args()
    arguments.build = arguments.build.resolve()
    want_ckpt(arguments.build)
    print(f"load {os.getloadavg()[0]:.1f} at the start, {os.cpu_count()} cores; {arguments.pairs} pairs")
    rows = []
    with tempfile.TemporaryDirectory(dir=arguments.store, prefix="piracema-speed-",
                                     ignore_cleanup_errors=True) as folder:
        bench = Bench(arguments, pathlib.Path(folder))
        for ranks in map(int, arguments.ranks.split(",")):
            ratios, shares = bench.pairs(ranks, arguments.pairs)
            low, high = median_within(ratios)
            quarters = statistics.quantiles(ratios, n=4)
            print(f"\n{ranks} rank(s): processor time within a capsule, beyond that without one:\n"
                  f"  median {statistics.median(ratios):+.2%}, with 95 % it is {low:+.2%} to {high:+.2%}; quarters "
                  f"{quarters[0]:+.2%} {quarters[2]:+.2%}, least and most {min(ratios):+.2%} {max(ratios):+.2%}\n"
                  f"  our own processes: {statistics.median(shares):.3%} of a core (at most {max(shares):.3%})")
            rows.append({"ranks": ranks, "overhead": ratios, "our processes": shares})
    if arguments.json:
        arguments.json.write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
