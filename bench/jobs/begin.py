#!/usr/bin/env python3
"""How soon does a job of a cluster begin?

    bench/jobs/begin.py BUILD_DIRECTORY [--runs 20] [--nodes 3]

A cluster of nodes on this machine gets a job after the other while it is idle, each a shell that writes
down the time. Printed is the time from the start of `piracema cluster submit` to the first command of
that shell, beside the time that the same shell takes to begin without a cluster, and the ratio of
their medians; how long `submit --wait -- true` takes; and how much of a core the idle cluster takes. Ends
with 1 if a job was not run.
"""

import argparse
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

TICK = os.sysconf("SC_CLK_TCK")


def milliseconds(name, times):
    print(f"{name:<42} median {statistics.median(times):7.1f} ms   "
          f"{min(times):.1f} to {max(times):.1f}   ({len(times)} runs)")
    return statistics.median(times)


def processor_seconds(folder):
    """Of all processes that have the folder of the cluster among their words."""
    ticks = 0
    for process in pathlib.Path("/proc").iterdir():
        try:
            if not process.name.isdigit() or os.fsencode(folder) not in (process / "cmdline").read_bytes():
                continue
            fields = (process / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        ticks += int(fields[11]) + int(fields[12])
    return ticks / TICK


def wait_for(condition, what, seconds=60):
    until = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > until:
            sys.exit(f"begin.py: {what}")
        time.sleep(0.02)


def begun(command, stamp):
    """From the start of the command to the time that the shell which it has run wrote down."""
    start = time.time()
    subprocess.run([*command, "sh", "-c", f"date +%s.%N > {stamp}.part; mv {stamp}.part {stamp}"], check=True,
                   stdout=subprocess.DEVNULL)
    wait_for(stamp.exists, "the job was not run")
    return 1e3 * (float(stamp.read_text()) - start)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--nodes", type=int, default=3)
    options = parser.parse_args()
    piracema = [str(options.build.resolve() / "tools/piracema-cluster"), "cluster"]
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        home = folder / "c"
        cluster = subprocess.Popen([*piracema, "start", "--directory", home, "--nodes", str(options.nodes)],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            ask = [*piracema, "nodes", "--cluster", home, "--json"]
            wait_for(lambda: subprocess.run(ask, capture_output=True, text=True).stdout.count('"here"')
                     == options.nodes, "the nodes do not come")
            bare, jobs, waits = [], [], []
            for run in range(options.runs):
                bare.append(begun([], folder / f"bare-{run}"))
                jobs.append(begun([*piracema, "submit", "--cluster", home, "--"],
                                  folder / f"job-{run}"))
                start = time.monotonic()
                subprocess.run([*piracema, "submit", "--cluster", home, "--wait", "--", "true"], check=True,
                               stdout=subprocess.DEVNULL)
                waits.append(1e3 * (time.monotonic() - start))
            before = processor_seconds(str(home))
            time.sleep(5)
            idle = (processor_seconds(str(home)) - before) / 5
        finally:
            cluster.terminate()
            cluster.wait()
    alone = milliseconds("the shell by itself", bare)
    submitted = milliseconds("submitted to the cluster", jobs)
    milliseconds("submit --wait -- true, from begin to end", waits)
    print(f"ratio of the medians: {submitted / alone:.1f}")
    print(f"an idle cluster of {options.nodes} nodes takes {100 * idle:.1f} % of a core")


if __name__ == "__main__":
    main()
