#!/usr/bin/env python3
"""The script for OAR, as OAR would run it: with its variables, its signal, and again after a 99."""

import os
import pathlib
import signal
import subprocess

from support import PIRACEMA, CkptTest, main

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "examples/ckpt/oar_job.sh"
# It goes on when there is a file `go`.
PROGRAM = ["/bin/sh", "-c", "echo up; while ! [ -e go ]; do sleep 0.1; done; echo end; exit 3"]
AGAIN = 99


class Oar(CkptTest):
    def setUp(self):
        super().setUp()
        self.nodes = self.path / "nodes"
        self.nodes.write_text("node-1\nnode-1\n")

    def oar(self, walltime):
        """One job of OAR's."""
        path = f"{pathlib.Path(PIRACEMA).parent}:{os.environ['PATH']}"
        job = subprocess.Popen(
            [SCRIPT, self.dir, *map(str, PROGRAM)], cwd=self.path, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True,
            env={**os.environ, "PATH": path, "OAR_JOB_WALLTIME_SECONDS": str(walltime),
                 "OAR_NODEFILE": str(self.nodes), "PIRACEMA_OAR_MARGIN": "1"})
        self.addCleanup(job.kill)
        return job

    def end(self, job):
        out, errors = job.communicate()
        return job.returncode, out, errors

    def check_that_it_goes_on(self):
        (self.path / "go").touch()
        code, out, errors = self.end(self.oar(3600))
        self.assertEqual(3, code, errors)
        self.assertIn("goes on from image 1", errors)
        self.assertEqual("end\n", out)
        self.assertEqual("up\nend\n", (self.dir / "stdout").read_text())

    def test_a_job_goes_on_in_the_next_one_when_its_walltime_is_over(self):
        walltime, errors = 3, "shorter than one checkpoint"
        # A machine that is so busy that a dump may take longer.
        while "shorter than one checkpoint" in errors:
            walltime *= 2
            code, _, errors = self.end(self.oar(walltime))
        self.assertEqual(AGAIN, code, errors)
        self.check_that_it_goes_on()

    def test_a_job_that_is_wanted_away_is_saved_at_once(self):
        job = self.oar(3600)
        self.assertEqual("up\n", job.stdout.readline())
        job.send_signal(signal.SIGUSR2)
        code, _, errors = self.end(job)
        self.assertEqual(AGAIN, code, errors)
        self.check_that_it_goes_on()


if __name__ == "__main__":
    main()
