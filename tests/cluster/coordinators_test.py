#!/usr/bin/env python3
"""A job has three coordinators, or five. The one that leads is killed or stopped, alone, with others of
them or with a worker: another one leads, goes on with the workers, and the output is what it would
have been, byte for byte. Where most of them are lost the job waits, says so, and ends in bounded
time. A stopped one that goes on later does no harm."""

import json
import os
import pathlib
import signal
import subprocess
import time
import unittest
import urllib.error
import urllib.request

from lost_coordinators import CLEAN, PIRACEMA, STREAM, JobTest

# Said when a lost one was replaced.
COMPLETE = "all 3 coordinators take part again"


class Coordinators(JobTest):
    def run_several(self, *options, count=3, **others):
        return self.run_stream("--coordinators", str(count), *options, **others)

    def to_the_end(self, command, code=0):
        """All that is said until nobody is left who could say more; the summary's code."""
        if code == 0:
            (self.folder / "end").touch()
        command.events += [json.loads(line) for line in command.process.stdout]
        command.process.wait()
        summary = command.events[-1]
        self.assertEqual((summary["event"], summary["code"]), ("summary", code), command.said())

    def check_nothing_left(self):
        self.until(lambda: not self.coordinators())
        super().check_nothing_left()

    def check_nothing_redone(self, command):
        self.assertNotIn("recovering", command.names(), command.said())
        self.assertNotIn("lost", command.names())
        self.check_output()
        self.check_nothing_left()

    # ---- one is lost ---------------------------------------------------------------------------

    def test_another_leads_when_the_leader_is_killed_and_nothing_is_redone(self):
        job = self.run_several()
        first = job.wait_for("leads")
        job.wait_for("snapshot", 2)
        workers = sorted(self.running("worker"))
        self.assertEqual(len(self.coordinators()), first["of"])
        os.kill(first["pid"], signal.SIGKILL)
        second = job.wait_for("leads")
        self.assertNotEqual(second["coordinator"], first["coordinator"])
        found = job.wait_for("reattached")
        self.assertEqual((found["term"], found["epoch"]), (2, 1))
        job.wait_for("snapshot", 2)
        self.assertEqual(sorted(self.running("worker")), workers)
        job.finish()
        self.check_nothing_redone(job)

    def test_the_command_is_killed_and_the_job_goes_on(self):
        job = self.run_several()
        job.wait_for("snapshot", 2)
        job.kill()
        job.wait_for("snapshot", 2)
        self.to_the_end(job)
        self.assertEqual(job.names().count("leads"), 1)
        self.check_nothing_redone(job)

    def without_its_command(self):
        """A job that goes on when its command was killed; another one, which joins it."""
        job = self.run_several()
        job.wait_for("snapshot", 2)
        job.kill()
        return job, self.run_command("--join", "--snapshots", "s")

    def test_another_command_joins_the_job_and_has_its_exit_code(self):
        job, other = self.without_its_command()
        job.wait_for("snapshot", 2)
        leader = next(event for event in job.events if event["event"] == "leads")
        os.kill(leader["pid"], signal.SIGKILL)
        job.wait_for("reattached")
        other.finish()
        self.to_the_end(job)
        self.check_nothing_redone(job)

    def test_a_command_that_has_joined_hands_on_signals(self):
        job, other = self.without_its_command()
        # It hears them once it shows that it is there.
        page = self.run_command("--join", "--snapshots", "s", "--http")
        page.wait_for("http")
        page.process.send_signal(signal.SIGTERM)
        for command in page, other:
            command.finish(75)
        self.to_the_end(job, 75)
        self.check_nothing_left()

    def test_where_there_is_nobody_to_be_joined_that_is_said(self):
        for way, why in [("s3://bucket/job", "which say where they are in a directory, and to nodes of a cluster, found neither"),
                         ("none", "found none that goes on")]:
            nobody = self.run_command("--join", "--snapshots", way)
            nobody.finish(4)
            self.assertIn(f"{way}: want a job with several coordinators, {why}", nobody.said())
        nowhere = self.run_command("--join")
        nowhere.finish(3)
        self.assertIn("--join: want --snapshots DIR", nowhere.said())
        self.run_command("--join", "--resume", "--snapshots", "s").finish(2)
        alone = self.run_stream("--keep-workers", "20s")
        alone.wait_for("snapshot")
        nobody = self.run_command("--join", "--snapshots", "s")
        nobody.finish(4)
        self.assertIn("found one with one", nobody.said())
        alone.finish()

    def test_of_five_the_leader_is_killed_twice(self):
        job = self.run_several(count=5)
        leader = job.wait_for("leads")
        for term in (2, 3):
            job.wait_for("snapshot")
            os.kill(leader["pid"], signal.SIGKILL)
            leader = job.wait_for("leads")
            self.assertEqual(job.wait_for("reattached")["term"], term)
        job.wait_for("snapshot")
        job.finish()
        self.check_nothing_redone(job)

    def test_one_that_looks_on_is_killed_and_nobody_notices(self):
        job = self.run_several()
        leader = job.wait_for("leads")
        job.wait_for("snapshot")
        other = next(pid for pid in self.coordinators() if pid != leader["pid"])
        os.kill(other, signal.SIGKILL)
        job.wait_for("snapshot", 3)
        job.finish()
        self.assertEqual(job.names().count("leads"), 1)
        self.check_nothing_redone(job)

    def test_a_leader_that_is_stopped_is_followed_and_looks_on_when_it_goes_on(self):
        job = self.run_several()
        first = job.wait_for("leads")
        job.wait_for("snapshot", 2)
        workers = sorted(self.running("worker"))
        os.kill(first["pid"], signal.SIGSTOP)
        job.wait_for("leads")
        job.wait_for("reattached")
        job.wait_for("snapshot")
        os.kill(first["pid"], signal.SIGCONT)
        self.assertEqual(job.wait_for("follows")["pid"], first["pid"])
        job.wait_for("snapshot", 2)
        self.assertEqual(sorted(self.running("worker")), workers)
        job.finish()
        self.check_nothing_redone(job)

    def test_a_leader_that_stays_stopped_is_left_behind(self):
        job = self.run_several()
        leader = job.wait_for("leads")
        job.wait_for("snapshot")
        os.kill(leader["pid"], signal.SIGSTOP)
        job.wait_for("reattached")
        job.finish()
        self.check_output()
        self.check_nothing_left()

    def test_one_that_stays_stopped_when_the_command_is_gone_finds_that_the_job_is_over(self):
        job = self.run_several()
        leader = job.wait_for("leads")
        job.wait_for("snapshot")
        job.kill()
        os.kill(leader["pid"], signal.SIGSTOP)
        job.wait_for("reattached")
        (self.folder / "end").touch()
        self.assertEqual(job.wait_for("summary")["code"], 0)
        self.until(lambda: self.coordinators() == [leader["pid"]])
        os.kill(leader["pid"], signal.SIGCONT)
        self.check_output()
        self.check_nothing_left()

    # ---- others are lost with it ---------------------------------------------------------------

    def test_a_worker_lost_with_the_leader_is_replaced(self):
        job = self.run_several()
        leader = job.wait_for("leads")
        job.wait_for("snapshot", 2)
        os.kill(self.running("worker")[0], signal.SIGKILL)
        os.kill(leader["pid"], signal.SIGKILL)
        job.wait_for("recovering")
        job.wait_for("snapshot")
        job.finish()
        self.check_output()
        self.check_nothing_left()

    def test_while_most_are_stopped_the_job_waits_and_goes_on_when_one_is_back(self):
        job = self.run_several()
        leader = job.wait_for("leads")
        job.wait_for("snapshot")
        workers = sorted(self.running("worker"))
        other = next(pid for pid in self.coordinators() if pid != leader["pid"])
        for pid in (leader["pid"], other):
            os.kill(pid, signal.SIGSTOP)
        self.until(lambda: "no majority of the coordinators answers" in job.said())
        os.kill(other, signal.SIGCONT)
        job.wait_for("reattached")
        job.wait_for("snapshot")
        os.kill(leader["pid"], signal.SIGCONT)
        job.wait_for("follows")
        self.assertEqual(sorted(self.running("worker")), workers)
        job.finish()
        self.check_nothing_redone(job)

    def test_where_most_are_killed_the_job_ends_in_bounded_time_and_can_be_resumed(self):
        job = self.run_several("--keep-workers", "2s")
        leader = job.wait_for("leads")
        job.wait_for("snapshot", 2)
        rest = [pid for pid in self.coordinators() if pid != leader["pid"]]
        os.kill(rest[0], signal.SIGKILL)
        os.kill(leader["pid"], signal.SIGKILL)
        job.finish(4)
        self.assertIn("no majority of the 3 coordinators", job.said())
        self.until(lambda: not self.running())
        record = self.folder / "s/coordinator/job"
        refused = self.run_stream("--resume")
        refused.finish(3)
        self.assertIn("workers may still run", refused.said())
        old = record.stat().st_mtime - 60
        os.utime(record, (old, old))
        second = self.run_several("--resume")
        second.wait_for("snapshot")
        second.finish()
        self.check_output()
        self.check_nothing_left()

    # ---- another one takes the place of a lost one ---------------------------------------------

    def test_all_that_began_are_killed_one_after_the_other_and_the_job_is_what_it_was(self):
        job = self.run_several()
        leader = job.wait_for("leads")
        job.wait_for("snapshot")
        workers = sorted(self.running("worker"))
        first = self.coordinators()
        others = [pid for pid in first if pid != leader["pid"]]
        for count, pid in enumerate([*others, leader["pid"]], 1):
            os.kill(pid, signal.SIGKILL)
            self.until(lambda: job.said().count(COMPLETE) == count)
            self.assertEqual(len(self.coordinators()), 3)
        self.assertFalse(set(first) & set(self.coordinators()))
        self.assertEqual(sorted(self.running("worker")), workers)
        job.wait_for("reattached")
        job.wait_for("snapshot", 2)
        job.finish()
        self.check_nothing_redone(job)

    def test_one_that_was_stopped_for_long_finds_another_in_its_place_and_ends(self):
        job = self.run_several()
        leader = job.wait_for("leads")
        job.wait_for("snapshot")
        os.kill(leader["pid"], signal.SIGSTOP)
        job.wait_for("reattached")
        self.until(lambda: COMPLETE in job.said())
        self.assertEqual(len(self.coordinators()), 4)
        os.kill(leader["pid"], signal.SIGCONT)
        self.until(lambda: leader["pid"] not in self.coordinators())
        self.assertIn("another one has its place by now", job.said())
        job.wait_for("snapshot", 2)
        job.finish()
        self.check_nothing_redone(job)

    def test_one_that_replaces_another_leads_on_though_it_is_not_the_first(self):
        job = self.run_several()
        first = job.wait_for("leads")
        job.wait_for("snapshot")
        os.kill(first["pid"], signal.SIGSTOP)
        second = job.wait_for("leads")
        job.wait_for("reattached")
        os.kill(first["pid"], signal.SIGCONT)
        job.wait_for("follows")
        third = next(pid for pid in self.coordinators() if pid not in (first["pid"], second["pid"]))
        os.kill(third, signal.SIGKILL)
        self.until(lambda: COMPLETE in job.said())
        job.wait_for("snapshot", 2)
        job.finish()
        self.assertEqual(job.names().count("leads"), 2)
        self.assertEqual(job.names().count("follows"), 1)
        self.check_nothing_redone(job)

    def test_a_successor_leads_when_the_others_are_lost_and_hears_the_command(self):
        job = self.run_several()
        job.wait_for("snapshot")
        first = self.coordinators()
        for count, pid in enumerate(first, 1):
            os.kill(pid, signal.SIGKILL)
            self.until(lambda: job.said().count(COMPLETE) == count)
        while job.wait_for("leads")["pid"] in first:
            pass
        job.wait_for("reattached")
        job.process.send_signal(signal.SIGTERM)
        job.finish(75)
        self.check_nothing_left()

    # ---- the page, which the command serves --------------------------------------------------------

    def look(self, shown, path):
        with urllib.request.urlopen(f"http://{shown['address']}{path}", timeout=60) as response:
            return json.load(response)

    def piracema(self, *words):
        done = subprocess.run([PIRACEMA, *words], cwd=self.folder, env=CLEAN, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_the_page_stays_where_it_is_whoever_leads_and_takes_requests(self):
        job = self.run_several("--http")
        shown = job.wait_for("http")
        first = job.wait_for("leads")
        job.wait_for("snapshot")
        self.until(lambda: self.look(shown, "/api/v1/job")["phase"] == "running")
        self.assertEqual(self.look(shown, "/api/v1/job")["coordinator"]["pid"], first["pid"])
        os.kill(first["pid"], signal.SIGKILL)
        # Whoever asks meanwhile waits for the next one, and sees no loss.
        self.assertNotEqual(self.look(shown, "/api/v1/job")["coordinator"]["pid"], first["pid"])
        second = job.wait_for("leads")
        self.until(lambda: self.look(shown, "/api/v1/job")["phase"] == "running")
        self.assertEqual(self.look(shown, "/api/v1/job")["coordinator"]["pid"], second["pid"])
        self.piracema("savepoint", shown["entrance"], "after")
        self.assertIn("after", self.piracema("snapshots", "s"))
        self.piracema("scale", shown["entrance"], "-n", "3")
        self.until(lambda: len(self.running("worker")) == 3)
        request = urllib.request.Request(shown["entrance"].replace("/?token", "/api/v1/stop?token"), method="POST",
                                         headers={"X-Piracema": "1"})
        with urllib.request.urlopen(request, timeout=60) as response:
            self.assertEqual(json.load(response), {"stopping": True})
        self.to_the_end(job, code=75)
        self.assertNotIn("recovering", job.names(), job.said())

    def test_what_happened_before_is_on_the_page_of_the_next_leader(self):
        job = self.run_several("--http")
        shown = job.wait_for("http")
        first = job.wait_for("leads")
        job.wait_for("snapshot")
        os.kill(self.running("worker")[0], signal.SIGKILL)
        self.until(lambda: self.look(shown, "/api/v1/failures")["count"] == 1 and self.is_shown(shown))
        seen = self.look(shown, "/api/v1/job")["at"]
        # The command is told of it with the second look after that at the latest.
        self.until(lambda: self.look(shown, "/api/v1/job")["at"] > seen + 3)
        failures, before = self.look(shown, "/api/v1/failures"), self.look(shown, "/api/v1/job")
        os.kill(first["pid"], signal.SIGKILL)
        second = job.wait_for("leads")
        self.until(lambda: self.is_shown(shown) and self.look(shown, "/api/v1/failures")["count"] == 1)
        after = self.look(shown, "/api/v1/job")
        self.assertEqual(after["coordinator"]["pid"], second["pid"])
        self.assertEqual(self.look(shown, "/api/v1/failures"), failures)
        self.assertEqual(after["started_at_unix"], before["started_at_unix"])
        self.assertGreaterEqual(after["at"], before["at"])
        self.assertLess(abs(after["now_at_unix"] - time.time()), 60)
        self.assertGreaterEqual(after["snapshots"]["taken"], 1)
        job.finish()
        self.check_output()

    def test_while_no_coordinator_leads_the_page_says_so_in_bounded_time(self):
        job = self.run_several("--http")
        shown = job.wait_for("http")
        job.wait_for("snapshot")
        for pid in self.coordinators():
            os.kill(pid, signal.SIGSTOP)
        with self.assertRaises(urllib.error.HTTPError) as refused:
            self.look(shown, "/api/v1/job")
        with refused.exception as response:
            self.assertEqual((response.code, response.read()), (503, b"no coordinator that leads has answered\n"))
        for pid in self.coordinators():
            os.kill(pid, signal.SIGCONT)
        self.until(lambda: self.is_shown(shown))
        job.finish()
        self.check_output()

    def is_shown(self, shown):
        try:
            return self.look(shown, "/api/v1/job")["phase"] == "running"
        except urllib.error.HTTPError:
            return False

    def test_where_the_page_cannot_be_nothing_is_started(self):
        job = self.run_several("--http=203.0.113.1:1")
        job.process.wait()
        self.assertEqual(job.process.returncode, 3)
        self.assertIn("--http: 203.0.113.1:1 is reached by other machines", job.said())
        self.assertFalse(self.coordinators())

    # ---- people --------------------------------------------------------------------------------

    def test_any_of_them_takes_the_signal_to_stop(self):
        job = self.run_several()
        leader = job.wait_for("leads")
        job.wait_for("snapshot")
        other = next(pid for pid in self.coordinators() if pid != leader["pid"])
        os.kill(other, signal.SIGINT)
        job.finish(75)
        self.check_nothing_left()
        second = self.run_several("--resume", workers=3)
        second.wait_for("running")
        second.process.send_signal(signal.SIGINT)
        second.finish(75)
        self.check_nothing_left()
        for lost_by in (signal.SIGKILL, signal.SIGSTOP):
            again = self.run_several("--resume")
            leader = again.wait_for("leads")
            again.wait_for("running")
            os.kill(leader["pid"], lost_by)
            again.wait_for("reattached")
            again.process.send_signal(signal.SIGTERM)
            again.finish(75)
            self.check_nothing_left()

    def test_the_directory_is_nobody_elses_while_one_of_them_lives(self):
        job = self.run_several()
        leader = job.wait_for("leads")
        job.wait_for("snapshot")
        os.kill(leader["pid"], signal.SIGKILL)
        job.wait_for("reattached")
        for way in ((), ("--resume",)):
            other = self.run_stream(*way)
            other.finish(3)
            self.assertIn("want it for one job alone", other.said())
        (self.folder / "end").unlink(missing_ok=True)
        job.finish()
        self.check_nothing_redone(job)

    def test_where_all_of_them_are_killed_the_command_says_so(self):
        job = self.run_several("--keep-workers", "2s")
        job.wait_for("snapshot")
        for pid in self.coordinators():
            os.kill(pid, signal.SIGKILL)
        job.finish(4)
        self.assertIn("none of the 3 coordinators is left", job.said())
        self.until(lambda: not self.running())

    def test_what_the_first_one_finds_wrong_is_said_once(self):
        wrong = self.run_several("--stats", "no/such/folder")
        wrong.finish(3)
        self.assertEqual(wrong.said().count("no/such/folder"), 1)
        self.assertFalse(self.coordinators())

    def test_what_cannot_be_is_refused_with_the_reason(self):
        for count in ("2", "0", "4", "7", "three"):
            refused = self.run_command("--coordinators", count, "--snapshots", "s", STREAM, "out")
            refused.finish(2)
        self.assertFalse((self.folder / "s").exists())
        without = self.run_command("--coordinators", "3", STREAM, "out", "items=1")
        without.finish(3)
        self.assertIn("want --snapshots DIR, found none", without.said())
        by_mpi = self.run_several("--transport", "mpi")
        by_mpi.finish(3)
        self.assertIn("none can be kept", by_mpi.said())
        standby = self.run_several("--standby")
        standby.finish(2)


if __name__ == "__main__":
    unittest.main(verbosity=2)
