#!/usr/bin/env python3
"""A job goes on as another version of its program: operators that have the same names have their
states, new ones begin without one, and what would lose a state is refused until the user says so.
Workers are killed before the new version has a snapshot of its own, and after."""

import os
import shutil
import signal
import unittest

from snapshot_jobs import PIRACEMA, SECONDS_MAX, SnapshotJobs

VERSIONS = os.environ["VERSIONS_APP"]
ITEMS = 30_000


def expected():
    counts, lines = {}, []
    for item in range(ITEMS):
        key = item * 31 % 20
        counts[key] = counts.get(key, 0) + 1
        lines.append(f"key {key}: {counts[key]}")
    return lines


class ProgramChange(SnapshotJobs):
    program = VERSIONS

    def command(self, version, *options, every="40ms", pause_us=0, processes=2):
        # Another program goes on from no snapshot that has items under way, as one of a slow moment may.
        return [PIRACEMA, "run", "--json", "-n", str(processes), "--snapshots", "s", "--every", every,
                "--overtake-after", "never", *options, VERSIONS, "out", f"version={version}", f"items={ITEMS}", f"pause_us={pause_us}"]

    def kill_a_worker(self, process):
        os.kill(self.workers(process)[-1], signal.SIGKILL)

    def refused(self, says, version, *options):
        before = sorted(str(each) for each in (self.folder / "s").rglob("*"))
        run = self.run_it(*self.command(version, "--resume", *options))
        self.assertEqual(3, run.returncode, run.stdout + run.stderr)
        self.assertIn(says, run.stderr)
        self.assertEqual(before, sorted(str(each) for each in (self.folder / "s").rglob("*")))

    def begin(self):
        process = self.start(1, pause_us=200)
        self.wait_for(process, "snapshot", 3)
        self.stop(process)

    def test_three_versions_one_after_the_other_give_what_one_would_have(self):
        self.begin()
        self.refused("--allow-changed-program goes on with the operators that have the same names", 2)

        # Killed twice before it has a snapshot of its own: it goes back to the other version's.
        process = self.start(2, "--resume", "--allow-changed-program", every="1h", pause_us=100)
        for _ in range(2):
            self.wait_for(process, "running")
            self.kill_a_worker(process)
        self.wait_for(process, "running")
        self.stop(process)  # Takes one.
        self.assertIn("is of another version of the program; goes on: 'numbers', 'count', 'write'; "
                      "new, without a state: 'pass', 'nth', 'mark'", self.said())

        # And after it.
        process = self.start(2, "--resume", pause_us=150)
        self.wait_for(process, "snapshot", 2)
        self.kill_a_worker(process)
        self.wait_for(process, "recovering")
        self.wait_for(process, "snapshot", 2)
        self.stop(process)

        changed = ["--allow-changed-program"]
        self.refused("operator 'nth' is not in the program, and its state (keys(", 3, *changed)
        self.refused("operator 'mark' is not in the program, and its state ({i64}) would be lost: "
                     "--drop mark says that it may be", 3, *changed, "--drop", "nth")
        changed += ["--drop", "nth", "--drop", "mark"]
        self.refused("operator 'write' is to be dropped, but is in the program", 3, *changed,
                     "--drop", "write")
        process = self.start(3, "--resume", *changed, pause_us=50, processes=3)
        self.wait_for(process, "snapshot", 2)
        self.kill_a_worker(process)
        self.end(process)

        lines = (self.folder / "out").read_text().splitlines()
        self.assertEqual(expected(), [line.split(" @")[0] for line in lines])
        marks = [int(line.split(" #")[1]) if "#" in line else 0 for line in lines]
        first, last = marks.index(1), max(marks)
        self.assertGreater(first, 0)
        self.assertLess(first + last, ITEMS)
        self.assertEqual([0] * first + list(range(1, last + 1)) + [0] * (ITEMS - first - last), marks)
        of_key = {}
        for line in lines[first:first + last]:
            key = line.split(":")[0]
            of_key[key] = of_key.get(key, 0) + 1
            self.assertIn(f" @{of_key[key]} ", line)
        self.assertGreater(max(of_key.values()), 1)
        listed = self.run_it(PIRACEMA, "snapshots", "s", "--verify")
        self.assertEqual(0, listed.returncode, listed.stdout + listed.stderr)

    def test_a_savepoint_of_one_version_outlives_a_trial_of_another(self):
        self.begin()
        named = self.run_it(PIRACEMA, "snapshots", "s", "--name", "before")
        self.assertEqual(0, named.returncode, named.stderr)
        # Slow, so that it does not come to its end before so many snapshots on a machine that has much to do.
        process = self.start(2, "--resume", "--from", "before", "--allow-changed-program", pause_us=1_000)
        self.wait_for(process, "snapshot", 4)
        self.stop(process)

        # Back to where it was, as what it was.
        back = ["--from", "before", "--discard-newer"]
        self.end(self.start(1, "--resume", *back))
        self.assertEqual(expected(), (self.folder / "out").read_text().splitlines())

    def test_a_state_of_another_type_is_made_of_what_it_was(self):
        self.begin()
        # Killed twice before it has a snapshot of its own: it reads the other version's again.
        process = self.start(4, "--resume", every="1h", pause_us=100)
        for _ in range(2):
            self.wait_for(process, "running")
            self.kill_a_worker(process)
        self.wait_for(process, "running")
        self.stop(process)
        self.assertRegex(self.said(), r"the state of operator 'count' was keys\(string, i64\) in snapshot \d+, "
                                      r"and is made into keys\(string, 16 bytes\)")
        # What follows has states of the new type alone.
        self.refused("the state of operator 'count' is of another type: want keys(string, i64), found "
                     "keys(string, 16 bytes)", 1)
        process = self.start(4, "--resume", pause_us=50, processes=3)
        self.wait_for(process, "snapshot", 2)
        self.kill_a_worker(process)
        self.end(process)
        self.assertNotIn("is made into", self.said())
        lines = (self.folder / "out").read_text().splitlines()
        self.assertEqual(expected(), [line.split(" @")[0] for line in lines])
        here = [line.split(" @")[1] for line in lines if "@" in line]
        self.assertGreater(len(here), 0)
        self.assertLess(len(here), ITEMS)
        self.assertEqual(20, here.count("1"))  # Of each key once: nothing was made anew later.

    def test_what_windows_and_states_by_event_time_have_is_made_of_what_it_was(self):
        self.end(self.start(5))
        wanted = sorted((self.folder / "out").read_text().splitlines())
        (self.folder / "out").unlink()
        shutil.rmtree(self.folder / "s")
        process = self.start(5, pause_us=200)
        self.wait_for(process, "snapshot", 3)
        self.stop(process)
        process = self.start(6, "--resume", every="1h", pause_us=100)
        self.wait_for(process, "running")
        self.kill_a_worker(process)
        self.wait_for(process, "running")
        self.stop(process)
        for node, former, now in [("count", "i64", "16 bytes"), ("row", "i64", "16 bytes")]:
            self.assertRegex(self.said(), rf"the state of operator '{node}' was keys\(string, .*{former}.*\) in "
                                          rf"snapshot \d+, and is made into keys\(string, .*{now}.*\)")
        self.end(self.start(6, "--resume", processes=3))
        self.assertEqual(wanted, sorted((self.folder / "out").read_text().splitlines()))

    def test_a_job_that_has_ended_does_not_go_on_as_another_program(self):
        self.end(self.start(1))
        process = self.start(2, "--resume", "--allow-changed-program")
        said = process.communicate(timeout=SECONDS_MAX)[0]
        self.assertEqual(0, process.returncode, self.said())
        self.assertIn("nothing to resume: the run had ended", said)
        self.assertEqual(expected(), (self.folder / "out").read_text().splitlines())


if __name__ == "__main__":
    unittest.main(verbosity=2)
