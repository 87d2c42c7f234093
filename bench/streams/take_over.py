#!/usr/bin/env python3
"""How long is a job without a coordinator when that is killed and another one stands by?

    bench/streams/take_over.py BUILD_DIRECTORY [--runs 20] [--workers 2]

A job (tests/cluster/apps/stream.cpp) runs with --keep-workers, another command stands by, the first one
gets SIGKILL. Printed are, from the SIGKILL on: when the second one has the lock and has read the
record, opened its door and found all workers again (its event `reattached`), and when its first
snapshot is complete. Median, smallest and largest of the runs; where something was redone it counts
as failed, and the exit code is 1.
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time


def once(build, workers, folder):
    command = [str(build / "tools/piracema"), "run", "--json", "-n", str(workers), "--snapshots",
               str(folder / "s"), "--every", "100ms"]
    program = [str(build / "tests/cluster/stream_app"), str(folder / "out"), "items=100000000",
               "pause_us=100", f"until={folder / 'end'}"]

    def start(*options):
        return subprocess.Popen([*command, *options, *program], stdout=subprocess.PIPE,
                                stderr=subprocess.DEVNULL, text=True)

    def wait_for(process, name):
        for line in process.stdout:
            event = json.loads(line)
            if event["event"] == name:
                return time.monotonic()
            if event["event"] in ("lost", "recovering"):
                return None
        return None

    first = start("--keep-workers", "1m")
    wait_for(first, "snapshot")
    second = start("--standby")
    wait_for(second, "standing_by")
    wait_for(first, "snapshot")
    killed = time.monotonic()
    first.kill()
    found = wait_for(second, "reattached")
    saved = wait_for(second, "snapshot")
    (folder / "end").touch()
    second.communicate()
    first.communicate()
    if found is None or saved is None or second.returncode != 0:
        return None
    return found - killed, saved - killed


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--workers", type=int, default=2)
    arguments = parser.parse_args()
    results = []
    for _ in range(arguments.runs):
        with tempfile.TemporaryDirectory(prefix="piracema-take-over-") as folder:
            results.append(once(arguments.build.resolve(), arguments.workers, pathlib.Path(folder)))
    good = [result for result in results if result is not None]
    for name, times in zip(("all workers found again", "next snapshot complete"), zip(*good)):
        times = [1000 * t for t in times]
        print(f"{name}: {statistics.median(times):.0f} ms ({min(times):.0f} to {max(times):.0f})")
    print(f"{len(good)} runs, {len(results) - len(good)} failed")
    return 0 if len(good) == len(results) else 1


if __name__ == "__main__":
    sys.exit(main())
