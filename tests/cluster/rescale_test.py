#!/usr/bin/env python3
"""A job with states by key is killed, stopped, and goes on with other numbers of replicas and
processes: what it writes is what it would have written undisturbed, byte for byte. What cannot
change is refused with the operator and the reason, and nothing in the directory is changed."""

import json
import os
import signal
import unittest

import rocksdb
from snapshot_jobs import PIRACEMA, SnapshotJobs
from tally_job import TALLY, expected

ITEMS = 40_000


class Rescale(SnapshotJobs):
    program = TALLY
    place = ()

    def command(self, replicas, processes, *options, resume=False, every="50ms"):
        return [PIRACEMA, "run", "--json", "-n", str(processes), "--snapshots", "s", "--every", every,
                *self.place, *(["--resume"] if resume else []), TALLY, "out", f"replicas={replicas}",
                f"items={ITEMS}", *options]

    def disturb_and_stop(self, process):
        """Snapshots, a worker killed, a recovery, more snapshots, and a stop."""
        self.wait_for(process, "snapshot", 3)
        os.kill(self.workers(process)[0], signal.SIGKILL)
        self.wait_for(process, "recovering")
        self.wait_for(process, "snapshot", 3)
        self.stop(process)

    def newest(self):
        manifest = sorted((self.folder / "s").glob("*/manifest.json"))[-1]
        return json.loads(manifest.read_text())["content"]

    def test_two_then_three_then_two_again_gives_the_same_bytes(self):
        self.disturb_and_stop(self.start(2, 2, "pause_us=200"))
        self.assertEqual({"name": "tally", "replicas": 2, "key_groups": 1024},
                         self.newest()["nodes"][1])
        # So slowly that not all keys are seen between two snapshots, on a busy machine either.
        self.disturb_and_stop(self.start(3, 3, "pause_us=2000", resume=True))
        content = self.newest()
        self.assertEqual(3, content["nodes"][1]["replicas"])
        self.assertTrue(any(part.get("files") for part in content["parts"]))
        verified = self.run_it(PIRACEMA, "snapshots", "s", "--verify")
        self.assertEqual(0, verified.returncode, verified.stdout + verified.stderr)

        last = self.start(2, 2, resume=True)
        self.end(last)
        self.assertEqual(expected(ITEMS), (self.folder / "out").read_text())

    def test_states_of_megabytes_are_written_in_pieces_and_come_through_a_kill(self):
        # 10 kB a key: the 160 that make more than a piece have changed between two snapshots. On disk, and a
        # machine with two builds beside, 100 did in 700 ms.
        self.disturb_and_stop(self.start(2, 2, "pause_us=300", "ballast=10000", every="1500ms"))
        manifests = (self.folder / "s").glob("*/manifest.json")
        parts = [part for each in manifests for part in json.loads(each.read_text())["content"]["parts"]]
        # A piece is 1 MiB.
        self.assertGreater(max(part["bytes"] for part in parts), 3 << 19)
        listed = self.run_it(PIRACEMA, "snapshots", "s", "--verify", "--json")
        self.assertEqual(0, listed.returncode, listed.stdout + listed.stderr)
        newest = json.loads(listed.stdout)["snapshots"][-1]
        self.assertGreater(newest["state_bytes"], 3 << 20)

        last = self.start(3, 2, "ballast=10000", resume=True)
        self.end(last)
        self.assertEqual(expected(ITEMS), (self.folder / "out").read_text())

    def test_states_of_which_each_entry_is_saved_by_itself_go_on_in_other_replicas(self):
        self.disturb_and_stop(self.start(2, 2, "rows=1", "pause_us=200"))
        layout = self.newest()["layouts"]["tally"]
        self.assertEqual("keys(string, {MapState(i64, i64), ListState(i64)})", layout)
        self.disturb_and_stop(self.start(3, 3, "rows=1", "pause_us=200", resume=True))
        as_before = self.run_it(*self.command(2, 2, resume=True))
        self.assertEqual(3, as_before.returncode, as_before.stderr)
        self.assertIn("the state of operator 'tally' is of another type", as_before.stderr)
        self.end(self.start(2, 2, "rows=1", resume=True))
        self.assertEqual(expected(ITEMS), (self.folder / "out").read_text())

    def test_what_cannot_change_is_refused_with_the_operator_and_the_reason(self):
        process = self.start(2, 2, "pause_us=500", "sinks=1")
        self.wait_for(process, "snapshot", 2)
        self.stop(process)
        before = {path: path.read_bytes() for path in (self.folder / "s").glob("*/*")}
        for options, says in [
                (("sinks=2",), "operator 'write' had 1 replicas and has 2 now: it has a state for each"),
                (("sinks=1", "groups=2048"), "operator 'tally' were in 1024 groups and are in 2048"),
                (("sinks=1", "groups=2", "replicas=3"), "want no more replicas than groups")]:
            with self.subTest(options):
                run = self.run_it(*self.command(2, 2, *options, resume=True))
                self.assertEqual(3, run.returncode, run.stderr)
                self.assertIn(says, run.stderr)
        self.assertEqual(before,
                         {path: path.read_bytes() for path in (self.folder / "s").glob("*/*")})


@rocksdb.wanted
class RescaleOnDisk(Rescale):
    """The same with states by key on disk."""

    place = ("--state-directory", "states", "--state-memory", "1MiB")

    def end(self, process):
        """Nothing of a process is left there, nor of one that was killed before."""
        super().end(process)
        states = self.folder / "states"
        if self.place:
            self.assertEqual([], [each.name for each in states.iterdir() if each.is_dir()])

    def test_a_job_leaves_memory_for_the_disk_and_comes_back(self):
        self.place = ()
        self.disturb_and_stop(self.start(2, 2, "pause_us=200"))
        self.place = RescaleOnDisk.place
        self.disturb_and_stop(self.start(3, 2, "pause_us=200", resume=True))
        self.place = ()
        self.end(self.start(1, 2, resume=True))
        self.assertEqual(expected(ITEMS), (self.folder / "out").read_text())

    def test_states_that_are_larger_than_their_memory_are_not_in_memory(self):
        # 5,000 keys of 20 kB.
        self.place = ("--state-directory", "states", "--state-memory", "8MiB")
        run = self.run_it(*self.command(1, 2, "ballast=20000", every="1s"))
        self.assertEqual(0, run.returncode, run.stderr)
        self.assertEqual(expected(ITEMS), (self.folder / "out").read_text())
        summary = json.loads(run.stdout.splitlines()[-1])
        self.assertGreater(summary["snapshots"]["bytes"], 100_000_000)
        self.assertLess(summary["peak_worker_bytes"], 70_000_000)

    def test_a_disk_without_room_ends_the_job_with_its_path_and_the_reason(self):
        states = self.folder / "states"
        states.mkdir()
        run = self.run_it("unshare", "--mount", "--map-root-user", "sh", "-c",
                          'mount -t tmpfs -o size=2m tmpfs states && exec "$@"', "sh",
                          *self.command(2, 2, "ballast=10000", "pause_us=200"))
        self.assertEqual(1, run.returncode, run.stderr)
        summary = json.loads(run.stdout.splitlines()[-1])
        self.assertRegex(summary["why"], r"tally/[01] failed 3 times: .*states/.*No space left on device")
        # Its snapshots are as good as ever, where there is room, or in memory.
        self.place = ()
        self.end(self.start(2, 2, "ballast=10000", resume=True))
        self.assertEqual(expected(ITEMS), (self.folder / "out").read_text())

    def test_what_is_no_place_for_states_is_refused_with_its_path(self):
        (self.folder / "states").mkdir()
        (self.folder / "file").write_text("")
        for place, says in [(("--state-directory", "file"), "file: cannot make a directory for states"),
                            (("--state-directory", "states", "--state-memory", "1kB"),
                             "want at least 1048576 bytes, found 1000")]:
            with self.subTest(place):
                self.place = place
                run = self.run_it(*self.command(2, 2))
                self.assertEqual(3, run.returncode, run.stderr)
                self.assertIn(says, run.stderr)


if __name__ == "__main__":
    unittest.main()
