"""What real servers that run on Java have in common: where their jars are, and how they begin and end."""

import os
import pathlib
import shutil
import signal
import socket
import subprocess
import tempfile
import time

CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache")
SECONDS_MAX = 120
# What a test tells its clients is not for a server that begins once more.
CLEAN = dict(os.environ)


def jars(name):
    """Where scripts/get-jars puts them."""
    return pathlib.Path(os.environ.get(f"PIRACEMA_{name.upper()}_JARS") or CACHE / "piracema" / name / "jars")


def missing(name, jar):
    """Why there can be no server here; empty if there can."""
    if not shutil.which("java"):
        return "no Java: scripts/setup --with-s3"
    if not any(jars(name).glob(jar)):
        return f"no {name}: scripts/get-jars {name}"
    return ""


def free_port():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


class JavaServer:
    """What it keeps outlives its process, in `folder`. Whoever inherits says by which `words` it is started,
    and whether it `answers`."""

    name = ""

    def __init__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix=f"piracema-{self.name}-"))
        self.process = None

    def words(self):
        raise NotImplementedError

    def answers(self):
        raise NotImplementedError

    def start(self):
        with open(self.folder / "log", "a") as log:
            self.process = subprocess.Popen(
                ["java", "-Xmx256m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", *self.words()],
                cwd=self.folder, env=CLEAN, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        deadline = time.monotonic() + SECONDS_MAX
        while not self.answers():
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"{self.name} does not start: " + (self.folder / "log").read_text())
            time.sleep(0.05)
        return self

    def signal(self, number):
        self.process.send_signal(number)

    def kill(self):
        self.process.kill()
        self.process.wait()

    def end(self):
        if self.process and self.process.poll() is None:
            self.process.send_signal(signal.SIGCONT)
            self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)
