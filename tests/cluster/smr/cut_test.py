#!/usr/bin/env python3
"""Replicas on networks of their own, which are cut and mended: the majority goes on, and who was cut
off catches up. Wants to make network namespaces; says so and skips where it may not."""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import unittest

PIRACEMA = os.environ["PIRACEMA_COMMAND"]
SECONDS_MAX = 300


def sh(*words):
    subprocess.run([str(word) for word in words], check=True)


class Cut(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        sh("ip", "link", "set", "lo", "up")
        sh("ip", "link", "add", "name", "bridge", "type", "bridge")
        self.addCleanup(sh, "ip", "link", "del", "bridge")
        sh("ip", "addr", "add", "10.77.0.100/24", "dev", "bridge")
        sh("ip", "link", "set", "bridge", "up")
        text = '[group]\nname = "cut"\nfaults = "crash"\nf = 1\n'
        for i in range(3):
            text += (f'[replica.{i}]\naddress = "10.77.0.{i + 1}:7000"\n'
                     f'public_key = "{self.keygen(f"replica-{i}.key")}"\n')
        text += f'[client.1]\npublic_key = "{self.keygen("client.key")}"\n'
        self.config = self.folder / "group.toml"
        self.config.write_text(text)
        self.replicas = [self.start(i) for i in range(3)]

    def keygen(self, name):
        return subprocess.run([PIRACEMA, "kv", "keygen", str(self.folder / name)], check=True,
                              capture_output=True, text=True).stdout.strip()

    def start(self, i):
        """In a namespace of its own, at the other end of cable `i`."""
        log = open(self.folder / f"log-{i}", "w")
        self.addCleanup(log.close)
        process = subprocess.Popen(
            ["unshare", "--net", "sh", "-c", 'read go && exec "$@"', "sh", PIRACEMA, "kv", "replica",
             "--config", str(self.config), "--id", str(i), "--key",
             str(self.folder / f"replica-{i}.key"), "--directory", str(self.folder / f"d{i}"),
             "--first-start"], stdin=subprocess.PIPE, stderr=log, text=True)
        self.addCleanup(process.stdin.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        own = os.readlink("/proc/self/ns/net")
        deadline = time.monotonic() + SECONDS_MAX
        while os.readlink(f"/proc/{process.pid}/ns/net") == own:
            self.assertLess(time.monotonic(), deadline)
        sh("ip", "link", "add", "name", f"cable{i}", "type", "veth", "peer", "name", "eth", "netns",
           process.pid)
        sh("ip", "link", "set", f"cable{i}", "master", "bridge", "up")
        inside = ["nsenter", "--target", process.pid, "--net"]
        sh(*inside, "ip", "link", "set", "lo", "up")
        sh(*inside, "ip", "addr", "add", f"10.77.0.{i + 1}/24", "dev", "eth")
        sh(*inside, "ip", "link", "set", "eth", "up")
        process.stdin.write("go\n")
        process.stdin.flush()
        return process

    def cut(self, i):
        sh("ip", "link", "set", f"cable{i}", "down")

    def mend(self, i):
        sh("ip", "link", "set", f"cable{i}", "up")

    def ask(self, *words):
        run = subprocess.run([PIRACEMA, "kv", words[0], "--config", str(self.config), "--key",
                              str(self.folder / "client.key"), "--timeout", f"{SECONDS_MAX}s",
                              *words[1:]], capture_output=True, text=True)
        self.assertEqual(0, run.returncode, run.stderr + self.said())
        return run.stdout.strip()

    def said(self):
        return "".join((self.folder / f"log-{i}").read_text() for i in range(3))

    def leader(self):
        found = re.findall(r"leader is (\d) \(regency (\d+)\)", self.said())
        return max((int(regency), int(leader)) for leader, regency in [("0", "0"), *found])[1]

    def test_the_majority_goes_on_and_who_was_cut_off_catches_up(self):
        self.ask("put", "turn", "0")
        for turn in range(1, 4):
            victim = self.leader()
            self.cut(victim)
            self.ask("put", "turn", str(turn))
            self.assertNotEqual(victim, self.leader())
            self.assertEqual(str(turn), self.ask("get", "turn"))
            self.mend(victim)
            # With the one that was cut off and only one of the others.
            other = next(i for i in range(3) if i not in (victim, self.leader()))
            self.cut(other)
            self.assertEqual(str(turn), self.ask("get", "turn"))
            self.ask("put", "both", str(turn))
            self.mend(other)
        for process in self.replicas:
            self.assertIsNone(process.poll(), self.said())


if __name__ == "__main__":
    if os.environ.get("PIRACEMA_IN_NAMESPACE") != "1":
        into = ["unshare", "--net", "--map-root-user"]
        if subprocess.run([*into, "ip", "link", "add", "name", "b0", "type", "bridge"]).returncode != 0:
            print("SKIPPED: this machine does not let us make network namespaces and bridges")
            sys.exit(77)
        os.environ["PIRACEMA_IN_NAMESPACE"] = "1"
        os.execvp(into[0], [*into, sys.executable, "-B", *sys.argv])
    unittest.main()
