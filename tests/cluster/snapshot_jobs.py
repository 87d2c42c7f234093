"""Jobs of one program, one after the other, with snapshots in one folder; for the tests of what `--resume`
goes on from."""

import json
import os
import pathlib
import signal
import subprocess
import tempfile
import unittest

PIRACEMA = os.environ["PIRACEMA_COMMAND"]
# Nothing that is waited for takes so long, on a machine that has much else to do.
SECONDS_MAX = 300
CLEAN = {name: value for name, value in os.environ.items() if not name.startswith("PIRACEMA_")}


class SnapshotJobs(unittest.TestCase):
    """Whoever inherits names its `program`, and makes a `command` of what `start` is given."""

    program = None

    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="piracema-jobs-")
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)

    def command(self, *arguments, **named):
        raise NotImplementedError

    def start(self, *arguments, **named):
        errors = open(self.folder / "errors", "w+")
        self.addCleanup(errors.close)
        process = subprocess.Popen(self.command(*arguments, **named), cwd=self.folder, env=CLEAN,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors,
                                   text=True)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def said(self):
        """By the last one that was started."""
        return (self.folder / "errors").read_text()

    def wait_for(self, process, name, count=1):
        for line in process.stdout:
            if json.loads(line)["event"] == name:
                count -= 1
                if count == 0:
                    return
        self.fail(f"no event '{name}' came: {self.said()}")

    def workers(self, process):
        found, under = [], [process.pid]
        for pid in under:
            for thread in pathlib.Path(f"/proc/{pid}/task").iterdir():
                under += map(int, (thread / "children").read_text().split())
            words = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
            if words[0] == self.program.encode():
                found.append(pid)
        return found

    def stop(self, process):
        """With a last snapshot."""
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=SECONDS_MAX)
        self.assertEqual(75, process.returncode, self.said())

    def end(self, process):
        process.communicate(timeout=SECONDS_MAX)
        self.assertEqual(0, process.returncode, self.said())

    def run_it(self, *command):
        return subprocess.run(command, cwd=self.folder, env=CLEAN, capture_output=True, text=True,
                              timeout=SECONDS_MAX)
