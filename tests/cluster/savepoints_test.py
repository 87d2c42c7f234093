#!/usr/bin/env python3
"""A snapshot that has a name is kept while the job that runs prunes others, whoever is killed on the
way; a job goes on from it, and writes what it would have written undisturbed, byte for byte; when
the name is deleted it goes, and nothing that others need."""

import json
import random
import subprocess
import time
import unittest

from snapshot_jobs import CLEAN, PIRACEMA, SECONDS_MAX, SnapshotJobs
from tally_job import TALLY, expected

ITEMS = 40_000


class Savepoints(SnapshotJobs):
    program = TALLY

    def command(self, *options, replicas=2, pause_us=0):
        # Other numbers go on from no snapshot that has items under way, as one of a slow moment may.
        return [PIRACEMA, "run", "--json", "-n", "2", "--snapshots", "s", "--every", "30ms", "--keep", "2",
                "--overtake-after", "never", *options, TALLY, "out", f"replicas={replicas}", f"items={ITEMS}", f"pause_us={pause_us}"]

    def snapshots(self, *options):
        return self.run_it(PIRACEMA, "snapshots", "s", *options)

    def change(self, *options):
        run = self.snapshots(*options)
        self.assertEqual(0, run.returncode, run.stderr)
        return run.stdout

    def refused(self, says, run):
        self.assertEqual(3, run.returncode, run.stdout + run.stderr)
        self.assertIn(says, run.stderr)

    def listed(self):
        """All are intact. Names by snapshot."""
        run = self.snapshots("--verify", "--json")
        self.assertEqual(0, run.returncode, run.stdout + run.stderr)
        return {each["snapshot"]: each["savepoints"] for each in json.loads(run.stdout)["snapshots"]}

    def test_a_job_goes_back_to_a_savepoint_that_outlived_its_turn_and_writes_the_same_bytes(self):
        process = self.start(pause_us=200)
        self.wait_for(process, "snapshot", 3)
        self.assertIn("savepoint 'early' is snapshot", self.change("--name", "early"))
        self.wait_for(process, "snapshot", 8)
        self.stop(process)
        kept = self.listed()
        self.assertEqual(["early"], kept[min(kept)])
        self.assertGreater(sorted(kept)[1], min(kept) + 1)  # Those between are gone.

        for options, says in [(("--from", "early"), "--discard-newer removes them"),
                              (("--from", "late"), "want savepoint 'late', found early")]:
            self.refused(says, self.run_it(*self.command("--resume", *options)))
        self.change("--name", "late")
        self.refused("savepoint 'late' is newer than 'early'",
                     self.run_it(*self.command("--resume", "--from", "early", "--discard-newer")))
        self.assertIn("stays, for the job", self.change("--delete", "late"))

        # With other numbers of replicas, too; and what comes is numbered on.
        last = self.start("--resume", "--from", "early", "--discard-newer", replicas=3, pause_us=50)
        self.wait_for(last, "snapshot", 4)  # By then it needs what it began with no more.
        last.communicate(timeout=SECONDS_MAX)
        self.assertEqual(0, last.returncode, self.said())
        self.assertEqual(expected(ITEMS), (self.folder / "out").read_text())
        now = self.listed()
        self.assertEqual(["early"], now.pop(min(kept)))
        self.assertGreater(min(now), max(kept))

        # The savepoints of this run are not those of another one.
        (self.folder / "out").unlink()
        self.refused("has savepoint 'early' of the run before", self.run_it(*self.command()))
        self.assertIn("with it", self.change("--delete", "early"))
        self.assertEqual(set(now), set(self.listed()))
        self.assertFalse((self.folder / "s" / f"{min(kept):012}" / "manifest.json").exists())
        again = self.run_it(*self.command())
        self.assertEqual(0, again.returncode, again.stderr)

    def test_a_name_that_is_deleted_while_the_job_runs_frees_what_only_it_needs(self):
        process = self.start(pause_us=300)
        self.wait_for(process, "snapshot", 2)
        first = int(self.change("--name", "a").split()[-1])
        self.wait_for(process, "snapshot", 5)
        self.assertTrue((self.folder / "s" / f"{first:012}" / "manifest.json").exists())
        self.assertIn("the job that is running here", self.change("--delete", "a"))
        self.wait_for(process, "snapshot", 5)
        self.stop(process)
        self.assertNotIn(first, self.listed())

    def test_whoever_is_killed_on_the_way_a_name_that_was_given_keeps_its_snapshot(self):
        seed = random.randrange(1 << 32)
        dice, given, asked = random.Random(seed), {}, 0
        for round_number in range(4):
            process = self.start(*(["--resume"] if round_number else []), pause_us=300)
            self.wait_for(process, "snapshot", 2)
            for _ in range(6):
                asked += 1
                naming = subprocess.Popen([PIRACEMA, "snapshots", "s", "--name", f"n{asked}"],
                                          cwd=self.folder, env=CLEAN, stdout=subprocess.PIPE,
                                          stderr=subprocess.DEVNULL, text=True)
                try:
                    out, _ = naming.communicate(timeout=dice.uniform(0.001, 0.03))
                except subprocess.TimeoutExpired:
                    naming.kill()
                    out, _ = naming.communicate()
                if naming.returncode == 0:
                    given[f"n{asked}"] = int(out.split()[-1])
            # One that is surely given, of a snapshot that will be pruned.
            given[f"r{round_number}"] = int(self.change("--name", f"r{round_number}").split()[-1])
            self.wait_for(process, "snapshot", 3)
            time.sleep(dice.uniform(0, 0.05))  # Anywhere in a commit, or in what is removed then.
            process.kill()
            process.communicate()
            names = {}
            listing = self.snapshots("--verify", "--json")
            for each in json.loads(listing.stdout)["snapshots"]:
                for name in each["savepoints"]:
                    names[name] = each["snapshot"]
                    self.assertEqual("intact", each["state"], f"seed {seed}: {each}")
            for name, snapshot in given.items():
                self.assertEqual(snapshot, names.get(name), f"seed {seed}: {name}: {listing.stderr}")
        last = self.run_it(*self.command("--resume"))
        self.assertEqual(0, last.returncode, f"seed {seed}: {last.stderr}")
        self.assertEqual(expected(ITEMS), (self.folder / "out").read_text(), f"seed {seed}")
        for name in (self.folder / "s" / "savepoints").iterdir():
            if ".tmp-" not in name.name:
                self.change("--delete", name.name)
        left = self.listed()
        self.assertEqual([], [name for names in left.values() for name in names])
        self.assertLessEqual(len(left), 2)


if __name__ == "__main__":
    unittest.main()
