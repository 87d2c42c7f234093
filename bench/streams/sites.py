#!/usr/bin/env python3
"""A pipeline over four hosts on two sites, placed by where these are and without being told.

    bench/streams/sites.py BUILD [--seconds 15] [--rounds 3] [--kib 64]

Hosts are network namespaces. Those of a site are on one bridge; between the two bridges is one link for all, of
80 Mbit/s (tbf) in each direction. The file of hosts names them in turns, east and west, two processes each.
Runs bench/streams/sites_app.cpp, eight stages, in turns with `site=` in the file and without. Printed is how
many items a second came in the last two thirds of the time, how often the pipeline goes from site to site,
how many bytes went over the link for each item's own, and what the link lets through at most. Wants root and
network namespaces.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

SKIPPED = 77
SITES = ["east", "west", "east", "west"]
# Processes of a host.
PLACES = 2
LINK_MBIT = 80


def ip(*words, check=True):
    return subprocess.run(["ip", *map(str, words)], check=check, capture_output=True, text=True)


class TwoSites:
    """Hosts 10.90.0.1 and so on; gone with `close`."""

    def __init__(self, folder):
        self.names = [f"site{os.getpid()}h{i + 1}" for i in range(len(SITES))]
        self.addresses = [f"10.90.0.{i + 1}" for i in range(len(SITES))]
        self.between = f"site{os.getpid()}x"
        for name in [*self.names, self.between]:
            ip("netns", "add", name)
        at = ["-n", self.between]
        for site in set(SITES):
            ip(*at, "link", "add", "name", site, "type", "bridge")
            ip(*at, "link", "set", site, "up")
        ip(*at, "link", "add", "name", "to-west", "type", "veth", "peer", "name", "to-east")
        for end, site in [("to-west", "east"), ("to-east", "west")]:
            ip(*at, "link", "set", end, "master", site, "up")
            subprocess.run(["tc", "-n", self.between, "qdisc", "add", "dev", end, "root", "tbf", "rate", f"{LINK_MBIT}mbit",
                            "burst", "64kb", "latency", "50ms"], check=True)
        for i, (name, address, site) in enumerate(zip(self.names, self.addresses, SITES)):
            ip(*at, "link", "add", "name", f"cable{i}", "type", "veth", "peer", "name", "eth", "netns", name)
            ip(*at, "link", "set", f"cable{i}", "master", site, "up")
            ip("-n", name, "link", "set", "lo", "up")
            ip("-n", name, "addr", "add", f"{address}/24", "dev", "eth")
            ip("-n", name, "link", "set", "eth", "up")
        # ssh's words: the host, a command. Each host has its own name, too.
        self.rsh = folder / "rsh"
        self.rsh.write_text("#!/bin/sh\nn=${1##*.}\nshift\n"
                            f"exec ip netns exec site{os.getpid()}h$n unshare -u "
                            "sh -c 'hostname host$0; exec sh -c \"$*\"' $n \"$@\"\n")
        self.rsh.chmod(0o755)

    def sent(self):
        """Bytes over the link so far, both ways."""
        links = json.loads(ip("-n", self.between, "-s", "-j", "link", "show").stdout)
        return sum(link["stats64"]["tx"]["bytes"] for link in links if link["ifname"].startswith("to-"))

    def close(self):
        for name in [*self.names, self.between]:
            ip("netns", "del", name, check=False)


def run(options, network, folder, says_sites):
    """Items a second; how often it goes from site to site; bytes over the link for each of an item."""
    hosts = folder / "hosts"
    hosts.write_text("".join(f"{address} slots={PLACES}" + (f" site={site}" if says_sites else "") + "\n"
                             for address, site in zip(network.addresses, SITES)))
    out = folder / "out"
    command = ["ip", "netns", "exec", network.names[0], options.build / "tools/piracema", "run", "--json", "--rsh",
               network.rsh, "--hostfile", hosts, options.build / "bench/sites_app", out, str(1 << 62),
               str(options.kib * 1024)]
    with open(folder / "errors", "w+") as errors:
        job = subprocess.Popen([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=errors, text=True)
        planned = None
        for line in job.stdout:
            event = json.loads(line)
            if event["event"] == "planned":
                planned = event
            if event["event"] == "running":
                break
        else:
            errors.seek(0)
            sys.exit(f"the job did not begin: {errors.read()}")
        time.sleep(options.seconds / 3)
        begin, before = time.monotonic(), network.sent()
        time.sleep(options.seconds * 2 / 3)
        end, after = time.monotonic(), network.sent()
        job.terminate()
        job.stdout.read()
        if job.wait() != 143:
            errors.seek(0)
            sys.exit(f"the job ended with {job.returncode}: {errors.read()}")
    site_of = [SITES[one["worker"] // PLACES] for one in planned["replicas"]]
    times = [int(line.split()[2]) / 1e9 for line in out.read_text().splitlines()]
    items = sum(begin <= at < end for at in times)
    return (items / (end - begin), sum(a != b for a, b in zip(site_of, site_of[1:])),
            (after - before) / max(1, items) / (options.kib * 1024))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=lambda text: pathlib.Path(text).resolve())
    parser.add_argument("--seconds", type=float, default=15)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--kib", type=int, default=64)
    options = parser.parse_args()
    if ip("netns", "add", f"site{os.getpid()}x", check=False).returncode != 0:
        print("SKIPPED: network namespaces cannot be made")
        return SKIPPED
    ip("netns", "del", f"site{os.getpid()}x")
    found = {"without": [], "by site": []}
    with tempfile.TemporaryDirectory(prefix="piracema-sites-") as name:
        network = TwoSites(pathlib.Path(name))
        try:
            for _ in range(options.rounds):
                for way, runs in found.items():
                    runs.append(run(options, network, pathlib.Path(name), way == "by site"))
        finally:
            network.close()
    most = LINK_MBIT * 1e6 / 8 / (options.kib * 1024)
    print(f"8 stages on {len(SITES)} hosts, items of {options.kib} KiB; load {os.getloadavg()[0]:.1f}; the link lets "
          f"{most:.1f} items/s through each way")
    for way, runs in found.items():
        rates = [rate for rate, _, _ in runs]
        print(f"{way}: {statistics.median(rates):.1f} items/s ({min(rates):.1f} to {max(rates):.1f}), from site to site "
              f"{runs[0][1]} times, {statistics.median(run[2] for run in runs):.2f} bytes for each of an item")
    pairs = [b[0] / a[0] for a, b in zip(*found.values()) if a[0] > 0]
    print(f"by site / without: {statistics.median(pairs):.2f} ({min(pairs):.2f} to {max(pairs):.2f})")
    return 0


if __name__ == "__main__":
    sys.exit(main())
