"""A cluster on hosts that are network namespaces; its control plane is on the first three."""

import json
import os
import pathlib
import signal
import subprocess
import sys

from hosts import CLEAN, PIRACEMA, SECONDS_MAX, STREAM, OnHosts, network_of

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from waiting import wait_until  # noqa: E402


class ClusterOnHosts(OnHosts):
    def setUp(self):
        super().setUp()
        self.nodes = {}
        plane = [f"h{i}=10.78.0.{i}:7400" for i in range(1, 4)]
        rest = [f"h{i}=10.78.0.{i}" for i in range(4, self.HOSTS + 1)]
        subprocess.run([PIRACEMA, "cluster", "init", "--directory", self.folder / "c", *plane, *rest], check=True,
                       env=CLEAN, stdout=subprocess.DEVNULL)
        for host in self.holders:
            self.start_node(host)

    def start_node(self, host):
        with open(self.folder / f"{host}.log", "a") as log:
            self.nodes[host] = self.on(
                host, PIRACEMA, "cluster", "node", "--home", str(self.folder / "c" / host), "--slots", "4",
                env={**CLEAN, "PATH": f"{pathlib.Path(PIRACEMA).parent}:{CLEAN['PATH']}", "PIRACEMA_TEST_JOB": self.mark},
                stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def kill_all_on(self, host):
        # It first: a host that dies tells nobody how its jobs have ended.
        self.nodes[host].kill()
        self.nodes[host].wait()
        network = network_of(self.holders[host].pid)
        for pid in self.of_job():
            if network_of(pid) == network:
                self.signal(pid, signal.SIGKILL)

    def signal(self, pid, number):
        """Whether it was there."""
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            return False
        return True

    def words(self, *words, timeout="3s"):
        return [PIRACEMA, "cluster", words[0], "--cluster", str(self.folder / "c"), "--timeout", timeout,
                *map(str, words[1:])]

    def call(self, *words, timeout="3s"):
        return subprocess.run(self.words(*words, timeout=timeout), env=CLEAN, text=True, capture_output=True,
                              timeout=SECONDS_MAX)

    def jobs(self):
        """Or nothing, if nobody answers."""
        answer = self.call("jobs", "--all", "--json")
        return [json.loads(line) for line in answer.stdout.splitlines()] if answer.returncode == 0 else None

    def said(self):
        return "".join(f"--- {log.name}\n{log.read_text()[-8_000:]}" for log in self.folder.glob("*.log"))

    def check_stream(self, out, items):
        wanted = self.folder / f"wanted-{items}"
        if not wanted.exists():
            subprocess.run([STREAM, wanted, f"items={items}"], env=CLEAN, check=True)
        self.assertEqual(wanted.read_bytes(), out.read_bytes())

    def wait_until(self, right, what):
        if not wait_until(right, SECONDS_MAX):
            self.fail(f"{what}: {self.call('jobs', '--all').stdout}{self.said()}")
