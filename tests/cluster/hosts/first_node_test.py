#!/usr/bin/env python3
"""A stream of a cluster goes on when its first node is lost, or is to be left: it has a coordinator on each of three
nodes, and another node gets a command that joins it. The same attempt, the same bytes."""

import unittest

from hosts import SECONDS_MAX, STREAM, environment_of, in_namespace, network_of
from stream_on_three import StreamOnThree


class FirstNode(StreamOnThree):
    def program(self):
        """One that says when a worker begins."""
        script = self.folder / "says"
        script.write_text(f"#!/bin/sh\necho a worker begins\nexec {STREAM} \"$@\"\n")
        script.chmod(0o755)
        return script

    def said_by_workers_elsewhere(self):
        """What is in the logs of parts, and not in that of the command."""
        return "".join(log.read_text() for log in (self.folder / "c").glob(f"*/jobs/{self.number}.1.*.log"))

    def test_its_host_dies_and_another_one_takes_its_place(self):
        self.assertNotIn("a worker begins", self.said_by_workers_elsewhere())
        self.wait_until(lambda: "a worker begins" in self.ask("logs", self.number), "no worker begins")
        before = self.ask("logs", self.number)
        lost = self.lose_first(self.kill_all_on)
        self.wait_until(lambda: len(self.job()["others"]) == 2, "it gets no other node")
        self.wait_until(lambda: "a worker begins" in self.said_by_workers_elsewhere(), "what workers write is nowhere")
        self.wait_until(lambda: self.ask("logs", self.number).count("a worker begins") > before.count("a worker begins"),
                        "nobody is told what workers write")
        self.assertIn(before, self.ask("logs", self.number))
        self.assertNotIn(lost, self.job()["others"])
        self.wait_for_more()
        self.wait_until(lambda: "running again" in self.ask("logs", self.number), "nobody says what becomes of it")
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

    def leave(self, node, leave):
        """It is to be left, and is: nothing of the stream is redone for it."""
        leave(node)
        self.wait_until(lambda: node not in [self.job()["node"], *self.job()["others"]], "it stays in the job")
        self.wait_for_more()
        self.wait_until(lambda: not self.of_job_on(node), "something of the job stays there")

    def drain(self, node):
        self.ask("drain", node)

    def end_node(self, node):
        self.nodes[node].terminate()
        self.assertEqual(0, self.nodes[node].wait(SECONDS_MAX), self.said())

    def of_job_on(self, node):
        network = network_of(self.holders[node].pid)
        return [pid for pid in self.of_job() if "PIRACEMA_JOB" in environment_of(pid) and network_of(pid) == network]

    def test_it_drains_and_then_the_next_one_and_the_one_after(self):
        for times in range(2):
            self.leave(self.job()["node"], self.drain)
            self.wait_until(lambda: len(self.job()["others"]) == 2, "it gets no other node")
            self.wait_until(lambda: self.call("savepoint", self.number, f"after-{times}").returncode == 0,
                            "nobody answers for the stream")
        self.check_nothing_was_redone()
        self.finish(losses=0)

    def test_its_node_is_ended(self):
        self.leave(self.job()["node"], self.end_node)
        self.finish(losses=0)

    def test_another_one_drains_that_coordinates_as_well(self):
        for node in self.job()["others"]:
            self.leave(node, self.drain)
        self.check_nothing_was_redone()
        self.assertEqual("running", self.job()["state"])
        self.finish(losses=0)

    def test_it_is_cancelled_afterwards_and_takes_its_last_snapshot(self):
        self.lose_first(self.kill_all_on)
        self.ask("cancel", self.number)
        self.wait_until(lambda: self.job()["state"] == "cancelled", "it does not end")
        self.assertEqual(75, self.job()["code"])


if __name__ == "__main__":
    in_namespace()
    unittest.main()
