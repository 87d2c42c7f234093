#!/usr/bin/env python3
"""How long a job stands still for an image, with a disk of its node and without, where the store is slow.

    bench/ckpt/local_images.py BUILD_DIRECTORY [--runs 5] [--megabytes 500] [--rate 100] [--cache 64]

The store is a file system of its own that the kernel throttles (blkio) to `rate` megabytes a second; as much of what
is written to it may wait in memory as the machine lets (`cached`), or `cache` megabytes, as with a client that has a
bound of its own (`bounded`, by those of its backing device). The disk of the node is that of /var/tmp. `frozen` is
how long the job stands still in `piracema ckpt save`, as criu tells it; `stall` the longest time between two of the
job's own steps, each of which takes a millisecond; `answer` how long `save` takes; `stored` how long until the image
is whole in the store. By turns, the job being the same.
"""

import argparse
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

from jobs import Job, slow_store, told, want_ckpt

# The longest step is told and begun anew by each line of a FIFO.
PROGRAM = """
import os, sys, time
held = bytearray({megabytes} << 20)
for at in range(0, len(held), 4096):
    held[at:at + 8] = os.urandom(8)
ask = os.open(sys.argv[1], os.O_RDONLY | os.O_NONBLOCK)
print("up", flush=True)
last, longest = time.monotonic(), 0
while True:
    time.sleep(0.001)
    now = time.monotonic()
    longest, last = max(longest, now - last), now
    try:
        asked = os.read(ask, 1)
    except BlockingIOError:
        continue
    if asked:
        print(longest, flush=True)
        longest = 0
"""


def bound_cache(store, megabytes):
    """What may wait for it in memory; none: as the machine lets."""
    number = os.stat(store).st_dev
    place = pathlib.Path(f"/sys/class/bdi/{os.major(number)}:{os.minor(number)}")
    (place / "strict_limit").write_text("1" if megabytes else "0")
    (place / "max_bytes" if megabytes else place / "max_ratio").write_text(str(megabytes << 20) if megabytes else "100")


class Side:
    """The job, with a disk of its node or without."""

    def __init__(self, build, folder, store, name, local, megabytes):
        self.fifo, self.local = folder / f"{name}.fifo", local
        os.mkfifo(self.fifo)
        keep = os.open(self.fifo, os.O_RDWR)
        self.tell = keep
        self.job = Job(build, store / name, sys.executable, "-c", PROGRAM.format(megabytes=megabytes), self.fifo,
                       more=["--keep", "1", *(["--local", folder / name] if local else [])])
        self.job.read_lines(1)
        self.rows = []

    def longest(self):
        os.write(self.tell, b"x")
        return float(self.job.process.stdout.readline())

    def save(self):
        os.sync()
        self.longest()
        begin = time.monotonic()
        text = self.job.ask("save")
        answered = stored = time.monotonic() - begin
        if self.local:
            while "is in the store as well" not in self.job.process.stderr.readline():
                pass
            stored = time.monotonic() - begin
        self.rows.append((told(text)[1], self.longest(), answered, stored))

    def end(self):
        self.job.process.kill()
        self.job.process.communicate()
        os.close(self.tell)


def measure(arguments, cache):
    with tempfile.TemporaryDirectory(dir="/var/tmp", prefix="piracema-bench-") as name:
        folder = pathlib.Path(name)
        with slow_store(arguments.rate, folder) as store:
            bound_cache(store, cache)
            sides = [Side(arguments.build, folder, store, name, local, arguments.megabytes)
                     for name, local in [("direct", False), ("local", True)]]
            for _ in range(arguments.runs):
                for side in sides:
                    side.save()
            for side in sides:
                side.end()
    for side in sides:
        for column, values in zip(["frozen", "stall", "answer", "stored"], zip(*side.rows)):
            figures = " ".join(f"{value:.3f}" for value in [min(values), statistics.median(values), max(values)])
            print(f"{'bounded' if cache else 'cached'}, {'local' if side.local else 'straight'}: {column} {figures}",
                  flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--megabytes", type=int, default=500)
    parser.add_argument("--rate", type=float, default=100)
    parser.add_argument("--cache", type=int, default=64)
    arguments = parser.parse_args()
    arguments.build = arguments.build.resolve()
    want_ckpt(arguments.build)
    print(f"load {os.getloadavg()[0]:.1f} at the start, {os.cpu_count()} cores; seconds: min median max of "
          f"{arguments.runs}; {arguments.megabytes} MB, a store of {arguments.rate:g} MB/s")
    for cache in [0, arguments.cache]:
        measure(arguments, cache)


if __name__ == "__main__":
    main()
