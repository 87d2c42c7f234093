#!/usr/bin/env python3
"""A node whose home is a file system that becomes full, and is emptied again."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from cluster_on_hosts import ClusterOnHosts  # noqa: E402
from hosts import in_namespace  # noqa: E402
from small_homes import SmallHomes  # noqa: E402


class OneSmallHome(ClusterOnHosts):
    """That of h3, which has a replica of the control plane."""

    def prepare_hosts(self):
        self.homes = SmallHomes(self, ["h3"])

    def setUp(self):
        super().setUp()
        self.wait_until(lambda: [*self.states_of_nodes().values()] == ["here"] * 3, "nodes are not there")

    def run_job(self, *where):
        answer = self.call("submit", "--wait", *where, "--", "echo", "written", timeout="60s")
        self.assertEqual(0, answer.returncode, answer.stderr + self.said())
        self.assertIn("written", answer.stdout)


class FullHome(OneSmallHome):
    def test_jobs_begin_elsewhere_or_wait_until_there_is_room(self):
        empty = self.homes.fill("h3")
        self.wait_until(lambda: self.states_of_nodes().get("h3") == "not lent", "h3 takes jobs")
        self.run_job()
        number = self.call("submit", "--on", "h3", "--", "echo", "written", timeout="60s").stdout.strip()
        job = next(job for job in self.jobs() if str(job["job"]) == number)
        self.assertEqual("waiting", job["state"])
        self.assertIn("its home has no room", job["why"])
        empty()
        ended = self.call("wait", number, timeout="60s")
        self.assertEqual(0, ended.returncode, ended.stderr + self.said())


class NoRoomForReplica(OneSmallHome):
    """From the beginning."""

    def prepare_hosts(self):
        super().prepare_hosts()
        self.empty = self.homes.fill("h3", megabytes_left=4)

    def test_a_replica_begins_once_there_is_room(self):
        said = self.folder / "h3.log"
        self.wait_until(lambda: "no room for" in said.read_text(), "nobody says why")
        self.wait_until(lambda: said.read_text().count("no room for") > 1 or self.nodes["h3"].poll() is not None,
                        "it is not started again")
        self.assertIsNone(self.nodes["h3"].poll(), self.said())
        self.empty()
        self.wait_until(lambda: self.call("status").returncode == 0, "the cluster is not well")
        self.run_job("--on", "h3")


if __name__ == "__main__":
    in_namespace()
    unittest.main()
