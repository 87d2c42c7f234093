#!/usr/bin/env python3
"""A keyed stream with much state loses a worker: how long until the first new item is out again.

    bench/streams/loss.py BUILD [--ballast BYTES] [--rounds N] [--every T]

BUILD is a release build. Two workers, each with a replica of an operator that has so many bytes of state for
each of 5,000 keys: 215000 makes 1 GiB. A worker gets SIGKILL when a snapshot is complete, one after the
other. Printed are, from the SIGKILL on, by the clock of this script: when it was noticed, when all had their
states again and the job ran, and when the first new item was out; medians, smallest and largest. The
snapshots lie in a directory of the system's for temporary files, and in its memory as far as that goes.
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
import threading
import time


class Job:
    def __init__(self, build, ballast, every, folder):
        self.app = build / "tests/cluster/tally_app"
        self.process = subprocess.Popen(
            [build / "tools/piracema", "run", "--json", "-n", "2", "--snapshots", "s", "--every", every, self.app,
             "out", "replicas=2", "items=100000000", "pause_us=50", f"ballast={ballast}"],
            cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.events, self.changed = [], threading.Condition()
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.process.stdout:
            with self.changed:
                self.events.append((time.monotonic(), json.loads(line)))
                self.changed.notify_all()

    def wait_for(self, name, after=0.0):
        """When the first such event came after that moment, and the event."""
        with self.changed:
            def seen():
                return next(((at, event) for at, event in self.events if event["event"] == name and at > after), None)
            if not self.changed.wait_for(lambda: seen() is not None, 300):
                sys.exit(f"no event '{name}' came")
            return seen()

    def workers(self):
        found, under = [], [self.process.pid]
        for pid in under:
            for thread in pathlib.Path(f"/proc/{pid}/task").iterdir():
                under += map(int, (thread / "children").read_text().split())
            if pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")[0] == bytes(self.app):
                found.append(pid)
        return found


def measure(options):
    times = {"noticed": [], "all have their states": [], "first new item out": []}
    with tempfile.TemporaryDirectory(prefix="piracema-loss-") as folder:
        job = Job(options.build, options.ballast, options.every, folder)
        try:
            at = 0.0
            for _ in range(4):
                at, size = job.wait_for("snapshot", at)
            for round_number in range(options.rounds):
                at, _ = job.wait_for("snapshot", time.monotonic())
                os.kill(job.workers()[round_number % 2], signal.SIGKILL)
                killed = time.monotonic()
                for what, event in (("noticed", "lost"), ("all have their states", "running"),
                                    ("first new item out", "first_item_out")):
                    times[what].append(job.wait_for(event, killed)[0] - killed)
                job.wait_for("snapshot", time.monotonic())
        finally:
            job.process.kill()
            job.process.wait()
        # What is kept of it, each file once.
        kept = sum(each.stat().st_size for each in pathlib.Path(folder, "s").rglob("part-*"))
    print(f"5,000 keys of {options.ballast} B, {5_000 * options.ballast / 2**30:.2f} GiB; the last snapshot before "
          f"the first loss wrote {size['bytes'] / 1e6:.0f} MB, {kept / 1e6:.0f} MB lie in the store")
    for what, all_times in times.items():
        print(f"  {what}: median {statistics.median(all_times) * 1e3:.0f} ms ({min(all_times) * 1e3:.0f} to "
              f"{max(all_times) * 1e3:.0f})")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=lambda text: pathlib.Path(text).resolve())
    parser.add_argument("--ballast", type=int, default=215_000)
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--every", default="2s")
    measure(parser.parse_args())
