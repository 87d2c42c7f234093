"""A real server of S3 for tests: S3Proxy on a directory, as scripts/get-s3proxy brings it."""

import os
import pathlib
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache")
JARS = pathlib.Path(os.environ.get("PIRACEMA_S3PROXY_JARS") or CACHE / "piracema/s3proxy/jars")
KEY, SECRET = "test-key", "test-secret"
SECONDS_MAX = 120
# It says each request unless it is told not to.
LOGBACK = """<configuration><appender name="E" class="ch.qos.logback.core.ConsoleAppender">
<encoder><pattern>%msg%n</pattern></encoder></appender>
<root level="warn"><appender-ref ref="E"/></root></configuration>"""


def missing():
    """Why there can be no server here; empty if there can."""
    if not shutil.which("java"):
        return "no Java: scripts/setup --with-s3"
    if not any(JARS.glob("s3proxy-*.jar")):
        return "no S3Proxy: scripts/get-s3proxy"
    return ""


def skip(why):
    """The exit code of a test that cannot run here; in CI that is a failure."""
    print("SKIPPED:", why, flush=True)
    return 1 if os.environ.get("CI") else 77


def free_port():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


class Server:
    """With one bucket, "tests". What is in it outlives the process."""

    def __init__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="piracema-s3-"))
        self.port = free_port()
        self.process = None
        (self.folder / "data/tests").mkdir(parents=True)
        (self.folder / "logback.xml").write_text(LOGBACK)
        (self.folder / "s3proxy.conf").write_text(
            f"s3proxy.endpoint=http://127.0.0.1:{self.port}\n"
            "s3proxy.authorization=aws-v4\n"
            f"s3proxy.identity={KEY}\n"
            f"s3proxy.credential={SECRET}\n"
            "jclouds.provider=filesystem-nio2\n"
            "jclouds.identity=none\n"
            "jclouds.credential=none\n"
            f"jclouds.filesystem.basedir={self.folder}/data\n")

    @property
    def endpoint(self):
        return f"http://127.0.0.1:{self.port}"

    def environment(self):
        """What a client is told; proxies are not for a server of this machine."""
        return {"AWS_ENDPOINT_URL": self.endpoint, "AWS_REGION": "us-east-1",
                "AWS_ACCESS_KEY_ID": KEY, "AWS_SECRET_ACCESS_KEY": SECRET, "NO_PROXY": "127.0.0.1",
                "no_proxy": "127.0.0.1"}

    def start(self):
        with open(self.folder / "log", "a") as log:
            self.process = subprocess.Popen(
                ["java", "-Xmx256m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC",
                 f"-Dlogback.configurationFile={self.folder}/logback.xml", "-cp", f"{JARS}/*",
                 "org.gaul.s3proxy.Main", "--properties", str(self.folder / "s3proxy.conf")],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        deadline = time.monotonic() + SECONDS_MAX
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        while True:
            try:
                opener.open(self.endpoint, timeout=5)
                return self
            except urllib.error.HTTPError:
                return self  # It wants to know who we are.
            except OSError:
                if self.process.poll() is not None or time.monotonic() > deadline:
                    raise RuntimeError("S3Proxy does not start: " + (self.folder / "log").read_text())
                time.sleep(0.05)

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
