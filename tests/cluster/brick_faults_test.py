#!/usr/bin/env python3
"""Each brick over each transport of one host, while a process of it is killed, and while one stands
still for ten seconds and wakes again: every item comes out once. All jobs run at the same time."""

import json
import os
import pathlib
import signal
import subprocess
import tempfile
import time
import unittest

PIRACEMA = os.environ["PIRACEMA_COMMAND"]
BRICKS = os.environ["BRICKS_APP"]
KINDS = ["cycle", "shuffle", "branches", "combined"]
TRANSPORTS = ["shm", "tcp"]
STILL_SECONDS = 10
SECONDS_MAX = 300
CLEAN = {name: value for name, value in os.environ.items() if not name.startswith("PIRACEMA_")}


class Job:
    def __init__(self, test, kind, transport):
        self.test, self.name = test, f"{kind} by {transport}"
        self.folder = test.folder / f"{kind}-{transport}"
        self.folder.mkdir()
        self.errors = open(self.folder / "errors", "w+")
        test.addCleanup(self.errors.close)
        self.process = subprocess.Popen(
            [PIRACEMA, "run", "--json", "-n", "3", "--transport", transport, "--snapshots",
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
        pid = self.process.pid
        return sorted(map(int, pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()))

    def check_end(self):
        (self.folder / "enough").touch()
        out, _ = self.process.communicate(timeout=SECONDS_MAX)
        self.errors.seek(0)
        self.test.assertEqual(0, self.process.returncode, f"{self.name}: {self.errors.read()}")
        summary = json.loads(out.splitlines()[-1])
        numbers = sorted(map(int, (self.folder / "out").read_text().split()))
        self.test.assertEqual(list(range(1, len(numbers) + 1)), numbers, self.name)
        self.test.assertGreater(len(numbers), 0, self.name)
        self.test.assertGreaterEqual(len(summary["recoveries"]), 1, self.name)


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


if __name__ == "__main__":
    unittest.main()
