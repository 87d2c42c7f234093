"""A job that tallies keys, slowly, under `piracema run --http`: for tests of what is done to it while it runs."""

import json
import os
import pathlib
import signal
import subprocess
import tempfile
import threading
import urllib.request

PIRACEMA = os.environ["PIRACEMA_COMMAND"]
TALLY = os.environ.get("TALLY_APP", "")
SECONDS_MAX = 120
CLEAN = {name: value for name, value in os.environ.items() if not name.startswith("PIRACEMA_")}


def expected(items):
    counts, sums, lines = {}, {}, []
    for item in range(items):
        key = item * 31 % 5_000
        counts[key] = counts.get(key, 0) + 1
        sums[key] = sums.get(key, 0) + item
        lines.append(f"key {key}: {counts[key]} {sums[key]}\n")
    return "".join(lines)


class Job:
    """`piracema run` of the program that tallies keys, slowly, or of another one with the same words."""

    def __init__(self, test, items, *options, workers=2, snapshots=True, pause_us=200, folder=None,
                 seconds=SECONDS_MAX, every="100ms", program=(), app=TALLY):
        self.test = test
        self.app = app
        if folder is None:
            scratch = tempfile.TemporaryDirectory(prefix="piracema-scale-")
            test.addCleanup(scratch.cleanup)
            folder = scratch.name
        self.folder = pathlib.Path(folder)
        self.items = items
        self.seconds = seconds
        self.errors = tempfile.NamedTemporaryFile("w+", dir=self.folder, prefix="errors-")
        test.addCleanup(self.errors.close)
        store = ["--snapshots", "s", "--every", every] if snapshots else []
        self.process = subprocess.Popen(
            [PIRACEMA, "run", "--json", "-n", str(workers), "--http", *store, *options, app, "out",
             "replicas=2", f"items={items}", f"pause_us={pause_us}", *program],
            cwd=self.folder, env=CLEAN, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=self.errors, text=True)
        test.addCleanup(self.process.stdout.close)
        test.addCleanup(self.process.wait)
        test.addCleanup(self.process.kill)
        self.events = []
        self.is_over = False
        self.changed = threading.Condition()
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.process.stdout:
            with self.changed:
                self.events.append(json.loads(line))
                self.changed.notify_all()
        with self.changed:
            self.is_over = True
            self.changed.notify_all()

    def wait_for(self, name, after=0):
        """The place behind the first event of that name that comes after that place."""
        with self.changed:
            def place():
                return next((i + 1 for i, event in enumerate(self.events)
                             if i >= after and event["event"] == name), None)
            self.changed.wait_for(lambda: self.is_over or place() is not None, SECONDS_MAX)
            if place() is None:
                self.test.fail(f"no event '{name}' came: {self.said()}\nLast came, of exit code "
                               f"{self.process.poll()}: {self.events[-10:]}")
            return place()

    def said(self):
        return pathlib.Path(self.errors.name).read_text()

    def entrance(self):
        self.wait_for("running")
        return self.events[self.wait_for("http") - 1]["entrance"]

    def ask(self, command, *words):
        return subprocess.run([PIRACEMA, command, "--json", self.entrance(), *words], env=CLEAN,
                              capture_output=True, text=True, timeout=SECONDS_MAX)

    def scale(self, *words):
        return self.ask("scale", *words)

    def get(self):
        with urllib.request.urlopen(self.entrance().split("/?")[0] + "/api/v1/all", timeout=30) as all:
            return json.load(all)

    def workers(self):
        """Also those whose coordinator is gone."""
        found = []
        for entry in pathlib.Path("/proc").iterdir():
            try:
                if not entry.name.isdigit() or os.readlink(entry / "cwd") != str(self.folder):
                    continue
                if (entry / "cmdline").read_bytes().split(b"\0")[0] == self.app.encode():
                    found.append(int(entry.name))
            except OSError:
                pass  # It is somebody else's, or has ended.
        return sorted(found)

    def kill_one(self, which):
        pids = self.workers()
        os.kill(pids[which % len(pids)], signal.SIGKILL)

    def end(self, code=0):
        self.process.wait(timeout=self.seconds)
        self.test.assertEqual(code, self.process.returncode, self.said())

    def check_output(self):
        self.test.assertEqual(expected(self.items), (self.folder / "out").read_text())
