#!/usr/bin/env python3
"""Streams inside jobs of a real Slurm of two nodes: on all nodes of the allocation, and with a last
snapshot when it is to end."""

import os
import pathlib
import socket
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent))
import slurm

PIRACEMA = os.environ["PIRACEMA_COMMAND"]
STREAM = os.environ["STREAM_APP"]


class Allocation(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        # Slurm's names of the nodes, which a cluster's name server would know.
        names = self.folder / "names"
        names.write_text(f"127.0.0.1 localhost {socket.gethostname()} n1 n2\n")
        subprocess.run(["mount", "--bind", names, "/etc/hosts"], check=True)
        self.addCleanup(subprocess.run, ["umount", "/etc/hosts"], check=True)
        self.slurm = slurm.Slurm(self.folder / "slurm")
        self.addCleanup(self.slurm.close)

    def submit(self, *words):
        # The shell becomes the command: Slurm signals it.
        script = self.folder / "script"
        script.write_text("#!/bin/sh\nexec " + " ".join(f"'{word}'" for word in words) + "\n")
        job = self.slurm.run("sbatch", "--parsable", "--nodes=2", "--ntasks-per-node=2", "--time=30",
                             f"--chdir={self.folder}", f"--output={self.folder}/said", script).strip()
        self.assertTrue(job, self.slurm.logs())
        return job

    def exit_code(self, job):
        """Once it has ended."""
        while self.slurm.field(job, "JobState") not in ["COMPLETED", "FAILED", "TIMEOUT", "NODE_FAIL"]:
            pass
        return self.slurm.field(job, "ExitCode")

    def said(self):
        path = self.folder / "said"
        return path.read_text() if path.exists() else ""

    def check_output(self, items):
        subprocess.run([STREAM, "wanted", f"items={items}"], cwd=self.folder, check=True)
        self.assertEqual((self.folder / "wanted").read_bytes(), (self.folder / "out").read_bytes())

    def test_a_stream_runs_on_all_nodes_of_its_allocation(self):
        job = self.submit(PIRACEMA, "run", "--snapshots", "snapshots", STREAM, "out", "items=2000",
                          "pause_us=200")
        self.assertEqual("0:0", self.exit_code(job), self.said())
        self.assertIn(f"hosts of Slurm job {job}: n1 (2), n2 (2)", self.said())
        self.assertIn("process 3:", self.said())  # As many as there are tasks.
        # One of them was told to start there what the others wait for.
        steps = (self.folder / "slurm" / "slurmd.n2.log").read_text()
        self.assertIn(f"{job}.0", steps.replace("StepId=", ""))
        self.check_output(2000)

    def test_a_job_that_is_to_end_takes_a_last_snapshot_and_another_one_goes_on(self):
        words = [PIRACEMA, "run", "--snapshots", "snapshots", "--every", "100ms"]
        stream = [STREAM, "out", "items=20000", "pause_us=200"]
        job = self.submit(*words, *stream)
        while not list(self.folder.glob("snapshots/0*/manifest.json")):
            self.assertNotIn(self.slurm.field(job, "JobState"), ["FAILED", "COMPLETED"], self.said())
        self.slurm.run("scancel", "--batch", "--signal=TERM", job)
        self.assertEqual("75:0", self.exit_code(job), self.said())
        job = self.submit(*words, "--resume", *stream)
        self.assertEqual("0:0", self.exit_code(job), self.said())
        self.check_output(20000)


def in_namespace():
    """Goes on with mounts of its own."""
    if os.environ.get("PIRACEMA_IN_NAMESPACE") == "1":
        return
    why = None
    if os.getuid() != 0 or subprocess.run(["unshare", "--mount", "true"]).returncode != 0:
        why = "only root may give names to nodes here"
    elif slurm.missing():
        why = f"no {slurm.missing()}; scripts/setup --with-slurm installs a Slurm"
    if why:
        print("SKIPPED: " + why)
        sys.exit(77)
    os.environ["PIRACEMA_IN_NAMESPACE"] = "1"
    os.execvp("unshare", ["unshare", "--mount", sys.executable, "-B", *sys.argv])


if __name__ == "__main__":
    in_namespace()
    unittest.main()
