#!/usr/bin/env python3
"""An application on a link that becomes slow in mid-run: the MPI library's trees against ours.

    bench/coll/stencil.py BUILD_DIRECTORY [--ranks 9] [--steps 120] [--runs 3]

A stencil with a broadcast and an allreduce every fourth step on emulated links; after a third of its
steps the route of rank 0 to another site becomes forty times as slow, not that of its neighbours. `binomial` stands for the MPI library,
which knows nothing of emulated links; `two-level` is told the sites. The goal is 1.5 times.
"""

import argparse
import pathlib
import statistics

from launch import run

ENGINES = ["binomial", "two-level", "tree", "auto"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--ranks", type=int, default=9)
    parser.add_argument("--steps", type=int, default=120)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--settle", type=float, default=4, help="seconds to measure links in")
    arguments = parser.parse_args()
    totals = {engine: [] for engine in ENGINES}
    for _ in range(arguments.runs):
        residuals = set()
        for engine in ENGINES:
            result = run(arguments.build.resolve(), "bench_coll_stencil", engine, arguments.ranks,
                         [arguments.steps, arguments.settle])
            totals[engine].append(result["total_s"])
            residuals.add(f"{result['residual']:.6g}")
        assert len(residuals) == 1, f"results differ: {residuals}"
    ours = statistics.median(totals["tree"])
    for engine, all_runs in totals.items():
        middle = statistics.median(all_runs)
        print(f"{engine:10} {middle:8.2f} s  [{min(all_runs):.2f}-{max(all_runs):.2f}]"
              f"  {middle / ours:5.2f} times ours")


if __name__ == "__main__":
    main()
