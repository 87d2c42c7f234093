#!/usr/bin/env python3
"""Groups on the hosts that their file names: they run there, or nothing runs and it is said why."""

import json
import os
import signal
import subprocess
import sys
import unittest

from hosts import *

GROUPED = os.environ["GROUPED_APP"]
ITEMS = 5_000
SUM = f"sum {ITEMS * (ITEMS + 1) // 2}\n"


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

    def test_coordinators_are_on_the_hosts_of_the_groups(self):
        self.write("h1", "h2", "h1", "h3")
        self.start("--groups", "groups.json", "--coordinators", "3", "--snapshots", "s", GROUPED,
                   "right", str(ITEMS))
        self.assertEqual(1, self.wait_for("leads")["coordinator"])
        self.finish()
        self.assertIn(SUM, self.said())
        self.check_nothing_left()

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
                 "groups.json:1:115: host 'h77' cannot be used: "),
                (["localhost", "no-such-host.invalid", "h1", "h2"], [], 3,
                 "groups.json:1:81: want a host that is known, found 'no-such-host.invalid': "),
                (["localhost", "h1", "h2", "h1"], ["--rsh", "no-such-shell"], 3,
                 "'no-such-shell' cannot be run"),
                (["localhost", "h1", "localhost", "h1"], ["--rsh", "false"], 3,
                 "groups.json:1:81: host 'h1' cannot be used: '")]:
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
