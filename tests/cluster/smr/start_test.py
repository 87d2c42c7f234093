#!/usr/bin/env python3
"""A group from one command: `piracema kv start` makes it, runs it, and ends it without losing
anything; `kv leader` says where its leader is without a key; `kv init` makes one to be run elsewhere."""

import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import tempfile
import time
import unittest

PIRACEMA = os.environ["PIRACEMA_COMMAND"]
SECONDS_MAX = 120


class Start(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.place = pathlib.Path(folder.name) / "g"

    def start(self, *options):
        process = subprocess.Popen([PIRACEMA, "kv", "start", "--directory", self.place, *options],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def run_it(self, *words):
        return subprocess.run([PIRACEMA, "kv", *map(str, words)], capture_output=True, text=True,
                              timeout=SECONDS_MAX)

    def ask(self, *words):
        run = self.run_it(words[0], "--config", self.place / "group.toml", "--key",
                          self.place / "client.key", "--timeout", "60s", *words[1:])
        self.assertEqual(0, run.returncode, run.stderr)
        return run.stdout.strip()

    def wait_for(self, process, words):
        for line in process.stdout:
            if re.search(words, line):
                return line
        self.fail(f"it ended without '{words}': {process.stderr.read()}")

    def end(self, process, how):
        process.send_signal(how)
        self.assertEqual(0, process.wait(SECONDS_MAX))

    def children_of(self, process):
        return pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()

    def test_a_group_is_made_runs_ends_cleanly_and_goes_on(self):
        process = self.start("--replicas", "5", "--name", "locks")
        self.wait_for(process, "leads")
        self.ask("put", "color", "blue")
        self.assertEqual(5, len(self.children_of(process)))
        children = self.children_of(process)
        self.end(process, signal.SIGINT)
        for child in children:
            self.assertFalse(pathlib.Path(f"/proc/{child}").exists())
        again = self.start()
        self.wait_for(again, "group locks of 5")
        self.assertEqual("blue", self.ask("get", "color"))
        self.end(again, signal.SIGTERM)

    def test_a_list_has_all_entries_also_where_a_reply_has_no_room_for_them(self):
        process = self.start("--memory")
        self.wait_for(process, "leads")
        keys = [f"key {number}" for number in range(10, 30)]
        for key in [*keys, "other"]:
            self.ask("put", key, "x" * 100_000)
        listed = self.ask("list", "key").splitlines()
        self.assertEqual(keys, [line.partition(" = ")[0] for line in listed])
        as_json = json.loads(self.ask("list", "--json", "key"))
        self.assertEqual(keys, [entry["key"] for entry in as_json["entries"]])
        self.assertNotIn("more", as_json)
        self.end(process, signal.SIGTERM)

    def test_a_replica_that_dies_is_started_again(self):
        process = self.start()
        self.wait_for(process, "leads")
        # It has run for long enough when the third answer is there that nobody takes it for wrong.
        victim = self.children_of(process)[2]
        self.wait_until_old(victim)
        os.kill(int(victim), signal.SIGKILL)
        self.wait_for(process, "replica 2 has ended and is started again")
        self.ask("put", "color", "green")
        self.end(process, signal.SIGINT)

    def wait_until_old(self, pid):
        ticks = os.sysconf("SC_CLK_TCK")
        began = int(pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[19]) / ticks
        while time.clock_gettime(time.CLOCK_BOOTTIME) < began + 2.5:
            time.sleep(0.05)

    def test_whoever_asks_is_told_where_the_leader_is_without_a_key(self):
        process = self.start()
        leader = re.search(r"replica (\d+) leads", self.wait_for(process, "leads")).group(1)
        text = (self.place / "group.toml").read_text()
        addresses = re.findall(r'address = "(.*)"', text)
        told = json.loads(self.run_it("leader", "--group", "kv", "--json", *addresses).stdout)
        self.assertEqual((int(leader), addresses[int(leader)]), (told["leader"], told["address"]))
        plain = self.run_it("leader", "--config", self.place / "group.toml")
        self.assertEqual(addresses[int(leader)], plain.stdout.strip())
        # One of them is enough; one of another group says so.
        one = self.run_it("leader", "--group", "kv", addresses[1])
        self.assertEqual(0, one.returncode, one.stderr)
        other = self.run_it("leader", "--group", "another", addresses[1])
        self.assertEqual(1, other.returncode)
        self.assertIn("another group or version", other.stderr)
        # The log does not complain of who was told.
        self.end(process, signal.SIGINT)
        self.assertNotIn("was told", process.stderr.read())

    def test_nobody_who_leads_is_an_error_in_time(self):
        with socket.create_server(("127.0.0.1", 0)) as mute:
            run = self.run_it("leader", "--group", "kv", "--timeout", "300ms",
                              f"127.0.0.1:{mute.getsockname()[1]}")
        self.assertEqual(1, run.returncode)
        self.assertIn("no answer in time", run.stderr)
        self.assertEqual(2, self.run_it("leader", "--group", "kv").returncode)

    def test_wrong_wishes_are_said(self):
        few = self.run_it("start", "--directory", self.place, "--replicas", "2")
        self.assertEqual(3, few.returncode)
        self.assertIn("want at least 3 replicas, of which one may stop, found 2", few.stderr)
        process = self.start()
        self.wait_for(process, "leads")
        self.end(process, signal.SIGINT)
        other = self.run_it("start", "--directory", self.place, "--replicas", "5")
        self.assertEqual(3, other.returncode)
        self.assertIn("want a group of 5 replicas, found one of 3", other.stderr)
        # Two at a time have one disk.
        first = self.start()
        self.wait_for(first, "leads")
        second = self.run_it("start", "--directory", self.place)
        self.assertEqual(3, second.returncode)
        self.assertIn("ends as soon as it is started", second.stderr)
        self.end(first, signal.SIGINT)

    def test_keys_and_configuration_alone(self):
        wrong = self.run_it("init", "--directory", self.place, "h:1", "h:2", "h:1")
        self.assertEqual(3, wrong.returncode)
        self.assertIn("found 'h:1' twice", wrong.stderr)
        made = self.run_it("init", "--directory", self.place, "--byzantine", "10.0.0.1:7300",
                           "10.0.0.2:7300", "10.0.0.3:7300", "10.0.0.4:7300")
        self.assertEqual((0, ""), (made.returncode, made.stderr))
        self.assertEqual(4, made.stdout.count("piracema kv replica --config group.toml"))
        self.assertIn('faults = "byzantine"', (self.place / "group.toml").read_text())
        for name in ["replica-3.key", "client.key", "administrator.key"]:
            self.assertEqual(0o600, (self.place / name).stat().st_mode & 0o777)
        again = self.run_it("init", "--directory", self.place, "10.0.0.1:7300")
        self.assertEqual(3, again.returncode)
        self.assertIn("there is a group already", again.stderr)


if __name__ == "__main__":
    unittest.main()
