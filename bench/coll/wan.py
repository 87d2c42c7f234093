#!/usr/bin/env python3
"""Collectives over real TCP between network namespaces whose links have delays, bare and preloaded.

    bench/coll/wan.py BUILD_DIRECTORY [--hosts 6] [--repeats 9] [--runs 3]

Wants root, /dev/net/tun and network namespaces. Each rank is on a host of its own: a namespace with
its own name and address, which reaches the others through one TUN device alone. A program in between
(bench/coll/wan.cpp) holds packets back, since not every kernel has netem. Three sites, 1 ms within and
20 ms between; then the links from rank 0 to the second site take 200 ms.
"""

import argparse
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading

SKIPPED = 77
WITHIN_S = 180
# What the program prints last.
LAST = '"end"'


def ip(*words, check=True):
    return subprocess.run(["ip", *map(str, words)], check=check, capture_output=True, text=True)


def why_not():
    """Why there cannot be such hosts here; nothing if there can."""
    for command in ["ip", "unshare", "mpirun.openmpi"]:
        if shutil.which(command) is None:
            return f"no {command}"
    if not pathlib.Path("/dev/net/tun").exists():
        return "no /dev/net/tun"
    name = f"coll{os.getpid()}x"
    made = ip("netns", "add", name, check=False)
    ip("netns", "del", name, check=False)
    return None if made.returncode == 0 else "network namespaces cannot be made"


class Wan:
    """Hosts 10.89.0.1 and so on; gone with `close`."""

    def __init__(self, build, count, folder):
        self.names = [f"coll{os.getpid()}h{i + 1}" for i in range(count)]
        self.addresses = [f"10.89.0.{i + 1}" for i in range(count)]
        self.links = folder / "links"
        self.links.write_text("")
        self.router = None
        for name in self.names:
            ip("netns", "add", name)
        self.router = subprocess.Popen([build / "bench/bench_coll_wan", self.links, *self.names],
                                       stdout=subprocess.PIPE, text=True)
        if self.router.stdout.readline().strip() != "ready":
            self.close()
            sys.exit("the network between the hosts does not start")
        for name, address in zip(self.names, self.addresses):
            ip("-n", name, "link", "set", "lo", "up")
            ip("-n", name, "addr", "add", f"{address}/24", "dev", "wan0")
            ip("-n", name, "link", "set", "wan0", "up")
        # ssh's words: the host, a command. Each host has its own name, too.
        self.rsh = folder / "rsh"
        self.rsh.write_text("#!/bin/sh\nn=${1##*.}\nshift\n"
                            f"exec ip netns exec coll{os.getpid()}h$n unshare -u "
                            "sh -c 'hostname host$0; exec sh -c \"$*\"' $n \"$@\"\n")
        self.rsh.chmod(0o755)

    def mpirun(self, program, words, variables):
        """What rank 0 prints."""
        command = [self.rsh, self.addresses[0], "mpirun.openmpi", "--allow-run-as-root"]
        command += ["--host", ",".join(self.addresses), "-n", str(len(self.addresses))]
        settings = {"plm_rsh_agent": self.rsh, "btl": "tcp,self", "pml": "ob1",
                    "btl_tcp_if_include": "wan0", "oob_tcp_if_include": "wan0",
                    "plm_rsh_no_tree_spawn": "1", "mpi_yield_when_idle": "1"}
        for name, value in settings.items():
            command += ["--mca", name, value]
        for name, value in variables.items():
            command += ["-x", f"{name}={value}"]
        command = [*map(str, command), *map(str, [program, *words])]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as job:
            watch = threading.Timer(WITHIN_S, self.kill)
            watch.start()
            lines = []
            for line in job.stdout:
                lines.append(line)
                if line.startswith(LAST):
                    break
            watch.cancel()
            # Open MPI's launcher often stays when all ranks have ended, if links are slow.
            self.kill()
        if not lines or not lines[-1].startswith(LAST):
            sys.exit(f"the program did not end within {WITHIN_S} s:\n{''.join(lines)}")
        return "".join(lines)

    def kill(self):
        """All that runs on the hosts."""
        for name in self.names:
            for pid in ip("netns", "pids", name, check=False).stdout.split():
                # The router was started outside, but its sockets are in here.
                if self.router and int(pid) == self.router.pid:
                    continue
                try:
                    os.kill(int(pid), 9)
                except ProcessLookupError:
                    pass

    def close(self):
        self.kill()
        if self.router:
            self.router.kill()
            self.router.wait()
        for name in self.names:
            ip("netns", "del", name, check=False)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--hosts", type=int, default=6)
    parser.add_argument("--repeats", type=int, default=9)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--settle", type=float, default=5, help="seconds to measure links in")
    parser.add_argument("--engines", default="bare,tree,auto")
    arguments = parser.parse_args()
    reason = why_not()
    if reason:
        print(f"SKIPPED: {reason}")
        return SKIPPED
    build = arguments.build.resolve()
    print(f"load {os.getloadavg()[0]:.1f} at the start, {os.cpu_count()} cores; ms, median [least]")
    results = {engine: [] for engine in arguments.engines.split(",")}
    with tempfile.TemporaryDirectory() as name:
        wan = Wan(build, arguments.hosts, pathlib.Path(name))
        try:
            for _ in range(arguments.runs):
                for engine, runs in results.items():
                    variables = {}
                    if engine != "bare":
                        library = build / "src/coll/mpi/openmpi/libpiracema_coll.so"
                        variables = {"LD_PRELOAD": library, "PIRACEMA_COLL_ENGINE": engine}
                    wan.links.write_text("")
                    output = wan.mpirun(build / "bench/bench_coll_sites",
                                        [wan.links, arguments.settle, arguments.repeats], variables)
                    runs.append(json.loads(output))
        finally:
            wan.close()
    one = next(iter(results.values()))[0]
    for when in ["before", "after"]:
        binomial, fast = one[f"{when}_model_s"]
        print(f"model, broadcast {when}: binomial {binomial * 1e3:.1f} ms, fast {fast * 1e3:.1f} ms")
    for engine, runs in results.items():
        cells = []
        for key in ["before_broadcast_s", "before_allreduce_s", "after_broadcast_s", "after_allreduce_s"]:
            values = [value for result in runs for value in result[key]]
            cells.append(f"{key[:-2]} {statistics.median(values) * 1e3:.1f} [{min(values) * 1e3:.1f}]")
        print(f"{engine:6} " + ", ".join(cells))
    return 0


if __name__ == "__main__":
    sys.exit(main())
