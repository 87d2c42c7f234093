#!/usr/bin/env python3
"""A node whose home is a file system that becomes full, and is emptied again."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from cluster_on_hosts import ClusterOnHosts  # noqa: E402
from hosts import STREAM, in_namespace  # noqa: E402
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


    def submit(self, *words):
        answer = self.call("submit", *words, timeout="60s")
        self.assertEqual(0, answer.returncode, answer.stderr + self.said())
        return int(answer.stdout)

    def job(self, number):
        return next(job for job in self.jobs() if job["job"] == number)

    def wait_for(self, number):
        ended = self.call("wait", number, timeout="60s")
        self.assertEqual(0, ended.returncode, ended.stderr + self.said())

    def fill(self):
        empty = self.homes.fill("h3")
        self.wait_until(lambda: self.states_of_nodes().get("h3") == "full", "h3 takes jobs")
        return empty


class FullHome(OneSmallHome):
    def test_jobs_begin_elsewhere_or_wait_until_there_is_room(self):
        empty = self.fill()
        self.run_job()
        number = self.submit("--on", "h3", "--", "echo", "written")
        self.assertEqual("waiting", self.job(number)["state"])
        self.assertEqual("waits for a node of 1 slot that is there: h3 has no room in its home", self.job(number)["why"])
        over_all = self.submit("--nodes", 3, "--", "true")
        self.assertIn("1 with a full home", self.job(over_all)["why"])
        self.assertIn("full: its home has no room", self.call("status").stdout)
        self.assertIn("the home of the node h3 has no room", self.call("events").stdout)
        empty()
        self.wait_for(number)
        self.wait_for(over_all)

    def test_what_runs_there_stays(self):
        out, enough = self.folder / "out", self.folder / "enough"
        partial = self.folder / "out.partial"
        number = self.submit("--on", "h3", "--stream", "--snapshots", self.folder / "snapshots", "--every", "200ms",
                             "--", STREAM, out, f"until={enough}", "pause_us=300")

        def wait_for_more():
            before = partial.stat().st_size if partial.exists() else 0
            self.wait_until(lambda: partial.exists() and partial.stat().st_size > before + 2_000, "it writes nothing")

        wait_for_more()
        empty = self.fill()
        self.run_job()
        # By now the node has told of it again and again, and was answered.
        wait_for_more()
        self.assertEqual("running", self.job(number)["state"])
        enough.touch()
        self.wait_for(number)
        self.check_stream(out, out.read_bytes().count(b"\n"))
        job = self.job(number)
        self.assertEqual(("h3", 1, 0, 0), (job["node"], job["attempt"], job["losses"], job["failures"]))
        self.assertEqual("full", self.states_of_nodes()["h3"])
        empty()
        self.wait_until(lambda: self.states_of_nodes().get("h3") == "here", "h3 takes no jobs")


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
