"""A cluster of nodes on this machine, each a process."""

import contextlib
import json
import os
import pathlib
import socket
import subprocess
import tempfile
import unittest

from waiting import wait_until

PIRACEMA = os.environ["PIRACEMA_COMMAND"]
STREAM = os.environ["STREAM_APP"]
SECONDS_MAX = 120
CLEAN = {name: value for name, value in os.environ.items() if not name.startswith("PIRACEMA_")}
# As where it was installed: jobs find it.
CLEAN["PATH"] = f"{pathlib.Path(PIRACEMA).parent}:{CLEAN['PATH']}"


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


def children_of(pid):
    found = []
    for entry in pathlib.Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1]) == pid:
                found.append((int(entry.name), (entry / "cmdline").read_bytes().split(b"\0")))
    return found


def state_of(pid):
    """A letter, as ps has it; X: there is no such process."""
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except OSError:
        return "X"


def stands_still(pid):
    """It is stopped; or it waits for a child that is and has its memory (vfork), as a shell does."""
    children = [child for child, _ in children_of(pid)]
    return state_of(pid) == "T" or (state_of(pid) == "D" and children and all(map(stands_still, children)))


class ClusterOfNodes(unittest.TestCase):
    """Three with a replica of the control plane, and others without."""
    NODES = ["a", "b", "c"]

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.lock = self.folder / "lock"
        nodes = [f"{name}=127.0.0.1:{port}" for name, port in zip(self.NODES, free_ports(3))]
        nodes += [f"{name}=localhost" for name in self.NODES[3:]]
        subprocess.run([PIRACEMA, "cluster", "init", "--directory", self.folder / "c", *nodes],
                       check=True, env=CLEAN, stdout=subprocess.DEVNULL)
        self.processes = {}
        for name in self.NODES:
            self.start(name)

    def start(self, name, env=CLEAN):
        log = open(self.folder / f"{name}.log", "a")
        self.addCleanup(log.close)
        process = subprocess.Popen(
            [PIRACEMA, "cluster", "node", "--home", str(self.folder / "c" / name), "--slots", "2"],
            env=env, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        self.processes[name] = process
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def call(self, *words, timeout="60s"):
        return subprocess.run(
            [PIRACEMA, "cluster", words[0], "--cluster", str(self.folder / "c"), "--timeout", timeout,
             *map(str, words[1:])],
            env=CLEAN, text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, timeout=SECONDS_MAX)

    def said(self):
        return "".join(f"{name}: {(self.folder / f'{name}.log').read_text()}" for name in self.NODES)

    def ask(self, *words):
        answer = self.call(*words)
        self.assertEqual(0, answer.returncode, answer.stderr + self.said())
        return answer.stdout

    def submit(self, script, *options):
        """A job of a shell; its number."""
        return int(self.ask("submit", "--env", f"LOCK={self.lock}", *options, "--", "sh", "-c", script))

    def job(self, number):
        jobs = map(json.loads, self.ask("jobs", "--all", "--json").splitlines())
        return next(job for job in jobs if job["job"] == number)

    def nodes(self):
        return {node["node"]: node for node in map(json.loads, self.ask("nodes", "--json").splitlines())}

    def wait_until(self, right, what):
        if not (found := wait_until(right, SECONDS_MAX)):
            self.fail(f"{what}: {self.ask('jobs', '--all')}{self.said()}")
        return found

    def wait_for_nodes(self, count=None):
        count = len(self.NODES) if count is None else count
        self.wait_until(lambda: sum(n["state"] == "here" for n in self.nodes().values()) == count,
                        f"{count} nodes are not there")

    def wait_for_output(self, number, text):
        self.wait_until(lambda: text in self.ask("logs", number), f"job {number} does not say {text}")

    def wait(self, number, code=0):
        ended = self.call("wait", number)
        self.assertEqual(code, ended.returncode, ended.stderr + self.said())
