#!/usr/bin/env python3
"""A stream in a cluster is asked for savepoints and other numbers of replicas by the number of its job, from
wherever the cluster is asked."""

import json
import os
import signal
import subprocess
import unittest

from cluster_of_nodes import CLEAN, PIRACEMA, SECONDS_MAX, ClusterOfNodes
from tally_job import TALLY, expected

VERSIONS = os.environ["VERSIONS_APP"]
ITEMS, VERSION_ITEMS = 20_000, 15_000
# None ends by itself before it is told to hurry.
PAUSE_US = 10_000


class Beside(ClusterOfNodes):
    def setUp(self):
        super().setUp()
        self.hurry = self.folder / "hurry"

    def start_stream(self, *options, items=ITEMS, pause_us=PAUSE_US, program=()):
        """A stream that tallies keys on one node, with two replicas; its number once it takes snapshots."""
        job = int(self.ask("submit", "--slots", 2, "--stream", "--snapshots", self.folder / "s", "--every", "100ms",
                           *options, "--", TALLY, self.folder / "out", "replicas=2", f"items={items}",
                           f"pause_us={pause_us}", f"hurry={self.hurry}", *program))
        self.wait_until(lambda: self.snapshots(), "it takes no snapshots")
        return job

    def snapshots(self):
        run = subprocess.run([PIRACEMA, "snapshots", "--json", self.folder / "s"], env=CLEAN, text=True,
                             capture_output=True, timeout=SECONDS_MAX)
        return run.returncode == 0 and json.loads(run.stdout)["snapshots"]

    def address_files(self):
        return list((self.folder / "c").glob("*/jobs/*/.http.*"))

    def check_output(self, items=ITEMS):
        self.assertEqual(sorted(expected(items).splitlines()),
                         sorted((self.folder / "out").read_text().splitlines()))

    def test_a_stream_takes_a_savepoint_and_another_job_goes_on_from_there(self):
        job = self.start_stream()
        said = self.ask("savepoint", job, "v1")
        self.assertRegex(said, r"^savepoint 'v1' is snapshot \d+, in ")
        # Nobody else on the machine may ask, or learn how.
        (file,) = self.address_files()
        self.assertEqual(0o600, file.stat().st_mode & 0o777)
        self.assertNotIn("token", self.ask("logs", job) + self.said())
        again = self.call("savepoint", "--json", job, "v1")
        self.assertEqual(1, again.returncode)
        told = json.loads(again.stdout)
        self.assertEqual(("failed", 1), (told["state"], told["code"]))
        self.assertIn("delete it first, or give another name", told["text"])
        self.ask("cancel", job)
        self.wait(job, code=75)
        self.assertEqual([], self.address_files())
        self.assertIn("v1", [name for one in self.snapshots() for name in one["savepoints"]])
        second = int(self.ask("submit", "--slots", 2, "--", PIRACEMA, "run", "-n", "2", "--snapshots",
                              self.folder / "s", "--resume", "--from", "v1", "--discard-newer", TALLY,
                              self.folder / "out", "replicas=3", f"items={ITEMS}"))
        self.wait(second)
        self.check_output()

    def test_a_stream_gets_other_numbers_of_replicas_while_it_runs(self):
        job = self.start_stream()
        said = self.ask("scale", job, "tally=3")
        self.assertIn("tally: 2 -> 3 replicas", said)
        self.assertIn("sources paused for", said)
        self.assertEqual("nothing to change: the job runs so\n", self.ask("scale", job, "tally=3"))
        told = json.loads(self.ask("scale", "--json", job, "-n", 1))
        self.assertEqual("done", told["state"])
        for words, why in [(("-n", 3), f"want 1 to 2 workers, as job {job} has 2 places, found 3"),
                           (("nothing=3",), "there is no operator 'nothing'")]:
            refused = self.call("scale", job, *words)
            self.assertEqual(3, refused.returncode, refused.stderr)
            self.assertIn(why, refused.stderr)
        self.hurry.touch()
        self.wait(job)
        self.check_output()

    def test_a_stream_that_was_scaled_stays_so_where_it_begins_anew(self):
        job = self.start_stream()
        self.ask("scale", job, "tally=3")
        # No snapshot of before is gone on from.
        self.ask("savepoint", job, "scaled")
        self.processes[self.job(job)["node"]].kill()
        self.wait_until(lambda: self.job(job)["attempt"] == 2, "it does not begin anew")
        self.wait_until(lambda: self.call("scale", job, "tally=3").stdout == "nothing to change: the job runs so\n",
                        "it has other numbers")
        self.hurry.touch()
        self.wait(job)
        self.check_output()

    def test_another_version_of_a_stream_goes_on_with_its_states_also_where_it_begins_anew(self):
        out, snapshots = self.folder / "out", self.folder / "s"

        def submit(version, *options):
            return int(self.ask("submit", "--slots", 2, "--stream", "--snapshots", snapshots, *options, "--",
                                VERSIONS, out, f"version={version}", f"items={VERSION_ITEMS}", f"pause_us={PAUSE_US}",
                                f"hurry={self.hurry}"))
        first = submit(1, "--every", "100ms")
        self.wait_until(lambda: self.snapshots(), "it takes no snapshots")
        self.ask("cancel", first)
        self.wait(first, code=75)
        refused = submit(3, "--resume")
        self.wait(refused, code=3)
        self.assertIn("--allow-changed-program goes on", self.ask("logs", refused))
        # Its node is lost before it has a snapshot of its own.
        last = submit(3, "--resume", "--allow-changed-program", "--every", "1h")
        self.wait_for_output(last, "is of another version of the program")
        self.processes[self.job(last)["node"]].kill()
        self.hurry.touch()
        self.wait(last)
        self.assertEqual(2, self.job(last)["attempt"])
        counts, lines = {}, []
        for item in range(VERSION_ITEMS):
            key = item * 31 % 20
            counts[key] = counts.get(key, 0) + 1
            lines.append(f"key {key}: {counts[key]}")
        self.assertEqual(lines, out.read_text().splitlines())
        for words, why in [(("--stream", "--snapshots", "/s", "--allow-changed-program"), "with --stream and --resume"),
                           (("--resume", "--stream", "--snapshots", "/s", "--allow-changed-program", "--drop", "a;b"),
                            "want the name of an operator, found 'a;b'")]:
            answer = self.call("submit", *words, "--", "true")
            self.assertEqual(2, answer.returncode, answer.stderr)
            self.assertIn(why, answer.stderr)

    def test_what_cannot_be_asked_says_so(self):
        sleeps = self.submit("echo up; sleep 600")
        self.wait_for_output(sleeps, "up")
        waits = self.submit("true", "--slots", 3)
        over = self.submit("true")
        self.wait(over)
        for words, code, why in [
                ((sleeps, "v1"), 3, "no job is shown in"),
                ((waits, "v1"), 3, f"job {waits} waits for a place"),
                ((over, "v1"), 3, f"job {over} is over"),
                ((99, "v1"), 3, "there is no job 99"),
                ((sleeps, "a/b"), 2, "a/b"),
                (("--within", "soon", sleeps, "v1"), 2, "--within")]:
            answer = self.call("savepoint", *words)
            self.assertEqual(code, answer.returncode, answer.stderr)
            self.assertIn(why, answer.stderr)
        self.assertEqual(2, self.call("scale", sleeps).returncode)
        # What was asked left nothing behind but the job's own log.
        self.assertEqual(1, len(list((self.folder / "c").glob(f"*/jobs/{sleeps}.*"))))

    def test_whoever_asks_is_told_that_the_stream_has_lost_its_node(self):
        # All queues are full, so that the savepoint takes longer than its node lives.
        job = self.start_stream("--retries", 3, items=400, pause_us=0, program=("sinks=1", "tally_us=40000"))
        asked = subprocess.Popen([PIRACEMA, "cluster", "savepoint", "--cluster", self.folder / "c", "--json",
                                  str(job), "v1"], env=CLEAN, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                 text=True)
        self.addCleanup(asked.wait)
        self.addCleanup(asked.kill)
        node = self.job(job)["node"]
        self.wait_until(lambda: list((self.folder / "c" / node / "jobs").glob(f"{job}.1.2147483648.log")),
                        "it is not asked")
        self.processes[node].send_signal(signal.SIGKILL)
        out, err = asked.communicate(timeout=SECONDS_MAX)
        self.assertEqual(75, asked.returncode, err)
        self.assertEqual("lost", json.loads(out)["state"])
        self.assertIn("has left its node meanwhile: ask again", err)
        self.wait_until(lambda: self.job(job)["attempt"] == 2, "it does not begin anew")
        self.wait(job)
        self.check_output(400)


if __name__ == "__main__":
    unittest.main()
