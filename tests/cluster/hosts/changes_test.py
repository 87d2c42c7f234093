#!/usr/bin/env python3
"""Hosts that come to a job and leave it while it runs: nothing is redone, and the output is as it
should be."""

import os
import re
import signal
import time
import unittest

from hosts import *


class Changes(OnHosts):
    def start_watching(self, *lines):
        self.write_hosts(*lines)
        self.start_stream("--hostfile", "hosts", "--watch-hosts")
        self.wait_for("snapshot")
        self.since = len(self.events)

    def hosts_of_workers(self):
        return [host for _, (_, host) in sorted(self.workers().items())]

    def wait_until_on(self, hosts):
        """A look at all processes may miss one that has begun a moment ago."""
        for _ in range(100):
            if self.hosts_of_workers() == hosts:
                return
            time.sleep(0.05)
        self.assertEqual(hosts, self.hosts_of_workers(), self.said())

    def wait_for_move(self, workers, hosts):
        """Those workers move, and then all are on these hosts."""
        moved = self.wait_for("moved")
        self.wait_for("snapshot")
        self.assertEqual(workers, moved["workers"])
        print(f"sources paused for {moved['paused']} s")
        # On a busy machine a host may be silent just then: another one takes its place until it is heard of.
        if re.search("worker . is started on h.: h. cannot be reached", self.said()):
            self.wait_for("moved")
            self.wait_for("snapshot")
        self.wait_until_on(hosts)

    def wait_until_said(self, pattern):
        for _ in range(600):
            if re.search(pattern, self.said()):
                return
            self.wait_for("snapshot")
        self.fail(f"nobody says {pattern}: {self.said()}")

    def check_nothing_was_redone(self):
        self.finish()
        names = [event["event"] for event in self.events[self.since:]]
        self.assertNotIn("recovering", names)
        self.assertNotIn("lost", names)
        self.check_output()
        self.check_nothing_left()

    def test_workers_leave_a_host_that_its_file_names_no_more_and_come_back_when_it_does(self):
        self.start_watching("h1:2", "h2:2")
        agent = self.agents()["h2"]
        self.write_hosts("h1:2", "# h2 is worked on")
        self.wait_for_move([2, 3], ["h1"] * 4)
        self.wait_for_ends(lambda: [agent] if agent in self.of_job() else [], "its agent stays")
        # The shell that has started it takes away what was brought.
        h2 = network_of(self.holders["h2"].pid)
        self.wait_for_ends(lambda: [pid for pid in self.of_job() if network_of(pid) == h2], "its shell stays")
        self.assertEqual([], os.listdir(self.folder / "tmp-h2"))
        self.write_hosts("h1:2", "h2:2")
        self.wait_for_move([2, 3], ["h1", "h1", "h2", "h2"])
        self.check_nothing_was_redone()

    def test_a_host_that_is_new_in_the_file_gets_its_share_of_the_workers(self):
        self.start_watching("h1 slots=4")
        self.write_hosts("h1 slots=4", "h3 slots=4")
        self.wait_for_move([2, 3], ["h1", "h1", "h3", "h3"])
        self.write_hosts("h1 slots=4", "h3 slots=4", "h2")
        self.wait_for_move([1], ["h1", "h2", "h3", "h3"])
        self.check_nothing_was_redone()

    def test_all_workers_go_from_the_hosts_of_yesterday_to_those_of_today(self):
        self.start_watching("h1 slots=2", "h2 slots=2")
        self.write_hosts("h3 slots=4")
        self.wait_for_move([0, 1, 2, 3], ["h3"] * 4)
        self.check_nothing_was_redone()

    def test_a_file_that_cannot_be_used_changes_nothing_and_is_named(self):
        self.start_watching("h1:2", "h2:2")
        for lines, why in [(["h1:2", "h2 slots=none"], "slots=none"), ([], "found 'no host'"),
                           (["h1:2", "h2:2", "nosuch.invalid"], "nosuch.invalid")]:
            self.write_hosts(*lines)
            self.wait_until_said(f"hosts stay as they are: .*{why}")
        (self.folder / "hosts").unlink()
        self.wait_until_said("hosts stay as they are: .*no such file")
        self.wait_for("snapshot")
        self.assertEqual(["h1", "h1", "h2", "h2"], self.hosts_of_workers())
        self.assertNotIn("moved", [event["event"] for event in self.events])
        self.check_nothing_was_redone()

    def test_a_new_host_that_cannot_be_reached_is_called_again_and_used_then(self):
        self.cut("h3")
        self.start_watching("h1:2", "h2:2")
        self.write_hosts("h1:2", "h2:2", "h3:2")
        self.wait_until_said("'h3' cannot be used")
        self.mend("h3")
        self.wait_for_move([1], ["h1", "h3", "h2", "h2"])
        self.check_nothing_was_redone()

    def test_a_host_whose_agent_is_told_to_leave_is_left_at_once(self):
        self.items = None
        self.start("--hosts", "h1,h2", "-n", "4", "--snapshots", "snapshots", "--every", "1h", STREAM,
                   "out", f"until={self.folder}/enough", "pause_us=200")
        self.wait_for("running")
        self.since = len(self.events)
        agent = self.agents()["h2"]
        os.kill(agent, signal.SIGTERM)
        self.assertEqual([1, 3], self.wait_for("moved")["workers"])
        self.wait_until_on(["h1"] * 4)
        self.wait_for_ends(lambda: [agent] if agent in self.of_job() else [], "its agent stays")
        self.check_nothing_was_redone()

    def test_a_host_that_is_gone_before_all_have_left_it_is_a_host_that_is_lost(self):
        self.start_watching("h1:2", "h2:2")
        for pid, host in self.workers().values():
            if host == "h2":
                os.kill(pid, signal.SIGSTOP)  # So that no snapshot is complete.
        os.kill(self.agents()["h2"], signal.SIGTERM)
        self.cut("h2")
        self.wait_for("lost")
        self.wait_for("running")
        self.wait_until_on(["h1"] * 4)
        self.finish()
        self.check_output()

    def test_where_no_snapshots_are_taken_an_agent_that_is_told_to_leave_ends(self):
        self.items = 100_000
        self.start("--hosts", "h1,h2", "-n", "2", STREAM, "out", "items=100000", "pause_us=200")
        self.wait_for("running")
        os.kill(self.agents()["h2"], signal.SIGTERM)
        self.finish(code=4)
        self.check_nothing_left()


if __name__ == "__main__":
    in_namespace()
    unittest.main()
