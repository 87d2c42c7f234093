#!/usr/bin/env python3
"""What a checkpoint costs, beside writing as many bytes plainly, in the same run and by turns.

    bench/ckpt/speed.py BUILD_DIRECTORY [--runs 7] [--store DIR] [--json FILE]

heat2d under mpirun with 2 ranks, of about 25 and 560 MB. `frozen` is how long the job stands still in
`piracema ckpt save`, as criu tells it; `safe` how long until its image is complete on the disk;
`restore` is from the start of `piracema ckpt resume` until the job runs, its image just written; `bare` is
a criu restore of that image without us (speed_bare.py), just before. The plain program writes what an
image holds to one file, and syncs it, before a save and behind it by turns. On several hosts, which are
network namespaces, `frozen` is from the cut of the network until it is healed, when all run again. What a
capsule costs between images: speed_overhead.py.
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
from jobs import MPIRUN, Job, criu_of, told, want_ckpt  # noqa: E402
from speed_bare import seconds_of_bare_restore  # noqa: E402


def plain_write(image, to):
    """Seconds to write what the image holds, and until it is on the disk."""
    pieces = [path.read_bytes() for path in sorted(image.iterdir())]
    # What others have not written yet is not ours.
    os.sync()
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


def newest_parts(where):
    """Of a job that does not run."""
    return max(path for path in (where / "images").iterdir() if path.is_dir())


class Bench:
    def __init__(self, arguments, store):
        self.build = arguments.build
        self.piracema = arguments.build / "tools/piracema"
        self.heat2d = arguments.build / "apps/heat2d/heat2d_mpi"
        self.runs = arguments.runs
        self.store = store
        self.criu = criu_of(arguments.build)

    def checkpoints(self, points):
        where = self.store / "job"
        # One line a step; its memory is in use from the first one on.
        job = Job(self.build, where, *MPIRUN, "2", self.heat2d, points, 10**8, 1)
        job.read_lines(1)
        row = {name: [] for name in ["frozen", "safe", "stop", "bare", "restore", "write", "write+fsync"]}
        for number in range(self.runs + 1):
            if before := number % 2 == 0 and number > 0:
                written, synced = plain_write(job.image()[1], self.store / "plain")
            os.sync()
            safe, frozen = told(job.ask("save"))
            row["bytes"], image = job.image()
            if not before:
                written, synced = plain_write(image, self.store / "plain")
            begin = time.monotonic()
            stopping = job.begin("stop")
            job.end(75)
            stopping.communicate()
            stopped = time.monotonic() - begin
            bare = seconds_of_bare_restore(self.piracema, self.criu, newest_parts(where), self.store / "bare")
            begin = time.monotonic()
            job = Job(self.build, where, word="resume")
            job.wait_until_it_goes_on()
            restored = time.monotonic() - begin
            if number > 0:  # The first one warms up.
                for name, value in zip(row, [frozen, safe, stopped, bare, restored, written, synced]):
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


def summary(values, unit=1, form="{:.3f}"):
    return " ".join(form.format(v * unit) for v in [min(values), statistics.median(values), max(values)])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--points", default="700,6000", help="sizes of heat2d, comma-separated")
    parser.add_argument("--store", type=pathlib.Path, default=pathlib.Path("/var/tmp"))
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
            for name in ["frozen", "write", "safe", "write+fsync", "stop", "bare", "restore"]:
                print(f"  {name:12} {summary(row[name])}")
            for name, plain in [("frozen", "write"), ("safe", "write+fsync"), ("restore", "bare")]:
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
    if arguments.json:
        arguments.json.write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
