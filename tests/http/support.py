"""Jobs that are shown over HTTP while they run, for tests."""

import json
import os
import pathlib
import select
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.error
import urllib.request

PIRACEMA = os.environ["PIRACEMA_COMMAND"]
APP = os.environ["JOB_APP"]
SECONDS_MAX = 120
SKIPPED = 77
CLEAN = {name: value for name, value in os.environ.items() if not name.startswith("PIRACEMA_")}


def skip(why):
    """Says so and ends; where the continuous integration runs what is missing is a failure."""
    print(f"SKIPPED: {why}")
    sys.exit(1 if os.environ.get("CI") else SKIPPED)


def run_top(*words):
    """Exit code, output and errors of `piracema top`."""
    done = subprocess.run([PIRACEMA, "top", *map(str, words)], capture_output=True, text=True, env=CLEAN,
                          stdin=subprocess.DEVNULL, timeout=SECONDS_MAX)
    return done.returncode, done.stdout, done.stderr


class Job:
    """`piracema run` of a program that counts slowly."""

    def __init__(self, test, items, *options, http=("--http",), command=None, environment=None):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        test.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        words = command or [PIRACEMA, "run", "-n", "2", *http, *options]
        self.process = subprocess.Popen(
            [*words, APP, "out", str(items), "slow"] if command is None else words,
            cwd=self.folder, env={**CLEAN, **(environment or {})}, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        test.addCleanup(self.process.stderr.close)
        test.addCleanup(self.process.wait)
        test.addCleanup(self.process.kill)
        self.said = b""

    def entrance(self):
        """The address with the token, as the command prints it."""
        while b"shown at " not in self.said or not self.said.endswith(b"\n"):
            self.read()
        return self.said.split(b"shown at ")[1].split()[0].decode()

    def read(self):
        ready, _, _ = select.select([self.process.stderr], [], [], SECONDS_MAX)
        piece = os.read(self.process.stderr.fileno(), 65536) if ready else b""
        if not piece:
            raise AssertionError("it said no more than: " + self.said.decode())
        self.said += piece

    def base(self):
        return self.entrance().split("/?")[0]

    def token(self):
        return self.entrance().split("token=")[1]

    def get(self, path, **headers):
        request = urllib.request.Request(self.base() + path, headers=headers)
        with urllib.request.urlopen(request, timeout=30) as response:
            return response.read().decode()

    def api(self, name):
        return json.loads(self.get("/api/v1/" + name))

    def wait_for(self, what, name, wanted):
        """The resource `name`, once `wanted` holds for it."""
        deadline = time.monotonic() + SECONDS_MAX
        while time.monotonic() < deadline:
            try:
                found = self.api(name)
            except urllib.error.URLError as error:
                if not isinstance(error.reason, ConnectionRefusedError):
                    raise
                code, said = self.end()
                raise AssertionError(f"the job ended with {code} before {what}: {said}") from error
            if wanted(found):
                return found
            if self.process.poll() is not None:
                raise AssertionError(f"the job is over before {what}: {self.said.decode()}")
            select.select([], [], [], 0.1)  # It is published every second; nothing tells us of it.
        raise AssertionError(f"no {what} within {SECONDS_MAX} s: {found}")

    def post(self, path, token=None, **headers):
        if token:
            headers["Authorization"] = "Bearer " + token
        request = urllib.request.Request(self.base() + path, data=b"", method="POST", headers=headers)
        try:
            with urllib.request.urlopen(request, timeout=30) as response:
                return response.status
        except urllib.error.HTTPError as error:
            with error:
                return error.code

    def end(self):
        """Its exit code, and all that it has said."""
        while True:
            ready, _, _ = select.select([self.process.stderr], [], [], SECONDS_MAX)
            piece = os.read(self.process.stderr.fileno(), 65536) if ready else b""
            if not piece:
                break
            self.said += piece
        return self.process.wait(timeout=SECONDS_MAX), self.said.decode()


def main():
    unittest.main(verbosity=2)
