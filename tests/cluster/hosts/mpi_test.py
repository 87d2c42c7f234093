#!/usr/bin/env python3
"""One mpirun over several hosts: a job of piracema run, and a program by itself. Wants Open MPI
(scripts/setup --with-mpi); says so and skips without it."""

import os
import pathlib
import shutil
import signal
import subprocess
import sys
import unittest

from hosts import *

MPIRUN = shutil.which("mpirun.openmpi")
PLUGIN = pathlib.Path(os.environ["PLUGINS"]) / "libpiracema_mpi_openmpi.so"
FLAGS = ["--oversubscribe", "--allow-run-as-root", "--bind-to", "none", "--mca", "btl",
         "vader,tcp,self"]


class Mpi(OnHosts):
    def setUp(self):
        super().setUp()
        # What a rank of Open MPI that is killed leaves on another host is not ours to find.
        self.addCleanup(lambda: [path.unlink() for path in
                                 pathlib.Path("/dev/shm").glob("vader_segment.h[12].*")])

    def ranks(self):
        """Rank -> (process, host), those that live."""
        networks = {network_of(holder.pid): host for host, holder in self.holders.items()}
        found = {}
        for pid in processes():
            environment = environment_of(pid)
            rank = environment.get("OMPI_COMM_WORLD_RANK")
            try:
                is_app = os.readlink(f"/proc/{pid}/exe") == STREAM
            except OSError:
                continue
            if is_app and rank is not None and not is_zombie(pid):
                found[int(rank)] = (pid, networks.get(network_of(pid), "h0"))
        return found

    def start_by_mpi(self, *options):
        self.start_stream("--transport", "mpi", "--mpirun", " ".join([MPIRUN, *FLAGS]), "--hosts",
                          "h1,h2", "-n", "4", *options, items=5_000)

    def test_a_world_on_two_hosts_that_dies_is_started_again_from_its_snapshot(self):
        self.start_by_mpi()
        self.wait_for("snapshot")
        ranks = self.ranks()
        self.assertEqual(["h1", "h1", "h2", "h2"], [ranks[rank][1] for rank in range(4)])
        os.kill(ranks[3][0], signal.SIGKILL)
        self.wait_for("lost")
        self.wait_for("running")
        summary = self.finish()
        self.assertEqual(8, summary["processes_started"])
        self.check_output()
        self.wait_until(lambda: not self.ranks(), "ranks are left")

    def test_a_host_with_another_directory_of_snapshots_ends_the_job(self):
        (self.folder / "snapshots").mkdir()
        sh("nsenter", "--target", self.holders["h2"].pid, "--mount", "mount", "-t", "tmpfs", "none",
           self.folder / "snapshots")
        self.start_by_mpi()
        self.finish(3)
        self.assertIn("shared by all hosts, found another one", self.said())

    def test_mpirun_alone_starts_a_program_on_two_hosts(self):
        self.items = 3_000
        run = subprocess.run(
            [MPIRUN, *FLAGS, "--mca", "plm_rsh_agent", RSH, "--host", "h1:2,h2:2", "-n", "4",
             STREAM, "out", f"items={self.items}", "pause_us=100"],
            cwd=self.folder, env={**CLEAN, "PIRACEMA_TEST_HOSTS": str(self.folder)},
            capture_output=True, text=True, timeout=SECONDS_MAX)
        self.assertEqual(0, run.returncode, run.stderr)
        self.check_output()


if __name__ == "__main__":
    if MPIRUN is None or not PLUGIN.exists():
        print("SKIPPED: there is no mpirun.openmpi, or no plug-in for it: scripts/setup --with-mpi")
        sys.exit(77)
    in_namespace()
    unittest.main()
