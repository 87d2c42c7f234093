#!/usr/bin/env python3
"""What a checkpoint costs, beside writing as many bytes plainly, in the same run and by turns.

    bench/ckpt/speed.py BUILD_DIRECTORY [--runs 7] [--store DIR] [--json FILE]

heat2d under mpirun with 2 ranks, of about 25 and 560 MB. `frozen` is how long the job stands still in
`piracema ckpt save`, as criu tells it; `safe` how long until its image is complete on the disk;
`restore` is from the start of `piracema ckpt resume` until the job runs, its image just written. The
plain program writes what the image holds to one file, and syncs it. On several hosts, which are network
namespaces, `frozen` is from the cut of the network until it is healed, when all run again. `overhead` is
how much longer the job computes within a capsule that makes no image, from its first to its last line;
as that is noise where cores are shared, there is beside it what our processes took of a core meanwhile, as
the kernel accounts for it: their work is all that a capsule adds, but for the packets of its loopback.
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
import hosts  # noqa: E402
from jobs import MPIRUN, Job, told, want_ckpt  # noqa: E402


def plain_write(image, to):
    """Seconds to write what the image holds, and until it is on the disk."""
    pieces = [path.read_bytes() for path in sorted(image.iterdir())]
    begin = time.monotonic()
    with open(to, "wb", buffering=0) as file:
        for piece in pieces:
            view = memoryview(piece)
            while view:
                view = view[file.write(view):]
        written = time.monotonic() - begin
        os.fsync(file.fileno())
    synced = time.monotonic() - begin
    to.unlink()
    return written, synced


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
        self.build = arguments.build
        self.piracema = arguments.build / "tools/piracema"
        self.heat2d = arguments.build / "apps/heat2d/heat2d_mpi"
        self.runs = arguments.runs
        self.store = store

    def checkpoints(self, points):
        where = self.store / "job"
        # One line a step; its memory is in use from the first one on.
        job = Job(self.build, where, *MPIRUN, "2", self.heat2d, points, 10**8, 1)
        job.read_lines(1)
        row = {name: [] for name in ["frozen", "safe", "stop", "restore", "write", "write+fsync"]}
        for number in range(self.runs + 1):
            safe, frozen = told(job.ask("save"))
            row["bytes"], image = job.image()
            written, synced = plain_write(image, self.store / "plain")
            begin = time.monotonic()
            stopping = job.begin("stop")
            job.end(75)
            stopping.communicate()
            stopped = time.monotonic() - begin
            begin = time.monotonic()
            job = Job(self.build, where, word="resume")
            job.wait_until_it_goes_on()
            restored = time.monotonic() - begin
            if number > 0:  # The first one warms up.
                for name, value in zip(row, [frozen, safe, stopped, restored, written, synced]):
                    row[name].append(value)
        job.ask("stop")
        job.end(75)
        shutil.rmtree(where)
        return row

    def several(self):
        """4 ranks on 2 hosts, saved, and moved to 2 others."""
        where = self.store / "job"
        row = {name: [] for name in ["frozen", "safe", "stop", "restore"]}
        with contextlib.closing(hosts.Hosts(4, self.store)) as machines:
            def on(*numbers):
                return ["--hosts", machines.names(*numbers), "--rsh", machines.rsh]
            job = Job(self.build, where, *MPIRUN, "4", "--map-by", "node", self.heat2d, 1500, 10**8, 1,
                      more=on(1, 2))
            job.read_lines(2)
            for number in range(self.runs):
                safe, frozen = told(job.ask("save"))
                begin = time.monotonic()
                job.ask("stop")
                job.end(75)
                stopped = time.monotonic()
                job = Job(self.build, where, word="resume", more=on(*((3, 4), (1, 2))[number % 2]))
                job.wait_until_it_goes_on()
                for name, value in zip(row, [frozen, safe, stopped - begin, time.monotonic() - stopped]):
                    row[name].append(value)
            job.ask("stop")
            job.end(75)
        shutil.rmtree(where)
        return row

    def computing(self, *command, where):
        """Seconds from the first line to the last but one, and what keepers of `where` took of a core."""
        job = subprocess.Popen([*map(str, command), *MPIRUN, "2", self.heat2d, "1500", "400", "1"],
                               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        job.stdout.readline()
        begin, worked = time.monotonic(), processor_time(where)
        for _ in range(399):
            job.stdout.readline()
        seconds, worked = time.monotonic() - begin, processor_time(where) - worked
        job.stdout.read()
        job.wait()
        return seconds, worked / seconds

    def overhead(self):
        where = self.store / "job"
        ratios, shares = [], []
        for number in range(self.runs):
            took = {}
            # By turns, the other one first each time.
            for inside in [False, True] if number % 2 == 0 else [True, False]:
                command = [self.piracema, "ckpt", "run", "--quiet", "--dir", where, "--"] if inside else []
                took[inside], share = self.computing(*command, where=where)
                if inside:
                    shares.append(share)
                    shutil.rmtree(where)
            ratios.append(took[True] / took[False] - 1)
        return ratios, shares


def summary(values, unit=1, form="{:.3f}"):
    return " ".join(form.format(v * unit) for v in [min(values), statistics.median(values), max(values)])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--points", default="700,6000", help="sizes of heat2d, comma-separated")
    parser.add_argument("--store", type=pathlib.Path, default=pathlib.Path("/var/tmp"))
    parser.add_argument("--without-overhead", action="store_true")
    parser.add_argument("--without-hosts", action="store_true")
    parser.add_argument("--json", type=pathlib.Path)
    arguments = parser.parse_args()
    arguments.build = arguments.build.resolve()
    want_ckpt(arguments.build)
    print(f"load {os.getloadavg()[0]:.1f} at the start, {os.cpu_count()} cores; "
          f"seconds: min median max of {arguments.runs}")
    rows = []
    with tempfile.TemporaryDirectory(dir=arguments.store, prefix="piracema-speed-",
                                     ignore_cleanup_errors=True) as folder:
        bench = Bench(arguments, pathlib.Path(folder))
        for points in filter(None, arguments.points.split(",")):
            row = bench.checkpoints(int(points))
            rows.append(row)
            print(f"\nheat2d {points}: image of {row['bytes'] / 1e6:.0f} MB")
            for name in ["frozen", "write", "safe", "write+fsync", "stop", "restore"]:
                print(f"  {name:12} {summary(row[name])}")
            for name, plain in [("frozen", "write"), ("safe", "write+fsync")]:
                ratios = [a / b for a, b in zip(row[name], row[plain])]
                print(f"  {name} by {plain}: {summary(ratios, form='{:.2f}')}")
        why = hosts.can_be_made()
        if why or arguments.without_hosts:
            print(f"\nseveral hosts: SKIPPED: {why or 'as asked'}")
        else:
            row = bench.several()
            rows.append({"several hosts": row})
            print("\nheat2d 1500, 4 ranks on 2 hosts, saved, stopped and resumed on 2 others")
            for name in row:
                print(f"  {name:12} {summary(row[name])}")
        if not arguments.without_overhead:
            row, shares = bench.overhead()
            rows.append({"overhead": row, "our processes": shares})
            print(f"\noverhead in the capsule: {summary(row, 100, '{:.2f}')} %; our processes took "
                  f"{summary(shares, 100, '{:.3f}')} % of a core")
    if arguments.json:
        arguments.json.write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
