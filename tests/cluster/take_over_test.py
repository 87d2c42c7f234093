#!/usr/bin/env python3
"""The coordinator of a job is killed, alone or with others, and another one goes on with its workers:
the output is what it would have been, byte for byte, and where only the coordinator was lost nothing
is redone. Where nobody comes nothing is left running. What cannot be taken over is refused with the
reason, and nothing is changed."""

import json
import os
import select
import shutil
import signal
import socket
import time
import unittest
import urllib.request

from lost_coordinators import SECONDS_MAX, STREAM, JobTest


class TakeOver(JobTest):
    # ---- only the coordinator is lost ----------------------------------------------------------

    def test_a_standby_goes_on_and_nothing_is_redone(self):
        first = self.run_stream("--keep-workers", "60s")
        standby = self.standing_by()
        first.wait_for("snapshot", 2)
        workers = sorted(self.running("worker"))
        first.kill()
        found = standby.wait_for("reattached")
        self.assertEqual((found["term"], found["epoch"]), (2, 1))
        standby.wait_for("snapshot", 2)
        self.assertEqual(sorted(self.running("worker")), workers)
        standby.finish()
        self.assertNotIn("recovering", standby.names())
        self.assertNotIn("lost", standby.names())
        self.check_output()
        self.check_nothing_left()

    def test_what_happened_before_is_on_the_page_of_the_next_one(self):
        first = self.run_stream("--keep-workers", "60s", "--http")
        shown = first.wait_for("http")
        first.wait_for("snapshot")
        standbys = []
        for _ in range(2):
            standbys.append(self.run_stream("--standby", "--http"))
            shown_next = standbys[-1].wait_for("http")
            standbys[-1].wait_for("standing_by")
            if len(standbys) == 1:
                os.kill(self.running("worker")[0], signal.SIGKILL)
            self.until(lambda: self.look(shown, "failures")["count"] == 1 and self.look(shown, "job")["phase"] == "running")
            failures, before = self.look(shown, "failures"), self.look(shown, "job")
            # It is kept with the second look after that at the latest.
            self.until(lambda: self.look(shown, "job")["at"] > before["at"] + 3)
            lost = first if len(standbys) == 1 else standbys[0]
            lost.kill()
            standbys[-1].wait_for("reattached")
            self.until(lambda: self.look(shown_next, "failures")["count"] == 1)
            after = self.look(shown_next, "job")
            self.assertEqual(self.look(shown_next, "failures"), failures)
            self.assertEqual(after["started_at_unix"], before["started_at_unix"])
            self.assertGreaterEqual(after["at"], before["at"])
            self.assertLess(abs(after["now_at_unix"] - time.time()), 60)
            self.assertGreaterEqual(after["snapshots"]["taken"], before["snapshots"]["taken"])
            self.assertEqual(after["coordinator"]["pid"], standbys[-1].process.pid)
            shown = shown_next
        standbys[-1].finish()
        self.assertFalse((self.folder / "s/coordinator/past").exists())
        self.check_output()
        self.check_nothing_left()

    def look(self, shown, what):
        with urllib.request.urlopen(f"http://{shown['address']}/api/v1/{what}", timeout=60) as response:
            return json.load(response)

    def test_one_standby_after_the_other_goes_on(self):
        current = self.run_stream("--keep-workers", "60s")
        current.wait_for("snapshot")
        for term in range(2, 6):
            standby = self.standing_by()
            current.kill()
            self.assertEqual(standby.wait_for("reattached")["term"], term)
            # Of every second one not even a snapshot is waited for.
            if term % 2:
                standby.wait_for("snapshot")
            current = standby
        current.finish()
        self.assertNotIn("recovering", current.names())
        self.check_output()
        self.check_nothing_left()

    def test_of_several_standbys_one_goes_on_and_the_others_go_on_standing_by(self):
        first = self.run_stream("--keep-workers", "60s")
        first.wait_for("snapshot")
        standbys = [self.standing_by(), self.standing_by()]
        first.kill()
        ready, _, _ = select.select([s.process.stdout for s in standbys], [], [], SECONDS_MAX)
        one = next(s for s in standbys if s.process.stdout in ready)
        other = next(s for s in standbys if s is not one)
        one.wait_for("reattached")
        one.finish()
        other.finish()
        self.assertIn("is over", other.events[-1]["why"])
        self.check_output()
        self.check_nothing_left()

    def test_a_resume_goes_on_with_the_workers(self):
        first = self.run_stream("--keep-workers", "60s")
        first.wait_for("snapshot")
        first.kill()
        second = self.run_stream("--resume")
        second.wait_for("reattached")
        second.wait_for("snapshot")
        second.finish()
        self.assertNotIn("recovering", second.names())
        self.check_output()
        self.check_nothing_left()

    def test_a_coordinator_killed_before_the_first_snapshot_is_followed_as_well(self):
        first = self.run_stream("--keep-workers", "60s", every="1m")
        standby = self.standing_by()
        first.wait_for("running")
        first.kill()
        standby.wait_for("reattached")
        standby.wait_for("snapshot")
        standby.finish()
        self.check_output()
        self.check_nothing_left()

    def test_a_coordinator_killed_before_its_first_decision_is_followed_by_one_that_begins(self):
        first = self.run_stream("--keep-workers", "60s")
        first.wait_for("running")
        whole = (self.folder / "s/coordinator/job").read_bytes()
        first.finish()
        # As it left it: the key and the job, and nothing decided.
        at = 8
        for _ in range(2):
            at += 16 + int.from_bytes(whole[at:at + 8], "little")
        shutil.rmtree(self.folder / "s")
        (self.folder / "s/coordinator").mkdir(parents=True)
        (self.folder / "s/piracema.lock").touch()
        (self.folder / "s/coordinator/job").write_bytes(whole[:at])
        (self.folder / "end").unlink()
        (self.folder / "out").unlink()
        second = self.run_stream("--resume")
        second.wait_for("snapshot")
        second.finish()
        self.assertNotIn("recovering", second.names())
        self.check_output()
        self.check_nothing_left()

    def test_a_job_that_was_taken_over_can_be_stopped_and_resumed_with_other_numbers(self):
        first = self.run_stream("--keep-workers", "60s")
        standby = self.standing_by()
        first.wait_for("snapshot")
        first.kill()
        standby.wait_for("reattached")
        standby.process.send_signal(signal.SIGINT)
        standby.finish(75)
        self.check_nothing_left()
        third = self.run_stream("--resume", workers=3)
        third.wait_for("running")
        third.finish()
        self.check_output()

    # ---- others are lost with it ---------------------------------------------------------------

    def test_a_worker_lost_with_the_coordinator_is_replaced(self):
        first = self.run_stream("--keep-workers", "60s")
        standby = self.standing_by()
        first.wait_for("snapshot", 2)
        first.kill_with(self.running("worker")[0])
        standby.wait_for("recovering")
        standby.wait_for("snapshot")
        standby.finish()
        self.check_output()
        self.check_nothing_left()

    def test_a_worker_lost_while_nobody_coordinates_is_replaced(self):
        first = self.run_stream("--keep-workers", "60s")
        first.wait_for("snapshot", 2)
        first.kill()
        victim = self.running("worker")[0]
        os.kill(victim, signal.SIGKILL)
        self.until(lambda: victim not in self.running())
        second = self.run_stream("--resume")
        lost = second.wait_for("lost")
        self.assertIn("killed by signal 9", json.dumps(lost))
        second.finish()
        self.assertIn("recovering", second.names())
        self.check_output()
        self.check_nothing_left()

    def test_an_agent_lost_with_the_coordinator_takes_its_workers_along_and_they_come_back(self):
        first = self.run_stream("--keep-workers", "60s")
        standby = self.standing_by()
        first.wait_for("snapshot", 2)
        first.kill_with(self.running("agent")[0])
        standby.wait_for("recovering")
        standby.wait_for("snapshot")
        standby.finish()
        self.check_output()
        self.check_nothing_left()

    def test_an_agent_that_is_lost_alone_is_replaced_with_its_workers(self):
        first = self.run_stream("--keep-workers", "60s")
        first.wait_for("snapshot", 2)
        os.kill(self.running("agent")[0], signal.SIGKILL)
        first.wait_for("recovering")
        first.wait_for("snapshot")
        first.finish()
        self.check_output()
        self.check_nothing_left()

    # ---- nobody comes --------------------------------------------------------------------------

    def test_another_number_of_workers_is_for_a_job_that_begins(self):
        first = self.run_stream("--keep-workers", "30s")
        first.wait_for("snapshot", 2)
        workers = sorted(self.running("worker"))
        first.kill()
        second = self.run_stream("--resume", workers=3)
        second.wait_for("snapshot", 2)
        self.assertEqual(sorted(self.running("worker")), workers)
        second.finish()
        self.assertIn("goes on with the 2 workers that the job has; -n 3 is for one that begins",
                      second.said())
        self.check_output()
        self.check_nothing_left()

    def test_where_nobody_comes_all_end_and_another_number_of_workers_can_go_on(self):
        first = self.run_stream("--keep-workers", "1s")
        first.wait_for("snapshot", 2)
        first.kill()
        self.assertEqual(len(self.running("worker")), 2)
        anew = self.run_stream()
        anew.finish(3)
        self.assertIn("give --resume to go on with them", anew.said())
        self.until(lambda: not self.running())
        record = self.folder / "s/coordinator/job"
        # By the record they might run for some seconds more, as the clocks of hosts differ.
        old = time.time() - 60
        os.utime(record, (old, old))
        second = self.run_stream("--resume", workers=3)
        second.wait_for("snapshot")
        second.finish()
        self.check_output()
        self.check_nothing_left()

    def test_workers_whose_directory_is_another_jobs_end_at_once(self):
        first = self.run_stream("--keep-workers", "10m")
        first.wait_for("snapshot")
        first.kill()
        left = self.running()
        shutil.rmtree(self.folder / "s")
        second = self.run_command("-n", "1", "--snapshots", "s", "--keep-workers", "10m", STREAM, "other",
                                  "items=100000000", "pause_us=100", f"until={self.folder}/end")
        self.until(lambda: not set(left) & set(self.running()))
        second.wait_for("running")
        second.finish()
        self.check_nothing_left()

    # ---- what cannot be ------------------------------------------------------------------------

    def test_what_cannot_be_taken_over_is_refused_with_the_reason(self):
        nothing = self.run_stream("--standby")
        nothing.finish(3)
        self.assertIn("want a snapshot directory, found nothing", nothing.said())
        first = self.run_stream()
        first.wait_for("snapshot")
        first.finish()
        alone = self.run_stream("--standby")
        alone.finish(3)
        self.assertIn("nothing to stand by for", alone.said())
        both = self.run_stream("--standby", "--resume")
        both.finish(2)
        without = self.run_command("--keep-workers", "1s", STREAM, "other", "items=1")
        without.finish(3)
        self.assertIn("no directory of snapshots was given", without.said())
        by_mpi = self.run_stream("--keep-workers", "1s", "--transport", "mpi")
        by_mpi.finish(3)

    def test_workers_that_were_kept_are_not_taken_over_by_mpirun(self):
        first = self.run_stream("--keep-workers", "60s")
        first.wait_for("snapshot")
        first.kill()
        workers = sorted(self.running("worker"))
        for way in ("--resume", "--standby"):
            by_mpi = self.run_stream(way, "--transport", "mpi")
            by_mpi.finish(3)
            self.assertIn("none can be kept", by_mpi.said())
        self.assertEqual(sorted(self.running("worker")), workers)
        second = self.run_stream("--resume")
        second.wait_for("reattached")
        second.finish()
        self.check_output()
        self.check_nothing_left()

    def test_a_standby_ends_with_the_job_it_stands_by_for(self):
        first = self.run_stream("--keep-workers", "60s")
        standby = self.standing_by()
        first.wait_for("snapshot")
        first.finish()
        standby.finish()
        self.assertIn("is over", standby.events[-1]["why"])
        self.check_output()
        self.check_nothing_left()

    def test_a_standby_that_is_not_wanted_any_more_ends_by_a_signal_and_harms_nobody(self):
        first = self.run_stream("--keep-workers", "60s")
        first.wait_for("snapshot")
        for number, code in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
            standby = self.standing_by()
            standby.process.send_signal(number)
            standby.finish(code)
        first.wait_for("snapshot")
        first.finish()
        self.check_output()
        self.check_nothing_left()

    def test_a_record_that_is_damaged_is_named_and_nothing_is_changed(self):
        first = self.run_stream("--keep-workers", "60s")
        first.wait_for("snapshot", 2)
        first.kill()
        record = self.folder / "s/coordinator/job"
        whole = record.read_bytes()
        record.write_bytes(whole[:200] + b"x" + whole[201:])
        refused = self.run_stream("--resume")
        refused.finish(3)
        self.assertIn(f"{record}: want the record of a job", refused.said())
        # What was not written whole was never acted upon.
        record.write_bytes(whole + b"\7" * 11)
        second = self.run_stream("--resume")
        second.wait_for("reattached")
        second.wait_for("snapshot")
        second.finish()
        self.check_output()
        self.check_nothing_left()

    def test_strangers_at_the_file_of_the_coordinator_do_no_harm(self):
        first = self.run_stream("--keep-workers", "60s")
        first.wait_for("snapshot")
        first.kill()
        self.until(lambda: "looking for another" in first.said())
        address = self.folder / "s/coordinator/address"
        name = address.read_text().splitlines()[0]
        address.write_bytes(os.urandom(2_000))
        with socket.create_server(("127.0.0.1", 0)) as silent:
            address.write_text(f"{name}\n127.0.0.1:1\n127.0.0.1:{silent.getsockname()[1]}\n")
            silent.accept()[0].close()
            second = self.run_stream("--resume")
            second.wait_for("reattached")
            second.finish()
        self.check_output()
        self.check_nothing_left()


if __name__ == "__main__":
    unittest.main(verbosity=2)
