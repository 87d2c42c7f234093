#!/usr/bin/env python3
"""Is a machine that is lent to a cluster given back in time, and how much of its windows do jobs get?

    bench/jobs/windows.py BUILD_DIRECTORY [--windows 200] [--length 20] [--gap 5] [--megabytes 50]

A node is lent by a calendar of short windows, and the close of each is really waited for. A stream, an MPI
job of two ranks (where there is an MPI) and a program with --megabytes of memory run there and nowhere
else, so each leaves at every close, with a snapshot or an image, and goes on in the next window. The first
--learning windows (5) are those in which the node learns how long leaving takes; they are told apart.

Printed for each: windows that it has left well, without being killed; where anything of it was alive at the
close; and the part of the window from its open to when it was asked to leave. In the end the output of the
stream is compared with that of a run that was never stopped, and the program has to have counted
without a gap. Wants root and criu for what is no stream, else there is the stream alone. Ends with 1 if a window
closed late or an output is wrong.
"""

import argparse
import datetime
import os
import pathlib
import re
import socket
import statistics
import subprocess
import sys
import tempfile
import time

COUNTER = """
import sys, time
memory = bytearray(int(sys.argv[1]) << 20)
for page in range(0, len(memory), 4096):
    memory[page] = 1
number = 0
while True:
    number += 1
    print(number, flush=True)
    memory[number * 4096 % len(memory)] = 2
    time.sleep(0.02)
"""
LINE = re.compile(r"(\S+Z) piracema node d: (.*)")
ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def lines_of(log):
    """(seconds since 1970, text) of what the node has said."""
    for found in LINE.findall(log.read_text()):
        yield datetime.datetime.fromisoformat(found[0].replace("Z", "+00:00")).timestamp(), found[1]


def living_of(pid):
    """Processes of jobs below a node; who has ended and was not asked about yet does nothing any more."""
    parents, alive = {}, set()
    for entry in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            state, parent = (entry / "stat").read_text().rpartition(")")[2].split()[:2]
        except OSError:
            continue
        parents.setdefault(int(parent), []).append(int(entry.name))
        if state != "Z":
            alive.add(int(entry.name))
    found, look = set(), list(parents.get(pid, []))
    while look:
        one = look.pop()
        found.add(one)
        look += parents.get(one, [])
    return found & alive


def wait_for(condition, what, seconds=120):
    until = time.monotonic() + seconds
    while not (found := condition()):
        if time.monotonic() > until:
            sys.exit(f"windows.py: {what}")
        time.sleep(0.05)
    return found


class Cluster:
    def __init__(self, build, folder):
        self.program = [str(build / "tools/piracema-cluster"), "cluster"]
        self.folder, self.processes = folder, []
        self.environment = {**os.environ, "PATH": f"{build / 'tools'}:{os.environ['PATH']}"}
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        subprocess.run([*self.program, "init", "--directory", folder / "c", f"a=127.0.0.1:{port}", "d"],
                       check=True, stdout=subprocess.DEVNULL)

    def start(self, name, *words):
        log = open(self.folder / f"{name}.log", "w")
        self.processes.append(subprocess.Popen(
            [*self.program, "node", "--home", self.folder / "c" / name, *words],
            stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=self.environment))
        return self.processes[-1].pid

    def ask(self, *words):
        return subprocess.run([*self.program, words[0], "--cluster", self.folder / "c", "--timeout", "60s",
                               *map(str, words[1:])], check=True, text=True, stdout=subprocess.PIPE).stdout

    def submit(self, *words):
        return int(self.ask("submit", "--on", "d", *words))

    def end(self):
        for process in self.processes:
            process.terminate()
        for process in self.processes:
            process.wait()


def submit_all(cluster, build, folder, megabytes):
    """Job numbers by what they are."""
    jobs = {"stream": cluster.submit("--stream", "--snapshots", folder / "snapshots", "--every", "500ms", "--",
                                     build / "tests/cluster/stream_app", folder / "out",
                                     f"until={folder / 'enough'}", "pause_us=500")}
    saves = subprocess.run([build / "tools/piracema-ckpt", "ckpt", "doctor"], capture_output=True).returncode == 0
    if not saves:
        print("no images: `piracema ckpt doctor` says why; the stream is alone")
        return jobs
    (folder / "count.py").write_text(COUNTER)
    jobs["program"] = cluster.submit("--images", folder / "images-program", "--", sys.executable,
                                     folder / "count.py", megabytes)
    heat = build / "apps/heat2d/heat2d_mpi"
    if heat.exists():
        jobs["MPI job"] = cluster.submit(
            "--images", folder / "images-mpi", *(word for pair in ROOT.items() for word in ("--env", "=".join(pair))),
            "--", "mpirun", "-n", 2, "--oversubscribe", heat, 500, 100_000_000, 1000)
    return jobs


def look_at(windows, learning, jobs, log):
    """What became of each job in each window, by what the node has said."""
    said = list(lines_of(log))
    for name, number in jobs.items():
        for label, some in [("learning", windows[:learning]), ("then", windows[learning:])]:
            well, used, leaving = 0, [], []
            for opens, closes in some:
                inside = [(at, text) for at, text in said if opens - 1 < at < closes + 1]
                ends = [(at, text) for at, text in inside if text.startswith(f"job {number} ended")]
                asked = [at for at, text in inside if "jobs leave before it" in text]
                if not ends or not asked or ends[-1][0] < asked[0]:
                    continue  # The stream is told to end in the last one.
                well += "SIGKILL" not in ends[-1][1]
                used.append((asked[0] - opens) / (closes - opens))
                leaving.append(ends[-1][0] - asked[0])
            if used:
                print(f"{name:<9} {label:<9} left well in {well:>3} of {len(used):>3} windows   used: median "
                      f"{100 * statistics.median(used):5.1f} %, least {100 * min(used):5.1f} %   leaving took "
                      f"{statistics.median(leaving):.2f} s ({min(leaving):.2f} to {max(leaving):.2f})")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--windows", type=int, default=200)
    parser.add_argument("--length", type=int, default=20, help="of a window, in seconds")
    parser.add_argument("--gap", type=int, default=5, help="between two, in seconds; more than 5")
    parser.add_argument("--learning", type=int, default=5, help="so many windows first")
    parser.add_argument("--megabytes", type=int, default=50, help="of the program's memory")
    options = parser.parse_args()
    build = options.build.resolve()
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        cluster = Cluster(build, folder)
        late = 0
        try:
            cluster.start("a", "--slots", "1")
            wait_for(lambda: '"here"' in cluster.ask("nodes", "--json"), "the cluster does not come")
            jobs = submit_all(cluster, build, folder, options.megabytes)
            first = int(time.time()) + 3
            windows = [(first + i * (options.length + options.gap),
                        first + i * (options.length + options.gap) + options.length)
                       for i in range(options.windows)]
            clock = "%H:%M:%S"
            (folder / "windows").write_text("".join(
                f"daily {time.strftime(clock, time.localtime(opens))} {time.strftime(clock, time.localtime(closes))}\n"
                for opens, closes in windows))
            pid = cluster.start("d", "--slots", str(len(jobs)), "--windows", folder / "windows")
            for number, (opens, closes) in enumerate(windows):
                if number == options.windows - 1:
                    time.sleep(max(0, opens + 1 - time.time()))
                    (folder / "enough").touch()
                time.sleep(max(0, closes - time.time()))
                if living := living_of(pid):
                    late += 1
                    print(f"window {number}: {len(living)} processes were there at the close")
            look_at(windows, options.learning, jobs, folder / "d.log")
            log = (folder / "d.log").read_text()
            counted = [int(line) for path in sorted((folder / "c/d/jobs").glob(f"{jobs.get('program', 0)}.*.log"),
                                                    key=lambda path: int(path.name.split(".")[1]))
                       for line in path.read_text().splitlines() if line.isdigit()]
        finally:
            cluster.end()
        gaps = counted != list(range(1, len(counted) + 1))
        items = (folder / "out").read_bytes().count(b"\n")
        subprocess.run([build / "tests/cluster/stream_app", folder / "wanted", f"items={items}"], check=True)
        wrong = (folder / "wanted").read_bytes() != (folder / "out").read_bytes()
        print(f"windows that closed late: {late} of {options.windows}; the stream's {items} items are "
              f"{'WRONG' if wrong else 'right'}" + (f"; the program counted to {len(counted)}"
                                                   f"{', with GAPS' if gaps else ''}" if counted else ""))
        if late or wrong or gaps:
            print(log[-4000:], file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
