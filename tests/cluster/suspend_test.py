#!/usr/bin/env python3
"""Jobs on a machine that is lent stand still as soon as its user is there, go on if he goes soon, and leave if he
stays."""

import contextlib
import json
import signal
import subprocess
import time
import unittest

from cluster_of_nodes import CLEAN, SECONDS_MAX, STREAM, stands_still, state_of
from lent_node import LentNode

# Two processes that compute. The first one counts in a file; the other has a session of its own.
COUNT = ("echo up $$; setsid sh -c 'while :; do :; done' & "
         "i=0; while :; do i=$((i+1)); echo $i > {file}; done")


class Suspended(LentNode):
    GRACE, SUSPEND = 60, 45

    def setUp(self):
        super().setUp()
        self.there = self.folder / "there"
        self.counted = self.folder / "counted"

    def lend_while_away(self, *words):
        self.start_lent("--idle", "1s", "--presence", f"test -e {self.there}", "--grace", f"{self.GRACE}s", *words)
        self.wait_until(lambda: self.state_of_lent() == "here", "d is not there")

    @contextlib.contextmanager
    def only_on_lent(self):
        """What is submitted meanwhile begins there, and may go on on the others later."""
        for name in self.NODES:
            self.ask("drain", name)
        yield
        for name in self.NODES:
            self.ask("drain", name, "--off")

    def count(self, *options):
        """A job that counts on the lent machine; its number and its processes."""
        job = self.submit(COUNT.format(file=self.counted), "--on", "d", *options)
        self.wait_for_output(job, "up")
        return job, self.wait_until(lambda: len(found := self.of_jobs()) >= 3 and found, "it has no processes")[1:]

    def user_comes(self, pids):
        """How long it takes until all of them stand still, in seconds."""
        came = time.monotonic()
        self.there.touch()
        self.wait_until(lambda: all(map(stands_still, pids)), "the job does not stand still")
        return time.monotonic() - came

    def counted_on(self):
        """It counts, as was seen since this was called."""
        before = self.counted.read_text()
        self.wait_until(lambda: self.counted.read_text() not in (before, ""), "the job does not count")

    def events_of(self, job):
        events = map(json.loads, self.ask("events", "--json").splitlines())
        return [event["event"] for event in events if event.get("job") == job]

    def test_a_job_stands_still_while_a_user_is_there_and_goes_on_where_it_was(self):
        self.lend_while_away()
        job, pids = self.count()
        self.counted_on()
        self.assertLess(self.user_comes(pids), self.GRACE / 2)
        stopped_at = self.counted.read_text()
        self.wait_until(lambda: self.job(job)["state"] == "suspended", "nobody is told")
        shown = self.job(job)
        self.assertIn("a user is at its machine: it goes on when he goes, or leaves in ", shown["why"])
        self.assertLess(shown["leaves_in_ms"], self.GRACE * 1_000)
        self.assertIn("suspended", self.ask("jobs"))
        self.assertIn("jobs           1 suspended", self.call("status").stdout)
        self.assertIn("not lent its user is there: jobs stand still", self.nodes()["d"]["lent"])
        self.assertTrue(all(map(stands_still, pids)))
        self.assertEqual(stopped_at, self.counted.read_text())
        self.there.unlink()
        self.wait_until(lambda: all(state_of(pid) != "T" for pid in pids), "the job stands still for ever")
        self.counted_on()
        self.wait_until(lambda: self.job(job)["state"] == "running", "nobody is told")
        self.assertEqual(1, self.job(job)["attempt"])
        self.wait_until(lambda: self.state_of_lent() == "here", "d is not lent again")
        # Again, as if for the first time.
        self.user_comes(pids)
        self.assertEqual(["job_suspended", "job_resumed", "job_suspended"],
                         self.wait_until(lambda: len(found := self.events_of(job)) == 3 and found, "no events"))
        self.ask("cancel", job)

    def test_a_job_leaves_when_its_user_stays_and_begins_elsewhere(self):
        self.lend_while_away("--suspend", "3s")
        with self.only_on_lent():
            job = self.submit("trap 'echo leaves; exit 75' TERM; echo up $PIRACEMA_ATTEMPT; "
                              "while :; do sleep 0.05; done")
            self.wait_for_output(job, "up 1")
        log = self.folder / "d" / "jobs" / f"{job}.1.log"
        pids = self.of_jobs()[1:]
        self.user_comes(pids[:1])
        self.assertNotIn("leaves", log.read_text())
        self.wait_until(lambda: self.gone(pids), "the job is there still")
        # It was let go on to end by itself.
        self.assertIn("leaves", log.read_text())
        self.wait_for_output(job, "up 2")
        self.assertIn(self.job(job)["node"], self.NODES)
        self.assertEqual((0, 0), (self.job(job)["failures"], self.job(job)["losses"]))
        self.assertEqual(["job_suspended", "job_moves", "job_began_again"], self.events_of(job))
        self.ask("cancel", job)

    def test_what_stands_still_is_cancelled_at_once(self):
        self.lend_while_away("--suspend", f"{self.SUSPEND}s")
        job, pids = self.count()
        self.user_comes(pids)
        self.ask("cancel", job)
        self.wait_until(lambda: self.gone(pids), "the job is there still")
        self.wait_until(lambda: self.job(job)["state"] == "cancelled", "it is not cancelled")
        # Sooner than it would have left by itself.
        self.assertTrue(self.there.exists())
        self.assertNotIn("job_moves", self.events_of(job))

    def test_nothing_stays_stopped_when_the_node_is_killed_or_ends(self):
        for number in (signal.SIGKILL, signal.SIGTERM):
            with self.subTest(number=number):
                self.lend_while_away("--suspend", f"{self.SUSPEND}s")
                job, pids = self.count()
                self.user_comes(pids)
                self.processes["d"].send_signal(number)
                self.wait_until(lambda: self.gone(pids), "the job is there still")
                self.processes["d"].wait(SECONDS_MAX)
                self.there.unlink()
                self.ask("cancel", job)
                self.wait_until(lambda: self.state_of_lent() in ("left", "not heard of"), "d is there still")

    def test_a_stream_does_not_stand_still_and_leaves_at_once(self):
        self.lend_while_away("--suspend", f"{self.SUSPEND}s")
        out, enough = self.folder / "out", self.folder / "enough"
        with self.only_on_lent():
            job = int(self.ask("submit", "--slots", 2, "--stream", "--snapshots", self.folder / "snapshots",
                               "--every", "100ms", "--", STREAM, out, f"until={enough}", "pause_us=200"))
            self.wait_until(lambda: any((self.folder / "snapshots").glob("*/manifest.json")), "no snapshot")
        self.there.touch()
        self.wait_until(lambda: self.job(job)["node"] in self.NODES, "the stream goes on nowhere")
        self.assertNotIn("job_suspended", self.events_of(job))
        enough.touch()
        self.wait(job)
        self.assertEqual(0, self.job(job)["failures"])
        items = out.read_bytes().count(b"\n")
        subprocess.run([STREAM, self.folder / "wanted", f"items={items}"], env=CLEAN, check=True)
        self.assertEqual((self.folder / "wanted").read_bytes(), out.read_bytes())

    def test_without_suspension_jobs_leave_at_once(self):
        self.lend_while_away("--suspend", "0")
        job, pids = self.count()
        self.there.touch()
        self.wait_until(lambda: self.gone(pids), "the job is there still")
        self.assertNotIn("job_suspended", self.events_of(job))
        self.ask("cancel", job)

    def test_what_is_wrong_is_said(self):
        windows = self.folder / "windows"
        windows.write_text("mon 20:00 06:00\n")
        for words, why in [
                (("--idle", "1m", "--suspend", "soon"), "--suspend: want a time from 1ms to 1 year"),
                (("--idle", "1m", "--suspend", "11s"), "--suspend: want at most the grace, 10s, found 11s"),
                (("--windows", windows, "--suspend", "1s"), "want --idle, --presence or both with --suspend")]:
            answer = subprocess.run(self.command(*words), env=CLEAN, text=True, stdin=subprocess.DEVNULL,
                                    stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=SECONDS_MAX)
            self.assertEqual(2, answer.returncode, answer.stderr)
            self.assertIn(why, answer.stderr)


if __name__ == "__main__":
    unittest.main()
