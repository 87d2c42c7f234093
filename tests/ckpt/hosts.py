"""Several hosts on one machine: network namespaces on a bridge, and what stands in for ssh to them."""

import os
import pathlib
import shutil
import subprocess

from watch import wait_for_end

NETWORK = "10.88.0"


def ip(*words, check=True):
    return subprocess.run(["ip", *map(str, words)], check=check, capture_output=True, text=True)


def can_be_made():
    """Why not; nothing if they can."""
    if shutil.which("ip") is None:
        return "no ip command (iproute2)"
    if not pathlib.Path("/dev/net/tun").exists():
        return "no /dev/net/tun"
    name = f"pira{os.getpid()}x"
    if ip("netns", "add", name, check=False).returncode != 0:
        return "network namespaces cannot be made"
    made = ip("-n", name, "link", "add", "br0", "type", "bridge", check=False)
    ip("netns", "del", name)
    return None if made.returncode == 0 else "the kernel has no bridge"


class Hosts:
    """Hosts 1 to `count`, by address; all see the same files. Gone with `close`."""

    def __init__(self, count, folder, network=NETWORK):
        self.network = network
        self.prefix = f"pira{os.getpid()}h"
        self.switch = f"pira{os.getpid()}s"
        self.count = count
        ip("netns", "add", self.switch)
        ip("-n", self.switch, "link", "add", "br0", "type", "bridge")
        ip("-n", self.switch, "link", "set", "br0", "up")
        for host in range(1, count + 1):
            self._add(host)
        # ssh's words: options, the host, a command.
        self.rsh = pathlib.Path(folder) / "rsh"
        self.rsh.write_text(f'#!/bin/sh\nhost=${{1##*.}}\nshift\nexec ip netns exec {self.prefix}$host "$@"\n')
        self.rsh.chmod(0o755)

    def _add(self, host):
        name = f"{self.prefix}{host}"
        ip("netns", "add", name)
        ip("-n", name, "link", "set", "lo", "up")
        self.join(host, f"p{host}", name)

    def join(self, number, port, namespace, device="eth0"):
        """Brings a namespace to the network, by its last part of an address, and a port of the switch; none: ours."""
        inside = ["-n", namespace] if namespace else []
        ip("link", "add", device, *(["netns", namespace] if namespace else []), "type", "veth", "peer", "name", port,
           "netns", self.switch)
        ip(*inside, "addr", "add", f"{self.network}.{number}/24", "dev", device)
        ip(*inside, "link", "set", device, "up")
        ip("-n", self.switch, "link", "set", port, "master", "br0")
        ip("-n", self.switch, "link", "set", port, "up")

    def names(self, *numbers):
        return ",".join(f"{self.network}.{number}" for number in numbers)

    def pids(self, host):
        return [int(pid) for pid in ip("netns", "pids", f"{self.prefix}{host}").stdout.split()]

    def wait_for_end(self, *hosts):
        """Until no process is left on them."""
        while left := [pid for host in hosts for pid in self.pids(host)]:
            for pid in left:
                wait_for_end(pid)

    def kill(self, host):
        for pid in self.pids(host):
            try:
                os.kill(pid, 9)
            except ProcessLookupError:
                pass

    def cut(self, host):
        ip("-n", self.switch, "link", "set", f"p{host}", "down")

    def heal(self, host):
        ip("-n", self.switch, "link", "set", f"p{host}", "up")

    def close(self):
        for host in range(1, self.count + 1):
            self.kill(host)
            ip("netns", "del", f"{self.prefix}{host}", check=False)
        ip("netns", "del", self.switch, check=False)
