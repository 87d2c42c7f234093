#!/usr/bin/env python3
"""A job that runs is asked for a savepoint: a snapshot with nothing under way, also where queues are full and
processes are killed on the way, from which the job goes on with other numbers of replicas."""

import json
import signal
import subprocess
import threading
import unittest

from tally_job import CLEAN, PIRACEMA, SECONDS_MAX, TALLY, Job, expected

ITEMS = 400
# Slower than what comes: all queues are full, and barriers overtake what waits there.
SLOW = ("sinks=1", "tally_us=40000")


class Savepoint(unittest.TestCase):
    def slow_job(self, *options, **named):
        return Job(self, ITEMS, "--overtake-after", "20ms", *options, pause_us=0, program=SLOW, **named)

    def succeed(self, run):
        self.assertEqual(0, run.returncode, run.stderr)
        return json.loads(run.stdout)

    def listed(self, job):
        run = subprocess.run([PIRACEMA, "snapshots", "s", "--verify", "--json"], cwd=job.folder, env=CLEAN,
                             capture_output=True, text=True, timeout=SECONDS_MAX)
        return {name: each for each in self.succeed(run)["snapshots"] for name in each["savepoints"]}

    def go_on(self, job, *options, replicas):
        last = subprocess.run([PIRACEMA, "run", "-n", "2", "--snapshots", "s", "--resume", *options, TALLY,
                               "out", f"replicas={replicas}", f"items={ITEMS}", *SLOW[:1]],
                              cwd=job.folder, env=CLEAN, text=True, capture_output=True,
                              timeout=SECONDS_MAX)
        self.assertEqual(0, last.returncode, last.stderr)
        self.assertEqual(sorted(expected(ITEMS).splitlines()),
                         sorted((job.folder / "out").read_text().splitlines()))

    def test_what_is_under_way_is_waited_for_and_other_numbers_of_replicas_go_on(self):
        job = self.slow_job()
        at = job.wait_for("snapshot", job.wait_for("snapshot"))
        self.assertGreater(job.events[at - 1]["under_way_bytes"], 0)
        said = self.succeed(job.ask("savepoint", "v1"))
        self.assertEqual("done", said["state"])
        job.wait_for("snapshot", job.wait_for("savepoint"))
        job.process.kill()
        job.process.wait()
        snapshot = self.listed(job)["v1"]
        self.assertEqual(said["snapshot"], snapshot["snapshot"])
        self.assertEqual(0, snapshot["under_way_bytes"])
        self.go_on(job, "--from", "v1", "--discard-newer", replicas=3)

    def test_a_worker_that_is_killed_meanwhile_delays_it(self):
        job = self.slow_job()
        at = job.wait_for("snapshot")
        killer = threading.Thread(target=lambda: (job.wait_for("savepoint_begun", at), job.kill_one(0)))
        killer.start()
        said = self.succeed(job.ask("savepoint", "v1"))
        killer.join()
        job.wait_for("recovering", at)
        self.assertIn("savepoint 'v1' is snapshot", said["text"])
        seen = job.get()["job"]["savepoint"]
        self.assertEqual(("v1", "done", said["snapshot"]), (seen["name"], seen["state"], seen["snapshot"]))
        self.assertEqual(said["snapshot"], self.listed(job)["v1"]["snapshot"])

    def test_a_stop_meanwhile_takes_the_snapshot_that_gets_the_name(self):
        job = self.slow_job(every="1h")
        asked = threading.Thread(target=lambda: job.ask("savepoint", "last"))
        asked.start()
        job.wait_for("savepoint_begun")
        job.process.send_signal(signal.SIGINT)
        asked.join()
        job.end(75)
        self.assertIn("last", self.listed(job))
        self.go_on(job, replicas=1)

    def test_what_cannot_be_is_refused_with_a_sentence_and_a_code(self):
        job = self.slow_job()
        job.wait_for("snapshot")
        for words, code, says in [
                (["../x"], 2, "want up to 64 letters, digits and ._-"),
                ([], 2, "NAME"),
                (["v1", "--within", "soon"], 2, "--within"),
                (["a-00000000-0000-0000-0000-000000000000"], 1, "want none that ends in a UUID")]:
            with self.subTest(words):
                run = job.ask("savepoint", *words)
                self.assertEqual(code, run.returncode, run.stderr)
                self.assertIn(says, run.stderr)
        self.succeed(job.ask("savepoint", "v1"))
        again = job.ask("savepoint", "v1")
        self.assertEqual(1, again.returncode, again.stderr)
        self.assertIn("delete it first, or give another name", again.stderr)
        # The job goes on all the same.
        job.wait_for("snapshot", job.wait_for("savepoint_failed"))
        self.assertEqual({"v1"}, set(self.listed(job)))

    def test_a_job_without_snapshots_takes_none(self):
        job = Job(self, 3_000, snapshots=False)
        run = job.ask("savepoint", "v1")
        self.assertEqual(3, run.returncode)
        self.assertIn("it was started without --snapshots DIR", run.stderr)
        job.end()
        job.check_output()


if __name__ == "__main__":
    unittest.main()
