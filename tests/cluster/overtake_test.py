#!/usr/bin/env python3
"""Operators that are slower than what comes: snapshots are complete soon all the same, with the items that
their barriers have overtaken, and a job that loses processes does each of those once."""

import json
import os
import signal
import unittest

from snapshot_jobs import PIRACEMA, SnapshotJobs
from tally_job import TALLY, expected

ITEMS = 400
TALLY_MS = 40


class Overtake(SnapshotJobs):
    program = TALLY

    def command(self, *options, replicas=2, patience="20ms", run=()):
        return [PIRACEMA, "run", "--json", "-n", "2", "--snapshots", "s", "--every", "100ms",
                "--overtake-after", patience, *run, TALLY, "out", f"replicas={replicas}", f"items={ITEMS}",
                "sinks=1", f"tally_us={TALLY_MS * 1000}", *options]

    def check_output(self):
        self.assertEqual(sorted(expected(ITEMS).splitlines()),
                         sorted((self.folder / "out").read_text().splitlines()))

    def test_what_was_overtaken_is_done_once_whatever_is_killed(self):
        process = self.start()
        for slot in (0, 1, 0, 1):
            self.wait_for(process, "snapshot", 2)  # Of a job of some eight seconds, busy machine or not.
            os.kill(self.workers(process)[slot], signal.SIGKILL)
            self.wait_for(process, "recovering")
        self.end(process)
        self.check_output()

    def test_from_a_snapshot_with_such_items_only_the_same_numbers_go_on(self):
        process = self.start()
        self.wait_for(process, "snapshot", 4)
        event = next(json.loads(line) for line in process.stdout if '"snapshot"' in line)
        self.assertGreater(event["under_way_bytes"], 0)
        process.kill()
        process.communicate()
        before = {path: path.read_bytes() for path in (self.folder / "s").glob("*/*")}
        other = self.run_it(*self.command(replicas=3, run=["--resume"]))
        self.assertEqual(3, other.returncode, other.stderr)
        self.assertRegex(other.stderr, "snapshot [0-9]+ has .* of items that were under way between "
                                       r"replicas: go on once as the job was, and stop it \(SIGTERM\)")
        self.assertEqual(before,
                         {path: path.read_bytes() for path in (self.folder / "s").glob("*/*")})

        again = self.start(run=["--resume"])
        self.wait_for(again, "snapshot", 2)
        self.stop(again)
        self.end(self.start(replicas=3, run=["--resume"]))
        self.check_output()

    def test_a_job_that_never_overtakes_goes_on_with_any_numbers(self):
        process = self.start(patience="never")
        self.wait_for(process, "snapshot", 2)
        process.kill()
        process.communicate()
        self.end(self.start(replicas=3, run=["--resume"], patience="never"))
        self.check_output()

    def test_what_is_no_time_is_refused(self):
        run = self.run_it(*self.command(patience="soon"))
        self.assertEqual(2, run.returncode, run.stderr)
        self.assertIn("--overtake-after: want a time such as 100ms, or never, found 'soon'", run.stderr)


if __name__ == "__main__":
    unittest.main()
