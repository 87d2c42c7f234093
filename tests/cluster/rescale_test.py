#!/usr/bin/env python3
"""A job with states by key is killed, stopped, and goes on with other numbers of replicas and
processes: what it writes is what it would have written undisturbed, byte for byte. What cannot
change is refused with the operator and the reason, and nothing in the directory is changed."""

import json
import os
import signal
import unittest

from snapshot_jobs import PIRACEMA, SnapshotJobs

TALLY = os.environ["TALLY_APP"]
ITEMS = 40_000


def expected():
    counts, sums, lines = {}, {}, []
    for item in range(ITEMS):
        key = item * 31 % 5_000
        counts[key] = counts.get(key, 0) + 1
        sums[key] = sums.get(key, 0) + item
        lines.append(f"key {key}: {counts[key]} {sums[key]}\n")
    return "".join(lines)


class Rescale(SnapshotJobs):
    program = TALLY

    def command(self, replicas, processes, *options, resume=False, every="50ms"):
        return [PIRACEMA, "run", "--json", "-n", str(processes), "--snapshots", "s", "--every", every,
                *(["--resume"] if resume else []), TALLY, "out", f"replicas={replicas}",
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
        self.disturb_and_stop(self.start(3, 3, "pause_us=200", resume=True))
        content = self.newest()
        self.assertEqual(3, content["nodes"][1]["replicas"])
        self.assertTrue(any(part.get("files") for part in content["parts"]))
        verified = self.run_it(PIRACEMA, "snapshots", "s", "--verify")
        self.assertEqual(0, verified.returncode, verified.stdout + verified.stderr)

        last = self.start(2, 2, resume=True)
        self.end(last)
        self.assertEqual(expected(), (self.folder / "out").read_text())

    def test_states_of_megabytes_are_written_in_pieces_and_come_through_a_kill(self):
        # 10 kB a key: the 160 that make more than a piece have changed between two snapshots, however slow
        # the machine.
        self.disturb_and_stop(self.start(2, 2, "pause_us=300", "ballast=10000", every="700ms"))
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
        self.assertEqual(expected(), (self.folder / "out").read_text())

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


if __name__ == "__main__":
    unittest.main()
