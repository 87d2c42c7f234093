#!/usr/bin/env python3
"""A job with states by key is killed, stopped, and goes on with other numbers of replicas and
processes: what it writes is what it would have written undisturbed, byte for byte. What cannot
change is refused with the operator and the reason, and nothing in the directory is changed."""

import json
import os
import pathlib
import signal
import subprocess
import tempfile
import unittest

PIRACEMA = os.environ["PIRACEMA_COMMAND"]
TALLY = os.environ["TALLY_APP"]
ITEMS = 40_000
SECONDS_MAX = 300
CLEAN = {name: value for name, value in os.environ.items() if not name.startswith("PIRACEMA_")}


def expected():
    counts, sums, lines = {}, {}, []
    for item in range(ITEMS):
        key = item * 31 % 5_000
        counts[key] = counts.get(key, 0) + 1
        sums[key] = sums.get(key, 0) + item
        lines.append(f"key {key}: {counts[key]} {sums[key]}\n")
    return "".join(lines)


class Rescale(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="piracema-rescale-")
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)

    def command(self, replicas, processes, *options, resume=False, every="50ms"):
        return [PIRACEMA, "run", "--json", "-n", str(processes), "--snapshots", "s", "--every", every,
                *(["--resume"] if resume else []), TALLY, "out", f"replicas={replicas}",
                f"items={ITEMS}", *options]

    def start(self, *arguments, **named):
        self.errors = open(self.folder / "errors", "w+")
        self.addCleanup(self.errors.close)
        process = subprocess.Popen(self.command(*arguments, **named), cwd=self.folder, env=CLEAN,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=self.errors, text=True)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def said(self):
        self.errors.seek(0)
        return self.errors.read()

    def wait_for(self, process, name, count=1):
        for line in process.stdout:
            if json.loads(line)["event"] == name:
                count -= 1
                if count == 0:
                    return
        self.fail(f"no event '{name}' came: {self.said()}")

    def workers(self, process):
        found, under = [], [process.pid]
        for pid in under:
            for thread in pathlib.Path(f"/proc/{pid}/task").iterdir():
                under += map(int, (thread / "children").read_text().split())
            if pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")[0] == TALLY.encode():
                found.append(pid)
        return found

    def disturb_and_stop(self, process):
        """Snapshots, a worker killed, a recovery, more snapshots, and a stop."""
        self.wait_for(process, "snapshot", 3)
        os.kill(self.workers(process)[0], signal.SIGKILL)
        self.wait_for(process, "recovering")
        self.wait_for(process, "snapshot", 3)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=SECONDS_MAX)
        self.assertEqual(75, process.returncode, self.said())

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
        verified = subprocess.run([PIRACEMA, "snapshots", "s", "--verify"], cwd=self.folder, env=CLEAN,
                                  capture_output=True, text=True, timeout=SECONDS_MAX)
        self.assertEqual(0, verified.returncode, verified.stdout + verified.stderr)

        last = self.start(2, 2, resume=True)
        last.communicate(timeout=SECONDS_MAX)
        self.assertEqual(0, last.returncode, self.said())
        self.assertEqual(expected(), (self.folder / "out").read_text())

    def test_states_of_megabytes_are_written_in_pieces_and_come_through_a_kill(self):
        # 10 kB a key: the 160 that make more than a piece have changed between two snapshots, however slow
        # the machine.
        self.disturb_and_stop(self.start(2, 2, "pause_us=300", "ballast=10000", every="700ms"))
        manifests = (self.folder / "s").glob("*/manifest.json")
        parts = [part for each in manifests for part in json.loads(each.read_text())["content"]["parts"]]
        # A piece is 1 MiB.
        self.assertGreater(max(part["bytes"] for part in parts), 3 << 19)
        listed = subprocess.run([PIRACEMA, "snapshots", "s", "--verify", "--json"], cwd=self.folder,
                                env=CLEAN, capture_output=True, text=True, timeout=SECONDS_MAX)
        self.assertEqual(0, listed.returncode, listed.stdout + listed.stderr)
        newest = json.loads(listed.stdout)["snapshots"][-1]
        self.assertGreater(newest["state_bytes"], 3 << 20)

        last = self.start(3, 2, "ballast=10000", resume=True)
        last.communicate(timeout=SECONDS_MAX)
        self.assertEqual(0, last.returncode, self.said())
        self.assertEqual(expected(), (self.folder / "out").read_text())

    def test_what_cannot_change_is_refused_with_the_operator_and_the_reason(self):
        process = self.start(2, 2, "pause_us=500", "sinks=1")
        self.wait_for(process, "snapshot", 2)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=SECONDS_MAX)
        self.assertEqual(75, process.returncode, self.said())
        before = {path: path.read_bytes() for path in (self.folder / "s").glob("*/*")}
        for options, says in [
                (("sinks=2",), "operator 'write' had 1 replicas and has 2 now: it has a state for each"),
                (("sinks=1", "groups=2048"), "operator 'tally' were in 1024 groups and are in 2048"),
                (("sinks=1", "groups=2", "replicas=3"), "want no more replicas than groups")]:
            with self.subTest(options):
                run = subprocess.run(self.command(2, 2, *options, resume=True), cwd=self.folder,
                                     env=CLEAN, capture_output=True, text=True, timeout=SECONDS_MAX)
                self.assertEqual(3, run.returncode, run.stderr)
                self.assertIn(says, run.stderr)
        self.assertEqual(before,
                         {path: path.read_bytes() for path in (self.folder / "s").glob("*/*")})


if __name__ == "__main__":
    unittest.main()
