#!/usr/bin/env python3
"""Nodes on machines that are lent for a while: by a calendar, or while their user is away."""

import datetime
import signal
import subprocess
import time
import unittest

from cluster_of_nodes import CLEAN, SECONDS_MAX, STREAM
from lent_node import LentNode

DEAF = "trap '' TERM; echo attempt $PIRACEMA_ATTEMPT; while :; do sleep 0.1; done"


def window(opens, closes):
    """Of two times in seconds since 1970."""
    of_day = [datetime.datetime.fromtimestamp(at).strftime("%H:%M:%S") for at in (opens, closes)]
    return f"daily {' '.join(of_day)}\n"


class Lent(LentNode):
    def setUp(self):
        super().setUp()
        self.windows = self.folder / "windows"

    def lend(self, opens_in, seconds):
        """A window by whole seconds; when it opens and closes."""
        opens = int(time.time()) + opens_in
        self.windows.write_text(window(opens, opens + seconds))
        return opens, opens + seconds

    def at(self, moment):
        """Waits for a time on the wall clock: it is what was promised."""
        time.sleep(max(0, moment - time.time()))

    def test_a_stream_has_left_when_the_window_closes_and_goes_on_elsewhere(self):
        _, closes = self.lend(-10, 45)
        for name in self.NODES:
            self.ask("drain", name)
        self.start_lent("--windows", self.windows)
        nice = int(self.ask("submit", "--on", "d", "--", "nice"))
        self.wait(nice)
        self.assertEqual("19\n", self.ask("logs", nice))
        out, enough = self.folder / "out", self.folder / "enough"
        job = int(self.ask("submit", "--slots", 2, "--stream", "--snapshots", self.folder / "snapshots",
                           "--every", "100ms", "--", STREAM, out, f"until={enough}", "pause_us=200"))
        self.wait_until(lambda: any((self.folder / "snapshots").glob("*/manifest.json")), "no snapshot")
        began = self.of_jobs()
        self.assertEqual("d", self.job(job)["node"])
        self.assertIn("lent until", self.nodes()["d"]["lent"])
        for name in self.NODES:
            self.ask("drain", name, "--off")
        self.assertTrue(began)
        self.at(closes)
        self.assertTrue(self.gone(began + self.of_jobs()))
        self.wait_until(lambda: self.job(job)["node"] in self.NODES, "the job goes on nowhere")
        self.assertEqual("not lent", self.state_of_lent())
        enough.touch()
        self.wait(job)
        self.assertEqual(0, self.job(job)["failures"])
        items = out.read_bytes().count(b"\n")
        self.assertGreater(items, 0)
        subprocess.run([STREAM, self.folder / "wanted", f"items={items}"], env=CLEAN, check=True)
        self.assertEqual((self.folder / "wanted").read_bytes(), out.read_bytes())

    def test_a_job_waits_for_the_window_and_begins_in_it(self):
        opens, _ = self.lend(15, 3_600)
        self.start_lent("--windows", self.windows)
        self.wait_until(lambda: self.state_of_lent() == "not lent", "d is lent at once")
        job = self.submit("date +%s", "--on", "d")
        self.assertIn("d is not lent now, and will be at ", self.job(job)["why"])
        self.wait(job)
        self.assertGreaterEqual(int(self.ask("logs", job)), opens)

    def test_what_does_not_listen_is_ended_in_time_also_by_a_node_that_stands_still(self):
        for stands_still in (False, True):
            with self.subTest(stands_still=stands_still):
                _, closes = self.lend(-10, 35)
                self.start_lent("--windows", self.windows)
                self.wait_until(lambda: self.state_of_lent() == "here", "d is not there")
                job = self.submit(DEAF, "--on", "d")
                self.wait_for_output(job, "attempt 1")
                began = self.of_jobs()
                self.assertTrue(began)
                if stands_still:
                    self.processes["d"].send_signal(signal.SIGSTOP)
                self.at(closes)
                in_time = self.gone(began + self.of_jobs())
                self.wait_until(lambda: self.gone(began), "the job is there still")
                gone_at = time.time()
                self.processes["d"].send_signal(signal.SIGCONT)
                self.ask("cancel", job)
                self.processes["d"].kill()
                self.processes["d"].wait()
                log = (self.folder / "d.log").read_text()
                self.assertTrue(in_time, f"gone {gone_at - closes:.2f} s after its window closed: {log}")
                self.wait_until(lambda: self.state_of_lent() != "here", "d is there still")

    def test_a_user_who_comes_back_has_the_machine_within_the_grace(self):
        there = self.folder / "there"
        self.start_lent("--idle", "1s", "--presence", f"test -e {there}", "--grace", "4s")
        self.wait_until(lambda: self.state_of_lent() == "here", "d is not there")
        job = self.submit(DEAF, "--on", "d")
        self.wait_for_output(job, "attempt 1")
        began = self.of_jobs()
        there.touch()
        self.wait_until(lambda: self.gone(began), "the job is there still")
        self.wait_until(lambda: "d is not lent now, its user is there" in self.job(job)["why"], "no reason")
        there.unlink()
        self.wait_for_output(job, "attempt 2")
        self.assertEqual(0, self.job(job)["failures"])
        self.ask("cancel", job)

    def test_what_is_wrong_is_said(self):
        self.windows.write_text("# nights\nmon 20:00\n")
        for words, code, why in [
                (("--windows", self.windows), 3, f"{self.windows}:2: want DAYS FROM TO [HOSTS]"),
                (("--windows", self.folder / "none"), 3, "none: No such file or directory"),
                (("--presence", "true"), 2, "want --windows, --idle or both with --presence"),
                (("--idle", "soon"), 2, "--idle: "),
                (("--idle", "1m", "--risk", "0"), 2, "--risk: want 0.1 to 50 percent, found '0'")]:
            answer = subprocess.run(self.command(*words), env=CLEAN, text=True, stdin=subprocess.DEVNULL,
                                    stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=SECONDS_MAX)
            self.assertEqual(code, answer.returncode, answer.stderr)
            self.assertIn(why, answer.stderr)


if __name__ == "__main__":
    unittest.main()
