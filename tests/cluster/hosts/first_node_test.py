#!/usr/bin/env python3
"""A stream of a cluster goes on when its first node is lost: it has a coordinator on each of three nodes, and
another node gets a command that joins it. The same attempt, the same bytes."""

import pathlib
import subprocess
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from cluster_on_hosts import ClusterOnHosts  # noqa: E402
from hosts import CLEAN, STREAM, in_namespace  # noqa: E402


class FirstNode(ClusterOnHosts):
    HOSTS = 5

    def setUp(self):
        super().setUp()
        self.out, self.enough = self.folder / "out", self.folder / "enough"
        self.wait_until(lambda: self.call("nodes").stdout.count("here") == self.HOSTS, "nodes are not there")
        self.number = int(self.ask(
            "submit", "--nodes", 3, "--slots", 2, "--stream", "--snapshots", self.folder / "snapshots", "--every",
            "200ms", "--", STREAM, self.out, f"until={self.enough}", "pause_us=300"))
        self.wait_for_more("the stream writes nothing")
        # Workers may write before its node has told the control plane of it.
        self.wait_until(lambda: "COORDINATOR" in self.call("status").stdout, "nobody says who coordinates it")

    def ask(self, *words):
        answer = self.call(*words, timeout="30s")
        self.assertEqual(0, answer.returncode, answer.stderr + self.said())
        return answer.stdout

    def job(self):
        return next(job for job in self.jobs() if job["job"] == self.number)

    def written(self):
        partial = self.folder / "out.partial"
        return partial.stat().st_size if partial.exists() else 0

    def wait_for_more(self, why="the stream does not go on"):
        before = self.written()
        self.wait_until(lambda: self.written() > before + 2_000, why)

    def lose_first(self, lose):
        """Where it goes on then; the node that is lost."""
        first = self.job()["node"]
        lose(first)
        self.wait_for_more()
        self.wait_until(lambda: self.job()["node"] != first, "no other node is the first one")
        self.wait_until(lambda: self.call("savepoint", self.number, f"after-{first}").returncode == 0,
                        "nobody answers for the stream")
        return first

    def finish(self, losses):
        self.enough.touch()
        self.ask("wait", self.number)
        items = self.out.read_bytes().count(b"\n")
        wanted = self.folder / "wanted"
        subprocess.run([STREAM, wanted, f"items={items}"], env=CLEAN, check=True)
        self.assertEqual(wanted.read_bytes(), self.out.read_bytes())
        job = self.job()
        self.assertEqual((1, losses, 0), (job["attempt"], job["losses"], job["failures"]))

    def test_its_host_dies_and_another_one_takes_its_place(self):
        lost = self.lose_first(self.kill_all_on)
        self.wait_until(lambda: len(self.job()["others"]) == 2, "it gets no other node")
        self.assertNotIn(lost, self.job()["others"])
        self.wait_for_more()
        self.finish(losses=1)

    def test_its_host_is_cut_off_and_comes_back(self):
        lost = self.lose_first(self.cut)
        self.mend(lost)
        self.wait_until(lambda: self.call("nodes").stdout.count("here") == self.HOSTS, "it does not come back")
        self.wait_for_more()
        self.finish(losses=1)

    def test_only_the_node_is_killed(self):
        def kill(host):
            self.nodes[host].kill()
            self.nodes[host].wait()
        self.lose_first(kill)
        self.finish(losses=1)

    def test_it_is_cancelled_afterwards_and_takes_its_last_snapshot(self):
        self.lose_first(self.kill_all_on)
        self.ask("cancel", self.number)
        self.wait_until(lambda: self.job()["state"] == "cancelled", "it does not end")
        self.assertEqual(75, self.job()["code"])


if __name__ == "__main__":
    in_namespace()
    unittest.main()
