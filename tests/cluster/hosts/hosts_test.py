#!/usr/bin/env python3
"""Jobs on several hosts, and all that can happen to them there: the output is as it should be."""

import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import unittest

from hosts import *

GROUPED = os.environ["GROUPED_APP"]
ITEMS = 5_000
SUM = f"sum {ITEMS * (ITEMS + 1) // 2}\n"


class Faults(OnHosts):
    def lost(self, slot):
        return self.wait_for("lost", lambda event: event["worker"] == slot)

    def test_a_job_on_three_hosts_does_as_on_one(self):
        self.start_stream("--hosts", "h1,h2,h3", "-n", "4", items=5_000)
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

    def test_a_host_that_is_gone_for_good_is_done_without(self):
        self.start_stream("--hosts", "h1,h2,h3", "-n", "3", items=10_000)
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
            os.kill(pid, signal.SIGCONT)
        self.finish()
        self.check_output()
        self.check_nothing_left()

    def test_a_slow_link_is_only_slow(self):
        slow = subprocess.run(["tc", "qdisc", "add", "dev", "cable2", "root", "netem", "delay",
                               "40ms"], capture_output=True)
        if slow.returncode != 0:  # This kernel has no netem: at least narrow, then.
            slow = subprocess.run(["tc", "qdisc", "add", "dev", "cable2", "root", "tbf", "rate",
                                   "4mbit", "burst", "32kb", "latency", "400ms"],
                                  capture_output=True)
        if slow.returncode != 0:
            self.skipTest("this kernel can neither delay nor narrow a link")
        self.start_stream("--hosts", "h1,h2", "-n", "4", items=5_000)
        self.finish()
        self.check_output()
        self.check_nothing_left()

    def test_nothing_is_left_when_the_coordinator_is_killed(self):
        self.start_stream("--hosts", "h1,h2", "-n", "4")
        self.wait_for("snapshot")
        self.job.kill()
        self.job.wait()
        self.check_nothing_left()

    def test_ctrl_c_takes_a_last_snapshot_and_the_job_goes_on_from_it(self):
        self.start_stream("--hosts", "h1,h2", "-n", "4", items=10_000)
        self.wait_for("snapshot")
        self.job.send_signal(signal.SIGINT)
        self.finish(75)
        self.check_nothing_left()
        self.start_stream("--hosts", "h2,h3", "-n", "3", "--resume", items=10_000)
        self.finish()
        self.check_output()
        self.check_nothing_left()

    def test_a_host_that_has_nothing_of_ours_is_given_it(self):
        for host in ["h1", "h2"]:
            for file in {pathlib.Path(PIRACEMA).parent, pathlib.Path(STREAM).parent}:
                sh("nsenter", "--target", self.holders[host].pid, "--mount", "mount", "-t", "tmpfs",
                   "none", file)
        self.start_stream("--hosts", "h1,h2,h3", "-n", "3", items=3_000)
        self.wait_for("running")
        self.assertEqual(2, len(os.listdir(next((self.folder / "tmp-h1").iterdir()))))
        self.assertEqual(0, len(os.listdir(next((self.folder / "tmp-h3").iterdir()))))
        self.finish()
        self.check_output()
        self.check_nothing_left()


class Groups(OnHosts):
    def write(self, *endpoints, **more):
        groups = [{"name": f"G{i + 1}", "endpoint": where} for i, where in enumerate(endpoints)]
        (self.folder / "groups.json").write_text(json.dumps({"groups": groups, **more}))

    def test_each_group_runs_where_the_file_says(self):
        self.write("localhost", "h1:4711", "h2", "h1")
        self.start("--groups", "groups.json", GROUPED, "right", "0")
        self.wait_for("running")
        workers = self.workers()
        self.assertEqual(["h0", "h1", "h2", "h1"], [workers[slot][1] for slot in range(4)])
        self.job.send_signal(signal.SIGKILL)
        self.job.wait()
        self.check_nothing_left()

    def test_what_a_group_elsewhere_prints_is_printed_here(self):
        self.write("h1", "h2", "localhost", "h3")
        run = subprocess.run(
            [PIRACEMA, "run", "--quiet", "--rsh", RSH, "--groups", "groups.json", GROUPED, "right",
             str(ITEMS)], cwd=self.folder, env={**CLEAN, "PIRACEMA_TEST_HOSTS": str(self.folder)},
            capture_output=True, text=True, timeout=SECONDS_MAX)
        self.assertEqual((0, SUM), (run.returncode, run.stdout), run.stderr)

    def test_the_failure_of_a_group_elsewhere_is_that_of_the_job(self):
        self.write("localhost", "h1", "h2", "h1")
        self.start("--groups", "groups.json", GROUPED, "right", "0")
        self.wait_for("running")
        os.kill(self.workers()[2][0], signal.SIGKILL)
        self.finish(4)
        self.check_nothing_left()

    def test_what_cannot_be_reached_is_said_before_anything_starts(self):
        for endpoints, options, code, says in [
                (["localhost", "h1", "h77", "h2"], [], 3,
                 "groups.json:1:115: host 'h77' cannot be reached: "),
                (["localhost", "no-such-host.invalid", "h1", "h2"], [], 3,
                 "groups.json:1:81: want a host that is known, found 'no-such-host.invalid': "),
                (["localhost", "h1", "h2", "h1"], ["--rsh", "no-such-shell"], 3,
                 "'no-such-shell' cannot be run"),
                (["localhost", "h1", "h2", "h1"], ["--rsh", "false"], 3,
                 "groups.json:1:81: host 'h1' cannot be reached: '")]:
            with self.subTest(says):
                self.write(*endpoints)
                self.start("--groups", "groups.json", *options, GROUPED, "right", ITEMS)
                self.finish(code)
                self.assertIn(says, self.said())
                self.check_nothing_left()

    def test_groups_on_other_hosts_do_not_talk_by_shared_memory(self):
        self.write("localhost", "h1", "h2", "h1",
                   edges=[{"from": "G2", "to": "G3", "protocol": "shm"}])
        self.start("--groups", "groups.json", GROUPED, "right", ITEMS)
        self.finish(3)
        self.assertIn("want one host for groups that talk by shm, found 'h1' and 'h2'", self.said())

    def test_a_port_that_is_taken_there_is_said(self):
        taken = self.on("h1", sys.executable, "-c",
                        "import socket; s = socket.create_server(('10.78.0.1', 4711)); "
                        "print('listens', flush=True); s.accept()", stdout=subprocess.PIPE)
        self.addCleanup(taken.stdout.close)
        taken.stdout.readline()
        self.write("localhost", "h2", "h1:4711", "h3")
        self.start("--groups", "groups.json", GROUPED, "right", ITEMS)
        self.finish(3)
        self.assertIn("listening on 10.78.0.1:4711: Address already in use", self.said())
        self.check_nothing_left()


if __name__ == "__main__":
    in_namespace()
    unittest.main()
