"""A real GlusterFS for tests: a network namespace is the host that has the bricks, and the volume is mounted
here by FUSE."""

import contextlib
import os
import pathlib
import select
import shutil
import signal
import subprocess
import tempfile
import time

VOLUME = "tests"
SECONDS_MAX = 120
GLUSTERD = """volume management
    type mgmt/glusterd
    option working-directory {folder}/work
    option transport-type socket
    option transport.socket.bind-address {address}
    option run-directory {folder}/run
    option glusterd-sockfile {folder}/socket
    option max-port 60999
end-volume
"""


def missing():
    """Why there can be no server here; empty if there can."""
    for program, package in [("glusterd", "glusterfs-server"), ("mount.glusterfs", "glusterfs-client"),
                             ("ip", "iproute2"), ("tc", "iproute2")]:
        if shutil.which(program) is None:
            return f"no {program}: apt-get install {package}"
    if not pathlib.Path("/dev/fuse").exists():
        return "no /dev/fuse"
    return "" if os.geteuid() == 0 else "not root"


def run(*words):
    done = subprocess.run([*map(str, words)], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, words))}: {done.stdout}{done.stderr}")
    return done.stdout


def wait_until_gone(pid):
    with contextlib.suppress(ProcessLookupError):
        handle = os.pidfd_open(pid)
        select.select([handle], [], [])
        os.close(handle)


class Server:
    """A volume of `bricks`, each file in `copies` of them: with three copies one brick may be lost. All who
    write to it share a link of so many megabytes a second; none: as fast as it is. A brick is a file
    system of its own of `brick_size` (as tmpfs has it); none: a folder."""

    name = "gluster"
    # Seconds: a brick that does not answer for so long is taken for gone.
    ping_timeout = 5

    def __init__(self, bricks=3, copies=3, megabytes_per_second=None, brick_size="64m", parent=None):
        self.bricks, self.copies, self.rate, self.brick_size = bricks, copies, megabytes_per_second, brick_size
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="piracema-gluster-", dir=parent))
        self.place = self.folder / "mounted"
        self.host, self.link = f"piragl{os.getpid()}", f"pgl{os.getpid()}"
        self.network = f"10.{96 + os.getpid() // 256 % 24}.{os.getpid() % 256}"
        self.address = f"{self.network}.2"
        self.mounted = []

    @property
    def endpoint(self):
        """What an error names."""
        return str(self.place)

    def environment(self):
        """What a program is told that is to work on it."""
        return {"TMPDIR": str(self.place)}

    def inside(self, *words):
        return run("ip", "netns", "exec", self.host, *words)

    def gluster(self, *words):
        return self.inside("gluster", f"--glusterd-sock={self.folder}/socket", "--mode=script", "volume", *words)

    def start(self):
        if self.mounted:
            return self.wait_until_it_answers()
        for directory in [self.place, self.folder / "work", self.folder / "run"]:
            directory.mkdir()
        # Before the host, whose mounts are those of now.
        bricks = [self.brick(number) for number in range(self.bricks)]
        self.start_host()
        settings = self.folder / "glusterd.vol"
        settings.write_text(GLUSTERD.format(folder=self.folder, address=self.address))
        # It is a daemon once it can be asked.
        self.inside("glusterd", "-f", settings, "-p", self.folder / "pid", "-l", self.folder / "log")
        copies = [] if self.copies == 1 else ["replica", self.copies]
        self.gluster("create", VOLUME, *copies, *bricks, "force")
        self.gluster("set", VOLUME, "network.ping-timeout", self.ping_timeout)
        self.gluster("start", VOLUME)
        self.mount(self.place)
        return self.wait_until_it_answers()

    def mount(self, place):
        """By a client of its own, as on another host."""
        run("mount", "-t", "glusterfs", "-o", f"log-file={self.folder}/log-{place.name}",
            f"{self.address}:/{VOLUME}", place)
        self.mounted.append(place)

    def wait_until_it_answers(self):
        """With all bricks: they are not started before it is seen that they had ended, and a client looks for
        those that it has lost every few seconds."""
        deadline = time.monotonic() + SECONDS_MAX
        while True:
            try:
                self.gluster("start", VOLUME, "force")
                for pid in self.pids():
                    os.kill(pid, 0)
                (self.place / "answers").write_text("yes")
                (self.place / "answers").unlink()
                return self
            except (OSError, ValueError) as error:
                if time.monotonic() > deadline:
                    raise RuntimeError(f"{self.place} does not answer: {error}") from error
            time.sleep(0.05)

    def pids(self):
        """Of the bricks."""
        return [int(file.read_text()) for file in sorted((self.folder / "run").rglob("*brick-*.pid"))]

    def start_host(self):
        run("ip", "netns", "add", self.host)
        run("ip", "link", "add", self.link, "type", "veth", "peer", "name", "eth0", "netns", self.host)
        run("ip", "addr", "add", f"{self.network}.1/24", "dev", self.link)
        run("ip", "link", "set", self.link, "up")
        self.inside("ip", "addr", "add", f"{self.address}/24", "dev", "eth0")
        self.inside("ip", "link", "set", "eth0", "up")
        self.inside("ip", "link", "set", "lo", "up")
        if self.rate:
            run("tc", "qdisc", "add", "dev", self.link, "root", "tbf", "rate", f"{int(8 * self.rate)}mbit",
                "burst", "256kb", "latency", "50ms")

    def brick(self, number):
        folder = self.folder / f"brick-{number}"
        folder.mkdir()
        if self.brick_size:
            run("mount", "-t", "tmpfs", "-o", f"size={self.brick_size}", "tmpfs", folder)
            self.mounted.append(folder)
        return f"{self.address}:{folder}"

    def signal(self, number, bricks=None):
        """To the processes of so many bricks; none: of all."""
        for pid in self.pids()[:bricks]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)

    def kill(self, bricks=None):
        self.signal(signal.SIGKILL, bricks)

    def end(self):
        for place in reversed(self.mounted):
            # Somebody may still look at it who has not heard that his job has ended.
            run("umount", "--lazy", place)
        if pathlib.Path(f"/run/netns/{self.host}").exists():
            for pid in map(int, run("ip", "netns", "pids", self.host).split()):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
                    wait_until_gone(pid)
            run("ip", "netns", "del", self.host)
        shutil.rmtree(self.folder, ignore_errors=True)
