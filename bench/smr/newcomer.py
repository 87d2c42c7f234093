#!/usr/bin/env python3
"""A replica takes the place of another one while the group works at its full rate: how long until it
has caught up, beside the time of a bare copy of the same bytes over the same links, in one run.

    bench/smr/newcomer.py build/release                                   the figure: 1 GB, 1 Gbit/s
    bench/smr/newcomer.py build/release --state 100MB --rate 200mbit      smaller
    bench/smr/newcomer.py build/release --bound 3                         1 if it took longer

Each replica has a network of its own (namespaces) whose cable carries --rate in each direction; the
clients have the bridge. The bare copy goes from one replica's network to the newcomer's, into a file
that is synced; it is made before the load begins. What is measured is `piracema kv change`: the newcomer fetches the
state as a learner and then becomes a member. Wants to make namespaces and to shape links (tc, tbf);
where it may not it says so and ends with 77."""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

from group import Group, bytes_of


def sh(*words):
    subprocess.run([str(word) for word in words], check=True)


class Lan:
    """A bridge, and a network for each replica at the other end of a cable."""

    def __init__(self, count, rate):
        self.keepers = []
        sh("ip", "link", "set", "lo", "up")
        sh("ip", "link", "add", "name", "bridge", "type", "bridge")
        sh("ip", "addr", "add", "10.77.0.100/24", "dev", "bridge")
        sh("ip", "link", "set", "bridge", "up")
        for i in range(count):
            keeper = subprocess.Popen(["unshare", "--net", "sh", "-c", "echo up; exec cat"],
                                      stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            keeper.stdout.readline()
            self.keepers.append(keeper)
            sh("ip", "link", "add", "name", f"cable{i}", "type", "veth", "peer", "name", f"eth{i}")
            sh("ip", "link", "set", f"eth{i}", "netns", keeper.pid)
            sh("ip", "link", "set", f"cable{i}", "master", "bridge", "up")
            sh(*self.inside(i), "ip", "link", "set", "lo", "up")
            sh(*self.inside(i), "ip", "addr", "add", f"10.77.0.{i + 1}/24", "dev", f"eth{i}")
            sh(*self.inside(i), "ip", "link", "set", f"eth{i}", "up")
            self.shape([], f"cable{i}", rate)
            self.shape(self.inside(i), f"eth{i}", rate)

    def inside(self, i):
        return ["nsenter", "--target", str(self.keepers[i].pid), "--net"]

    @staticmethod
    def shape(where, device, rate):
        sh(*where, "tc", "qdisc", "add", "dev", device, "root", "tbf", "rate", rate, "burst", "256kb",
           "latency", "50ms")

    def end(self):
        for keeper in self.keepers:
            keeper.stdin.close()
            keeper.wait()


def change(group, remove, add):
    """Seconds until the newcomer is a member that is level."""
    began = time.monotonic()
    run = subprocess.run([group.piracema, "kv", "change", "--config", group.config, "--key",
                          group.folder / "admin.key", "--timeout", "60s", "--remove", str(remove),
                          "--add", str(add)], capture_output=True, text=True)
    if run.returncode != 0:
        raise SystemExit("kv change: " + run.stderr + group.said())
    return time.monotonic() - began


RECEIVE = """
import os, socket, sys
server = socket.create_server(("10.77.0.4", 7999))
print("up", flush=True)
connection = server.accept()[0]
with open(sys.argv[1], "wb") as file:
    while bytes := connection.recv(1 << 20):
        file.write(bytes)
    file.flush()
    os.fsync(file.fileno())
connection.sendall(b"!")
"""
SEND = """
import socket, sys
connection = socket.create_connection(("10.77.0.4", 7999))
left, piece = int(sys.argv[1]), bytes(1 << 20)
while left > 0:
    connection.sendall(piece[:left])
    left -= len(piece)
connection.shutdown(socket.SHUT_WR)
connection.recv(1)
"""


def bare_copy(lan, size, folder):
    """Seconds for so many bytes from replica 0's network to a synced file of the newcomer's."""
    file = folder / "copy"
    receiver = subprocess.Popen([*lan.inside(3), sys.executable, "-c", RECEIVE, file],
                                stdout=subprocess.PIPE, text=True)
    receiver.stdout.readline()
    began = time.monotonic()
    sh(*lan.inside(0), sys.executable, "-c", SEND, size)
    taken = time.monotonic() - began
    receiver.wait()
    file.unlink()
    return taken


def rate_of(lines):
    return sum(line["answered"] for line in lines) / max(len(lines), 1)


def run(arguments, folder):
    build = arguments.build.resolve()
    size = bytes_of(arguments.state)
    try:
        lan = Lan(4, arguments.rate)
    except (subprocess.CalledProcessError, FileNotFoundError):
        print("SKIPPED: this machine does not let us make networks whose links are shaped")
        return 77
    addresses = [f"10.77.0.{i + 1}:7000" for i in range(4)]
    group = Group(build, folder, addresses, lan.inside, arguments.checkpoint_every)
    try:
        load, lines = group.begin_load(arguments.state, arguments.outstanding, arguments.value_bytes)
        copy = bare_copy(lan, size, folder)
        load.stdin.write("go\n")
        load.stdin.flush()
        time.sleep(arguments.warm)  # The work of the program: as long at full rate before it.
        before = lines[:]
        at = len(lines)
        group.add(3)
        taken = change(group, remove=2, add=3)
        during = lines[at:]
    finally:
        group.end()
        lan.end()
    result = {"state_bytes": size, "rate": arguments.rate, "copy_seconds": round(copy, 3),
              "caught_up_seconds": round(taken, 3), "ratio": round(taken / copy, 2),
              "rate_before": round(rate_of(before)), "rate_during": round(rate_of(during)),
              "longest_gap_ms": max([line["gap_ms"] for line in during] or [0]),
              "failed": sum(line["failed"] for line in lines)}
    print(json.dumps(result) if arguments.json else
          f"{arguments.state} over {arguments.rate}: bare copy {copy:.2f} s, newcomer a member after "
          f"{taken:.2f} s ({taken / copy:.2f} times); operations a second {result['rate_before']} "
          f"before, {result['rate_during']} meanwhile, longest gap {result['longest_gap_ms']:.0f} ms, "
          f"{result['failed']} failed")
    if result["failed"]:
        print("operations failed" + group.said(), file=sys.stderr)
        return 1
    if arguments.bound and taken > arguments.bound * copy + arguments.grace:
        print(f"want at most {arguments.bound} times the bare copy and {arguments.grace} s"
              + group.said(), file=sys.stderr)
        return 1
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path, help="build/release")
    parser.add_argument("--state", default="1GB", help="KB, MB or GB; default: 1GB")
    parser.add_argument("--rate", default="1gbit", help="of each cable, as tc has it")
    parser.add_argument("--outstanding", type=int, default=64, help="operations under way")
    parser.add_argument("--value-bytes", type=int, default=100)
    parser.add_argument("--checkpoint-every", type=int, default=0, help="instances; 0: the default")
    parser.add_argument("--warm", type=float, default=5, help="seconds of load before")
    parser.add_argument("--bound", type=float, default=0, help="times the copy; 0: none")
    parser.add_argument("--grace", type=float, default=0, help="seconds beside the bound")
    parser.add_argument("--directory", type=pathlib.Path, help="for what replicas keep; default: a new one")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    if os.environ.get("PIRACEMA_IN_NAMESPACE") != "1":
        into = ["unshare", "--net", "--map-root-user"]
        if subprocess.run([*into, "true"]).returncode != 0:
            print("SKIPPED: this machine does not let us make network namespaces")
            return 77
        os.environ["PIRACEMA_IN_NAMESPACE"] = "1"
        os.execvp(into[0], [*into, sys.executable, "-B", *sys.argv])
    with tempfile.TemporaryDirectory(dir=arguments.directory) as folder:
        return run(arguments, pathlib.Path(folder))


if __name__ == "__main__":
    sys.exit(main())
