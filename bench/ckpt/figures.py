#!/usr/bin/env python3
"""Figs. 1 to 7 of paper 002, and its restart times: measures and draws them.

    bench/ckpt/figures.py BUILD_DIRECTORY [FIGURE...] [--quick] [--runs 5] [--out DIR]

FIGURE is 1 to 7 or restart; all of them by default. The paper has up to 100 machines of 2 GB and a
server of NFS; here all runs on one machine, and the remote file system is one that takes --slow
megabytes a second from all who write to it (the paper's gigabit network would be 110). So curves are
to be compared by their shape. Its Fig. 3 bends where memory runs out and is swapped: ours does so only
where the machine has as little memory as that.
"""

import argparse
import contextlib
import json
import os
import pathlib
import shutil
import statistics
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "common"))
import chart  # noqa: E402
from jobs import MPIRUN, Job, slow_store, told, want_ckpt  # noqa: E402


def spread(values):
    return min(values), statistics.median(values), max(values)


class Figures:
    def __init__(self, arguments, local, remote):
        self.build = arguments.build
        self.runs = arguments.runs
        self.quick = arguments.quick
        self.stores = {"local": local, "remote": remote}

    def app(self, name):
        return self.build / f"apps/{name}/{name}_mpi"

    def counter(self, megabytes):
        return [self.build / "tests/ckpt/ckpt_counter_app", 10**9, megabytes, 1_000_000, 0]

    def heat2d(self, points, ranks):
        return [*MPIRUN, str(ranks), self.app("heat2d"), points, 10**8, 1]

    def elastic3d(self, points, ranks):
        return [*MPIRUN, str(ranks), self.app("elastic3d"), points, 10**8, 1]

    @contextlib.contextmanager
    def job(self, store, program, lines=2, name="job"):
        where = self.stores[store] / name
        job = Job(self.build, where, *program)
        try:
            job.read_lines(lines)
            yield job
        finally:
            job.process.kill()
            job.process.communicate()
            shutil.rmtree(where)

    def saves(self, store, program, lines=2):
        """Seconds until an image was safe, of some runs; its bytes; and those of each process."""
        with self.job(store, program, lines) as job:
            took = [told(job.ask("save"))[0] for _ in range(self.runs)]
            total, parts = job.image()
            pages = [path.stat().st_size for path in parts.glob("pages-*.img")]
        return took, total, pages

    def by_store(self, megabytes):
        lines = []
        for store in self.stores:
            took, total, _ = self.saves(store, self.counter(megabytes))
            lines.append((store, [(i + 1, t, t, t) for i, t in enumerate(took)]))
            print(f"  {store}: {total / 1e6:.1f} MB in {statistics.median(took):.3f} s", flush=True)
        ratio = statistics.median([t for t, *_ in [p[1:] for p in lines[1][1]]]) / statistics.median(
            [t for t, *_ in [p[1:] for p in lines[0][1]]])
        print(f"  remote by local: {ratio:.2f} (the paper: 1.5 to 2)")
        runs = {"names": ["", *map(str, range(1, self.runs + 1))]}
        return [(f"seconds until an image of {total / 1e6:.0f} MB is safe", "run", lines, runs)]

    def figure_1(self):
        """EDP: a sequential program with a large image"""
        return self.by_store(40 if self.quick else 380)

    def figure_2(self):
        """Phreeqc: a sequential program with a small image"""
        return self.by_store(3)

    def figure_3(self):
        """Mandelbrot with chosen memory"""
        sizes = [512, 1024, 2048] if self.quick else [512, 1024, 2048, 4096, 8192, 12288, 16384]
        lines = []
        for store in self.stores:
            points = []
            for n in sizes:
                # It says nothing before it is done: rank 0 has its picture from the first row on.
                program = [*MPIRUN, "2", self.app("mandelbrot"), n, 10**7]
                with self.job(store, program, lines=0) as job:
                    self.wait_until_it_runs(job)
                    took = [told(job.ask("save"))[0] for _ in range(self.runs)]
                    total, _ = job.image()
                points.append((total / 1e6, *spread(took)))
                print(f"  {store}, n = {n}: {total / 1e6:.1f} MB in {points[-1][2]:.3f} s", flush=True)
            lines.append((store, points))
        return [("seconds until the image is safe", "image in MB", lines)]

    def wait_until_it_runs(self, job):
        """Memory does not grow any more."""
        last = -1
        while job.process.poll() is None:
            asked = job.try_to_ask("plan", "--for", "1h", "--json")
            plan = json.loads(asked) if asked else {"processes": 0, "bytes": 0}
            if plan["processes"] >= 3 and plan["bytes"] == last:
                return
            last = plan["bytes"]
            time.sleep(0.5)
        sys.exit(job.process.stderr.read())

    def together(self, store, count, points):
        """Seconds until the last of so many jobs that are saved at the same time has its image."""
        with contextlib.ExitStack() as stack:
            jobs = [stack.enter_context(self.job(store, self.heat2d(points, 1), name=f"job-{i}"))
                    for i in range(count)]
            took = []
            for _ in range(self.runs):
                begin = time.monotonic()
                asked = [job.begin("save") for job in jobs]
                for one in asked:
                    one.communicate()
                    if one.returncode != 0:
                        sys.exit("one of the jobs was not saved")
                took.append(time.monotonic() - begin)
            total = sum(job.image()[0] for job in jobs)
        return took, total

    def figure_4(self):
        """Heat2D: more and more writers, each with an image of one size"""
        lines = []
        for points in ([500] if self.quick else [700, 1500]):
            line = []
            for count in [1, 2] if self.quick else [1, 2, 4, 8, 16]:
                took, total = self.together("remote", count, points)
                line.append((count, *spread(took)))
                print(f"  {count} writers of {total / count / 1e6:.0f} MB: {line[-1][2]:.3f} s", flush=True)
            lines.append((f"{total / count / 1e6:.0f} MB each", line))
        return [("seconds until the last image is safe", "writers", lines)]

    def figure_5(self):
        """Ondes3D: one problem, divided among more and more processes"""
        lines = []
        for store in self.stores:
            line = []
            for ranks in [1, 2, 4] if self.quick else [1, 2, 4, 8, 16, 32]:
                took, total, _ = self.saves(store, self.elastic3d(40 if self.quick else 160, ranks))
                line.append((ranks, *spread(took)))
                print(f"  {store}, {ranks} processes: {total / 1e6:.0f} MB in {line[-1][2]:.3f} s", flush=True)
            lines.append((store, line))
        return [("seconds until the image is safe", "processes", lines)]

    def sizes(self, program_of, sizes):
        lines = []
        for size in sizes:
            line = []
            for ranks in [2, 4] if self.quick else [2, 4, 8, 16, 32]:
                with self.job("local", program_of(size, ranks)) as job:
                    job.ask("save")
                    _, parts = job.image()
                    # The largest are the ranks'; mpirun has one, too.
                    pages = sorted(path.stat().st_size / 1e6 for path in parts.glob("pages-*.img"))
                line.append((ranks, *spread(pages[-ranks:])))
                print(f"  {size}, {ranks} processes: {line[-1][1]:.1f} to {line[-1][3]:.1f} MB each", flush=True)
            lines.append((str(size), line))
        return [("MB of an image's part for one process", "processes", lines)]

    def figure_6(self):
        """Heat2D: images of each process"""
        # Two grids of doubles: the paper's 200 MB to 1.6 GB.
        return self.sizes(self.heat2d, [500, 700] if self.quick else [3536, 5000, 7071, 10000])

    def figure_7(self):
        """Ondes3D: images of each process, of which some hold the basin"""
        return self.sizes(self.elastic3d, [80] if self.quick else [120, 160, 200, 240])

    def figure_restart(self):
        """Restart, section 4.4"""
        lines = []
        for store in self.stores:
            line = []
            for points in [500, 700] if self.quick else [700, 2000, 4000, 6000]:
                where = self.stores[store] / "job"
                job = Job(self.build, where, *self.heat2d(points, 2))
                job.read_lines(2)
                took = []
                for _ in range(self.runs):
                    job.ask("stop")
                    job.process.communicate()
                    begin = time.monotonic()
                    job = Job(self.build, where, word="resume")
                    job.wait_until_it_goes_on()
                    took.append(time.monotonic() - begin)
                total, _ = job.image()
                job.ask("stop")
                job.process.communicate()
                shutil.rmtree(where)
                line.append((total / 1e6, *spread(took)))
                print(f"  {store}: {total / 1e6:.0f} MB in {line[-1][2]:.3f} s", flush=True)
            lines.append((store, line))
        return [("seconds until the job runs again", "image in MB", lines)]


def main():
    names = ["1", "2", "3", "4", "5", "6", "7", "restart"]
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("figure", nargs="*", help=", ".join(names))
    parser.add_argument("--quick", action="store_true", help="small and few, for a first look")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--slow", type=float, default=100, help="MB/s of the remote file system")
    parser.add_argument("--store", type=pathlib.Path, default=pathlib.Path("/var/tmp"))
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("figures"))
    arguments = parser.parse_args()
    wanted = arguments.figure or names
    if not set(wanted) <= set(names):
        parser.error(f"want figures of {', '.join(names)}")
    arguments.build = arguments.build.resolve()
    want_ckpt(arguments.build)
    arguments.out.mkdir(parents=True, exist_ok=True)
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}; remote: {arguments.slow:g} MB/s")
    with tempfile.TemporaryDirectory(dir=arguments.store, prefix="piracema-figures-",
                                     ignore_cleanup_errors=True) as folder:
        local = pathlib.Path(folder) / "local"
        local.mkdir()
        with slow_store(arguments.slow, pathlib.Path(folder), gigabytes=24) as remote:
            figures = Figures(arguments, local, remote)
            for name in wanted:
                figure = getattr(figures, f"figure_{name}")
                print(f"Fig. {name}: {figure.__doc__}" if name != "restart" else figure.__doc__, flush=True)
                panels = figure()
                path = arguments.out / f"ckpt_figure_{name}.svg"
                chart.write(path, figure.__doc__, panels)
                path.with_suffix(".json").write_text(json.dumps(panels, indent=1))
                print(f"  drew {path}", flush=True)


if __name__ == "__main__":
    main()
