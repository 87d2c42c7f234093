#!/usr/bin/env python3
"""States that do not fit into memory: it is said before the kernel ends the process, with the operator and with what
to do. The job is stopped, and goes on with its states on disk in the same memory."""

import json
import os
import pathlib
import sys
import time
import unittest

import rocksdb
from snapshot_jobs import PIRACEMA, SnapshotJobs
from tally_job import TALLY, expected

ITEMS, LIMIT = 10_000, 400_000_000


class MemoryGroup:
    """A control group whose processes have so much memory together, of either version."""

    def __init__(self, limit):
        name = f"piracema-test-{os.getpid()}"
        for root, file in [("/sys/fs/cgroup", "memory.max"), ("/sys/fs/cgroup/memory", "memory.limit_in_bytes")]:
            self.path = pathlib.Path(root) / name
            if not (self.path.parent / "cgroup.procs").exists():
                continue
            try:
                self.path.mkdir()
                (self.path / file).write_text(str(limit))
                return
            except OSError:
                self.remove()
        raise OSError("this machine does not let us limit memory")

    def command(self, words):
        return ["sh", "-c", f'echo $$ > {self.path}/cgroup.procs && exec "$@"', "sh", *words]

    def remove(self):
        # Its processes have ended, or are about to.
        until = time.monotonic() + 30
        while self.path.is_dir():
            try:
                self.path.rmdir()
            except OSError:
                if time.monotonic() > until:
                    raise
                time.sleep(0.05)


@rocksdb.wanted
class Memory(SnapshotJobs):
    program = TALLY
    pace = ["pause_us=5000"]

    def command(self, *options):
        return self.group.command([PIRACEMA, "run", "--json", "-n", "2", "--snapshots", "s", *options, TALLY, "out",
                                   "replicas=1", f"items={ITEMS}", "ballast=100000", *self.pace])

    def test_short_memory_is_said_in_time_and_the_job_goes_on_with_its_states_on_disk(self):
        self.group = MemoryGroup(LIMIT)
        self.addCleanup(self.group.remove)
        job = self.start("--every", "1s")
        said = None
        while said is None and job.poll() is None:
            said = next((line for line in self.said().splitlines() if "memory gets short" in line), None)
            if said is None:
                job.stdout.readline()
        self.assertIsNotNone(said, self.said())
        self.assertRegex(json.loads(said)["message"],
                         r"^memory gets short: [\d.]+ MB are left of the 400 MB of its control group .*; the states by key of "
                         r"tally can lie on disk: stop the job, and go on with --resume --state-directory DIR$")
        self.stop(job)
        self.pace = []
        self.end(self.start("--resume", "--state-directory", "states", "--state-memory", "16MiB"))
        self.assertEqual(expected(ITEMS), (self.folder / "out").read_text())


if __name__ == "__main__":
    try:
        MemoryGroup(LIMIT).remove()
    except OSError as error:
        print(f"SKIPPED: {error}")
        sys.exit(77)
    unittest.main()
