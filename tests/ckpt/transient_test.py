#!/usr/bin/env python3
"""What the kernel has under way for a job is in its image, or the job is not saved until it has passed."""

import os

from support import CkptTest, main

TRANSIENT = os.environ["TRANSIENT_APP"]


class Transient(CkptTest):
    def begin(self, story, seconds=0):
        os.mkfifo(self.path / "fifo")
        job = self.run_job(TRANSIENT, story, seconds, self.path / "fifo")
        job.read(1)
        return job

    def let_end(self):
        """Open for both, it is open at once; and then for whoever waits to read."""
        self.addCleanup(os.close, os.open(self.path / "fifo", os.O_RDWR))

    def whole_after_stop(self, job):
        self.assertEqual(75, job.end(), job.errors())
        self.let_end()
        second = self.resume()
        self.assertEqual(0, second.end(), second.errors())
        self.assertEqual(["ready\n", "whole\n"], job.lines + second.lines, second.errors())

    def stop_and_resume(self, story, seconds=0):
        job = self.begin(story, seconds)
        self.ckpt("stop", "--dir", self.dir)
        self.whole_after_stop(job)

    def save_and_go_on(self, story):
        job = self.begin(story)
        self.ckpt("save", "--dir", self.dir)
        self.let_end()
        self.assertEqual(0, job.end(), job.errors())
        self.assertEqual(["ready\n", "whole\n"], job.lines)

    def test_a_connection_whose_sender_could_not_send_all(self):
        """Not sent, its data goes out when it is restored: its other end has to be there by then."""
        self.stop_and_resume("full")

    def test_a_connection_whose_sender_could_not_send_all_goes_on_after_a_save(self):
        self.save_and_go_on("full")

    def test_files_of_the_kernel_about_a_process_that_has_ended_and_about_itself(self):
        self.stop_and_resume("proc")

    def test_a_child_between_vfork_and_exec(self):
        self.stop_and_resume("vfork", 1)

    def test_a_child_that_has_ended_and_is_not_waited_for(self):
        self.stop_and_resume("zombie")

    def stop_when_it_has_passed(self, story, named):
        """The first stop waits for it, and with very little luck gives up before it has passed."""
        job = self.begin(story, 1)
        while (done := self.ckpt("stop", "--dir", self.dir, code=None)).returncode != 0:
            self.assertIn(named, done.stderr)
        self.whole_after_stop(job)

    def test_a_connection_that_is_not_accepted_yet(self):
        self.stop_when_it_has_passed("waiting", "has a connection that the job has not accepted yet")

    def test_what_a_closed_connection_has_not_delivered_yet(self):
        self.stop_when_it_has_passed("half", "has not delivered what it was closed with yet")

    def test_what_does_not_pass_is_named_and_the_job_goes_on(self):
        job = self.begin("waiting", 1000)
        done = self.ckpt("stop", "--dir", self.dir, code=1)
        self.assertRegex(done.stderr, "cannot be saved now: port [0-9]+ has a connection that the job has not accepted")
        self.assertIsNone(job.process.poll())


if __name__ == "__main__":
    main()
