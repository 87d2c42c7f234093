#!/usr/bin/env python3
"""Figs. 1 to 7 of paper 002, and its restart times: measures and draws them.

    bench/ckpt/figures.py BUILD_DIRECTORY [FIGURE...] [--quick] [--runs 5] [--out DIR]

FIGURE is 1 to 7 or restart; all of them by default. The paper has up to 100 machines of 2 GB on a gigabit network, and
a server of NFS. Here all runs on one machine: hosts are network namespaces, the remote file system is a GlusterFS of
one brick, whose link lets --rate megabytes a second through each way, and for Fig. 3 a memory cgroup has 2 GB, and swap
for what is more. `local` is a folder of this machine's one disk, for all hosts. So curves are to be compared by their
shape.
"""

import argparse
import contextlib
import json
import math
import os
import pathlib
import shutil
import signal
import statistics
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "bench/common"), str(ROOT / "tests/ckpt")]
import chart  # noqa: E402
import hosts_with_server  # noqa: E402
import memory  # noqa: E402
from jobs import MPIRUN, Job, told, want_ckpt  # noqa: E402

MEMORY, SWAP = 2 << 30, 4 << 30  # Of each of the paper's machines.
HOSTS = {"4": 16, "5": 16}  # Figures with several: so many at most.
ONLY_LOCAL = {"6", "7"}
# Ranks on several hosts are more than the cores here, which none of them knows.
YIELD = ["--mca", "mpi_yield_when_idle", "1"]


def spread(values):
    return min(values), statistics.median(values), max(values)


class Figures:
    def __init__(self, arguments, folder):
        self.build = arguments.build
        self.runs, self.quick = arguments.runs, arguments.quick
        # Of what takes long: an image of gigabytes, or one of many hosts.
        self.few = min(arguments.runs, 3)
        self.rate = arguments.rate
        self.folder = folder
        self.facts = {}

    @contextlib.contextmanager
    def on(self, count, remote):
        """With so many hosts, and a remote file system or none."""
        self.hosts = hosts_with_server.HostsWithServer(count, self.folder, self.rate, remote)
        with contextlib.closing(self.hosts):
            self.stores = self.hosts.places
            yield

    def app(self, name, kind="_mpi"):
        return self.build / f"apps/{name}/{name}{kind}"

    def edp(self, points, most):
        return [self.app("flow2d", ""), points, 10**8, 1, most]

    def phreeqc(self, cells):
        return [self.app("carbonate", ""), cells, 10**8, 1]

    def heat2d(self, points, ranks, *more):
        return [*MPIRUN, str(ranks), *more, self.app("heat2d"), points, 10**8, 1]

    def elastic3d(self, points, ranks, *more):
        return [*MPIRUN, str(ranks), *more, self.app("elastic3d"), points, 10**8, 1]

    @contextlib.contextmanager
    def job(self, store, program, lines=2, **options):
        where = self.stores[store] / "job"
        job = Job(self.build, where, *program, **options)
        try:
            job.read_lines(lines)
            yield job
        finally:
            job.process.kill()
            job.process.communicate()
            self.hosts.wait_until_idle()
            remove(where)

    def saves(self, job, runs):
        """Seconds until an image was safe, of some runs or as many as a minute has, and the bytes of the last one."""
        took = []
        while len(took) < runs and sum(took) < 60:
            took.append(told(job.ask("save"))[0])
        return took, job.image()[0]

    def by_store(self, program):
        """Run by run, which the paper's 1.5 to 2 times are drawn beside."""
        lines, name = [], program[0].name
        for store in self.stores:
            with self.job(store, program) as job:
                mapped = memory.address_space(memory.process_named(name, job.process.pid))
                took, total = self.saves(job, self.runs)
            lines.append((store, [(i + 1, t, t, t) for i, t in enumerate(took)]))
            print(f"  {store}: {mapped / 1e6:.0f} MB of addresses, an image of {total / 1e6:.2f} MB in "
                  f"{statistics.median(took):.3f} s", flush=True)
        local, remote = (statistics.median([point[2] for point in line]) for _, line in lines)
        print(f"  remote by local: {remote / local:.2f} (the paper: 1.5 to 2)")
        self.facts = {"address_space_bytes": mapped, "image_bytes": total}
        for times in [1.5, 2]:
            lines.append((f"the paper: {times:g} times local", [(x, times * local, times * local, times * local)
                                                                for x in [1, len(lines[0][1])]]))
        runs = {"names": ["", *map(str, range(1, 1 + max(len(line) for _, line in lines)))]}
        return [(f"seconds until an image of {total / 1e6:.3g} MB is safe", "run", lines, runs)]

    def figure_1(self):
        """EDP: a sequential program with a large image"""
        # Five grids of doubles: the paper's 380 MB, and addresses for its 1.8 GB.
        return self.by_store(self.edp(*((1024, 2240) if self.quick else (3072, 6656))))

    def figure_2(self):
        """Phreeqc: a sequential program with a small image"""
        return self.by_store(self.phreeqc(50_000))

    def figure_3(self):
        """Mandelbrot with chosen memory, on a machine with 2 GB of it"""
        sizes = [512, 1024, 2048] if self.quick else [512, 1024, 2048, 4096, 8192, 12288, 16384]
        lines = []
        with contextlib.closing(memory.SmallMemory(MEMORY, SWAP, self.folder)) as small:
            for store in self.stores:
                points = []
                for n in sizes:
                    # All of its memory is in use when the first picture is there.
                    program = [*MPIRUN, "2", self.app("mandelbrot"), n, 10**7, 2]
                    with self.job(store, program, lines=1, preexec_fn=small.enter) as job:
                        swapped = small.swapped()
                        took, total = self.saves(job, self.few)
                    small.wait_until_empty()
                    points.append((total / 1e6, *spread(took)))
                    print(f"  {store}, n = {n}: {total / 1e6:.1f} MB in {points[-1][2]:.3f} s, {swapped / 1e6:.0f} MB "
                          "were swapped before", flush=True)
                lines.append((store, points))
        upright = {"upright": [("the paper: linear up to here", [MEMORY / 4e6]),
                               ("the paper: bends behind this", [MEMORY / 2e6])]}
        return [("seconds until the image is safe", "image in MB", lines, {} if self.quick else upright)]

    def figure_4(self):
        """Heat2D: one job on more and more hosts, each with an image of one size"""
        points, line, link = 500 if self.quick else 1500, [], []
        for count in [1, 2] if self.quick else [1, 2, 4, 8, 16]:
            # As much for each rank, whose part of the plate is a share of its rows.
            program = self.heat2d(round(points * math.sqrt(count)), count, "--map-by", "node", *YIELD)
            with self.job("remote", program, more=self.hosts.on("remote", *range(1, count + 1))) as job:
                took, total = self.saves(job, self.few)
            line.append((count, *spread(took)))
            link.append((count, *spread([total / 1e6 / self.rate])))
            print(f"  {count} hosts, {total / count / 1e6:.0f} MB each: {line[-1][2]:.3f} s, of which the link takes "
                  f"{link[-1][2]:.3f} s", flush=True)
        return [("seconds until the last image is safe", "hosts",
                 [(f"{total / count / 1e6:.0f} MB each", line), ("as many bytes on the link", link)])]

    def figure_5(self):
        """Ondes3D: one problem, divided among more and more processes"""
        lines, self.facts = [], {"image_bytes": {}}
        for store in self.stores:
            line = []
            for ranks in [1, 2, 4] if self.quick else [1, 2, 4, 8, 16, 32]:
                # Those that are more than hosts share one, as the paper's share two processors.
                hosts = range(1, min(ranks, self.hosts.count) + 1)
                program = self.elastic3d(40 if self.quick else 240, ranks, "--map-by", "node", *YIELD)
                with self.job(store, program, more=self.hosts.on(store, *hosts)) as job:
                    took, total = self.saves(job, self.few)
                line.append((ranks, *spread(took)))
                self.facts["image_bytes"][ranks] = total
                print(f"  {store}, {ranks} processes on {len(hosts)} hosts: {total / 1e6:.0f} MB in "
                      f"{line[-1][2]:.3f} s", flush=True)
            lines.append((store, line))
        upright = {"upright": [("the paper: local turns between these", [10, 20])]}
        return [("seconds until the image is safe", "processes", lines, {} if self.quick else upright)]

    def sizes(self, program_of, sizes, label_of):
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
            lines.append((label_of(size), line))
        return lines

    def figure_6(self):
        """Heat2D: images of each process"""
        # Two grids of doubles: the paper's 200 MB to 1.6 GB, each twice the one before.
        points = [1000, 1414] if self.quick else [3536, 5000, 7071, 10000]
        lines = self.sizes(self.heat2d, points, lambda n: f"{16 * n * n / 1e6:.0f} MB")
        if not self.quick:
            doubled = [(x, *(2 * value for value in values)) for x, *values in lines[-2][1]]
            lines.append((f"the paper: twice {lines[-2][0]}", doubled))
        return [("MB of an image's part for one process", "processes", lines)]

    def figure_7(self):
        """Ondes3D: images of each process, of which some hold the basin"""
        points = [80] if self.quick else [120, 160, 200, 240]
        return [("MB of an image's part for one process", "processes", self.sizes(self.elastic3d, points, str))]

    def restarts(self, store, program, runs):
        where = self.stores[store] / "job"
        job = Job(self.build, where, *program)
        job.read_lines(2)
        took = []
        for _ in range(runs):
            job.ask("stop")
            job.process.communicate()
            begin = time.monotonic()
            job = Job(self.build, where, word="resume")
            job.wait_until_it_goes_on()
            took.append(time.monotonic() - begin)
        total, _ = job.image()
        job.process.kill()
        job.process.communicate()
        remove(where)
        print(f"  {store}: {total / 1e6:.0f} MB in {statistics.median(took):.3f} s", flush=True)
        return (total / 1e6, *spread(took))

    def figure_restart(self):
        """Restart, section 4.4"""
        programs = [(self.edp(points, points), self.runs) for points in ([256, 512] if self.quick else [1536, 3072])]
        if not self.quick:
            # Its fields have 2 GB: the paper's, with 2 to 4 of them, takes 2 to 3 s.
            programs.append((self.elastic3d(480, 2), self.few))
        lines = [(store, [self.restarts(store, *program) for program in programs]) for store in self.stores]
        paper = [] if self.quick else [("the paper", [(380, 1, 1, 1), (2000, 2, 2.5, 3), (4000, 2, 2.5, 3)])]
        return [("seconds until the job runs again", "image in MB", lines + paper, {"apart": ["the paper"]})]


def remove(folder):
    """Who has looked at the store for a keeper may write there until it hears of the keeper's end."""
    while folder.exists():
        shutil.rmtree(folder, ignore_errors=True)


def why_not(wanted, store):
    """Why figures cannot be made here; nothing if they can."""
    found = []
    if not set(wanted) <= ONLY_LOCAL:
        found += [hosts_with_server.gluster.missing(), hosts_with_server.hosts.can_be_made()]
    if "3" in wanted:
        found.append(memory.no_swap(store))
    return next(filter(None, found), None)


def main():
    names = ["1", "2", "3", "4", "5", "6", "7", "restart"]
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("figure", nargs="*", help=", ".join(names))
    parser.add_argument("--quick", action="store_true", help="small and few, for a first look")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--rate", type=float, default=110, help="MB/s of the remote file system's link")
    parser.add_argument("--store", type=pathlib.Path, default=pathlib.Path("/var/tmp"))
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("figures"))
    arguments = parser.parse_args()
    wanted = arguments.figure or names
    if not set(wanted) <= set(names):
        parser.error(f"want figures of {', '.join(names)}")
    arguments.build = arguments.build.resolve()
    want_ckpt(arguments.build)
    if why := why_not(wanted, arguments.store):
        print("SKIPPED:", why)
        sys.exit(77)
    # Whoever ends it has hosts, mounts and swap taken away.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    arguments.out.mkdir(parents=True, exist_ok=True)
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}; remote: {arguments.rate:g} MB/s")
    for name in wanted:
        with tempfile.TemporaryDirectory(dir=arguments.store, prefix="piracema-figures-",
                                         ignore_cleanup_errors=True) as folder:
            figures = Figures(arguments, pathlib.Path(folder))
            figure = getattr(figures, f"figure_{name}")
            print(f"Fig. {name}: {figure.__doc__}" if name != "restart" else figure.__doc__, flush=True)
            count = min(HOSTS.get(name, 0), 4 if arguments.quick else 16)
            with figures.on(count, remote=name not in ONLY_LOCAL):
                panels = figure()
            path = arguments.out / f"ckpt_figure_{name}.svg"
            chart.write(path, figure.__doc__, panels)
            path.with_suffix(".json").write_text(json.dumps({"panels": panels, **figures.facts}, indent=1))
            print(f"  drew {path}", flush=True)


if __name__ == "__main__":
    main()
