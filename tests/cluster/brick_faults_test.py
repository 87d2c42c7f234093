#!/usr/bin/env python3
"""Each brick over each transport of one host, while a process of it is killed, while one stands still
for ten seconds and wakes again, and while strangers say anything on its ports, or what a peer of another job
or version says: every item comes out once. Where a port is taken the job is refused before it starts.
All jobs run at the same time. With MPI_FAMILY, openmpi or mpich, the transport is that MPI."""

import json
import os
import pathlib
import random
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from listening import ports_of  # noqa: E402

PIRACEMA = os.environ["PIRACEMA_COMMAND"]
BRICKS = os.environ["BRICKS_APP"]
STRANGER = os.environ["STRANGER_APP"]
KINDS = ["cycle", "collector", "wrap", "right_to_left", "shuffle", "branches", "combined", "scatter"]
FAMILY = os.environ.get("MPI_FAMILY")
TRANSPORTS = ["mpi"] if FAMILY else ["shm", "tcp"]
STILL_SECONDS = 10
SECONDS_MAX = 300
CLEAN = {name: value for name, value in os.environ.items()
         if not name.startswith(("PIRACEMA_", "OMPI_", "PMI"))}
MPIRUN = {"openmpi": "mpirun.openmpi --oversubscribe --allow-run-as-root --bind-to none --mca pml ob1 "
                     "--mca btl vader,self",
          "mpich": "mpirun.mpich -bind-to none -genv UCX_TLS posix,self"}
RANDOM = random.Random(4)
# Of what a stranger can say, what is nearly right.
SAYINGS = ["half a frame", "old frame", "other job's worker", "old worker", "other job's peer", "old peer"]


class Job:
    def __init__(self, test, kind, transport):
        self.test, self.name = test, f"{kind} by {transport}"
        self.folder = test.folder / f"{kind}-{transport}"
        self.folder.mkdir()
        self.errors = open(self.folder / "errors", "w+")
        test.addCleanup(self.errors.close)
        mpirun = ["--mpirun", MPIRUN[FAMILY]] if FAMILY else []
        self.process = subprocess.Popen(
            [PIRACEMA, "run", "--json", "-n", "3", "--transport", transport, *mpirun, "--snapshots",
             "snapshots", "--every", "200ms", BRICKS, "out", f"kind={kind}", "until=enough",
             "pause_us=1000"], cwd=self.folder, env=CLEAN, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=self.errors, text=True)
        test.addCleanup(self.process.stdout.close)
        test.addCleanup(self.process.wait)
        test.addCleanup(self.process.kill)

    def wait_for(self, name):
        for line in self.process.stdout:
            if json.loads(line)["event"] == name:
                return
        self.errors.seek(0)
        self.test.fail(f"{self.name}: no event '{name}' came: {self.errors.read()}")

    def workers(self):
        """The processes of the program below that of the job."""
        found, under = [], [self.process.pid]
        for pid in under:
            try:
                for thread in pathlib.Path(f"/proc/{pid}/task").iterdir():
                    under += map(int, (thread / "children").read_text().split())
                if pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")[0] == BRICKS.encode():
                    found.append(pid)
            except OSError:
                pass  # Gone meanwhile.
        return sorted(found)

    def ports(self):
        """Those of ours; what an MPI listens on, in mpirun and in ranks, is its own affair."""
        pids = [self.process.pid] if FAMILY else [self.process.pid, *self.workers()]
        return [port for pid in pids for port in ports_of(pid)]

    def check_end(self, recoveries=1):
        (self.folder / "enough").touch()
        out, _ = self.process.communicate(timeout=SECONDS_MAX)
        self.errors.seek(0)
        self.test.assertEqual(0, self.process.returncode, f"{self.name}: {self.errors.read()}")
        summary = json.loads(out.splitlines()[-1])
        numbers = sorted(map(int, (self.folder / "out").read_text().split()))
        self.test.assertEqual(list(range(1, len(numbers) + 1)), numbers, self.name)
        self.test.assertGreater(len(numbers), 0, self.name)
        self.test.assertGreaterEqual(len(summary["recoveries"]), recoveries, self.name)


class BrickFaults(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.jobs = [Job(self, kind, transport) for kind in KINDS for transport in TRANSPORTS]
        for job in self.jobs:
            job.wait_for("snapshot")

    def hit(self, number):
        """One process of each job, not always the same one; which."""
        hit = []
        for i, job in enumerate(self.jobs):
            workers = job.workers()
            self.assertEqual(3, len(workers), job.name)
            hit.append(workers[i % len(workers)])
            os.kill(hit[-1], number)
        return hit

    def wait_until_all_go_on(self):
        for event in ["lost", "running", "snapshot"]:
            for job in self.jobs:
                job.wait_for(event)

    def test_a_process_that_is_killed_is_replaced(self):
        self.hit(signal.SIGKILL)
        self.wait_until_all_go_on()
        for job in self.jobs:
            job.check_end()

    def test_a_process_that_stands_still_for_ten_seconds_is_replaced_and_does_no_harm_later(self):
        stopped_at = time.monotonic()
        asleep = self.hit(signal.SIGSTOP)
        self.wait_until_all_go_on()
        time.sleep(max(0, stopped_at + STILL_SECONDS - time.monotonic()))  # The fault itself.
        for pid in asleep:
            try:
                os.kill(pid, signal.SIGCONT)
            except ProcessLookupError:
                pass  # It was ended while it slept, as it should be.
        for job in self.jobs:
            job.wait_for("snapshot")
            job.check_end()

    def test_strangers_on_every_port_do_no_harm(self):
        silent, callers = [], []
        for job in self.jobs:
            ports = job.ports()
            callers.append(subprocess.Popen([STRANGER, ",".join(map(str, ports)), *SAYINGS]))
            self.addCleanup(callers[-1].kill)
            self.assertGreaterEqual(len(ports), 1, job.name)
            for port in ports:
                for size in [0, 1, 20, 5_000, 200_000]:
                    stranger = socket.create_connection(("127.0.0.1", port))
                    self.addCleanup(stranger.close)
                    try:
                        stranger.sendall(RANDOM.randbytes(size))
                    except OSError:
                        pass  # Hung up on in the middle.
                    silent.append(stranger)
        for job in self.jobs:
            job.wait_for("snapshot")
        # All are hung up on, also those that have said nothing: in time, which the test does not know.
        for stranger in silent:
            self.assertTrue(select.select([stranger], [], [], SECONDS_MAX)[0])
        for caller in callers:
            self.assertEqual(0, caller.wait(timeout=SECONDS_MAX))
        for job in self.jobs:
            job.wait_for("snapshot")
            job.check_end(recoveries=0)


class TakenPorts(unittest.TestCase):
    def test_where_a_port_is_taken_no_brick_starts(self):
        with tempfile.TemporaryDirectory() as folder, socket.create_server(("127.0.0.1", 0)) as taken:
            where = f"localhost:{taken.getsockname()[1]}"
            for protocol in TRANSPORTS:
                groups = [{"name": "A", "endpoint": "localhost"}, {"name": "B", "endpoint": where}]
                pathlib.Path(folder, "groups.json").write_text(
                    json.dumps({"protocol": protocol, "groups": groups}))
                for kind in KINDS:
                    with self.subTest(f"{kind} by {protocol}"):
                        self.check_refused(folder, kind)

    def check_refused(self, folder, kind):
        mpirun = ["--mpirun", MPIRUN[FAMILY]] if FAMILY else []
        run = subprocess.run(
            [PIRACEMA, "run", "--groups", "groups.json", *mpirun, BRICKS, "out", f"kind={kind}", "items=10"],
            cwd=folder, env=CLEAN, stdin=subprocess.DEVNULL, capture_output=True, text=True,
            timeout=SECONDS_MAX)
        self.assertEqual(3, run.returncode, run.stderr)
        self.assertRegex(run.stderr, "error: worker [01] cannot begin: .*Address already in use")


if __name__ == "__main__":
    if FAMILY and (shutil.which(f"mpirun.{FAMILY}") is None or not pathlib.Path(
            os.environ["PLUGINS"], f"libpiracema_mpi_{FAMILY}.so").exists()):
        print(f"SKIPPED: there is no mpirun.{FAMILY}, or no plug-in for it: scripts/setup --with-mpi")
        sys.exit(77)
    unittest.main()
