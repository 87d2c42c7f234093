#!/usr/bin/env python3
"""All-to-alls and cycles that are cut into four groups, by each transport, with snapshots. A process of one
group after another is killed, or the whole job is: what it has written in the end is, byte for byte, what
the same groups write without a loss. All jobs run at the same time. With MPI_FAMILY, openmpi or mpich, the
groups talk by that MPI."""

import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from listening import ports_of  # noqa: E402

PIRACEMA = os.environ["PIRACEMA_COMMAND"]
BRICKS = os.environ["BRICKS_APP"]
FAMILY = os.environ.get("MPI_FAMILY")
# With MPI ranks that wait spin, and what is lost is always all of them.
KINDS = ["chain", "cycle"] if FAMILY else [
    "chain", "cycle", "collector", "wrap", "right_to_left", "scatter"]
LOSSES = 2
# How groups talk, and how those do that have most to say to each other.
PROTOCOLS = [("mpi", "mpi"), ("mpi", "tcp")] if FAMILY else [("shm", "shm"), ("tcp", "shm")]
SLOT = {None: "PIRACEMA_SLOT", "openmpi": "OMPI_COMM_WORLD_RANK", "mpich": "PMI_RANK"}[FAMILY]
# A process that has no time to say that it lives is no loss.
SNAPSHOTS = ["--snapshots", "snapshots", "--every", "100ms", "--heartbeat", "10s"]
ENDLESS = ["until=enough", "pause_us=1000"]
ELSE = ["-n", "3", "--transport", "mpi" if FAMILY else "auto"]
SECONDS_MAX = 300
CLEAN = {name: value for name, value in os.environ.items()
         if not name.startswith(("PIRACEMA_", "OMPI_", "PMI"))}
MPIRUN = {"openmpi": "mpirun.openmpi --oversubscribe --allow-run-as-root --bind-to none --mca pml ob1 "
                     "--mca btl vader,self",
          "mpich": "mpirun.mpich -bind-to none -genv UCX_TLS posix,self"}


def free_ports(count):
    """Below those that the system gives out, so that nobody gets one while its group is replaced."""
    sockets, port = [], 10_000 + os.getpid() * 32 % 20_000
    while len(sockets) < count:
        port += 1
        try:
            sockets.append(socket.create_server(("127.0.0.1", port)))
        except OSError:
            pass  # It is somebody's.
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


class Job:
    """A program in four groups, of which the third one has a port of its own."""

    def __init__(self, test, kind, protocol, between, port):
        self.test, self.name, self.port = test, f"{kind} by {protocol} and {between}", port
        self.kind = kind
        self.folder = test.folder / f"{kind}-{protocol}-{between}"
        self.folder.mkdir()
        groups = [{"name": f"G{i}", "endpoint": f"localhost:{port}" if i == 3 else "localhost"}
                  for i in range(1, 5)]
        edges = [{"from": "G2", "to": "G3", "protocol": between}]
        (self.folder / "groups.json").write_text(
            json.dumps({"protocol": protocol, "groups": groups, "edges": edges}))

    def start(self, *options, out, program, spread=("--groups", "groups.json")):
        self.errors = open(self.folder / f"{out}.errors", "w+")
        self.test.addCleanup(self.errors.close)
        mpirun = ["--mpirun", MPIRUN[FAMILY]] if FAMILY else []
        self.process = subprocess.Popen(
            [PIRACEMA, "run", "--json", *spread, *mpirun, *options, BRICKS, out, f"kind={self.kind}",
             "cut", *program], cwd=self.folder, env=CLEAN,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=self.errors, text=True)
        self.test.addCleanup(self.process.stdout.close)
        self.test.addCleanup(self.process.wait)
        self.test.addCleanup(self.process.kill)

    def said(self):
        self.errors.seek(0)
        return f"{self.name}: {self.errors.read()}"

    def wait_for(self, name):
        for line in self.process.stdout:
            if json.loads(line)["event"] == name:
                return
        self.test.fail(f"no event '{name}' came: {self.said()}")

    def workers(self):
        """The processes of the program below that of the job, by their groups."""
        found, under = {}, [self.process.pid]
        for pid in under:
            try:
                for thread in pathlib.Path(f"/proc/{pid}/task").iterdir():
                    under += map(int, (thread / "children").read_text().split())
                if pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")[0] != BRICKS.encode():
                    continue
                for one in pathlib.Path(f"/proc/{pid}/environ").read_text().split("\0"):
                    if one.startswith(f"{SLOT}="):
                        found[int(one.partition("=")[2])] = pid
            except OSError:
                pass  # Gone meanwhile.
        return found

    def check_place(self):
        """Each group is there, and the third one where the file says."""
        workers = self.workers()
        self.test.assertEqual([0, 1, 2, 3], sorted(workers), self.name)
        self.test.assertIn(self.port, ports_of(workers[2]), self.name)
        return workers

    def end(self):
        out, _ = self.process.communicate(timeout=SECONDS_MAX)
        self.test.assertEqual(0, self.process.returncode, self.said())
        return json.loads(out.splitlines()[-1])


class GroupFaults(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def start(self, kinds):
        """Jobs that have taken a snapshot, and go on until they are told that it is enough."""
        cases = [(kind, *how) for kind in kinds for how in PROTOCOLS]
        self.jobs = [Job(self, *case, port) for case, port in zip(cases, free_ports(len(cases)))]
        for job in self.jobs:
            job.start(*SNAPSHOTS, out="out", program=ENDLESS)
        self.wait_for("snapshot")

    def wait_for(self, *events):
        for event in events:
            for job in self.jobs:
                job.wait_for(event)

    def check_ends(self, recoveries):
        for job in self.jobs:
            (job.folder / "enough").touch()
        for job in self.jobs:
            self.assertEqual(recoveries, len(job.end()["recoveries"]), job.name)
        # The same groups and as many numbers, without a loss.
        for job in self.jobs:
            items = (job.folder / "out").read_bytes().count(b"\n")
            self.assertGreater(items, 0, job.name)
            job.start(out="wanted", program=[f"items={items}"])
        for job in self.jobs:
            self.assertEqual([], job.end()["recoveries"], job.name)
            wanted, found = [(job.folder / name).read_bytes() for name in ("wanted", "out")]
            self.assertEqual(wanted, found, job.name)

    def test_a_group_that_loses_its_process_is_again_where_the_file_says(self):
        self.start(KINDS)
        for loss in range(LOSSES):
            # Of the two jobs of a kind one loses the first and the third group, the other one the others.
            for i, job in enumerate(self.jobs):
                os.kill(job.check_place()[(i + 2 * loss) % 4], signal.SIGKILL)
            self.wait_for("lost", "running", "snapshot")
        for job in self.jobs:
            job.check_place()
        self.check_ends(LOSSES)

    def test_groups_that_are_killed_all_at_once_go_on_as_another_number_of_processes(self):
        self.start(["chain", "cycle"])
        for job in self.jobs:
            job.process.kill()
            job.process.wait()
            job.start(*SNAPSHOTS, "--resume", out="out", program=ENDLESS, spread=ELSE)
        self.wait_for("snapshot")
        self.check_ends(0)


if __name__ == "__main__":
    if FAMILY and (shutil.which(f"mpirun.{FAMILY}") is None or not pathlib.Path(
            os.environ["PLUGINS"], f"libpiracema_mpi_{FAMILY}.so").exists()):
        print(f"SKIPPED: there is no mpirun.{FAMILY}, or no plug-in for it: scripts/setup --with-mpi")
        sys.exit(77)
    unittest.main()
