#!/usr/bin/env python3
"""How long is a job without a coordinator when that is killed and another one stands by?

    bench/streams/take_over.py BUILD_DIRECTORY [--runs 20] [--workers 2] [--coordinators 3 [--stop]
                               [--snapshots PLACE]]

A job (tests/cluster/apps/stream.cpp) runs with --keep-workers, another command stands by, the first one
gets SIGKILL. Printed are, from the SIGKILL on: when the second one has the lock and has read the
record, opened its door and found all workers again (its event `reattached`), and when its first
snapshot is complete. Median, smallest and largest of the runs; where something was redone it counts
as failed, and the exit code is 1.

With --coordinators there is no standby: the coordinator that leads gets SIGKILL, or SIGSTOP with
--stop, and another one of them leads. Printed is also when that one has the job (its event `leads`).

With --snapshots each run has a place of its own below PLACE, as beside a real server on this machine (one
far away takes longer for each request):

    tests/servers/with_server.py s3 bench/streams/take_over.py build/release --coordinators 3 \\
        --snapshots s3://tests/take-over
"""

import argparse
import json
import os
import pathlib
import signal
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


def once_of_several(build, workers, folder, snapshots, count, number):
    job = subprocess.Popen(
        [str(build / "tools/piracema"), "run", "--json", "--coordinators", str(count), "-n",
         str(workers), "--snapshots", snapshots, "--every", "100ms",
         str(build / "tests/cluster/stream_app"), str(folder / "out"), "items=100000000",
         "pause_us=100", f"until={folder / 'end'}"],
        cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)

    def wait_for(name, count=1):
        for line in job.stdout:
            event = json.loads(line)
            if event["event"] in ("lost", "recovering"):
                return None
            if event["event"] == name:
                count -= 1
                if count == 0:
                    return time.monotonic(), event
        return None

    leader = wait_for("leads")[1]["pid"]
    wait_for("snapshot", 5)
    lost = time.monotonic()
    os.kill(leader, number)
    times = [wait_for(name) for name in ("leads", "reattached", "snapshot")]
    (folder / "end").touch()
    if number == signal.SIGSTOP:
        os.kill(leader, signal.SIGCONT)
    job.stdout.read()
    job.wait()
    return None if None in times else [at - lost for at, _ in times]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--coordinators", type=int, default=1)
    parser.add_argument("--stop", action="store_true")
    parser.add_argument("--snapshots")
    arguments = parser.parse_args()
    if arguments.snapshots and arguments.coordinators == 1:
        parser.error("--snapshots wants --coordinators 3: a standby is measured with a directory")
    names = ["all workers found again", "next snapshot complete"]
    if arguments.coordinators > 1:
        names.insert(0, "another one has the job")
    results = []
    for run in range(arguments.runs):
        with tempfile.TemporaryDirectory(prefix="piracema-take-over-") as folder:
            build, path = arguments.build.resolve(), pathlib.Path(folder)
            if arguments.coordinators > 1:
                number = signal.SIGSTOP if arguments.stop else signal.SIGKILL
                place = f"{arguments.snapshots}/{run}" if arguments.snapshots else str(path / "s")
                results.append(once_of_several(build, arguments.workers, path, place,
                                               arguments.coordinators, number))
            else:
                results.append(once(build, arguments.workers, path))
    good = [result for result in results if result is not None]
    for name, times in zip(names, zip(*good)):
        times = [1000 * t for t in times]
        print(f"{name}: {statistics.median(times):.0f} ms ({min(times):.0f} to {max(times):.0f})")
    print(f"{len(good)} runs, {len(results) - len(good)} failed")
    return 0 if len(good) == len(results) else 1


if __name__ == "__main__":
    sys.exit(main())
