"""One store and the windows on it, one after the other: what bench/ckpt/windows.py runs several of."""

import contextlib
import json
import pathlib
import random
import shutil
import statistics
import subprocess
import sys
import time

from jobs import Job, slow_store

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tests/servers"))
import gluster

SAMPLED = 64e6  # Smaller jobs are not sampled for (src/forecast/store/sampling.h).
LEARNING = 4  # Dumps before a regression says anything.
WRITER = """
import os, sys
data = os.urandom(1 << 20)
while True:
    with open(sys.argv[1], "wb") as file:
        for _ in range(int(sys.argv[2])):
            file.write(data)
        os.fsync(file.fileno())
"""


@contextlib.contextmanager
def gluster_store(megabytes_per_second, folder):
    """Two bricks over a link that is slow for all who write to them."""
    server = gluster.Server(2, 1, megabytes_per_second, brick_size=None, parent=folder)
    try:
        yield server.start().place
    finally:
        server.end()


class SizeOnly:
    """Seconds = a + b * bytes by least squares; beside it the worst ratio so far."""

    def __init__(self):
        self.seen = []
        self.worst = 1.0

    def predict(self, size):
        fit = statistics.linear_regression(*zip(*self.seen))
        return max(0.02, fit.intercept + fit.slope * size)

    def learn(self, size, seconds):
        if len(self.seen) >= LEARNING:
            self.worst = max(self.worst, seconds / self.predict(size))
        self.seen.append((size, seconds))

    def margins(self, size):
        """What each way of adding a margin would have kept free."""
        if len(self.seen) < LEARNING:
            return {}
        said = self.predict(size)
        return {"size only, worst ratio": said * self.worst, "size only x2": 2 * said, "size only x3": 3 * said}


class Lane:
    """`rate`: megabytes a second of a store made for it in `folder`; none: the disk itself."""

    def __init__(self, name, rate, arguments, folder, rows):
        self.name, self.rate, self.arguments = name, rate, arguments
        self.folder = folder / name.replace(":", "-")
        self.folder.mkdir()
        # What the store is known by outlives this run.
        self.kept = arguments.results.with_suffix(f".{name.replace(':', '-')}.store.json")
        self.rows = [row for row in rows if row["lane"] == name]
        self.random = random.Random(f"{arguments.seed} {name} {len(self.rows)}")
        self.size_only = SizeOnly()
        for row in self.rows:
            self.size_only.learn(row["bytes"], row["took"])
        self.writers = []

    @contextlib.contextmanager
    def open(self):
        with contextlib.ExitStack() as stack:
            made = {"slow": slow_store, "gluster": gluster_store}.get(self.name.partition(":")[0])
            self.store = stack.enter_context(made(self.rate, self.folder)) if made else self.folder
            memory = self.store / ".piracema-store/store.json"
            memory.parent.mkdir(mode=0o700)
            if self.kept.exists() and self.rows:
                shutil.copy(self.kept, memory)
            stack.callback(self.set_writers, 0)
            yield self

    def set_writers(self, count):
        """So many other programs write to the store and sync."""
        while len(self.writers) < count:
            self.writers.append(subprocess.Popen([
                sys.executable, "-c", WRITER, self.store / f"other-{len(self.writers)}",
                str(self.arguments.writer_mb)]))
        for writer in self.writers[count:]:
            writer.kill()
            writer.wait()
        for number in range(count, len(self.writers)):
            (self.store / f"other-{number}").unlink(missing_ok=True)
        del self.writers[count:]

    def next(self):
        """Others come and go, and stay for some windows each time."""
        if self.random.random() < 0.2:
            self.set_writers(self.random.choice([0, 0, 1, self.arguments.writers]))
        where = self.store / "job"
        megabytes = self.random.randint(self.arguments.low, self.arguments.high)
        program = [self.arguments.build / "tests/ckpt/ckpt_counter_app", 10**9, megabytes, 2_000_000, 0]
        row = (self.whole if self.arguments.whole else self.end_only)(where, program)
        row.update(lane=self.name, megabytes=megabytes, writers=len(self.writers),
                   length=self.arguments.length, load=float(pathlib.Path("/proc/loadavg").read_text().split()[0]))
        row.update(self.size_only.margins(row["bytes"]))
        # What was given up would have taken longer than it had: how long is not known.
        self.size_only.learn(row["bytes"], row["took"])
        shutil.rmtree(where)
        shutil.copy(self.store / ".piracema-store/store.json", self.kept)
        self.rows.append(row)
        return row

    def forecast_of(self, plan):
        known = ["bytes", "p50", "p95", "p99", "probe", "busy", "dirty_bytes", "learnt", "factors"]
        return {name: plan[name] for name in known}

    def end_only(self, where, program):
        """The window's first part, in which the job would only run, is left out."""
        length = self.arguments.length
        opened = time.monotonic()
        job = Job(self.arguments.build, where, *program, word="window", window=f"{length}s")
        # Its memory is filled by then.
        job.read_lines(self.arguments.steps)
        plan, has_left = self.plan_after_samples(job)
        if has_left:
            return self.end_of_window(job, opened, plan)
        begin = time.monotonic()
        stopped = job.begin("stop")
        job.end(75)
        took = time.monotonic() - begin
        stopped.communicate()
        # The planner has kept its reserve free as well, for ending processes.
        kept = length - plan["used"] * length if plan["used"] > 0 else plan["duration"]
        return {**self.forecast_of(plan), "took": took, "kept": kept, "missed": took > kept,
                "used": max(0, 1 - kept / length)}

    def plan_after_samples(self, job):
        """What is known when the last dump has to begin, and whether the job has not waited for it."""
        filled, plan = time.monotonic(), None
        while True:
            asked = job.try_to_ask("plan", "--for", f"{self.arguments.length}s", "--json")
            if not asked and plan:
                return plan, True
            plan = json.loads(asked) if asked else plan
            # A keeper that has seen the memory as it is says whether there will be samples.
            known = plan and not plan["sampling"] and (
                plan["bytes"] < SAMPLED or time.monotonic() > filled + 1.5)
            if known:
                return plan, False
            time.sleep(0.2)

    def whole(self, where, program):
        """A window that is lived through from its begin to its end."""
        length = self.arguments.length
        opened = time.monotonic()
        job = Job(self.arguments.build, where, *program, word="window", window=f"{length}s")
        plan, left = None, length
        # The last forecast before the keeper begins is about what it begins by.
        while left > 0:
            asked = job.try_to_ask("plan", "--for", f"{max(0.1, left):.1f}s", "--json")
            if asked:
                plan = json.loads(asked)
            left = opened + length - time.monotonic()
            if plan and left < plan["duration"] + 1.5:
                break
            time.sleep(min(1, max(0.05, left - plan["duration"] - 1.4)) if plan else 0.1)
        return self.end_of_window(job, opened, plan)

    def end_of_window(self, job, opened, plan):
        """That the keeper begins by itself."""
        length = self.arguments.length
        for line in job.process.stderr:
            if "saved: image" in line:
                saved = True
                break
            if "handed back" in line or "shorter than" in line:
                saved = False
                break
        else:
            sys.exit("the job has ended in its window")
        now = time.monotonic()
        job.process.communicate()
        ended = time.monotonic() - opened
        dumps = json.loads((self.store / ".piracema-store/store.json").read_text())["content"]["dumps"]
        took = dumps[-1][-1]
        begun = now - opened - (took if saved else took / 1.5)
        return {**self.forecast_of(plan), "took": took, "kept": length - begun, "used": begun / length,
                "missed": not saved or ended > length}
