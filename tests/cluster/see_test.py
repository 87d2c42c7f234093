#!/usr/bin/env python3
"""What runs inside a stream is seen from wherever the cluster is asked: how fast it is, what it saved and lost, and
who coordinates. What a job's user makes up is no trouble to anybody else, and nothing of it is in the log of the
control plane."""

import json
import os
import signal
import subprocess
import sys
import time
import unittest

from cluster_of_nodes import CLEAN, PIRACEMA, SECONDS_MAX, ClusterOfNodes, children_of
from tally_job import TALLY

# A page that says of itself what argument 1 is in Python; with argument 2 it takes connections and is silent.
PAGE = r"""
import json, os, socket, sys
says = eval(sys.argv[1])
listener = socket.create_server(("127.0.0.1", 0))
with open(os.environ["PIRACEMA_HTTP_FILE"], "w") as file:
    file.write(f"http://127.0.0.1:{listener.getsockname()[1]}/?token=abc\n")
print("up", flush=True)
kept = []
while True:
    caller, _ = listener.accept()
    if len(sys.argv) > 2:
        kept.append(caller)
        continue
    caller.recv(65536)
    caller.sendall(b"HTTP/1.1 200 OK\r\n\r\n" + says.encode())
    caller.close()
"""


def workers_of(pid):
    """The workers below a process of a node, as `ps` would find them."""
    found = []
    for child, words in children_of(pid):
        if TALLY.encode() in words[:1]:
            found.append(child)
        found += workers_of(child)
    return found


class See(ClusterOfNodes):
    def start_stream(self, *options):
        job = int(self.ask("submit", "--slots", 2, "--stream", "--snapshots", self.folder / "s", "--every", "100ms",
                           *options, "--", TALLY, self.folder / "out", "replicas=3", "items=100000000",
                           "pause_us=200"))
        # Before its node is killed, so that nothing of it writes while all is removed.
        self.addCleanup(self.call, "wait", job)
        self.addCleanup(self.call, "cancel", job)
        return job

    def page(self, says, *more):
        """A job that shows what it likes in place of a stream."""
        job = int(self.ask("submit", "--", sys.executable, "-c", PAGE, says, *more))
        self.wait_for_output(job, "up")
        return job

    def stream(self, job, directory=""):
        run = subprocess.run([PIRACEMA, "cluster", "status", "--cluster", self.folder / "c" / directory, "--json",
                              str(job)], env=CLEAN, text=True, capture_output=True, timeout=SECONDS_MAX)
        self.assertEqual(0, run.returncode, run.stderr)
        return json.loads(run.stdout).get("stream")

    def wait_for_stream(self, job, right, what):
        return self.wait_until(lambda: (one := self.stream(job))["known"] and right(one) and one, what)

    def test_rates_replicas_snapshots_and_the_coordinator_are_seen_by_whoever_may_look(self):
        self.wait_for_nodes()
        job = self.start_stream()
        one = self.wait_for_stream(
            job, lambda one: one["items_out_per_second"] > 0 and one["snapshots"]["last"], "it is not seen to run")
        node = self.job(job)["node"]
        self.assertEqual("running", one["phase"])
        self.assertGreater(one["items_in_per_second"], 0)
        self.assertEqual(2, one["workers"])
        self.assertGreaterEqual(one["replicas"], 5)
        self.assertEqual(node, one["coordinator"]["host"])
        self.assertEqual((0, None), (one["failures"], one["failure"]))
        self.assertGreater(one["snapshots"]["last"]["bytes"], 0)
        # Not of half a minute ago, with somebody who asks again and again.
        self.assertLess(one["snapshots"]["last"]["age_ms"], 30_000)
        self.ask("add-user", "bob", "--role", "look")
        self.assertTrue(self.stream(job, "users/bob")["known"])
        text = self.ask("status", job)
        for words in ["running: its command has begun", "/s into the sinks", "packets wait", "in 2 processes",
                      "the newest: ", f" on {node} for "]:
            self.assertIn(words, text)
        row = self.ask("status").split("COORDINATOR")[1].splitlines()[1]
        self.assertRegex(row, rf"^ +{job}  running .* {node} for .* ago, .* in ")
        # It was told twice at least, and the newest is what is shown.
        later = self.wait_for_stream(job, lambda later: later["items"] > one["items"], "it is not seen again")
        self.assertGreater(later["snapshots"]["taken"], one["snapshots"]["taken"])
        self.ask("cancel", job)
        self.wait(job, code=75)
        self.assertIsNone(self.stream(job))
        self.assertIn("cancelled: somebody did not want it", self.ask("status", job))

    def test_a_loss_is_told_who_noticed_by_what_after_how_long_and_what_was_redone(self):
        self.wait_for_nodes()
        job = self.start_stream()
        self.wait_for_stream(job, lambda one: one["snapshots"]["taken"] > 2, "it takes no snapshots")
        worker = workers_of(self.processes[self.job(job)["node"]].pid)[-1]
        os.kill(worker, signal.SIGKILL)
        one = self.wait_for_stream(
            job, lambda one: one["failure"] and one["failure"]["running_after_ms"] is not None, "no loss is seen")
        failure = one["failure"]
        self.assertRegex(failure["who"], "^worker [01]$")
        self.assertEqual("its process ended: killed by signal 9 (SIGKILL)", failure["how"])
        self.assertEqual("process_ended", failure["cause"])
        self.assertGreaterEqual(failure["snapshot"], 1)
        self.assertEqual((1, 1), (one["failures"], one["recoveries"]))
        self.assertRegex(
            failure["text"], r"^worker [01] \(.*\) was lost; noticed by the end of its process: killed by signal 9 "
            r"\(SIGKILL\)\. The stream went back to snapshot \d+, ran again .*s after that was noticed, and did \d+ items? "
            r"again\.$")
        self.assertIn(failure["text"], self.ask("status"))
        self.assertIn(failure["text"], self.ask("status", job))

    def test_another_leader_of_the_control_plane_knows_streams_soon(self):
        self.wait_for_nodes()
        job = self.start_stream("--on", "c")
        self.wait_for_stream(job, lambda one: True, "it is not seen")
        def leader():
            return next((one["id"] for one in self.replicas() if one.get("leads")), None)
        first = leader()
        (replica,) = [pid for pid, words in children_of(self.processes[self.NODES[first]].pid) if b"replica" in words]
        os.kill(replica, signal.SIGKILL)
        self.wait_until(lambda: leader() not in (None, first), "nobody else leads")
        self.wait_for_stream(job, lambda one: True, "the next one does not know it")

    def test_what_shows_no_stream_or_does_not_answer_is_said_so_and_holds_nobody_up(self):
        self.wait_for_nodes()
        sleeps = self.submit("sleep 600")
        silent = self.page("''", "silent")
        lies = self.page(r"""json.dumps({"phase": "unheard-of\x1b[2J\n4711", "items_out_per_second": 1e308, "items": -7,
                         "bottleneck": "x" * 100_000, "snapshots": [], "failure": {"losses": 5}})""")
        nonsense = self.page("'[' * 200_000")
        self.wait_for_why(sleeps, "it shows no stream")
        self.wait_for_why(silent, "it has not answered within 2 s")
        self.wait_for_why(nonsense, "what answers at the address that it shows is no stream")
        one = self.wait_for_stream(lies, lambda one: True, "it is not seen")
        self.assertEqual((9e15, 0, 300), (one["items_out_per_second"], one["items"], len(one["bottleneck"])))
        began = time.monotonic()
        text = self.ask("status")
        # Nobody waits for any of them.
        self.assertLess(time.monotonic() - began, 20)
        self.assertNotIn("\x1b", text)
        self.assertIn(f"no stream is seen of job {sleeps}: it shows no stream", text)
        self.assertIn(f"no stream is seen of job {silent}: it has not answered within 2 s", text)
        self.assertIn("there is no job 99", self.call("status", 99).stderr)
        # Nodes go on, and nothing of what was shown is kept by the control plane.
        self.assertEqual({"here"}, {node["state"] for node in self.nodes().values()})
        kept = [file for file in (self.folder / "c").glob("*/replica/**/*") if file.is_file()]
        self.assertTrue(kept)
        self.assertEqual([], [file for file in kept if b"unheard-of\x1b" in file.read_bytes()])

    def wait_for_why(self, job, why):
        return self.wait_until(lambda: (one := self.stream(job))["known"] is False and one["why"] == why,
                               f"it is not said of job {job} that {why}")

    def replicas(self):
        return json.loads(self.call("status", "--json").stdout or '{"replicas": []}')["replicas"]


if __name__ == "__main__":
    unittest.main()
