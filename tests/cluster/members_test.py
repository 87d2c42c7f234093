#!/usr/bin/env python3
"""Nodes that come to a cluster which runs, and leave it for good."""

import json
import os
import shutil
import signal
import subprocess
import unittest

from cluster_of_nodes import CLEAN, PIRACEMA, SECONDS_MAX, ClusterOfNodes, children_of


class Members(ClusterOfNodes):
    def start_elsewhere(self, name, slots=2):
        """A node from a copy of its folder, as on a machine of its own."""
        home = self.folder / "machines" / name
        shutil.copytree(self.folder / "c" / name, home, dirs_exist_ok=True)
        log = open(self.folder / f"{name}.log", "a")
        self.addCleanup(log.close)
        process = subprocess.Popen([PIRACEMA, "cluster", "node", "--home", home, "--slots", str(slots)],
                                   env=CLEAN, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        self.processes[name] = process
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def setUp(self):
        super().setUp()
        # Jobs read it until somebody has written.
        os.mkfifo(self.folder / "lock.enough")

    def let_it_end(self):
        open(self.folder / "lock.enough", "w").close()

    def log_of(self, name):
        return (self.folder / f"{name}.log").read_text()

    def test_a_node_that_is_admitted_runs_jobs_like_any_other(self):
        self.wait_for_nodes()
        job = self.submit("echo here; echo $PIRACEMA_NODE", "--on", "d")
        self.assertEqual("waits for the node d, which is not in the cluster", self.job(job)["why"])
        self.assertIn("piracema cluster node --home d", self.ask("admit", "d=127.0.0.1"))
        self.start_elsewhere("d")
        self.wait(job)
        self.assertEqual("here\nd\n", self.ask("logs", job))
        # It has an address: a job of four nodes wants it.
        wide = self.submit("echo $PIRACEMA_HOSTS", "--nodes", 4)
        self.wait(wide)
        self.assertIn("d=127.0.0.1", self.ask("logs", wide))
        # Whoever has taken it in outlives the whole control plane.
        for process in self.processes.values():
            for pid, words in children_of(process.pid):
                if b"replica" in words:
                    os.kill(pid, signal.SIGKILL)
        self.wait(self.submit("true", "--on", "d"))

    def test_what_has_happened_is_told_as_it_happens_and_afterwards(self):
        self.wait_for_nodes()
        follows = subprocess.Popen([PIRACEMA, "cluster", "events", "-f", "--cluster", self.folder / "c"], env=CLEAN,
                                   text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
        self.addCleanup(follows.stdout.close)
        self.addCleanup(follows.wait)
        self.addCleanup(follows.kill)

        def wait_to_hear(what):
            while what not in (line := follows.stdout.readline()):
                self.assertTrue(line, f"it has ended and not said: {what}")
        job = self.submit("cat < $LOCK.enough", "--on", "c")
        self.wait_until(lambda: self.job(job)["state"] == "running", "it does not begin")
        self.processes["c"].kill()
        wait_to_hear("the node c was lost: not heard of for 5000 ms")
        wait_to_hear(f"job {job} of admin lost its node c: the node c was not heard of")
        self.start("c")
        wait_to_hear("the node c is there")
        wait_to_hear(f"job {job} of admin began on the node c, attempt 2")
        self.let_it_end()
        self.wait(job)
        told = [json.loads(line) for line in self.ask("events", "--json").splitlines()]
        self.assertEqual(["node_joined"] * 3 + ["node_lost", "job_lost_node", "node_joined", "job_began_again"],
                         [event["event"] for event in told])
        self.assertEqual(list(range(1, 8)), [event["number"] for event in told])

    def test_a_node_that_is_dismissed_while_it_is_there_loses_its_jobs_to_others(self):
        self.ask("admit", "d")
        self.start_elsewhere("d", slots=4)
        self.wait_for_nodes(4)
        job = self.submit("exec 9>>$LOCK; flock -n 9 || exit 99; echo attempt $PIRACEMA_ATTEMPT; "
                          "cat $LOCK.enough")
        self.wait_for_output(job, "attempt 1")
        self.assertEqual("d", self.job(job)["node"])
        refused = self.call("dismiss", "d")
        self.assertEqual(1, refused.returncode)
        self.assertIn("the node d is there: drain and end it first, or say --now", refused.stderr)
        self.assertEqual("d is not in the cluster any more\n", self.ask("dismiss", "--now", "d"))
        self.assertNotIn("d", self.nodes())
        self.wait_for_output(job, "attempt 2")
        self.assertIn(self.job(job)["node"], self.NODES)
        self.let_it_end()
        self.wait(job)
        # Its key is worth nothing any more, also in a new process.
        self.processes["d"].kill()
        self.processes["d"].wait()
        (self.folder / "d.log").write_text("")
        self.start_elsewhere_as_it_was("d")
        self.wait_until(lambda: "warning" in self.log_of("d"), "the node does not say that it is refused")
        self.assertNotIn("d", self.nodes())

    def start_elsewhere_as_it_was(self, name):
        home = self.folder / "machines" / name
        log = open(self.folder / f"{name}.log", "a")
        self.addCleanup(log.close)
        self.processes[name] = subprocess.Popen([PIRACEMA, "cluster", "node", "--home", home], env=CLEAN,
                                                stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        self.addCleanup(self.processes[name].wait)
        self.addCleanup(self.processes[name].kill)

    def test_a_name_may_be_had_again_once_its_node_has_left(self):
        self.ask("admit", "d")
        first = self.start_elsewhere("d")
        self.wait_for_nodes(4)
        first.terminate()
        self.assertEqual(0, first.wait(SECONDS_MAX))
        self.ask("dismiss", "d")
        self.ask("admit", "d")
        self.start_elsewhere("d")
        self.wait(self.submit("true", "--on", "d"))

    def test_what_was_interrupted_is_asked_for_again(self):
        self.wait_for_nodes()
        replicas = [pid for process in self.processes.values()
                    for pid, words in children_of(process.pid) if b"replica" in words]
        for pid in replicas[:2]:
            os.kill(pid, signal.SIGSTOP)
        cut = self.call("admit", "d", timeout="1s")
        self.assertEqual(1, cut.returncode, cut.stderr)
        self.assertIn("has not answered", cut.stderr)
        for pid in replicas[:2]:
            os.kill(pid, signal.SIGCONT)
        # As one leaves it that was killed after it had made the key.
        (self.folder / "c" / "d").mkdir(exist_ok=True)
        (self.folder / "c" / "d" / "node.key").write_text("torn")
        self.ask("admit", "d")
        self.start_elsewhere("d")
        self.wait(self.submit("true", "--on", "d"))

    def test_a_node_that_takes_the_name_of_another_is_refused_and_its_jobs_go_on(self):
        self.ask("admit", "d")
        self.start_elsewhere("d", slots=4)
        self.wait_for_nodes(4)
        job = self.submit("echo attempt $PIRACEMA_ATTEMPT; cat $LOCK.enough",
                          "--on", "d")
        self.wait_for_output(job, "attempt 1")
        # Somebody with the folder of another node.
        self.ask("admit", "e")
        home = self.folder / "c" / "e" / "node.json"
        home.write_text(home.read_text().replace('"e"', '"d"'))
        self.start_elsewhere("e")
        self.wait_until(lambda: "the node d has another key" in self.log_of("e"), "e is not refused")
        self.assertEqual(4, self.nodes()["d"]["slots"])
        self.let_it_end()
        self.wait(job)
        self.assertEqual("attempt 1\n", self.ask("logs", job))

    def test_two_nodes_never_get_the_same_number(self):
        text = (self.folder / "c" / "cluster.toml").read_text()
        with open(self.folder / "c" / "cluster.toml", "a") as file:
            file.write("# a remark of somebody's\n")
        for name in ("d", "e"):
            self.ask("admit", name)
            # The folder moves to its machine, and nothing of it stays.
            shutil.move(self.folder / "c" / name, self.folder / f"{name}-moved")
        self.assertNotEqual((self.folder / "d-moved" / "node.json").read_text().split("client")[1],
                            (self.folder / "e-moved" / "node.json").read_text().split("client")[1])
        # Without its folder nobody knows which key is to be refused.
        gone = self.call("dismiss", "d")
        self.assertEqual(3, gone.returncode)
        self.assertIn("want the folder of the node in the directory of the cluster", gone.stderr)
        for name in ("d", "e"):
            shutil.move(self.folder / f"{name}-moved", self.folder / "c" / name)
            self.ask("dismiss", name)
        left = (self.folder / "c" / "cluster.toml").read_text()
        self.assertEqual(text.split(), left.replace("# a remark of somebody's\n", "").split())
        self.assertIn("# a remark of somebody's", left)

    def test_what_is_wrong_is_said(self):
        self.wait_for_nodes()
        for words, code, why in [
                (("admit", "a"), 1, "the cluster has a node a already: `dismiss` it first"),
                (("admit", "x=127.0.0.1:7000"), 2, "a node that comes later holds no replica"),
                (("admit", "no name"), 2, "want a name of 1 to 64 letters"),
                (("dismiss", "a"), 3, "the node a holds a replica of the control plane"),
                (("dismiss", "z"), 3, "want the folder of the node"),
                (("dismiss", "../c"), 2, "want a name of 1 to 64 letters")]:
            answer = self.call(*words)
            self.assertEqual(code, answer.returncode, answer.stderr)
            self.assertIn(why, answer.stderr)
        (self.folder / "c" / "administrator.key").unlink()
        answer = self.call("admit", "x")
        self.assertEqual(3, answer.returncode, answer.stderr)
        self.assertIn("administrator.key", answer.stderr)


if __name__ == "__main__":
    unittest.main()
