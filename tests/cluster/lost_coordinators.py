"""What tests of lost coordinators have in common: `piracema run` with its events, and who is left."""

import json
import os
import pathlib
import signal
import subprocess
import tempfile
import threading
import unittest

from waiting import wait_until

PIRACEMA = os.environ["PIRACEMA_COMMAND"]
STREAM = os.environ["STREAM_APP"]
# Nothing that is waited for takes so long, on a machine that has much else to do.
SECONDS_MAX = 300
CLEAN = {name: value for name, value in os.environ.items() if not name.startswith("PIRACEMA_")}


class Command:
    """`piracema run`, with its events."""

    def __init__(self, test, name, *words):
        self.test = test
        self.path = test.folder / f"errors-{name}"
        self.errors = open(self.path, "w")
        self.process = subprocess.Popen([PIRACEMA, "run", "--json", *words], cwd=test.folder,
                                        env={**CLEAN, "PIRACEMA_TEST_JOB": test.mark},
                                        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                        stderr=self.errors, text=True)
        self.events = []
        test.addCleanup(self.errors.close)
        test.addCleanup(self.process.stdout.close)
        test.addCleanup(self.process.wait)
        test.addCleanup(self.process.kill)

    def said(self):
        return self.path.read_text()

    def wait_for(self, name, count=1):
        # It would go on for ever, and say nothing of that kind.
        too_late = threading.Timer(SECONDS_MAX, self.process.kill)
        too_late.start()
        try:
            for line in self.process.stdout:
                self.events.append(json.loads(line))
                if self.events[-1]["event"] == name:
                    count -= 1
                    if count == 0:
                        return self.events[-1]
        finally:
            too_late.cancel()
        self.test.fail(f"no event '{name}' came: {self.said()}")

    def kill(self):
        self.process.kill()
        self.process.wait()

    def kill_with(self, other):
        """It cannot notice that the other one is lost."""
        self.process.send_signal(signal.SIGSTOP)
        os.kill(other, signal.SIGKILL)
        self.kill()

    def finish(self, code=0):
        if code == 0:
            (self.test.folder / "end").touch()
        self.events += [json.loads(line) for line in self.process.stdout]
        self.test.assertEqual(self.process.wait(SECONDS_MAX), code, self.said())

    def names(self):
        return [event["event"] for event in self.events]


class JobTest(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="piracema-take-over-")
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        self.mark = f"{os.getpid()}-{self.id()}"
        self.addCleanup(self.end_all)
        self.commands = 0

    def run_command(self, *words):
        self.commands += 1
        return Command(self, str(self.commands), *words)

    def run_stream(self, *options, workers=2, every="100ms"):
        """Its source ends when the test says so."""
        return self.run_command("-n", str(workers), "--snapshots", "s", "--every", every, *options,
                                STREAM, "out", "items=100000000", "pause_us=100",
                                f"until={self.folder}/end")

    def standing_by(self):
        self.until(lambda: (self.folder / "s/coordinator/job").exists())
        standby = self.run_stream("--standby")
        standby.wait_for("standing_by")
        return standby

    def until(self, so):
        self.assertTrue(wait_until(so, SECONDS_MAX))

    def mine(self):
        """Processes of this test that live: number, environment and words of each."""
        for entry in pathlib.Path("/proc").iterdir():
            if not entry.name.isdigit():
                continue
            try:
                environment = (entry / "environ").read_bytes().split(b"\0")
                words = (entry / "cmdline").read_bytes().split(b"\0")
                state = (entry / "stat").read_text().rsplit(")", 1)[1].split()[0]
            except OSError:
                continue
            if f"PIRACEMA_TEST_JOB={self.mark}".encode() in environment and state != "Z":
                yield int(entry.name), environment, words

    def running(self, what=None, program=STREAM):
        """But for commands: agents and workers, by their names. A program that is a script comes behind
        its shell."""
        found = []
        for pid, _, words in self.mine():
            kind = "agent" if words[1:2] == [b"agent"] else "worker" if str(program).encode() in words[:2] else ""
            if kind and what in (None, kind):
                found.append(pid)
        return found

    def coordinators(self):
        """Of a job that has several. The command itself is none of them."""
        return [pid for pid, environment, _ in self.mine()
                if any(variable.startswith(b"PIRACEMA_COUNCIL_FD=") for variable in environment)]

    def end_all(self):
        for pid in self.running() + self.coordinators():
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass

    def check_nothing_left(self):
        self.until(lambda: not self.running())
        self.assertFalse((self.folder / "s/coordinator/job").exists())

    def check_output(self):
        written = (self.folder / "out").read_bytes()
        items = written.count(b"\n")
        self.assertGreater(items, 0)
        subprocess.run([PIRACEMA, "run", "-n", "1", "--quiet", STREAM, "again", f"items={items}"],
                       cwd=self.folder, env=CLEAN, check=True, stdin=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)
        self.assertEqual(written, (self.folder / "again").read_bytes())
