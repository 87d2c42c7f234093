#!/usr/bin/env python3
"""One mpirun over several hosts: jobs of piracema run, and programs by themselves, with each MPI that
is installed (scripts/setup --with-mpi); says so and skips without any."""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import unittest

from hosts import *

GROUPED = os.environ["GROUPED_APP"]
ITEMS = 5_000


class Mpi:
    """What holds for each of them, as FAMILY."""

    @classmethod
    def setUpClass(cls):
        cls.mpirun = shutil.which(f"mpirun.{cls.FAMILY}")
        if cls.mpirun is None or not plugin_of(cls.FAMILY).exists():
            raise unittest.SkipTest(f"there is no mpirun.{cls.FAMILY}, or no plug-in for it")

    def setUp(self):
        super().setUp()
        # What a rank of Open MPI that is killed leaves on another host is not ours to find.
        self.addCleanup(lambda: [path.unlink(missing_ok=True) for path in
                                 pathlib.Path("/dev/shm").glob("vader_segment.h[12].*")])

    def ranks(self):
        """Rank -> (process, host), those that live."""
        networks = {network_of(holder.pid): host for host, holder in self.holders.items()}
        found = {}
        for pid in processes():
            rank = environment_of(pid).get(self.RANK)
            try:
                is_app = os.readlink(f"/proc/{pid}/exe") in (STREAM, GROUPED)
            except OSError:
                continue
            if is_app and rank is not None and not is_zombie(pid):
                found[int(rank)] = (pid, networks.get(network_of(pid), "h0"))
        return found

    def rank_processes(self):
        return [pid for pid, _ in self.ranks().values()]

    def start_by_mpi(self, *options):
        self.start_stream("--transport", "mpi", "--mpirun", " ".join([self.mpirun, *self.FLAGS]),
                          "--hosts", "h1,h2", "-n", "4", *options)

    def test_a_world_on_two_hosts_that_dies_is_started_again_from_its_snapshot(self):
        self.start_by_mpi()
        self.wait_for("snapshot")
        ranks = self.ranks()
        self.assertEqual(["h1", "h2", "h1", "h2"], [ranks[rank][1] for rank in range(4)])
        os.kill(ranks[3][0], signal.SIGKILL)
        self.wait_for("lost")
        self.wait_for("running")
        summary = self.finish()
        self.assertEqual(8, summary["processes_started"])
        self.check_output()
        self.wait_for_ends(self.rank_processes, "ranks are left")

    def test_hosts_are_given_by_their_addresses(self):
        (self.folder / "names").write_text("127.0.0.1 localhost\n")  # Nobody has names for them.
        for i in (1, 2):
            (self.folder / f"10.78.0.{i}").symlink_to(self.folder / f"h{i}")
            (self.folder / f"tmp-10.78.0.{i}").symlink_to(self.folder / f"tmp-h{i}")
        self.start_stream("--transport", "mpi", "--mpirun", " ".join([self.mpirun, *self.FLAGS]),
                          "--hosts", "10.78.0.1,10.78.0.2", "-n", "4")
        self.wait_for("snapshot")
        self.assertEqual(["h1", "h2", "h1", "h2"], [self.ranks()[rank][1] for rank in range(4)])
        self.finish()
        self.check_output()

    def lose(self, host):
        """As if its power were cut: no packet says so, and no remote shell reaches it."""
        self.cut(host)
        (self.folder / host).rename(self.folder / f"lost-{host}")
        network = network_of(self.holders[host].pid)
        for pid in processes():
            if network_of(pid) == network and pid != self.holders[host].pid:
                os.kill(pid, signal.SIGKILL)

    def test_a_world_goes_on_without_a_host_that_is_lost(self):
        self.start_by_mpi()
        self.wait_for("snapshot")
        self.lose("h2")
        self.wait_for("lost")
        self.wait_for("first_item_out")
        self.assertEqual(["h1"] * 4, [self.ranks()[rank][1] for rank in range(4)])
        self.finish()
        self.assertIn("worker 1 is started on h1: h2 cannot be reached", self.said())
        self.check_output()

    def test_a_world_whose_only_host_is_lost_ends_with_its_name(self):
        self.start_stream("--transport", "mpi", "--mpirun", " ".join([self.mpirun, *self.FLAGS]),
                          "--hosts", "h2", "-n", "2")
        self.wait_for("snapshot")
        self.lose("h2")
        summary = self.finish(4)
        self.assertIn("no host of the job can be reached any more: h2", summary["why"])

    def test_mpirun_alone_starts_a_program_on_two_hosts(self):
        self.items = 3_000
        run = subprocess.run(
            [self.mpirun, *self.FLAGS, *self.ON_TWO_HOSTS, "-n", "4", STREAM, "out",
             f"items={self.items}", "pause_us=100"],
            cwd=self.folder, env={**CLEAN, "PIRACEMA_TEST_HOSTS": str(self.folder)},
            capture_output=True, text=True, timeout=SECONDS_MAX)
        self.assertEqual(0, run.returncode, run.stderr)
        self.check_output()

    def write_groups(self, *endpoints):
        groups = [{"name": f"G{i + 1}", "endpoint": where} for i, where in enumerate(endpoints)]
        (self.folder / "groups.json").write_text(json.dumps({"protocol": "MPI", "groups": groups}))

    def start_groups(self, items):
        self.start("--mpirun", " ".join([self.mpirun, *self.FLAGS]), "--groups", "groups.json",
                   GROUPED, "right", items)

    def test_each_group_runs_by_mpi_where_the_file_says(self):
        self.write_groups("h2", "h1", "h3", "h1")
        self.start_groups(0)  # Goes on for ever.
        self.wait_for("running")
        ranks = self.ranks()
        self.assertEqual(["h2", "h1", "h3", "h1"], [ranks[rank][1] for rank in range(4)])
        os.kill(ranks[2][0], signal.SIGKILL)
        self.finish(4)  # There are no snapshots to begin again from.
        self.wait_for_ends(self.rank_processes, "ranks are left")

    def test_groups_on_several_hosts_give_by_mpi_what_they_give_on_one(self):
        self.write_groups("h1", "h2", "h1", "h3")
        run = subprocess.run(
            [PIRACEMA, "run", "--quiet", "--rsh", RSH, "--mpirun", " ".join([self.mpirun, *self.FLAGS]),
             "--groups", "groups.json", GROUPED, "right", str(ITEMS)],
            cwd=self.folder, env={**CLEAN, "PIRACEMA_TEST_HOSTS": str(self.folder)},
            capture_output=True, text=True, timeout=SECONDS_MAX)
        self.assertEqual(0, run.returncode, run.stderr)
        # What MPI has to say may stand before it.
        self.assertEqual(f"sum {ITEMS * (ITEMS + 1) // 2}", run.stdout.splitlines()[-1])

    def test_a_host_with_another_directory_of_snapshots_ends_the_job(self):
        (self.folder / "snapshots").mkdir()
        sh("nsenter", "--target", self.holders["h2"].pid, "--mount", "mount", "-t", "tmpfs", "none",
           self.folder / "snapshots")
        self.start_by_mpi()
        self.finish(3)
        self.assertIn("shared by all hosts, found another one", self.said())
        self.wait_for_ends(self.rank_processes, "ranks are left")


class OpenMpi(Mpi, OnHosts):
    FAMILY, RANK = "openmpi", "OMPI_COMM_WORLD_RANK"
    FLAGS = ["--oversubscribe", "--allow-run-as-root", "--bind-to", "none", "--mca", "btl",
             "vader,tcp,self"]
    ON_TWO_HOSTS = ["--mca", "plm_rsh_agent", RSH, "--host", "h1:2,h2:2"]


class Mpich(Mpi, OnHosts):
    FAMILY, RANK = "mpich", "PMI_RANK"
    # The other hosts do not know this one by its name. For UCX one kernel is one machine: messages go
    # by shared memory between these hosts, and all else as between real ones. By TCP they go as well,
    # but then MPICH 4.0 does not always come back from MPI_Finalize, as on one host.
    FLAGS = ["-bind-to", "none", "-iface", "bridge", "-genv", "UCX_TLS", "posix,self"]
    ON_TWO_HOSTS = ["-launcher", "rsh", "-launcher-exec", RSH, "-hosts", "h1:2,h2:2"]


def plugin_of(family):
    return pathlib.Path(os.environ["PLUGINS"]) / f"libpiracema_mpi_{family}.so"


if __name__ == "__main__":
    if not any(plugin_of(one.FAMILY).exists() and shutil.which(f"mpirun.{one.FAMILY}")
               for one in [OpenMpi, Mpich]):
        print("SKIPPED: there is no mpirun, or no plug-in for it: scripts/setup --with-mpi")
        sys.exit(77)
    in_namespace()
    unittest.main()
