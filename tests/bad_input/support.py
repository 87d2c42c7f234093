"""What the tests of bad input share. CMake says where the programs are."""

import os
import pathlib
import subprocess
import tempfile
import unittest

PIRACEMA = os.environ["PIRACEMA_COMMAND"]
CHANGED_STATE = os.environ["CHANGED_STATE_APP"]
LINES = os.environ["LINES_APP"]
WRONG_GRAPH = os.environ["WRONG_GRAPH_APP"]
STRANGER = os.environ["STRANGER_APP"]
GARBLER = os.environ["GARBLER_APP"]
SMR_LIAR = os.environ["SMR_LIAR"]

# Nothing may hang, whatever it is given. What works is done in a three-hundredth of this, unless the machine
# has much else to do.
SECONDS_MAX = 300

CLEAN = {name: value for name, value in os.environ.items() if not name.startswith("PIRACEMA_")}

# Runs a command where the directory "small" has 64 kB, or nothing can be written to "fixed".
SMALL_DISK = "mount -t tmpfs -o size=64k none small && exec \"$@\""
FIXED_DISK = "mount -t tmpfs -o ro none fixed && exec \"$@\""


def children_of(pid):
    return [int(child) for child in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def workers_of(job):
    """Children of its agent."""
    return [worker for agent in children_of(job.pid) for worker in children_of(agent)]


class BadInput(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.lines(500)

    def lines(self, count):
        """Makes the input, and says what is wanted as the output."""
        (self.folder / "in").write_text("".join(f"{i}\n" for i in range(count)))
        self.wanted = "".join(f"{i}!\n" for i in range(count))

    def start(self, *command, **options):
        options = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE,
                   "stderr": subprocess.PIPE, "cwd": self.folder, **options}
        environment = {**CLEAN, **options.pop("environment", {})}
        process = subprocess.Popen([str(word) for word in command], env=environment,
                                   text=True, errors="replace", **options)
        self.addCleanup(process.wait)
        self.addCleanup(lambda: process.poll() is None and process.kill())
        return process

    def run_to_end(self, *command, **options):
        process = self.start(*command, **options)
        process.out, process.err = process.communicate(timeout=SECONDS_MAX)
        return process

    def check_refused(self, code, says, *command, **options):
        """It ends with this code and one line on standard error, which says this."""
        run = self.run_to_end(*command, **options)
        self.assertEqual((code, 1), (run.returncode, run.err.count("\n")), run.err)
        self.assertIn("error: ", run.err)
        self.assertIn(says, run.err)
        return run

    def job(self, *options, app=(LINES, "in", "out")):
        """The command that runs it in two processes."""
        return [PIRACEMA, "run", "-n", "2", "--quiet", *options, *app]

    def check_both_ways(self, code, says, app):
        """As one process, and as several."""
        self.check_refused(code, says, *app)
        self.check_refused(code, says, *self.job(app=app))

    def check_output(self, name="out"):
        """All that was wanted is there, once and in order. Makes place for another run."""
        self.assertEqual(self.wanted, (self.folder / name).read_text())
        (self.folder / name).unlink()

    def on_disk(self, script):
        """A prefix for commands; the mount goes with the process."""
        for name in ["small", "fixed"]:
            (self.folder / name).mkdir(exist_ok=True)
        prefix = ["unshare", "--mount", "--map-root-user", "sh", "-c", script, "sh"]
        if self.run_to_end(*prefix, "true").returncode != 0:
            self.skipTest("this machine does not let us mount a tmpfs")
        return prefix
