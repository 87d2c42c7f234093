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
        self.prepare_hosts()
        for host in self.holders:
            self.start_node(host)

    def prepare_hosts(self):
        """Before a node runs there."""

    def start_node(self, host):
        with open(self.folder / f"{host}.log", "a") as log:
            self.nodes[host] = self.on(
                host, PIRACEMA, "cluster", "node", "--home", str(self.folder / "c" / host), "--slots", "4",
                *self.options_of(host),
                env={**CLEAN, "PATH": f"{pathlib.Path(PIRACEMA).parent}:{CLEAN['PATH']}", "PIRACEMA_TEST_JOB": self.mark,
                     **self.environment_on(host)},
                stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def options_of(self, host):
        """More words for its node."""
        return []

    def environment_on(self, host):
        """Of its node, and of what that starts."""
        return {}

    def kill_all_on(self, host):
        # It first: a host that dies tells nobody how its jobs have ended.
        self.nodes[host].kill()
        self.nodes[host].wait()
        for pid in self.of_job():
            if self.host_of(pid) == host:
                self.signal(pid, signal.SIGKILL)

    def host_of(self, pid):
        """Where it runs; nothing if it has ended, or runs on none. What is saved has a network of its own, and an
        environment of the host where it began: but whoever has started it has that of the host."""
        networks = {network_of(holder.pid): host for host, holder in self.holders.items()}
        while pid > 1:
            if host := networks.get(network_of(pid)):
                return host
            try:
                pid = int(pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[1])
            except OSError:
                return None
        return None

    def kill_all(self):
        """On all hosts in one moment."""
        for node in self.nodes.values():
            node.kill()
        while left := self.of_job():
            for pid in left:
                self.signal(pid, signal.SIGKILL)
        for node in self.nodes.values():
            node.wait()

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

    def states_of_nodes(self):
        """By their names; nothing if nobody answers."""
        answer = self.call("nodes", "--json")
        return {node["node"]: node["state"] for node in map(json.loads, answer.stdout.splitlines())}

    def said(self):
        return "".join(f"--- {log.name}\n{log.read_text()[-8_000:]}" for log in self.folder.glob("*.log"))

    def check_stream(self, out, items):
        wanted = self.folder / f"wanted-{items}"
        if not wanted.exists():
            subprocess.run([STREAM, wanted, f"items={items}"], env=CLEAN, check=True)
        self.assertEqual(wanted.read_bytes(), out.read_bytes())

    def wait_until(self, right, what, seconds=SECONDS_MAX):
        if not wait_until(right, seconds):
            self.fail(f"{what}: {self.call('jobs', '--all').stdout}{self.jobs_said()}{self.said()}")

    def jobs_said(self):
        """Those that are not over."""
        left = [job for job in self.jobs() or [] if job["state"] in ("waiting", "running", "ending")]
        return "".join(f"--- job {job['job']}\n{self.call('logs', job['job']).stdout}" for job in left)
