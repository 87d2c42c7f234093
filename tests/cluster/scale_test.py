#!/usr/bin/env python3
"""A job grows and shrinks while it runs and is killed on the way: what it writes is what it would have
written undisturbed, byte for byte. What cannot be is refused with a sentence, and nothing changes."""

import json
import signal
import subprocess
import threading
import time
import unittest

from tally_job import CLEAN, PIRACEMA, SECONDS_MAX, TALLY, Job


class Scale(unittest.TestCase):
    def succeed(self, run):
        self.assertEqual(0, run.returncode, run.stderr)
        return json.loads(run.stdout)

    def replicas_of(self, job):
        """Of each operator; what is shown may be a second old, and that of before the job was planned."""
        while not (nodes := job.get()["graph"]["nodes"]):
            time.sleep(0.05)
        return [node["replicas"] for node in nodes]

    def test_two_three_two_under_load_with_workers_killed_gives_the_same_bytes(self):
        job = Job(self, 16_000)
        at = job.wait_for("snapshot")
        said = self.succeed(job.scale("tally=3", "-n", "3"))
        self.assertEqual("done", said["state"])
        self.assertIn("tally: 2 -> 3 replicas, 2 -> 3 workers", said["text"])
        seen = job.get()
        self.assertEqual([1, 3, 1], [node["replicas"] for node in seen["graph"]["nodes"]])
        self.assertEqual(3, seen["job"]["workers"])
        self.assertEqual(3, len(job.workers()))
        self.assertNotIn("recovering", [event["event"] for event in job.events])

        # The new worker is killed, and the job goes back to a snapshot by the new plan.
        at = job.wait_for("snapshot", at)
        job.kill_one(2)
        at = job.wait_for("running", job.wait_for("recovering", at))

        # One is killed the moment the job begins to change.
        started = threading.Thread(target=lambda: (job.wait_for("scaling", at), job.kill_one(0)))
        started.start()
        self.succeed(job.scale("tally=2", "-n", "2"))
        started.join()
        at = job.wait_for("scaled", at)
        self.assertEqual([1, 2, 1], [node["replicas"] for node in job.get()["graph"]["nodes"]])
        job.end()
        job.check_output()

    def test_a_job_that_was_scaled_is_stopped_and_goes_on(self):
        job = Job(self, 12_000)
        job.wait_for("snapshot")
        at = job.wait_for("snapshot", job.wait_for("scaled") if self.succeed(
            job.scale("tally=4")) else 0)
        self.assertGreater(at, 0)
        job.process.send_signal(signal.SIGINT)
        job.end(75)
        last = subprocess.run([PIRACEMA, "run", "-n", "2", "--snapshots", "s", "--resume", TALLY, "out",
                               "replicas=2", "items=12000"], cwd=job.folder, env=CLEAN, text=True,
                              capture_output=True, timeout=SECONDS_MAX)
        self.assertEqual(0, last.returncode, last.stderr)
        self.assertIn("operator 'tally' had 4 replicas when it was stopped, and has 2 now", last.stderr)
        job.check_output()

    def test_a_job_that_was_scaled_is_stopped_and_goes_on_with_as_many_replicas_as_it_had(self):
        job = Job(self, 12_000)
        job.wait_for("snapshot")
        self.succeed(job.scale("tally=4"))
        job.process.send_signal(signal.SIGINT)
        job.end(75)
        again = Job(self, 12_000, "--resume", "--keep-replicas", folder=job.folder)
        again.wait_for("snapshot", again.wait_for("snapshot"))
        self.assertEqual([1, 4, 1], self.replicas_of(again))
        # They are its own, as any others.
        again.kill_one(0)
        again.wait_for("running", again.wait_for("recovering"))
        self.assertEqual([1, 4, 1], self.replicas_of(again))
        self.succeed(again.scale("tally=3"))
        again.end()
        self.assertNotIn("when it was stopped", again.said())
        again.check_output()

    def test_another_coordinator_goes_on_with_a_job_that_was_scaled(self):
        job = Job(self, 12_000, "--keep-workers", "30s")
        job.wait_for("snapshot")
        self.succeed(job.scale("tally=3", "-n", "3"))
        job.process.kill()
        job.process.wait()
        # By the same words as it was begun with.
        last = subprocess.run([PIRACEMA, "run", "-n", "2", "--snapshots", "s", "--resume", "--json",
                               TALLY, "out", "replicas=2", "items=12000", "pause_us=200"],
                              cwd=job.folder, env=CLEAN, text=True, capture_output=True,
                              timeout=SECONDS_MAX)
        self.assertEqual(0, last.returncode, last.stderr)
        self.assertIn('"reattached"', last.stdout)
        self.assertNotIn('"recovering"', last.stdout)
        self.assertIn("goes on with the 3 workers that the job has; -n 2 is for one that begins",
                      last.stderr)
        job.check_output()

    def test_a_standby_takes_a_job_over_that_was_scaled_after_it_was_started(self):
        for tally, workers in [(3, 3), (1, 1)]:
            with self.subTest(workers=workers):
                job = Job(self, 12_000, "--keep-workers", "30s")
                job.wait_for("snapshot")
                standby = Job(self, 12_000, "--keep-workers", "30s", "--standby", folder=job.folder)
                standby.wait_for("standing_by")
                self.succeed(job.scale(f"tally={tally}", "-n", str(workers)))
                at = job.wait_for("scaled")
                job.wait_for("snapshot", at)
                job.process.kill()
                standby.wait_for("reattached")
                # Who is lost now comes back where it was.
                standby.kill_one(0)
                standby.wait_for("running", standby.wait_for("recovering"))
                self.assertEqual(workers, standby.get()["job"]["workers"])
                standby.end()
                standby.check_output()

    def test_what_cannot_be_is_refused_with_a_sentence_and_a_code(self):
        job = Job(self, 10_000_000)  # It is there for as long as it is asked.
        job.wait_for("snapshot")
        for words, code, says in [
                (["tally=0"], 2, "want an operator and at least 1 replica, as in count=3"),
                (["tally"], 2, "found 'tally'"),
                (["-n", "0"], 2, "want at least 1"),
                ([], 2, "want OPERATOR=N, as in count=3, or -n N"),
                (["taly=3"], 3, "there is no operator 'taly'; operators and their replicas are "
                 "numbers (1), tally (2), write (1)"),
                (["numbers=2"], 3, "it is a source, and each replica has read a part of its own"),
                (["write=2"], 3, "node 'write' is ordered and has 2 replicas"),
                (["tally=1025"], 3, "want no more replicas than groups"),
                (["-n", "5000"], 3, "want 1 to 4096 workers, found 5000")]:
            with self.subTest(words):
                run = job.scale(*words)
                self.assertEqual(code, run.returncode, run.stderr)
                self.assertIn(says, run.stderr)
        same = self.succeed(job.scale("tally=2"))
        self.assertIn("nothing to change", same["text"])
        self.assertNotIn("scaling", [event["event"] for event in job.events])
        address = job.entrance().split("/?")[0]
        bare = subprocess.run([PIRACEMA, "scale", address, "tally=3"], env=CLEAN, capture_output=True,
                              text=True, timeout=SECONDS_MAX)
        self.assertEqual(3, bare.returncode)
        self.assertIn("want the token", bare.stderr)
        job.process.terminate()
        job.end(75)
        over = subprocess.run([PIRACEMA, "scale", address, "tally=3"], env=CLEAN, capture_output=True,
                              text=True, timeout=SECONDS_MAX)
        self.assertEqual(3, over.returncode)
        self.assertIn("Connection refused", over.stderr)

    def test_a_job_without_snapshots_is_not_scaled(self):
        job = Job(self, 3_000, snapshots=False)
        run = job.scale("tally=3")
        self.assertEqual(3, run.returncode)
        self.assertIn("start it with --snapshots DIR", run.stderr)
        job.end()
        job.check_output()


if __name__ == "__main__":
    unittest.main()
