#!/usr/bin/env python3
"""Strangers on the ports of a job: refused with a line, and the job does not notice."""

import json
import pathlib
import signal
import socket
import sys
import unittest

from support import *

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from listening import ports_of  # noqa: E402

SAYINGS = ["noise", "http", "half a frame", "old frame", "hello", "heartbeat", "other job's worker",
           "old worker", "other job's peer", "old peer"]


class Ports(BadInput):
    def start_job(self):
        """Goes on for longer than anybody is waited for."""
        self.lines(10_000)
        self.job_process = self.start(PIRACEMA, "run", "-n", "2", "--json", "--snapshots", "s", LINES,
                                      "in", "out", "4")
        for line in self.job_process.stdout:
            if json.loads(line)["event"] == "running":
                break
        pid = self.job_process.pid
        self.ports = [port for process in [pid, *workers_of(self.job_process)] for port in ports_of(process)]
        self.assertEqual(3, len(self.ports))

    def finish(self):
        """The job is done as if nobody had called: stopped, and then taken to its end without pauses.
        What it said on standard error until it was stopped."""
        self.assertIsNone(self.job_process.poll())  # Else it was not there to be disturbed.
        self.job_process.send_signal(signal.SIGINT)
        _, err = self.job_process.communicate(timeout=SECONDS_MAX)
        self.assertEqual(75, self.job_process.returncode, err)
        run = self.run_to_end(*self.job("--snapshots", "s", "--resume"))
        self.assertEqual(0, run.returncode, run.err)
        self.check_output()
        return err.splitlines()

    def test_whoever_says_something_wrong_is_refused_with_a_line(self):
        self.start_job()
        caller = self.run_to_end(STRANGER, ",".join(map(str, self.ports)), *SAYINGS)
        self.assertEqual(0, caller.returncode, caller.err)
        said = self.finish()
        self.assertGreaterEqual(len(said), len(SAYINGS))
        for line in said:
            self.assertIn("warning", line)
            self.assertIn("refused a connection from 127.0.0.1", line)

    def test_a_flood_of_nonsense_is_counted_not_told_line_by_line(self):
        self.start_job()
        for port in self.ports:
            for i in range(300):
                # Each another mistake, so that it is no repetition.
                with socket.create_connection(("127.0.0.1", port)) as stranger:
                    try:
                        stranger.sendall(bytes([1 + i % 255, i % 7]) * 64)
                        while stranger.recv(4096):
                            pass
                    except ConnectionError:
                        pass
        said = self.finish()
        for line in said:
            self.assertIn("refused a connection from 127.0.0.1", line)
        # Three ports, each 20 lines and the number of the others, and some for the seconds meanwhile.
        self.assertLess(len(said), 200)
        self.assertTrue(any("more before it" in line for line in said), said)

    def test_whoever_says_nothing_or_leaves_at_once_does_not_matter(self):
        self.start_job()
        silent = [socket.create_connection(("127.0.0.1", port)) for port in self.ports]
        for port in self.ports:
            for _ in range(50):
                socket.create_connection(("127.0.0.1", port)).close()
        self.finish()
        for one in silent:
            one.close()


if __name__ == "__main__":
    unittest.main()
