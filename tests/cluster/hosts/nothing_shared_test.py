#!/usr/bin/env python3
"""Hosts that share no file system, only a server of S3 which all of them reach. A job with three coordinators
loses these, one after the other, and a host: the output is what it would have been, byte for byte."""

import json
import os
import signal
import unittest

from bucket_on_hosts import BucketOnHosts, in_namespace_with_bucket
from coordinators_test import CoordinatorJobs
from hosts import *


class NothingShared(BucketOnHosts, CoordinatorJobs):
    HOSTS = 4

    def setUp(self):
        super().setUp()
        # What is in the directory of the job each host has for itself, this one, too.
        self.job_folder = self.folder / "job"
        self.job_folder.mkdir()
        for host, holder in self.holders.items():
            (self.folder / f"job-{host}").mkdir()
            sh("nsenter", "--target", holder.pid, "--mount", "mount", "--bind", self.folder / f"job-{host}",
               self.job_folder)

    def start_apart(self, *options):
        """The command is on a host that has no workers."""
        self.start("--hosts", "h1,h2,h3,h4", "-n", "3", "--coordinators", "3", "--snapshots",
                   f"s3://tests/{self.id()}", "--every", "100ms", *options, STREAM, "out",
                   f"until={self.folder}/enough", "pause_us=200")
        self.wait_for("snapshot")
        self.assertEqual({"h0", "h1", "h2"}, set(self.coordinators()))

    def host_of_output(self):
        [found] = [path.parent.name for path in self.folder.glob("job-*/out*")]
        return found.removeprefix("job-")

    def check(self):
        self.wait_for_ends(self.of_job, "processes are left")
        out = self.folder / f"job-{self.host_of_output()}/out"
        out.rename(self.folder / "out")
        super().check()
        self.assertEqual([], os.listdir(self.job_folder))

    def test_none_of_the_first_coordinators_is_left_and_nothing_is_redone(self):
        self.start_apart()
        workers = self.workers()
        first = self.coordinators()
        for times, host in enumerate(("h0", "h1"), 1):
            os.kill(first[host], signal.SIGKILL)
            self.until(lambda: self.said().count("all 3 coordinators take part again") == times)
        self.wait_for("snapshot")
        os.kill(first["h2"], signal.SIGKILL)
        self.until(lambda: self.said().count("all 3 coordinators take part again") == 3)
        self.wait_for("snapshot")
        self.check_nothing_redone(workers)
        self.end()
        self.check()

    def test_the_host_of_a_leader_is_cut_off_replaced_and_comes_back(self):
        self.start_apart()
        # What a sink has written is lost with its host: another one is to be.
        leader = "h0"
        while leader in ("h0", self.host_of_output()):
            stopped = self.coordinators()[leader]
            os.kill(stopped, signal.SIGSTOP)
            leader = self.wait_for("leads")["host"]
            self.wait_for("snapshot")
            os.kill(stopped, signal.SIGCONT)
            self.wait_for("follows")
        self.cut(leader)
        self.wait_for("leads", lambda event: event["host"] != leader)
        self.lose_work_of(leader)
        self.until(lambda: "all 3 coordinators take part again" in self.said())
        # Who was cut off does not take the others for lost.
        self.assertEqual(1, self.said().count("has been silent for 10 s"), self.said())
        self.mend(leader)
        self.until(lambda: "another one has its place by now, so it ends" in self.said())
        self.wait_for("snapshot")
        self.end()
        self.check()

    def test_a_file_that_was_written_is_lost_with_its_host_and_named(self):
        self.start_apart("--keep-workers", "10s")
        self.cut(self.host_of_output())
        self.wait_for("recovering")
        self.events += [json.loads(line) for line in self.job.stdout]
        self.assertEqual(1, self.job.wait(SECONDS_MAX), self.said())
        self.assertIn("output 'out.partial' cannot be opened again", self.said())
        self.mend(self.host_of_output())
        self.wait_for_ends(self.of_job, "processes are left")


if __name__ == "__main__":
    in_namespace_with_bucket()
    unittest.main()
