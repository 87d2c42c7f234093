#!/usr/bin/env python3
"""What all replicas get, on several hosts: over each link once, whoever is killed, and around a link that
becomes slow."""

import os
import signal
import subprocess
import unittest

from hosts import *

NEWS = os.environ["NEWS_APP"]
# One replica in each process.
READERS = 8
HOSTS = "h1:4,h2:2,h3:2,h4:2"
HOST_OF_SLOT = ["h1"] * 4 + ["h2"] * 2 + ["h3"] * 2 + ["h4"] * 2


class Broadcast(OnHosts):
    HOSTS = 4

    def start_news(self, *options, items, size, pause_us=0):
        self.items = items
        # That a busy machine is no lost one is for other tests: nobody stands still in these.
        self.start("--hosts", HOSTS, "-n", READERS + 2, "--heartbeat", "1s", *options, NEWS, "out", f"readers={READERS}",
                   f"items={items}", f"bytes={size}", f"pause_us={pause_us}")

    def check_lines(self):
        """Each reader has had each item once, and whole."""
        wanted = sorted(f"{item} {reader}" for item in range(self.items) for reader in range(READERS))
        self.assertEqual(wanted, sorted((self.folder / "out").read_text().splitlines()))

    def bytes_to_hosts(self):
        """All that has gone over the cables so far."""
        sent = 0
        for i in range(1, self.HOSTS + 1):
            told = subprocess.run(["ip", "-s", "-j", "link", "show", f"cable{i}"], check=True, capture_output=True)
            sent += json.loads(told.stdout)[0]["stats64"]["tx"]["bytes"]
        return sent

    def hosts(self):
        """Of the sender, and of each reader."""
        planned = next(event for event in self.events if event["event"] == "planned")
        host_of = {one["name"]: HOST_OF_SLOT[one["worker"]] for one in planned["replicas"]}
        return host_of["write"], [host_of[f"read/{i}"] for i in range(READERS)]

    def test_each_host_gets_an_item_once(self):
        for option in [[], ["--direct-broadcasts"]]:
            before = self.bytes_to_hosts()
            self.start_news(*option, items=300, size=50_000)
            self.finish()
            self.check_lines()
            (self.folder / "out").unlink()
            sender, readers = self.hosts()
            others = [host for host in readers if host != sender]
            copies = len(others if option else set(others))
            sent = (self.bytes_to_hosts() - before) / (300 * 50_000)
            # Acknowledgements, credits and the processes' own beginning come on top.
            self.assertGreater(sent, 0.95 * copies)
            self.assertLess(sent, 1.25 * copies, option)

    def test_items_come_once_whoever_is_killed_on_their_way(self):
        self.start_news("--snapshots", "snapshots", "--every", "100ms", items=3_000, size=2_000,
                        pause_us=1_000)
        self.wait_for("snapshot")
        # The lowest slot of each host is the one that passes items on.
        for host in ["h2", "h4", "h1", "h3"]:
            os.kill(min((slot, pid) for slot, (pid, at) in self.workers().items() if at == host)[1],
                    signal.SIGKILL)
            self.wait_for("running")
            self.wait_for("snapshot")
        self.finish()
        self.assertEqual(4, len([event for event in self.events if event["event"] == "recovering"]))
        self.check_lines()

    def test_a_link_that_becomes_slow_is_gone_around_and_nothing_is_done_again(self):
        self.start_news(items=3_000, size=200_000, pause_us=5_000)
        self.wait_for("running")
        sender, _ = self.hosts()
        slow = next(host for host in ["h2", "h3", "h4", "h1"] if host != sender)
        for host in self.holders:
            self.shape(host, {})
        self.wait_for("first_item_out")
        self.shape(sender, {slow: "4mbit"})

        def avoids_it(routed):
            ways = dict(way.split(" to ") for way in routed["tree"].split("; "))
            return f"10.78.0.{slow[1:]}" not in ways[f"10.78.0.{sender[1:]}"].split()
        # A busy machine may have other reasons for a change before that.
        self.assertEqual("read", self.wait_for("broadcast_routed", avoids_it)["node"])
        self.finish()
        self.assertEqual([], [event for event in self.events if event["event"] == "lost"])
        self.check_lines()

    def shape(self, host, slow):
        """Links from this host carry 200 Mbit/s each, but for some."""
        inside = ["nsenter", "--target", self.holders[host].pid, "--net", "tc"]
        subprocess.run([*map(str, inside), "qdisc", "del", "dev", "eth", "root"], capture_output=True)
        sh(*inside, "qdisc", "add", "dev", "eth", "root", "handle", "1:", "htb")
        for i in range(1, self.HOSTS + 1):
            rate = slow.get(f"h{i}", "200mbit")
            sh(*inside, "class", "add", "dev", "eth", "parent", "1:", "classid", f"1:{i}", "htb", "rate", rate, "quantum", 20_000)
            sh(*inside, "filter", "add", "dev", "eth", "parent", "1:", "protocol", "ip", "u32", "match", "ip",
               "dst", f"10.78.0.{i}/32", "flowid", f"1:{i}")


if __name__ == "__main__":
    in_namespace()
    unittest.main()
