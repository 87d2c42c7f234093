#!/usr/bin/env python3
"""Workers of a job with states by key are killed and stopped at random moments, while it grows, shrinks and
saves increments: what it writes is what it would have written undisturbed, byte for byte. PIRACEMA_KILLS says how
many strikes there are; PIRACEMA_SEED replays the choice, as far as real processes do the same twice."""

import os
import random
import signal
import tempfile
import threading
import time
import unittest

import rocksdb
from tally_job import Job

STRIKES = int(os.environ.get("PIRACEMA_KILLS", os.environ["USUAL_KILLS"]))
HEARTBEAT = os.environ["HEARTBEAT"]
# So many that the job is not over while a change of numbers is waited for, also on a busy machine.
ITEMS_A_STRIKE, PAUSE_US = 1_600, 200


class KeyedKills(unittest.TestCase):
    def strike(self, job, fate, number):
        pids = [pid for pid in job.workers() if pid not in self.hit]
        if not pids:
            return False
        pid = fate.choice(pids)
        self.hit.add(pid)
        try:
            os.kill(pid, signal.SIGSTOP if number % 10 == 5 else signal.SIGKILL)
        except ProcessLookupError:
            return False
        return True

    def scale(self, job, fate, over):
        """Again and again, whatever happens meanwhile; some are refused, as one is under way."""
        while not over.is_set():
            words = []
            if fate.random() < 0.8:
                words.append(f"tally={fate.randint(1, 5)}")
            if fate.random() < 0.5 or not words:
                words += ["-n", str(fate.randint(1, 4))]
            job.scale(*words)
            over.wait(fate.random())

    def run_job(self, *options):
        seed = int(os.environ.get("PIRACEMA_SEED", random.randrange(1_000_000)))
        fate = random.Random(seed)
        self.hit = set()
        job = Job(self, STRIKES * ITEMS_A_STRIKE, "--heartbeat", HEARTBEAT, *options, workers=3,
                  pause_us=PAUSE_US, seconds=60 + STRIKES * 5)
        job.wait_for("snapshot")
        over = threading.Event()
        scaling = threading.Thread(target=self.scale, args=(job, random.Random(seed + 1), over))
        scaling.start()
        strikes = 0
        try:
            while strikes < STRIKES and job.process.poll() is None:
                time.sleep(fate.random() * 0.12)
                strikes += self.strike(job, fate, strikes)
                # A job that does not get on is given up: it is let get on now and then. What comes while one
                # recovery is under way is healed by it.
                if strikes % 4 == 3:
                    job.wait_for("snapshot", len(job.events))
                # A change of numbers begins anew with each loss: some have to get through.
                if strikes % 10 == 3:
                    job.wait_for("scaled", len(job.events))
        finally:
            over.set()
            scaling.join()
        job.end()
        job.check_output()
        names = [event["event"] for event in job.events]
        said = (f"PIRACEMA_SEED={seed}: {strikes} strikes, {names.count('recovering')} recoveries, "
                f"{names.count('scaled')} times scaled, {names.count('snapshot')} snapshots")
        print(said, flush=True)
        self.assertEqual(STRIKES, strikes, said)
        self.assertGreater(names.count("recovering"), STRIKES // 4, said)
        self.assertGreater(names.count("scaled"), STRIKES // 20, said)
        return job

    def test_with_states_in_memory(self):
        self.run_job()

    @rocksdb.wanted
    def test_with_states_on_disk(self):
        with tempfile.TemporaryDirectory(prefix="piracema-states-") as states:
            options = "--state-directory", states, "--state-memory", "4MiB"
            self.run_job(*options)
            # What a process leaves that was killed goes when the next one comes, and the last one that was
            # killed may have none in this job. A job that loses nobody leaves nothing.
            Job(self, 100, *options, snapshots=False).end()
            self.assertEqual([], [each.name for each in os.scandir(states) if each.is_dir()])


if __name__ == "__main__":
    unittest.main()
