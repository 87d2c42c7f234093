#!/usr/bin/env python3
"""Jobs of Slurm save themselves when their time is over or somebody else comes, and go on later."""

import os
import pathlib
import pwd
import shutil
import subprocess
import sys

import hosts

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import slurm
from ordinary_user import as_user, environment_for
from support import COUNTER, CkptTest, main, skip

STATUS = 3
AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


class Batch(CkptTest):
    def setUp(self):
        super().setUp()
        self.slurm = slurm.Slurm(self.path / "slurm")
        self.addCleanup(self.slurm.close)

    def submit(self, *program, options=()):
        said = self.ckpt("sbatch", "--dir", self.dir, f"--output={self.path}/out", *options, "--", *program,
                         **self.slurm.environment, **AS_ROOT)
        self.assertIn("Submitted batch job", said.stdout)
        return said.stdout.split()[-1]

    def wait_for_lines(self, count):
        path = self.dir / "stdout"
        while not path.exists() or path.read_text().count("\n") < count:
            pass

    def wait_for(self, job, state):
        while self.slurm.field(job, "JobState") != state:
            if self.slurm.field(job, "JobState") in ["FAILED", "TIMEOUT", "NODE_FAIL"]:
                self.fail(self.slurm.run("scontrol", "show", "job", job, "-o") + self.slurm.logs())

    def go_on(self, job):
        """Slurm lets a job that was put into the queue again wait for two minutes. Its nodes refuse one
        that starts in the second in which it was ended: "already killed"."""
        self.wait_for(job, "PENDING")
        self.slurm.run("scontrol", "update", f"JobId={job}", "StartTime=now+2")

    def test_a_job_that_is_preempted_goes_on_when_the_machine_is_free(self):
        program = [COUNTER, 100, 4, 4_000_000, 0]
        wanted, _ = self.plain(*program)
        self.preempt(self.submit(*program, options=["--nodes=1", "--exclusive", "--nodelist=n1", "--time=30"]), wanted)

    def preempt(self, job, wanted):
        """Until it has ended, and written the same."""
        self.wait_for_lines(10)
        day = self.slurm.run("sbatch", "--parsable", "-p", "day", "--exclusive", "--nodelist=n1",
                             f"--output={self.path}/day", "--wrap", "true").strip()
        self.wait_for(day, "COMPLETED")
        self.assertEqual(1, len(self.images()))
        self.go_on(job)
        self.wait_for(job, "COMPLETED")
        # Standard error goes to the same file here.
        lines = (self.dir / "stdout").read_text().splitlines(keepends=True)
        self.assertEqual(wanted, "".join(line for line in lines if not line.startswith("error")))

    def test_a_job_of_an_ordinary_user_that_is_preempted_goes_on(self):
        self.path.chmod(0o755)
        # Slurm wants one with a name.
        user = pwd.getpwnam("nobody").pw_uid
        environment = {**environment_for(user, self.path / "user"), **self.slurm.environment}
        home = pathlib.Path(environment["HOME"])
        self.dir = home / "job"
        program = [environment["COUNTER_APP"], 300, 4, 4_000_000, 0]
        wanted, _ = self.plain(*program)
        words = [environment["PIRACEMA_COMMAND"], "ckpt", "sbatch", "--dir", self.dir, f"--output={home}/out",
                 "--nodes=1", "--exclusive", "--nodelist=n1", "--time=30", "--", *program]
        said = subprocess.run([*as_user(user), *map(str, words)], cwd=home, env=environment, capture_output=True,
                              text=True)
        self.assertIn("Submitted batch job", said.stdout, said.stderr)
        self.preempt(said.stdout.split()[-1], wanted)

    def test_a_job_is_shown_to_whoever_asks_on_its_node(self):
        job = self.submit(COUNTER, 3000, 4, 4_000_000, 0, options=["--http", "--nodes=1", "--time=30"])
        self.wait_for_lines(10)
        address = self.dir / "log/http"
        self.assertEqual(0o600, address.stat().st_mode & 0o777)
        said = self.slurm.run("srun", "--jobid", job, "--overlap", os.environ["PIRACEMA_COMMAND"], "top", "--once",
                              str(address))
        for words in ["  running  ", "the window closes in ", "(the end of the Slurm job)"]:
            self.assertIn(words, said)
        self.slurm.run("scancel", "--full", "--signal=TERM", job)
        self.wait_for(job, "PENDING")
        self.assertFalse(address.exists(), "nobody answers there any more")
        self.slurm.run("scancel", job)

    def test_a_job_that_is_cancelled_is_saved_and_stays_away(self):
        job = self.submit(COUNTER, 3000, 4, 4_000_000, 0, options=["--nodes=1", "--time=30"])
        self.wait_for_lines(10)
        self.slurm.run("scancel", "--full", "--signal=TERM", job)
        self.wait_for(job, "PENDING")
        self.assertEqual(1, len(self.images()))
        self.slurm.run("scancel", job)
        self.wait_for(job, "CANCELLED")

    def test_a_job_of_two_nodes_saves_itself_before_its_time_is_over(self):
        if shutil.which("mpirun.openmpi") is None or "HEAT2D_APP" not in os.environ:
            self.skipTest("no Open MPI; scripts/setup --with-mpi installs one")
        program = ["mpirun.openmpi", "--oversubscribe", "-n", 4, os.environ["HEAT2D_APP"], 600, 20_000, 4]
        job = self.submit(*program, options=["--nodes=2", "--exclusive", "--time=1"])
        self.wait_for(job, "RUNNING")
        self.wait_for(job, "PENDING")
        self.assertEqual(1, len(self.images()))


if __name__ == "__main__":
    why = hosts.can_be_made()
    if slurm.missing():
        why = f"no {slurm.missing()}; scripts/setup --with-slurm installs a Slurm"
    if why:
        skip(why)
    main()
