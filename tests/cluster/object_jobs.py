"""Jobs whose snapshots are objects."""

import os
import re
import signal

from store_jobs import StoreJobs


class ObjectJobs(StoreJobs):
    def test_what_wants_files_beside_the_snapshots_is_refused(self):
        for options in (["--keep-workers", "1m"], ["--standby"]):
            self.refused("want a directory", "--snapshots", self.at, *options)

    # ---- several coordinators, and no file that they share -----------------------------------------

    def run_several(self, *options):
        return self.run_stream("--coordinators", "3", *options)

    def check_nothing_redone(self, job, workers):
        self.assertEqual(sorted(self.running("worker")), workers)
        job.finish()
        self.assertNotIn("recovering", job.names(), job.said())
        self.check_output()
        self.until(lambda: not self.running() and not self.coordinators())

    def test_another_coordinator_has_the_store_at_once_when_the_leader_is_killed(self):
        job = self.run_several()
        first = job.wait_for("leads")
        job.wait_for("snapshot", 2)
        workers = sorted(self.running("worker"))
        os.kill(first["pid"], signal.SIGKILL)
        second = job.wait_for("leads")
        self.assertNotEqual(second["coordinator"], first["coordinator"])
        job.wait_for("snapshot", 2)
        # On a busy machine yet another one may lead by now.
        said = self.refused("found it in use by process ", "--snapshots", self.at, "--resume")
        user = int(re.search(r"in use by process (\d+)", said)[1])
        self.assertIn(user, self.coordinators())
        self.assertNotEqual(user, first["pid"])
        self.check_nothing_redone(job, workers)

    def test_a_leader_that_was_stopped_does_not_lose_the_store_to_its_successor(self):
        job = self.run_several()
        first = job.wait_for("leads")
        job.wait_for("snapshot", 2)
        workers = sorted(self.running("worker"))
        os.kill(first["pid"], signal.SIGSTOP)
        second = job.wait_for("leads")
        job.wait_for("snapshot")
        os.kill(first["pid"], signal.SIGCONT)
        self.assertEqual(job.wait_for("follows")["pid"], first["pid"])
        os.kill(second["pid"], signal.SIGSTOP)
        job.wait_for("leads")
        job.wait_for("snapshot", 2)
        os.kill(second["pid"], signal.SIGCONT)
        self.check_nothing_redone(job, workers)

    def test_a_job_is_taken_over_once_its_server_answers_again(self):
        job = self.run_several()
        first = job.wait_for("leads")
        job.wait_for("snapshot", 2)
        workers = sorted(self.running("worker"))
        self.server.kill()
        try:
            os.kill(first["pid"], signal.SIGKILL)
            self.until(lambda: "cannot take the job over yet" in job.said())
        finally:
            self.server.start()
        job.wait_for("reattached")
        job.wait_for("snapshot", 2)
        self.check_nothing_redone(job, workers)

    def test_where_all_coordinators_are_lost_a_resume_waits_for_the_workers_to_end(self):
        job = self.run_several("--keep-workers", "4s")
        job.wait_for("snapshot", 2)
        for pid in self.coordinators():
            os.kill(pid, signal.SIGKILL)
        left = set(self.running("worker"))
        self.assertTrue(left)
        again = self.run_stream("--resume")
        again.wait_for("running")
        self.assertFalse(left & set(self.running("worker")))
        again.wait_for("snapshot")
        again.finish()
        self.check_output()
