"""Jobs whose snapshots are kept by a real server: workers, whole jobs and the server itself are lost, and the
output is what it would have been, byte for byte."""

import json
import os
import pathlib
import signal
import subprocess
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "servers"))
import with_server
from lost_coordinators import CLEAN, PIRACEMA, SECONDS_MAX, STREAM, JobTest


class StoreJobs(JobTest):
    """Whoever inherits says `where` snapshots lie. The server is the same for all cases."""

    server = None

    def setUp(self):
        super().setUp()
        self.at = f"{self.where()}/{self.id()}"
        os.environ.update(self.server.environment())
        CLEAN.update(self.server.environment())

    def where(self):
        raise NotImplementedError

    def run_stream(self, *options, workers=2, every="100ms"):
        return self.run_command("-n", str(workers), "--snapshots", self.at, "--every", every, *options,
                                STREAM, "out", "items=100000000", "pause_us=100",
                                f"until={self.folder}/end")

    def snapshots(self, *options):
        return subprocess.run([PIRACEMA, "snapshots", *options, self.at], env=CLEAN, text=True,
                              capture_output=True, stdin=subprocess.DEVNULL)

    def refused(self, says, *words, code=3, **variables):
        began = time.monotonic()
        run = subprocess.run([PIRACEMA, "run", "-n", "2", "--quiet", *words, STREAM, "out", "items=10"],
                             cwd=self.folder, env={**CLEAN, **variables}, text=True,
                             capture_output=True, stdin=subprocess.DEVNULL)
        self.assertEqual(run.returncode, code, run.stderr)
        self.assertIn(says, run.stderr)
        self.assertLess(time.monotonic() - began, 60)
        return run.stderr

    # ---- who is lost -------------------------------------------------------------------------------

    def test_a_worker_that_is_killed_is_replaced_and_the_output_is_the_same(self):
        job = self.run_stream()
        job.wait_for("snapshot", 2)
        for _ in range(2):
            os.kill(self.running("worker")[0], signal.SIGKILL)
            job.wait_for("recovering")
            job.wait_for("snapshot", 2)
        job.finish()
        self.check_output()
        self.until(lambda: not self.running())

    def test_a_job_that_is_killed_whole_is_resumed(self):
        for options in ([], ["--resume"]):
            job = self.run_stream(*options)
            job.wait_for("snapshot", 3)
            job.kill()
            self.until(lambda: not self.running())
        listed = self.snapshots("--verify", "--json")
        self.assertEqual(listed.returncode, 0, listed.stderr)
        rows = json.loads(listed.stdout)["snapshots"]
        self.assertGreaterEqual(len(rows), 2)
        self.assertEqual({row["state"] for row in rows}, {"intact"})
        self.refused("give --resume to go on from it", "--snapshots", self.at)
        last = self.run_stream("--resume")
        last.wait_for("snapshot")
        last.finish()
        self.check_output()

    def test_a_job_that_is_stopped_is_resumed_with_other_numbers_and_leaves_what_is_kept(self):
        job = self.run_stream("--keep", "2")
        job.wait_for("snapshot", 5)
        job.process.send_signal(signal.SIGINT)
        job.finish(75)
        self.assertEqual(len(json.loads(self.snapshots("--json").stdout)["snapshots"]), 2)
        again = self.run_stream("--resume", workers=3)
        again.wait_for("running")
        again.finish()
        self.check_output()

    def test_a_second_job_is_kept_out(self):
        job = self.run_stream()
        job.wait_for("snapshot")
        self.refused(f"found it in use by process {job.process.pid}", "--snapshots", self.at,
                     "--resume")
        job.wait_for("snapshot")
        job.finish()
        self.check_output()

    # ---- the server --------------------------------------------------------------------------------

    def test_a_server_that_is_killed_and_comes_back_costs_snapshots_and_nothing_else(self):
        job = self.run_stream()
        job.wait_for("snapshot", 2)
        self.server.kill()
        time.sleep(1)  # Somebody writes meanwhile.
        self.server.start()
        job.wait_for("snapshot", 3)
        os.kill(self.running("worker")[0], signal.SIGKILL)
        job.wait_for("recovering")
        job.wait_for("snapshot")
        job.finish()
        self.check_output()

    def test_a_server_that_stands_still_for_longer_than_a_term_is_waited_for(self):
        job = self.run_stream()
        job.wait_for("snapshot", 2)
        self.server.signal(signal.SIGSTOP)
        try:
            time.sleep(12)
        finally:
            self.server.signal(signal.SIGCONT)
        job.wait_for("snapshot", 3)
        job.finish()
        self.check_output()

    def test_a_job_whose_server_does_not_come_back_names_it_and_can_be_stopped(self):
        job = self.run_stream()
        job.wait_for("snapshot", 2)
        self.server.kill()
        try:
            os.kill(self.running("worker")[0], signal.SIGKILL)
            self.until(lambda: self.server.endpoint in job.said())
            # It would go on trying for some minutes. The first asks for a last snapshot, the second does not.
            job.process.send_signal(signal.SIGTERM)
            time.sleep(1)
            job.process.send_signal(signal.SIGTERM)
            job.events += [json.loads(line) for line in job.process.stdout]
            code = job.process.wait(SECONDS_MAX)
            if code == 1:
                self.assertIn("stopped, but the last snapshot failed", job.said())
            else:
                self.assertIn(code, (4, 75, 143), job.said())
            self.until(lambda: not self.running())
        finally:
            self.server.start()

    def check_a_store_without_room(self, fill, empty, says):
        """It costs snapshots until there is some."""
        job = self.run_stream()
        job.wait_for("snapshot", 2)
        fill()
        try:
            self.assertIn(says, job.wait_for("snapshot_failed")["why"])
        finally:
            empty()
        job.wait_for("snapshot", 3)
        os.kill(self.running("worker")[0], signal.SIGKILL)
        job.wait_for("recovering")
        job.wait_for("snapshot")
        job.finish()
        self.check_output()


def main(kind, server):
    """Runs the cases of `kind` beside a server; the exit code of the test."""
    why = server.missing()
    if why:
        return with_server.skip(why)
    kind.server = server.Server()
    try:
        kind.server.start()
        return not unittest.main(exit=False).result.wasSuccessful()
    finally:
        kind.server.end()
