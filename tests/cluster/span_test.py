#!/usr/bin/env python3
"""Jobs over several nodes of a cluster: all of them at once, parts that end with their job, and a
stream whose output is the same whichever of its nodes is lost."""

import os
import re
import signal
import subprocess
import unittest

from cluster_of_nodes import CLEAN, PIRACEMA, STREAM, ClusterOfNodes

# A part that says when it is there, and then goes on.
LIVES = "echo up >> $LOCK.parts; exec sleep 1000"


class Span(ClusterOfNodes):
    NODES = ["a", "b", "c", "d"]

    def setUp(self):
        super().setUp()
        self.wait_for_nodes()

    def others(self, job):
        return self.job(job)["others"]

    def parts_alive(self):
        found = subprocess.run(["pgrep", "-f", "^sleep 1000$"], stdout=subprocess.PIPE, text=True)
        mine = str(self.lock).encode()
        alive = []
        for pid in found.stdout.split():
            try:
                with open(f"/proc/{pid}/environ", "rb") as environment:
                    if mine in environment.read():
                        alive.append(int(pid))
            except OSError:
                pass
        return alive

    def with_parts(self, nodes=3):
        """A job with a part on each other node of it; its number."""
        job = self.submit(
            f"echo attempt $PIRACEMA_ATTEMPT; for host in $(echo $PIRACEMA_HOSTS | tr , ' '); do "
            f"[ ${{host%%=*}} = $PIRACEMA_NODE ] || $PIRACEMA_RSH ${{host%%=*}} '{LIVES}' & done; wait",
            "--nodes", nodes)
        self.wait_until(lambda: len(self.parts_alive()) == nodes - 1, "the parts do not begin")
        return job

    # ---- parts -----------------------------------------------------------------------------------

    def test_a_part_runs_on_another_node_and_ends_the_command_that_asked_for_it(self):
        job = self.submit(
            "echo $PIRACEMA_HOSTS $PIRACEMA_WORKERS; other=${PIRACEMA_HOSTS##*,}; "
            "$PIRACEMA_RSH ${other%=*} 'echo $PIRACEMA_NODE > $LOCK.ran; echo it is so >&2; exit 7'; "
            "echo ended with $?; $PIRACEMA_RSH z true; echo ended with $?", "--nodes", 2, "--slots", 2)
        self.wait(job)
        found = self.job(job)
        said = self.ask("logs", job)
        first, other = found["node"], found["others"][0]
        self.assertIn(f"{first}=127.0.0.1,{other}=127.0.0.1 4\n", said)
        self.assertEqual(other + "\n", (self.folder / "lock.ran").read_text())
        self.assertIn("ended with 7\n", said)
        self.assertIn("it is so\n", said)
        self.assertIn(f"want a node of job {job}, found 'z'", said)
        self.assertIn("ended with 255\n", said)

    def test_a_remote_shell_has_the_streams_and_the_code_of_what_runs_there(self):
        bytes_in = self.folder / "bytes"
        bytes_in.write_bytes(os.urandom(20_000_000))
        job = self.submit(
            f"cd {self.folder}; other=${{PIRACEMA_HOSTS##*,}}; other=${{other%=*}}; rsh=\"$PIRACEMA_RSH $other\"; "
            # More than all that is kept on the way, both ways at once.
            "$rsh cat < bytes > there-and-back; echo cat $?; "
            "$rsh 'echo to one; echo to the other >&2; kill -9 $$' > one 2> other; echo killed $?; "
            # What it does not read, and what is not read of it.
            "$rsh 'echo $PIRACEMA_NODE' < /dev/zero; echo unread $?; $rsh 'yes' | head -n 1; "
            "echo '#!/bin/sh\necho carried as $0 $1' > script; $rsh sh -s word < script; echo script $?; "
            "$rsh 'sleep 1000 & echo left behind'; echo background $?", "--nodes", 2)
        self.wait(job)
        other, said = self.job(job)["others"][0], self.ask("logs", job)
        self.assertEqual(bytes_in.read_bytes(), (self.folder / "there-and-back").read_bytes())
        self.assertEqual("to one\n", (self.folder / "one").read_text())
        self.assertIn("to the other\n", (self.folder / "other").read_text())
        for line in ("cat 0", "killed 137", other, "unread 0", "y", "carried as sh word", "script 0", "left behind",
                     "background 0"):
            self.assertIn(line, said.splitlines())

    def test_a_node_that_has_its_address_by_name_asks_others_and_is_asked(self):
        for node in "b", "c":
            self.ask("drain", node)
        # The other one has more room, and is the first.
        for first, busy in ("d", "a"), ("a", "d"):
            sleeps = self.submit("exec sleep 1000", "--on", busy)
            self.wait_until(lambda: self.job(sleeps)["state"] == "running", "it does not begin")
            job = self.submit("for host in $(echo $PIRACEMA_HOSTS | tr , ' '); do "
                              "$PIRACEMA_RSH ${host%%=*} 'echo on $PIRACEMA_NODE'; done", "--nodes", 2)
            self.wait(job)
            self.assertEqual(f"on {first}\non {busy}\n", self.ask("logs", job))
            self.ask("cancel", sleeps)
            self.wait(sleeps, code=143)

    def test_a_remote_shell_whose_way_or_other_end_is_lost_ends_with_255(self):
        job = self.submit("other=${PIRACEMA_HOSTS##*,}; $PIRACEMA_RSH ${other%=*} "
                          f"'echo begun $PPID; {LIVES}'; echo ended with $?", "--nodes", 2)
        self.wait_until(lambda: "begun" in self.ask("logs", job), "the part does not begin")
        os.kill(int(re.search(r"begun (\d+)", self.ask("logs", job))[1]), signal.SIGKILL)
        self.wait(job)
        self.assertIn("ended with 255", self.ask("logs", job))
        self.wait_until(lambda: not self.parts_alive(), "what it has started is left")

    def test_what_runs_there_writes_to_the_log_of_its_node_once_the_way_is_lost(self):
        job = self.submit("other=${PIRACEMA_HOSTS##*,}; $PIRACEMA_RSH ${other%=*} "
                          "'while :; do echo still there; sleep 0.02; done' & "
                          "until [ -e $LOCK.cut ]; do sleep 0.05; done; kill -9 $!; sleep 1000", "--nodes", 2)
        self.wait_until(lambda: "still there" in self.ask("logs", job), "the part does not begin")
        other = self.job(job)["others"][0]
        [log] = (self.folder / "c" / other / "jobs").glob(f"{job}.1.*.log")
        self.assertEqual("", log.read_text())
        # Else it would end the part, which nobody wants then.
        self.processes[other].send_signal(signal.SIGSTOP)
        (self.folder / "lock.cut").touch()
        self.wait_until(lambda: "still there\n" in log.read_text(), "what it writes is nowhere")

    def test_what_cannot_be_is_said(self):
        for words, code, why in [
                (("submit", "--nodes", 0, "--", "true"), 2, "want 1 to 1000 nodes, found 0"),
                (("submit", "--nodes", 2, "--on", "a", "--", "true"), 2, "want one node of a name"),
                (("submit", "--stream", "--", "true"), 2, "want --snapshots DIR with --stream"),
                (("rsh", "a", "true"), 255, "want to be run by a job of a cluster")]:
            answer = (self.call(*words) if words[0] == "submit" else
                      subprocess.run([PIRACEMA, "cluster", *words], env=CLEAN, text=True,
                                     stderr=subprocess.PIPE))
            self.assertEqual(code, answer.returncode, answer.stderr)
            self.assertIn(why, answer.stderr)
        many = self.submit("true", "--nodes", 9)
        self.assertIn("waits for 9 nodes of 1 slot that are there: there are 4", self.job(many)["why"])
        self.ask("cancel", many)

    def test_what_is_cancelled_ends_on_all_its_nodes(self):
        job = self.with_parts()
        self.ask("cancel", job)
        self.wait_until(lambda: self.job(job)["state"] == "cancelled", "it is not cancelled")
        self.assertEqual([], self.parts_alive())

    def test_a_job_whose_leading_node_stands_still_begins_elsewhere_when_its_parts_have_ended(self):
        job = self.with_parts()
        first, parts = self.job(job)["node"], self.parts_alive()
        self.processes[first].send_signal(signal.SIGSTOP)
        self.wait_for_output(job, "attempt 2")
        self.assertNotEqual(first, self.job(job)["node"])
        self.assertEqual([], [pid for pid in parts if pid in self.parts_alive()])
        self.processes[first].send_signal(signal.SIGCONT)
        self.ask("cancel", job)
        self.wait_until(lambda: self.parts_alive() == [], "parts are left")

    # ---- streams ---------------------------------------------------------------------------------

    def start_stream(self, nodes):
        """A stream that goes on until it has done enough; its number."""
        self.out, self.enough = self.folder / "out", self.folder / "enough"
        job = int(self.ask("submit", "--nodes", nodes, "--slots", 2, "--stream", "--snapshots",
                           self.folder / "snapshots", "--every", "100ms", "--env",
                           "PIRACEMA_HEARTBEAT=100ms", "--", STREAM, self.out,
                           f"until={self.enough}", "pause_us=300"))
        self.wait_for_more("the stream writes nothing")
        return job

    def wait_for_more(self, why="the stream does not go on"):
        partial = self.folder / "out.partial"
        written = lambda: partial.stat().st_size if partial.exists() else 0
        before = written()
        self.wait_until(lambda: written() > before + 2_000, why)

    def finish_stream(self, job):
        self.enough.touch()
        self.wait(job)
        items = self.out.read_bytes().count(b"\n")
        subprocess.run([STREAM, self.folder / "wanted", f"items={items}"], env=CLEAN, check=True)
        self.assertEqual((self.folder / "wanted").read_bytes(), self.out.read_bytes())

    def test_a_stream_over_three_nodes_loses_one_and_then_the_leading_one(self):
        job = self.start_stream(3)
        other = self.others(job)[0]
        self.processes[other].kill()
        self.processes[other].wait()
        self.wait_for_output(job, f"host {other} was lost")
        self.wait_for_more()
        self.assertEqual(1, self.job(job)["attempt"])
        self.start(other)
        self.wait_for_nodes()
        first = self.job(job)["node"]
        self.processes[first].kill()
        self.processes[first].wait()
        self.wait_until(lambda: self.job(job)["attempt"] == 2, "no other attempt begins")
        self.start(first)
        self.wait_for_more()
        self.finish_stream(job)
        self.assertEqual(1, self.job(job)["losses"])

    def test_a_node_that_drains_is_left_by_a_stream_which_gets_another_one_and_redoes_nothing(self):
        job = self.start_stream(2)
        drained = self.others(job)[0]
        self.ask("drain", drained)
        self.wait_until(lambda: self.others(job) not in ([], [drained]), "no other node comes")
        another = self.others(job)[0]
        self.wait_for_output(job, f"host {another} is there")
        self.wait_for_output(job, f"host {drained} is drained")
        self.wait_for_more()
        self.assertEqual(0, self.nodes()[drained]["used"])
        said = self.ask("logs", job)
        self.assertNotIn("recover", said)
        self.assertNotIn("was lost", said)
        self.finish_stream(job)
        self.assertEqual((1, 0), (self.job(job)["attempt"], self.job(job)["losses"]))

    def test_a_stream_is_given_more_nodes_while_it_runs_and_then_fewer(self):
        job = self.start_stream(2)
        said = self.ask("scale", job, "--nodes", 4, "-n", 8)
        first, others = self.job(job)["node"], self.others(job)
        self.assertEqual({"a", "b", "c", "d"}, {first, *others})
        self.assertIn(f"job {job} has 4 nodes: {first} {' '.join(others)}\n", said)
        for other in others[1:]:
            self.wait_for_output(job, f"host {other} is there")
        self.wait_for_more()
        refused = self.call("scale", job, "--nodes", 2, "-n", 5)
        self.assertEqual(3, refused.returncode)
        self.assertIn(f"want 1 to 4 workers, as job {job} would have 4 places, found 5", refused.stderr)
        self.ask("scale", job, "--nodes", 2, "-n", 4)
        self.assertEqual(others[:1], self.others(job))
        for left in others[1:]:
            self.wait_until(lambda: self.nodes()[left]["used"] == 0, f"it does not leave {left}")
        self.wait_for_more()
        self.assertNotIn("recover", self.ask("logs", job))
        self.finish_stream(job)
        self.assertEqual((1, 0), (self.job(job)["attempt"], self.job(job)["losses"]))

    def test_a_number_of_nodes_that_cannot_be_is_refused_and_one_that_may_be_is_waited_for(self):
        job = self.start_stream(2)
        for words, code, why in [
                (("--nodes", 1), 3, "want 2 nodes or more for job 1, found 1"),
                (("--nodes", 2_000), 3, "want 1 to 1000 nodes, found 2000"),
                (("--nodes", 5, "--within", "1s"), 75,
                 "job 1 is to have 5 nodes, and gets them later: it runs on 4 of 5 nodes, and waits for 2 slots")]:
            answer = self.call("scale", job, *words)
            self.assertEqual(code, answer.returncode, answer.stderr)
            self.assertIn(why, answer.stderr)
        other = self.submit("sleep 1000", "--nodes", 1)
        refused = self.call("scale", other, "--nodes", 2)
        self.assertEqual(3, refused.returncode)
        self.assertIn(f"job {other} does not follow its nodes", refused.stderr)
        self.ask("cancel", other)
        self.finish_stream(job)

    def test_a_stream_gets_another_node_for_one_that_is_lost(self):
        job = self.start_stream(2)
        lost = self.others(job)[0]
        self.processes[lost].kill()
        self.processes[lost].wait()
        self.wait_until(lambda: self.others(job) not in ([], [lost]), "no other node comes")
        self.wait_for_output(job, f"host {self.others(job)[0]} is there")
        self.wait_for_output(job, "with the next snapshot")
        self.wait_for_more()
        self.finish_stream(job)
        self.assertEqual(1, self.job(job)["attempt"])


if __name__ == "__main__":
    unittest.main()
