#!/usr/bin/env python3
"""The agent of a job's own host, which has started all of its workers, is killed or stands still: the job
goes on, and its output is what it would have been, byte for byte. Nobody is left behind."""

import os
import signal
import time
import unittest

from lost_coordinators import STREAM, JobTest


class Agents(JobTest):
    def agent(self, but=None):
        """Once there is one. What it starts has its words, too, for a moment."""
        found = []

        def is_alone():
            found[:] = self.running("agent")
            return len(found) == 1 and found != [but]
        self.until(is_alone)
        return found[0]

    def test_an_agent_that_is_killed_takes_its_workers_along_and_they_come_back(self):
        job = self.run_stream()
        job.wait_for("snapshot", 2)
        agent, workers = self.agent(), self.running("worker")
        os.kill(agent, signal.SIGKILL)
        lost = job.wait_for("lost")
        self.assertIn("its agent was killed by signal 9 (SIGKILL)", job.said())
        self.assertIn(lost["worker"], (0, 1))
        job.wait_for("recovering")
        job.wait_for("snapshot")
        self.assertNotEqual(agent, self.agent())
        self.assertFalse(set(workers) & set(self.running()))
        job.finish()
        self.check_output()
        self.check_nothing_left()

    def test_agents_that_are_killed_one_after_the_other_with_a_worker_are_replaced(self):
        job = self.run_stream()
        for kill in range(4):
            job.wait_for("snapshot")
            os.kill(self.running("worker")[kill % 2], signal.SIGKILL)
            os.kill(self.agent(), signal.SIGKILL)
            job.wait_for("recovering")
        job.wait_for("snapshot")
        job.finish()
        self.check_output()
        self.check_nothing_left()

    def test_an_agent_that_is_killed_before_anybody_has_joined_is_replaced(self):
        program = self.folder / "late"
        # Waits until somebody has it open for writing.
        program.write_text(f'#!/bin/sh\n: < {self.folder}/go\nexec {STREAM} "$@"\n')
        program.chmod(0o755)
        os.mkfifo(self.folder / "go")
        job = self.run_command("-n", "2", "--snapshots", "s", "--every", "100ms", program, "out",
                               "items=100000000", "pause_us=100", f"until={self.folder}/end")
        first = self.agent()
        # One that is killed before it has started anything is a host that cannot be used.
        self.until(lambda: self.running("worker", program))
        os.kill(first, signal.SIGKILL)
        self.agent(but=first)
        go = os.open(self.folder / "go", os.O_RDWR)
        self.addCleanup(os.close, go)
        job.wait_for("snapshot")
        job.finish()
        self.check_output()
        self.check_nothing_left()

    def test_without_snapshots_the_loss_of_the_agent_ends_the_job_with_code_4(self):
        job = self.run_command("-n", "2", STREAM, "out", "items=100000000", "pause_us=100")
        job.wait_for("running")
        os.kill(self.agent(), signal.SIGKILL)
        job.finish(4)
        self.check_nothing_left()

    def test_a_coordinator_that_stands_still_itself_gives_nobody_up_for_it(self):
        job = self.run_stream()
        job.wait_for("snapshot")
        job.process.send_signal(signal.SIGSTOP)
        # Longer than an agent may be silent.
        time.sleep(11)
        job.process.send_signal(signal.SIGCONT)
        job.wait_for("snapshot", 3)
        job.finish()
        self.assertNotIn("lost", job.names())
        self.check_output()
        self.check_nothing_left()

    def test_an_agent_that_stands_still_keeps_nobody_from_working_nor_the_job_from_its_end(self):
        job = self.run_stream()
        job.wait_for("snapshot")
        os.kill(self.agent(), signal.SIGSTOP)
        # Some of them later than the worker's next heartbeats.
        job.wait_for("snapshot", 20)
        job.process.send_signal(signal.SIGTERM)
        job.finish(75)
        self.assertNotIn("lost", job.names())
        self.check_nothing_left()

    def test_a_coordinator_that_is_killed_takes_a_stopped_agent_and_all_workers_along(self):
        job = self.run_stream()
        job.wait_for("snapshot")
        os.kill(self.agent(), signal.SIGSTOP)
        job.kill()
        self.until(lambda: not self.running())


if __name__ == "__main__":
    unittest.main()
