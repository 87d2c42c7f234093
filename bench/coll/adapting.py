#!/usr/bin/env python3
"""What a program sees while its trees are adapted: how late, for how many messages, and who waits.

    bench/coll/adapting.py BUILD_DIRECTORY [--engines tree,mst] [--operations 60]

24 ranks broadcast and reduce in turns when the links at the root that their trees take become slow. An
operation that begins on the old tree takes as long as that does on the new links, and no longer if
nobody is stopped; then come the ones on the new tree.
"""

import argparse
import json
import os
import pathlib
import tempfile

from launch import run


def read(name, at, took, slow, fast):
    """When the first operation went along a new tree, and the longest of all."""
    limit = fast + (slow - fast) / 3
    late = next((i for i, seconds in enumerate(took) if seconds < limit and at[i] > 0), None)
    new = "never" if late is None else f"after {late} on the old tree, {at[late]:.2f} s after the change"
    print(f"  {name:10}: the first on a new tree {new}; longest {max(took):.2f} s (old tree by the model"
          f" {slow:.2f} s), last {took[-1]:.3f} s (best by the model {fast:.3f} s)")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--engines", default="tree,mst")
    parser.add_argument("--operations", type=int, default=60)
    parser.add_argument("--settle", type=float, default=6, help="seconds to measure links in")
    arguments = parser.parse_args()
    print(f"load {os.getloadavg()[0]:.1f} at the start, {os.cpu_count()} cores")
    for engine in arguments.engines.split(","):
        with tempfile.TemporaryDirectory() as folder:
            report = pathlib.Path(folder) / "report.json"
            result = run(arguments.build.resolve(), "bench_coll_adapting", engine, 24,
                         [arguments.settle, arguments.operations], {"PIRACEMA_COLL_REPORT": report})
            told = json.loads(report.read_text())
        print(engine)
        slow, fast = result["model_broadcast_s"]
        read("broadcasts", result["broadcast_at_s"], result["broadcast_s"], slow, fast)
        if engine != "mst":  # Whose reductions are the MPI library's, which knows no emulated links.
            slow, fast = (2 * value for value in result["model_up_s"])
            read("allreduces", result["allreduce_at_s"], result["allreduce_s"], slow, fast)
        if told["rounds"]:
            print(f"  {told['rounds']} rounds of the distributed tree, {told['letters']} letters,"
                  f" {told['letters'] / told['rounds']:.0f} a round; none over the program's communicators")
        else:
            print("  messages for an adaptation: none, trees go with the data;"
                  f" {told['probes']} packets have measured links")


if __name__ == "__main__":
    main()
