#!/usr/bin/env python3
"""Is a machine that is lent to a cluster given back in time, and how much of its windows do jobs get?

    bench/jobs/windows.py BUILD_DIRECTORY [--windows 200] [--length 20] [--gap 6] [--nodes 1] [--megabytes 50]

--nodes are lent by calendars of short windows, and the close of each is really waited for. A stream, an MPI
job of two ranks (where there is an MPI) and a program with --megabytes of memory run there and nowhere
else, so each leaves at every close, with a snapshot or an image. With one node it goes on in the next window.
With several, whose windows follow each other, it goes on at once on others; and the ranks of the MPI job are
on two of them, so it leaves both when either closes. The first --learning windows (5) of each node are those in
which it learns how long leaving takes; they are told apart.

Printed for each job: windows that it has left well, without being killed; and the part of the window from its
open to when jobs were asked to leave. Also windows at whose close anything of a job was alive, and how long
each job ran, of the time from the first open to the last close. In the end the output of the
stream is compared with that of a run that was never stopped, and the program has to have counted
without a gap. Wants root and criu for what is no stream, else there is the stream alone. Ends with 1 if a window
closed late, an output is wrong, or the nodes' logs say nothing of jobs that leave.
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
LINE = re.compile(r"(\S+Z) piracema node d\d*: (?:\w+: )?(.*)")
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
    """A node that holds the control plane, and others that are lent, as processes."""

    def __init__(self, build, folder, lent):
        self.program = [str(build / "tools/piracema-cluster"), "cluster"]
        self.folder, self.lent, self.processes = folder, lent, {}
        self.environment = {**os.environ, "PATH": f"{build / 'tools'}:{os.environ['PATH']}"}
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        subprocess.run([*self.program, "init", "--directory", folder / "c", f"a=127.0.0.1:{port}",
                        *(f"{name}=127.0.0.1" for name in lent)], check=True, stdout=subprocess.DEVNULL)

    def start(self, name, *words):
        with open(self.folder / f"{name}.log", "w") as log:
            self.processes[name] = subprocess.Popen(
                [*self.program, "node", "--home", self.folder / "c" / name, *words],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=self.environment)

    def ask(self, *words):
        return subprocess.run([*self.program, words[0], "--cluster", self.folder / "c", "--timeout", "60s",
                               *map(str, words[1:])], check=True, text=True, stdout=subprocess.PIPE).stdout

    def submit(self, *words):
        return int(self.ask("submit", *words))

    def log(self, name):
        return self.folder / f"{name}.log"

    def written(self, job):
        """All lines of a job, of its attempts in turn, on whatever nodes."""
        logs = sorted((int(path.name.split(".")[1]), path)
                      for path in (self.folder / "c").glob(f"*/jobs/{job}.*.log") if path.name.count(".") == 2)
        return [line for _, path in logs for line in path.read_text().splitlines()]

    def end(self):
        for process in self.processes.values():
            process.terminate()
        for process in self.processes.values():
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
        several = ["--nodes", 2] if len(cluster.lent) > 1 else []
        spread = ["--map-by", "node"] if several else []
        jobs["MPI job"] = cluster.submit(
            *several, "--images", folder / "images-mpi",
            *(word for pair in ROOT.items() for word in ("--env", "=".join(pair))),
            "--", "mpirun", "-n", 2, "--oversubscribe", *spread, heat, 500, 100_000_000, 1000)
    return jobs


def times_of_windows(options):
    """(opens, closes) of each node's windows; those of several nodes follow each other."""
    first, turn = int(time.time()) + 3, options.length + options.gap
    return [[(at, at + options.length) for i in range(options.windows)
             for at in [first + i * turn + node * turn // options.nodes]] for node in range(options.nodes)]


def write_calendar(path, windows):
    clock = "%H:%M:%S"
    path.write_text("".join(
        f"daily {time.strftime(clock, time.localtime(opens))} {time.strftime(clock, time.localtime(closes))}\n"
        for opens, closes in windows))


def live_through(cluster, pids, windows, enough):
    """How many windows closed late. Before the last one closes the stream is told to end."""
    late = 0
    closes = sorted((closes, name) for name, its in windows.items() for _, closes in its)
    last_opens = max(its[-1][0] for its in windows.values())
    for number, (close, name) in enumerate(closes):
        if close > last_opens and not enough.exists():
            time.sleep(max(0, last_opens + 1 - time.time()))
            enough.touch()
        time.sleep(max(0, close - time.time()))
        if living := living_of(pids[name]):
            late += 1
            print(f"window {number}, of {name}: {len(living)} processes were there at the close", flush=True)
        elif number % 20 == 19:
            print(f"{number + 1} of {len(closes)} windows, {late} of them late", file=sys.stderr, flush=True)
    return late


def look_at(windows, learning, jobs, cluster):
    """Prints what became of each job in each window, by what the nodes have said; false if they said nothing of any."""
    found = False
    said = {name: list(lines_of(cluster.log(name))) for name in windows}
    total = max(its[-1][1] for its in windows.values()) - min(its[0][0] for its in windows.values())
    for job, number in jobs.items():
        for label, learnt in [("learning", False), ("then", True)]:
            well, used, leaving = 0, [], []
            for name, its in windows.items():
                for opens, closes in its[learning:] if learnt else its[:learning]:
                    inside = [(at, text) for at, text in said[name] if opens - 1 < at < closes + 1]
                    ends = [(at, text) for at, text in inside
                            if re.match(rf"job {number}(, a part of it,)? ended", text)]
                    asked = [at for at, text in inside if "jobs leave before it" in text]
                    if not ends or not asked or ends[-1][0] < asked[0]:
                        continue  # It was elsewhere; and the stream is told to end in the last one.
                    well += "SIGKILL" not in ends[-1][1]
                    used.append((asked[0] - opens) / (closes - opens))
                    leaving.append(ends[-1][0] - asked[0])
            found |= bool(used)
            if used:
                print(f"{job:<9} {label:<9} left well in {well:>3} of {len(used):>3} windows   used: median "
                      f"{100 * statistics.median(used):5.1f} %, least {100 * min(used):5.1f} %   leaving took "
                      f"{statistics.median(leaving):.2f} s ({min(leaving):.2f} to {max(leaving):.2f})")
        print(f"{job:<9} ran in {100 * ran(number, said) / total:.1f} % of the time")
    return found


def ran(job, said):
    """For how many seconds its command was on some node."""
    seconds, since = 0, {}
    for name, lines in said.items():
        for at, text in lines:
            if re.match(rf"job {job} \(.*, attempt \d+$", text):
                since[name] = at
            elif text.startswith(f"job {job} ended") and name in since:
                seconds += at - since.pop(name)
    return seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--windows", type=int, default=200, help="of each node")
    parser.add_argument("--length", type=int, default=20, help="of a window, in seconds")
    parser.add_argument("--gap", type=int, default=6, help="between two of a node, in seconds; more than 5")
    parser.add_argument("--nodes", type=int, default=1, help="so many are lent")
    parser.add_argument("--learning", type=int, default=5, help="so many windows of each node first")
    parser.add_argument("--megabytes", type=int, default=50, help="of the program's memory")
    options = parser.parse_args()
    build = options.build.resolve()
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        cluster = Cluster(build, folder, [f"d{i + 1}" for i in range(options.nodes)])
        try:
            cluster.start("a", "--slots", "1")
            wait_for(lambda: '"here"' in cluster.ask("nodes", "--json"), "the cluster does not come")
            cluster.ask("drain", "a")
            jobs = submit_all(cluster, build, folder, options.megabytes)
            windows = dict(zip(cluster.lent, times_of_windows(options)))
            for name, its in windows.items():
                write_calendar(folder / f"windows.{name}", its)
                cluster.start(name, "--slots", str(len(jobs)), "--windows", folder / f"windows.{name}")
            pids = {name: cluster.processes[name].pid for name in windows}
            late = live_through(cluster, pids, windows, folder / "enough")
            known = look_at(windows, options.learning, jobs, cluster)
            counted = [int(line) for line in cluster.written(jobs.get("program", 0)) if line.isdigit()]
        finally:
            cluster.end()
        gaps = counted != list(range(1, len(counted) + 1))
        items = (folder / "out").read_bytes().count(b"\n")
        subprocess.run([build / "tests/cluster/stream_app", folder / "wanted", f"items={items}"], check=True)
        wrong = (folder / "wanted").read_bytes() != (folder / "out").read_bytes()
        print(f"windows that closed late: {late} of {options.windows * options.nodes}; the stream's {items} items are "
              f"{'WRONG' if wrong else 'right'}" + (f"; the program counted to {len(counted)}"
                                                   f"{', with GAPS' if gaps else ''}" if counted else ""))
        if not known:
            print("the nodes have said of no job that it left a window", file=sys.stderr)
        if late or wrong or gaps or not known:
            for name in cluster.lent:
                print(f"---- {name}\n{cluster.log(name).read_text()[-4000:]}", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
