"""A GlusterFS of this machine's own, over a link that is slow for all who write to it."""

import contextlib
import os
import pathlib
import shutil
import signal
import subprocess

from jobs import wait_until_gone

NETWORK, VOLUME = "10.99.7", "lane"
GLUSTERD = """volume management
    type mgmt/glusterd
    option working-directory {folder}/work
    option transport-type socket
    option transport.socket.bind-address {network}.2
    option run-directory {folder}/run
    option glusterd-sockfile {folder}/socket
    option max-port 60999
end-volume
"""


def why_not():
    """Nothing if one can be made here."""
    for program, package in [("glusterd", "glusterfs-server"), ("mount.glusterfs", "glusterfs-client"),
                             ("ip", "iproute2"), ("tc", "iproute2")]:
        if shutil.which(program) is None:
            return f"no {program}: apt-get install {package}"
    return None if pathlib.Path("/dev/fuse").exists() else "no /dev/fuse"


def run(*words):
    done = subprocess.run([*map(str, words)], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, words))}: {done.stdout}{done.stderr}")
    return done.stdout


class Server:
    """The host that has the bricks: a network namespace, and a link to it of so many megabytes a second."""

    def __init__(self, megabytes_per_second):
        self.host, self.link = f"piragl{os.getpid()}", f"pgl{os.getpid()}"
        run("ip", "netns", "add", self.host)
        run("ip", "link", "add", self.link, "type", "veth", "peer", "name", "eth0", "netns", self.host)
        run("ip", "addr", "add", f"{NETWORK}.1/24", "dev", self.link)
        run("ip", "link", "set", self.link, "up")
        self.run("ip", "addr", "add", f"{NETWORK}.2/24", "dev", "eth0")
        self.run("ip", "link", "set", "eth0", "up")
        self.run("ip", "link", "set", "lo", "up")
        run("tc", "qdisc", "add", "dev", self.link, "root", "tbf", "rate", f"{int(8 * megabytes_per_second)}mbit",
            "burst", "256kb", "latency", "50ms")

    def run(self, *words):
        return run("ip", "netns", "exec", self.host, *words)

    def close(self):
        for pid in map(int, run("ip", "netns", "pids", self.host).split()):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
                wait_until_gone(pid)
        run("ip", "netns", "del", self.host)


@contextlib.contextmanager
def gluster_store(megabytes_per_second, folder):
    """A volume of two bricks, mounted by fuse. RuntimeError with what cannot be started."""
    place = folder / "mounted"
    for directory in [place, folder / "work", folder / "run", folder / "brick-1", folder / "brick-2"]:
        directory.mkdir()
    settings = folder / "glusterd.vol"
    settings.write_text(GLUSTERD.format(folder=folder, network=NETWORK))
    with contextlib.ExitStack() as stack:
        server = Server(megabytes_per_second)
        stack.callback(server.close)
        # It is a daemon once it can be asked.
        server.run("glusterd", "-f", settings, "-p", folder / "pid", "-l", folder / "log")
        gluster = ["gluster", f"--glusterd-sock={folder}/socket", "--mode=script", "volume"]
        bricks = [f"{NETWORK}.2:{folder}/brick-{number}" for number in [1, 2]]
        server.run(*gluster, "create", VOLUME, *bricks, "force")
        server.run(*gluster, "start", VOLUME)
        run("mount", "-t", "glusterfs", "-o", f"log-file={folder}/log-mount", f"{NETWORK}.2:/{VOLUME}", place)
        # Somebody may still look at it who has not heard that his job has ended.
        stack.callback(run, "umount", "--lazy", place)
        yield place
