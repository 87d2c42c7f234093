#!/usr/bin/env python3
"""Jobs whose hosts are reached by a real ssh. Wants sshd (scripts/setup --with-hosts) and root; says
so and skips without them."""

import os
import pathlib
import shutil
import signal
import subprocess
import sys
import unittest

from hosts import *

SSHD = shutil.which("sshd", path="/usr/sbin:/usr/local/sbin:" + os.environ["PATH"])


class Ssh(OnHosts):
    def setUp(self):
        super().setUp()
        for name in ["key", "host-key"]:
            sh("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", self.folder / name)
        pathlib.Path("/run/sshd").mkdir(exist_ok=True)  # Where it leaves its privileges behind.
        (self.folder / "sshd_config").write_text(
            f"Port 22\nHostKey {self.folder}/host-key\nAuthorizedKeysFile {self.folder}/key.pub\n"
            "StrictModes no\nUsePAM no\nPermitRootLogin yes\nPidFile none\n")
        (self.folder / "ssh_config").write_text(
            f"BatchMode yes\nConnectTimeout 5\nIdentityFile {self.folder}/key\nIdentitiesOnly yes\n"
            f"StrictHostKeyChecking no\nUserKnownHostsFile {self.folder}/known\nLogLevel ERROR\n")
        self.shell = f"ssh -F {self.folder}/ssh_config"
        for host in ["h1", "h2"]:
            self.start_sshd(host)

    def start_sshd(self, host):
        server = self.on(host, SSHD, "-D", "-e", "-f", str(self.folder / "sshd_config"),
                         stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self.addCleanup(server.stderr.close)
        while "listening on 0.0.0.0" not in (line := server.stderr.readline()):
            self.assertNotEqual("", line, "sshd does not start")

    def of_job(self):
        """Sessions of ssh do not have the environment of the job: their programs tell."""
        found = set(super().of_job())
        for pid in processes():
            try:
                inside = network_of(pid) in {network_of(h.pid) for h in self.holders.values()}
                words = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            ours = words[0] in (PIRACEMA.encode(), f"{PIRACEMA}-council".encode(), STREAM.encode())
            if inside and ours and not is_zombie(pid):
                found.add(pid)
        return sorted(found)

    def test_a_job_by_ssh_lives_through_the_loss_of_worker_agent_and_connection(self):
        self.start_stream("--rsh", self.shell, "--hosts", "h1,h2", "-n", "4")
        self.wait_for("snapshot")
        os.kill(self.workers()[1][0], signal.SIGKILL)
        self.wait_for("lost", lambda event: event["worker"] == 1)
        self.wait_for("running")
        os.kill(self.agents()["h1"], signal.SIGKILL)
        self.wait_for("lost")
        self.wait_for("running")
        self.finish()
        self.check_output()
        self.wait_for_ends(self.of_job, "processes are left")

    def test_nothing_is_left_when_the_coordinator_of_a_job_by_ssh_is_killed(self):
        self.start_stream("--rsh", self.shell, "--hosts", "h1,h2", "-n", "2")
        self.wait_for("snapshot")
        self.job.kill()
        self.job.wait()
        self.wait_for_ends(self.of_job, "processes are left")

    def test_coordinators_by_ssh_outlive_the_command_and_so_do_all_workers(self):
        self.start_stream("--rsh", self.shell, "--hosts", "h1,h2", "-n", "4", "--coordinators", "3")
        self.wait_for("snapshot")
        workers = self.workers()
        # The first one, if it was not too late on a busy machine.
        leader = [event for event in self.events if event["event"] == "leads"][-1]
        before = len(self.events)
        epoch = [event for event in self.events if event["event"] == "running"][-1]["epoch"]
        # With it the remote shells go that have brought the agents, and where workers write errors to.
        os.kill(leader["pid"], signal.SIGKILL)
        self.job.kill()
        self.job.wait()
        self.assertNotEqual(self.wait_for("leads")["coordinator"], leader["coordinator"])
        self.assertEqual(epoch, self.wait_for("reattached")["epoch"], self.events)
        self.wait_for("snapshot")
        self.assertEqual(workers, self.workers())
        (self.folder / "enough").touch()
        self.assertEqual(0, self.wait_for("summary")["code"])
        self.assertNotIn("recovering", [event["event"] for event in self.events[before:]])
        self.check_output(len((self.folder / "out").read_bytes().splitlines()))
        self.wait_for_ends(self.of_job, "processes are left")

    def test_a_host_without_sshd_is_named(self):
        self.start_stream("--rsh", self.shell, "--hosts", "h1,h3", "-n", "2")
        self.finish(3)
        self.assertIn("--hosts: host 'h3' cannot be used: '", self.said())


if __name__ == "__main__":
    if SSHD is None or os.getuid() != 0:
        print("SKIPPED: there is no sshd here, or no root to run it: scripts/setup --with-hosts")
        sys.exit(77)
    in_namespace()
    unittest.main()
