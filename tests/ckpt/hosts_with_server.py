"""Hosts of hosts.py with a server of files on their network: a GlusterFS, of which each host has a client of its own,
so that none sees by its kernel what another one does."""

import contextlib
import os
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "servers"))
import gluster  # noqa: E402
import hosts  # noqa: E402
from watch import wait_for_end  # noqa: E402

SERVER, OURS = 250, 254  # Their addresses on the network.


class Server(gluster.Server):
    """A GlusterFS of one brick at a port of the hosts' switch: one link of so many megabytes a second, each way, for
    all who write to it or read of it; none: as fast as it is."""

    # None is lost here: a machine may be busy with what hosts do.
    ping_timeout = 60

    def __init__(self, network, megabytes_per_second, folder):
        super().__init__(1, 1, megabytes_per_second, brick_size=None, parent=folder)
        self.switch = network
        self.address = f"{network.network}.{SERVER}"

    def start_host(self):
        gluster.run("ip", "netns", "add", self.host)
        self.inside("ip", "link", "set", "lo", "up")
        self.switch.join(SERVER, "server", self.host)
        for namespace, device in [] if self.rate is None else [(self.switch.switch, "server"), (self.host, "eth0")]:
            gluster.run("tc", "-n", namespace, "qdisc", "add", "dev", device, "root", "tbf", "rate",
                        f"{int(8 * self.rate)}mbit", "burst", "256kb", "latency", "50ms")


class HostsWithServer:
    """Hosts 1 to `count`. `local` is a folder of this machine's disk, which all of them see; `remote` is the server's
    file system, which is left out if nobody wants it. Gone with `close`."""

    def __init__(self, count, folder, megabytes_per_second=None, remote=True):
        # Two of them at a time have a network each.
        number = os.getpid()
        self.folder, self.count = pathlib.Path(folder), count
        self.places = {"local": self.folder / "local"}
        self.places["local"].mkdir()
        self.kept = {}
        with contextlib.ExitStack() as stack:
            self.network = hosts.Hosts(count, folder, f"10.{120 + number // 256 % 24}.{number % 256}")
            stack.callback(self.network.close)
            self.remote_shells = {"local": self.network.rsh}
            if remote:
                self._serve(megabytes_per_second, stack)
            self.stack = stack.pop_all()

    def _serve(self, rate, stack):
        self.network.join(OURS, "ours", None, device=f"pira{os.getpid()}o")
        server = Server(self.network, rate, self.folder)
        stack.callback(server.end)
        self.places["remote"] = server.start().place
        # A host has a namespace of mounts for as long as it is there, and in it a mount of its own in place of ours.
        for host in range(1, self.count + 1):
            one = stack.enter_context(subprocess.Popen(
                ["ip", "netns", "exec", f"{self.network.prefix}{host}", "sh", "-c",
                 f"umount {server.place} && mount -t glusterfs -o log-file={server.folder}/log-{host} "
                 f"{server.address}:/{gluster.VOLUME} {server.place} && echo mounted && exec sleep infinity"],
                stdout=subprocess.PIPE, text=True))
            stack.callback(one.kill)
            if one.stdout.readline() != "mounted\n":
                raise RuntimeError(f"host {host} cannot mount {server.place}")
            (self.folder / f"host-{host}").write_text(str(one.pid))
            self.kept[host] = set(self.network.pids(host))
        rsh = self.folder / "rsh-remote"
        rsh.write_text(f'#!/bin/sh\nread pid < {self.folder}/host-${{1##*.}}\nshift\n'
                       'exec nsenter --target "$pid" --mount --net "$@"\n')
        rsh.chmod(0o755)
        self.remote_shells["remote"] = rsh

    def on(self, store, *numbers):
        """The words for a job of these hosts."""
        return ["--hosts", self.network.names(*numbers), "--rsh", self.remote_shells[store]]

    def wait_until_idle(self):
        """Until no process of a job is left on any host."""
        for host in range(1, self.count + 1):
            while left := set(self.network.pids(host)) - self.kept.get(host, set()):
                for pid in left:
                    wait_for_end(pid)

    def close(self):
        self.stack.close()
