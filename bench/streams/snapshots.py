#!/usr/bin/env python3
"""What does a snapshot a second cost a stream with much state, of which five percent change in a second?

    bench/streams/snapshots.py BUILD [--megabytes 1000] [--value 96 1000] [--rounds 3] [--seconds 20]

BUILD is a release build. Runs bench/streams/snapshots_app.cpp in two processes, in turns without snapshots and with
one a second, in a directory of the system's for temporary files and in its memory as far as that goes. Both
have their states and run for a while before anything is counted. Printed are, as medians of the rounds:
items a second and what of them is left with snapshots, the most memory that the workers had together, and
beside the state; what a snapshot wrote in those seconds, and beside what changed since the one before; how long one took.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import threading

QUIET = 10  # Until the first snapshot, which writes all, is over.
CHANGED = 0.05


def memory(pid, app):
    """The most that the workers below `pid` had so far, in bytes."""
    found, under = 0, [pid]
    for parent in under:
        try:
            for thread in pathlib.Path(f"/proc/{parent}/task").iterdir():
                under += map(int, (thread / "children").read_text().split())
            if pathlib.Path(f"/proc/{parent}/cmdline").read_bytes().split(b"\0")[0] == bytes(app):
                status = pathlib.Path(f"/proc/{parent}/status").read_text()
                found += int(status.partition("VmHWM:")[2].split()[0]) * 1024
        except (OSError, IndexError):
            pass
    return found


def run(options, value, snapshots):
    """Items a second, bytes of memory, and (bytes, seconds) of each snapshot that began in the time."""
    keys = options.megabytes * 1_000_000 // (8 + value)
    app, taken = options.build / "bench/snapshots_app", []
    with tempfile.TemporaryDirectory(prefix="piracema-snapshots-") as folder:
        words = ["--snapshots", "s", "--every", "1s"] if snapshots else []
        job = subprocess.Popen([options.build / "tools/piracema", "run", "--json", "-n", "2", *words, app, folder,
                                str(keys), str(value), str(QUIET), str(options.seconds)],
                               cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
        ended, samples = threading.Event(), []

        def sample():
            while not ended.wait(0.2):
                samples.append(memory(job.pid, app))
        sampler = threading.Thread(target=sample)
        sampler.start()
        for line in job.stdout:
            event = json.loads(line)
            if event["event"] == "snapshot":
                taken.append((event["bytes"], event["took"], event["at"]))
        ended.set()
        sampler.join()
        if job.wait() != 0:
            sys.exit(f"the job ended with {job.returncode}")
        items = sum(int((pathlib.Path(folder) / f"items-{i}").read_text()) for i in range(2))
    until = taken[-1][2] if taken else 0
    return items / options.seconds, max(samples), [one for one in taken if one[2] > until - options.seconds]


def measure(options):
    for value in options.value:
        state = options.megabytes * 1_000_000 // (8 + value) * (8 + value)
        found = {False: [], True: []}
        for _ in range(options.rounds):
            for snapshots, rows in found.items():
                rows.append(run(options, value, snapshots))
        rates = {way: statistics.median(row[0] for row in rows) for way, rows in found.items()}
        shares = [with_them[0] / without[0] for without, with_them in zip(found[False], found[True])]
        most = {way: statistics.median(row[1] for row in rows) for way, rows in found.items()}
        taken = [one for row in found[True] for one in row[2]]
        wrote, took = statistics.median(one[0] for one in taken), [one[1] for one in taken]
        print(f"{state / 1e6:.0f} MB in values of {value} B, load {os.getloadavg()[0]:.1f}: {rates[False] / 1e6:.2f} M items/s without "
              f"snapshots, {rates[True] / 1e6:.2f} with one a second: {100 * statistics.median(shares):.1f} % "
              f"({100 * min(shares):.1f} to {100 * max(shares):.1f}); most memory {most[False] / 1e6:.0f} MB and "
              f"{most[True] / 1e6:.0f} MB, {most[False] / state:.2f} and {most[True] / state:.2f} of the state; a snapshot wrote "
              f"{wrote / 1e6:.1f} MB, {wrote / state / CHANGED:.2f} of what changed, and took {statistics.median(took) * 1e3:.0f} ms "
              f"({max(took) * 1e3:.0f} at most, {len(taken)} of them)", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=lambda text: pathlib.Path(text).resolve())
    parser.add_argument("--megabytes", type=int, default=1000)
    parser.add_argument("--value", type=int, nargs="+", default=[96, 1000], choices=[96, 1000])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=int, default=20)
    measure(parser.parse_args())
