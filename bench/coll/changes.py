#!/usr/bin/env python3
"""Trees that follow the links against one of two levels that does not, over random networks that change.

    bench/coll/changes.py BUILD_DIRECTORY [--sequences 1000] [--emulate 3] [--ranks 12] [--out FOLDER]

The model says what one broadcast takes after each of four changes, in a thousand networks; some of
them are run on emulated links, too, and held against it. The goal is a median of 1.5.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys

from launch import run

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "common"))
import chart  # noqa: E402


def draw(result, path):
    """How many of the sequences gain at most so much."""
    lines = []
    for name, label in [("two_level", "against static two levels"), ("mst", "against an adapted MST")]:
        values = result[name]
        steps = [i * (len(values) - 1) // 100 for i in range(100)]
        lines.append((label, [(min(values[i], 20), *3 * [100 * i / len(values)]) for i in steps]))
    chart.write(path, "What a tree that follows the links gains", [
        ("% of the sequences", "times as fast, 20 and more at the end", lines)])
    print(f"drew {path}")


def emulate(build, ranks, seeds, settle):
    for seed in seeds:
        took = {}
        for engine in ["two-level", "tree"]:
            result = run(build, "bench_coll_changes_run", engine, ranks, [seed, settle])
            took[engine] = sum(result["measured_s"])
            model = sum(result["model_" + engine.replace("-", "_") + "_s"])
            print(f"  sequence {seed}, {engine:9}: {took[engine]:8.3f} s, model {model:8.3f} s"
                  f" ({took[engine] / model - 1:+.1%})", flush=True)
        print(f"  sequence {seed}: {took['two-level'] / took['tree']:.2f} times")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--sequences", type=int, default=1000)
    parser.add_argument("--emulate", type=int, default=3, help="sequences to run on emulated links")
    parser.add_argument("--ranks", type=int, default=12)
    parser.add_argument("--settle", type=float, default=5, help="seconds to measure links in")
    parser.add_argument("--out", type=pathlib.Path, help="folder for the picture")
    arguments = parser.parse_args()
    build = arguments.build.resolve()
    print(f"load {os.getloadavg()[0]:.1f} at the start, {os.cpu_count()} cores")
    done = subprocess.run([build / "bench/bench_coll_changes", str(arguments.sequences)],
                          capture_output=True, text=True, check=True)
    result = json.loads(done.stdout)
    for name, label in [("two_level", "against static two levels"), ("mst", "against an adapted MST"),
                        ("over_bound", "ours over the lower bound")]:
        values = result[name]
        print(f"{label:26}: median {statistics.median(values):.2f}, least {values[0]:.2f},"
              f" most {values[-1]:.2f}")
    goal = statistics.median(result["two_level"]) >= 1.5
    print(f"over {arguments.sequences} sequences, goal a median of 1.5: {'met' if goal else 'MISSED'}")
    if arguments.out:
        arguments.out.mkdir(parents=True, exist_ok=True)
        draw(result, arguments.out / "changes.svg")
    emulate(build, arguments.ranks, range(1, arguments.emulate + 1), arguments.settle)


if __name__ == "__main__":
    main()
