"""What the tests of `piracema ckpt` share. They want a criu, say so and skip where there is none."""

import contextlib
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

from watch import Watch

PIRACEMA = os.environ["PIRACEMA_COMMAND"]
COUNTER = os.environ["COUNTER_APP"]
SKIPPED = 77
PATIENCE = 280  # Seconds; nothing that is waited for takes so long.


def skip(why):
    print(f"SKIPPED: {why}")
    sys.exit(SKIPPED)


# Of tests that mount something, or make networks.
only_root = unittest.skipUnless(os.geteuid() == 0, "wants root")


def want_ckpt():
    """Ends the program with a reason unless this machine can save and restart jobs."""
    found = subprocess.run([PIRACEMA, "ckpt", "doctor", "--json"], capture_output=True, text=True)
    for finding in json.loads(found.stdout):
        if finding["needed"] and not finding["ok"]:
            skip(f"{finding['what']}: {finding['text']}")


# criu calls the hook that it is given by another one.
CRIU = """#!/bin/sh
for word do
  shift
  [ "$last" = --action-script ] && {{ export HOOK="$word"; word={hook}; }}
  set -- "$@" "$word"
  last=$word
done
exec {criu} "$@"
"""


class Job:
    """A `piracema ckpt run` or `resume` that runs; its standard output is read line by line."""

    def __init__(self, *words, cwd, hold, before=(), **environment):
        self.hold = hold
        self.log = tempfile.NamedTemporaryFile("w+", dir=cwd, prefix="log-")
        self.process = subprocess.Popen(
            [*before, PIRACEMA, "ckpt", *map(str, words)], cwd=cwd, env={**os.environ, **environment},
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=self.log, text=True)
        self.lines = []

    def read(self, count):
        """So many lines more."""
        for _ in range(count):
            line = self.process.stdout.readline()
            if not line:
                raise AssertionError(f"ended after {len(self.lines)} lines: {self.errors()}")
            self.lines.append(line)

    def end(self, let=True):
        """Its exit code, when all is read. A counter that holds before its last line is let go on,
        unless something else is to end it."""
        with open(os.open(self.hold, os.O_RDWR), "r+b", buffering=0) if let else contextlib.nullcontext():
            self.lines += self.process.stdout.readlines()
            return self.process.wait(PATIENCE)

    def errors(self):
        return pathlib.Path(self.log.name).read_text()

    def wait_for(self, *texts):
        """Until it has said one of them on its standard error."""
        with Watch(self.log.name) as watch:
            watch.until(lambda: any(text in self.errors() for text in texts), self.process, self.errors)

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()


def remove(path):
    """What looks at the store for a keeper may write there until it hears of the keeper's end."""
    end = time.monotonic() + PATIENCE
    while path.exists() and time.monotonic() < end:
        shutil.rmtree(path, ignore_errors=True)


class CkptTest(unittest.TestCase):
    # Words before a command that takes its time: where it is run.
    before = ()

    def setUp(self):
        # Not in /tmp: that may be memory, and the program's temporary files are elsewhere anyway.
        self.path = pathlib.Path(tempfile.mkdtemp(dir="/var/tmp", prefix="piracema-ckpt-"))
        self.addCleanup(remove, self.path)
        self.dir = self.path / "job"
        self.hold = self.path / "hold"
        os.mkfifo(self.hold)

    def start(self, *words, **environment):
        job = Job(*words, cwd=self.path, hold=self.hold, before=self.before, **environment)
        self.addCleanup(job.log.close)
        self.addCleanup(job.kill)
        return job

    def run_job(self, *program, options=(), **environment):
        """One of a counter does not end before it is waited for."""
        return self.start("run", "--dir", self.dir, *options, "--", *program,
                          **{"COUNTER_HOLD": str(self.hold), **environment})

    def resume(self, *options, **environment):
        return self.start("resume", "--dir", self.dir, *options, **environment)

    def ckpt(self, *words, code=0, **environment):
        """A command that ends by itself."""
        done = subprocess.run([PIRACEMA, "ckpt", *map(str, words)], cwd=self.path, text=True,
                              capture_output=True, timeout=PATIENCE, env={**os.environ, **environment})
        if code is not None:
            self.assertEqual(code, done.returncode, done.stdout + done.stderr)
        return done

    def criu(self):
        """The file of the criu that is used."""
        found = json.loads(self.ckpt("doctor", "--json").stdout)
        text = next(finding["text"] for finding in found if finding["what"] == "criu")
        return text[text.index("(") + 1:-1]

    def criu_that_does(self, script):
        """Options for one that runs these lines of sh before each hook; the action is in the environment."""
        hook, criu = self.path / "hook", self.path / "criu"
        hook.write_text(f'#!/bin/sh\n{script}\nexec "$HOOK"\n')
        criu.write_text(CRIU.format(hook=hook, criu=self.criu()))
        for file in [hook, criu]:
            file.chmod(0o755)
        return "--criu", criu

    def images(self):
        return json.loads(self.ckpt("list", "--dir", self.dir, "--json").stdout)

    def plain(self, *program, **environment):
        """The same program without us: its output, and its exit code."""
        done = subprocess.run([*map(str, program)], cwd=self.path, capture_output=True, text=True,
                              timeout=PATIENCE, env={**os.environ, **environment})
        return done.stdout, done.returncode

    def random(self):
        seed = int(os.environ.get("PIRACEMA_SEED", random.randrange(1 << 30)))
        print(f"seed {seed}; PIRACEMA_SEED={seed} draws the same again")
        return random.Random(seed)


def main():
    want_ckpt()
    unittest.main(argv=[sys.argv[0], "-v", *sys.argv[1:]])
