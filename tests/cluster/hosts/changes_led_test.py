#!/usr/bin/env python3
"""Hosts come to a job with three coordinators, or with one that somebody stands by for, and leave it while it runs.
Coordinators are lost, and leave hosts with all else: nothing is redone, and the output is as it should be."""

import os
import signal
import unittest

from coordinators_test import CoordinatorJobs
from hosts import *


class ChangesThatAreLed(CoordinatorJobs):
    HOSTS = 5

    def start_watching(self, *options, on):
        self.start_stream("--hostfile", "hosts", "--watch-hosts", "-n", "4", *options, before=self.typed_on(on))
        self.wait_for("snapshot")
        self.assertNotIn("cannot be reached", self.said())

    def wait_until_on(self, *hosts):
        """All four workers, by their numbers. What moves is part of the job once a later snapshot is complete."""
        self.until(lambda: [host for _, (_, host) in sorted(self.workers().items())] == list(hosts))
        newest = max(int(path.name) for path in (self.folder / "snapshots").glob("[0-9]*"))
        self.wait_for("snapshot", lambda event: event["snapshot"] > newest)

    def wait_until_in_charge(self, *hosts):
        self.until(lambda: set(self.coordinators()) == set(hosts))

    def lose_leader(self, host):
        workers = self.workers()
        os.kill(self.coordinators()[host], signal.SIGKILL)
        leads = self.wait_for("leads")["host"]
        self.wait_for("reattached")
        self.wait_for("snapshot")
        self.assertEqual(workers, self.workers())
        return leads

    def check_nothing_was_redone(self):
        self.end()
        self.assertNotIn("lost", [event["event"] for event in self.events])
        # Workers that are just moving, from a snapshot, when another one begins to lead, begin there once more.
        recovered = [event for event in self.events if event["event"] == "recovering"]
        self.assertEqual([], [event for event in recovered if event["items_redone"] != 0])
        self.check()

    def test_who_leads_next_knows_the_hosts_that_have_come_and_goes_on_looking(self):
        self.write_hosts("h1:2", "h2:2", "h3:2")
        self.start_watching("--coordinators", "3", on="h1")
        self.wait_until_on("h1", "h1", "h2", "h2")
        self.write_hosts("h4:2", "h2:2", "h3:2", "h1:2")
        self.wait_until_on("h1", "h4", "h2", "h2")
        self.lose_leader("h1")
        # The host of the second came after the job began, and that of the first goes.
        self.write_hosts("h4:2", "h3:2", "h2:2", "h5:2")
        self.wait_until_on("h5", "h4", "h2", "h2")
        self.check_nothing_was_redone()

    def test_a_coordinator_leaves_a_host_that_the_file_names_no_more(self):
        self.write_hosts("h1", "h2", "h3", "h4")
        self.start_watching("--coordinators", "3", on="h1")
        self.wait_until_in_charge("h1", "h2", "h3")
        self.write_hosts("h1", "h2", "h4", "h5")
        self.wait_until_in_charge("h1", "h2", "h4")
        # The one that leads is lost: the newcomer may be the one that follows it.
        self.lose_leader("h1")
        self.check_nothing_was_redone()

    def test_also_the_one_that_leads_leaves_its_host_and_another_one_leads(self):
        self.write_hosts("h1", "h2", "h3", "h4")
        self.start_watching("--coordinators", "3", on="h0")
        self.wait_until_in_charge("h0", "h1", "h2")
        leader = self.lose_leader("h0")
        self.until(lambda: "all 3 coordinators take part again" in self.said())
        others = {"h1", "h2", "h3", "h4"} - {leader}
        self.write_hosts(*sorted(others), "h5")
        self.assertNotEqual(leader, self.wait_for("leads")["host"])
        self.until(lambda: leader not in self.coordinators() and len(self.coordinators()) == 3)
        self.until(lambda: leader not in self.hosts_of_workers())
        self.wait_for("snapshot")
        self.check_nothing_was_redone()

    def test_one_that_takes_a_job_over_knows_the_hosts_that_have_come(self):
        self.write_hosts("h1:2", "h2:2")
        self.start_watching("--keep-workers", "60s", on="h1")
        self.write_hosts("h1:2", "h2:2", "h3:2")
        self.wait_until_on("h1", "h3", "h2", "h2")
        workers = self.workers()
        self.job.kill()
        self.job.wait()
        self.write_hosts("h4:2", "h3:2", "h2:2")
        self.start_watching("--keep-workers", "60s", "--resume", on="h1")
        self.assertIn("reattached", [event["event"] for event in self.events])
        self.assertEqual(workers[1], self.workers()[1])
        self.wait_until_on("h4", "h3", "h2", "h2")
        self.check_nothing_was_redone()


if __name__ == "__main__":
    in_namespace()
    unittest.main()
