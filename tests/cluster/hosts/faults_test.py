#!/usr/bin/env python3
"""Jobs on several hosts, and all that can happen to them there: the output is as it should be."""

import contextlib
import os
import pathlib
import signal
import unittest

from hosts import *


class Faults(OnHosts):
    def lost(self, slot):
        return self.wait_for("lost", lambda event: event["worker"] == slot)

    def test_a_job_on_three_hosts_does_as_on_one(self):
        self.start_stream("--hosts", "h1,h2,h3", "-n", "4")
        self.wait_for("running")
        workers = self.workers()
        self.assertEqual(["h1", "h2", "h3", "h1"], [workers[slot][1] for slot in range(4)])
        key = environment_of(workers[0][0])["PIRACEMA_TOKEN"].encode()
        for pid in self.of_job():
            self.assertNotIn(key, pathlib.Path(f"/proc/{pid}/cmdline").read_bytes())
        summary = self.finish()
        self.assertEqual(4, summary["processes_started"])
        self.check_output()
        self.check_nothing_left()

    def test_a_file_of_hosts_says_how_many_workers_each_has(self):
        (self.folder / "hosts").write_text("h2 slots=2   # as mpirun takes it\nh1:1\n")
        self.start_stream("--hostfile", "hosts", items=5_000)
        self.wait_for("running")
        workers = self.workers()
        self.assertEqual(["h2", "h2", "h1"], [workers[slot][1] for slot in range(3)])
        self.finish()
        self.check_output()
        self.check_nothing_left()

    def test_workers_agents_and_remote_shells_that_are_killed_are_replaced(self):
        self.start_stream("--hosts", "h1,h2", "-n", "4")
        self.wait_for("snapshot")
        os.kill(self.workers()[1][0], signal.SIGKILL)
        self.assertIn("SIGKILL", self.lost(1)["how"])
        self.wait_for("running")
        os.kill(self.agents()["h1"], signal.SIGKILL)
        self.lost(0)
        self.wait_for("running")
        os.kill(self.remote_shells()["h2"], signal.SIGKILL)
        self.lost(1)
        self.wait_for("running")
        self.finish()
        self.check_output()
        self.check_nothing_left()

    def test_a_host_that_is_cut_off_for_a_while_does_no_harm(self):
        self.start_stream("--hosts", "h1,h2", "-n", "4")
        self.wait_for("snapshot")
        self.cut("h2")
        self.wait_for("lost")
        self.wait_for("running")
        self.assertEqual({"h1"}, {host for pid, host in self.workers().values()
                                  if environment_of(pid).get("PIRACEMA_INCARNATION") != "0"})
        self.mend("h2")
        self.finish()
        self.check_output()
        self.check_nothing_left()

    def test_a_host_that_returns_gets_its_work_back_with_the_next_snapshot(self):
        self.start_stream("--hosts", "h1,h2", "-n", "4")
        self.wait_for("snapshot")
        self.cut("h2")
        self.wait_for("lost")
        self.wait_for("running")
        self.mend("h2")
        moved = self.wait_for("moved")
        since = len(self.events)
        self.wait_for("snapshot")
        self.assertEqual([1, 3], moved["workers"])
        self.assertEqual(["h1", "h2", "h1", "h2"], [self.workers()[slot][1] for slot in range(4)])
        print(f"sources paused for {moved['paused']} s")
        self.finish()
        self.assertNotIn("recovering", [event["event"] for event in self.events[since:]])
        self.check_output()
        self.check_nothing_left()

    def test_a_host_that_is_gone_for_good_is_done_without(self):
        self.start_stream("--hosts", "h1,h2,h3", "-n", "3")
        self.wait_for("snapshot")
        self.cut("h3")
        self.wait_for("lost")
        self.wait_for("running")
        self.finish()
        self.check_output()
        self.assertRegex(self.said(), "worker 2 is started on h[12]: h3 cannot be reached")

    def test_a_host_that_stands_still_and_wakes_again_does_no_harm(self):
        self.start_stream("--hosts", "h1,h2", "-n", "4")
        self.wait_for("snapshot")
        asleep = [self.agents()["h2"], *(pid for pid, host in self.workers().values()
                                         if host == "h2")]
        for pid in asleep:
            os.kill(pid, signal.SIGSTOP)
        self.wait_for("lost")
        self.wait_for("running")
        for pid in asleep:
            with contextlib.suppress(ProcessLookupError):  # The end of its way in may have been its own.
                os.kill(pid, signal.SIGCONT)
        self.finish()
        self.check_output()
        self.check_nothing_left()

    def test_a_narrow_link_is_only_slow(self):
        self.narrow("h2")
        self.start_stream("--hosts", "h1,h2", "-n", "4", items=3_000)
        self.finish()
        self.check_output()
        self.check_nothing_left()

    # ---- the coordinator is lost, and there is another one ------------------------------------

    def lose_coordinator(self, standby_on=None):
        """A job on h1 and h2, whose coordinator is killed while another one stands by."""
        options = ["--hosts", "h1,h2", "-n", "4"]
        self.start_stream(*options, "--keep-workers", "1m")
        self.wait_for("snapshot")
        first = self.job
        if standby_on is None:
            self.start_stream(*options, "--standby")
        else:
            self.start_stream(*options, "--standby",
                              before=["nsenter", "--target", str(self.holders[standby_on].pid), "--net"])
        self.wait_for("standing_by")
        first.kill()
        first.wait()

    def check_kept(self, workers):
        self.wait_for("reattached")
        self.wait_for("snapshot")
        self.assertEqual(workers, self.workers())
        self.finish()
        self.assertNotIn("recovering", [event["event"] for event in self.events])
        self.check_output()
        self.wait_for_ends(self.of_job, "processes are left")

    def test_a_standby_goes_on_with_the_workers_of_all_hosts(self):
        self.lose_coordinator()
        self.check_kept(self.workers())

    def test_a_standby_on_another_host_goes_on_with_the_workers_of_all_hosts(self):
        self.lose_coordinator("h3")
        self.check_kept(self.workers())

    def test_a_standby_does_without_a_host_that_was_lost_with_the_coordinator(self):
        self.start_stream("--hosts", "h1,h2", "-n", "4", "--keep-workers", "1m")
        self.wait_for("snapshot")
        first = self.job
        self.start_stream("--hosts", "h1,h2", "-n", "4", "--standby")
        self.wait_for("standing_by")
        self.cut("h2")
        first.kill()
        first.wait()
        self.wait_for("recovering")
        self.wait_for("running")
        self.assertEqual({"h1"}, {host for pid, host in self.workers().values()
                                  if environment_of(pid).get("PIRACEMA_INCARNATION") != "0"})
        self.mend("h2")
        self.finish()
        self.check_output()
        self.wait_for_ends(self.of_job, "processes are left")

    def test_nothing_is_left_when_the_coordinator_is_killed(self):
        self.start_stream("--hosts", "h1,h2", "-n", "4")
        self.wait_for("snapshot")
        self.job.kill()
        self.job.wait()
        self.check_nothing_left()

    def test_ctrl_c_takes_a_last_snapshot_and_the_job_goes_on_from_it(self):
        self.start_stream("--hosts", "h1,h2", "-n", "4")
        self.wait_for("snapshot")
        self.job.send_signal(signal.SIGINT)
        self.finish(75)
        self.check_nothing_left()
        self.start_stream("--hosts", "h2,h3", "-n", "3", "--resume")
        self.wait_for("first_item_out")
        new = self.finish()["items"]
        lines = len((self.folder / "out").read_text().splitlines())
        self.assertLess(new, lines)
        self.check_output(lines)
        self.check_nothing_left()

    def test_a_host_with_another_directory_of_snapshots_is_found_before_anything_starts(self):
        (self.folder / "snapshots").mkdir()
        sh("nsenter", "--target", self.holders["h2"].pid, "--mount", "mount", "-t", "tmpfs", "none",
           self.folder / "snapshots")
        self.start_stream("--hosts", "h1,h2", "-n", "2")
        self.finish(3)
        self.assertIn(f"--hosts: host 'h2' cannot be used: want the snapshots' directory "
                      f"'{self.folder}/snapshots' shared by all hosts, found another one",
                      self.said())
        self.check_nothing_left()
        self.assertEqual(["piracema.lock"], os.listdir(self.folder / "snapshots"))

    def test_a_host_that_has_nothing_of_ours_is_given_it(self):
        for host in ["h1", "h2"]:
            for file in {pathlib.Path(PIRACEMA).parent, pathlib.Path(STREAM).parent}:
                sh("nsenter", "--target", self.holders[host].pid, "--mount", "mount", "-t", "tmpfs",
                   "none", file)
        self.start_stream("--hosts", "h1,h2,h3", "-n", "3")
        self.wait_for("running")
        self.assertEqual(2, len(os.listdir(next((self.folder / "tmp-h1").iterdir()))))
        self.assertEqual(0, len(os.listdir(next((self.folder / "tmp-h3").iterdir()))))
        # By the second one something has come through.
        self.wait_for("snapshot")
        self.wait_for("snapshot")
        self.finish()
        self.check_output()
        self.check_nothing_left()


if __name__ == "__main__":
    in_namespace()
    unittest.main()
