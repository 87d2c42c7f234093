#!/usr/bin/env python3
"""How often is a job saved in time, and how much of its window does it get? Real jobs, real images.

    bench/ckpt/windows.py BUILD_DIRECTORY [--windows 200] [--store DIR] [--slow MB_PER_S] [--json FILE]

Each window lends a machine for --length seconds (300) to a job of 20 to 1200 MB. Of its first part,
in which the job would only run, some steps are made and the rest is left out: what is measured is
the end, from the moment at which `piracema ckpt plan` says that the last dump has to begin. It is
missed if the job is not saved, and the machine free, by the close. In half of the windows, some in a
row each time, another program writes to the same store and syncs. With --slow the store is a file
system of its own on a loop device that takes so many megabytes a second.

Beside it, from the same dumps: a regression on the size alone with the worst ratio so far as its
margin, and with the fixed margins of 2 and 3. The first four dumps train all and are not counted for
these.
"""

import argparse
import contextlib
import json
import os
import pathlib
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

from jobs import Job, slow_store, want_ckpt

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


class SizeOnly:
    """Seconds = a + b * bytes by least squares."""

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


class Bench:
    def __init__(self, arguments, store):
        self.counter = arguments.build / "tests/ckpt/ckpt_counter_app"
        self.arguments = arguments
        self.store = store
        self.random = random.Random(arguments.seed)
        self.writer = None
        self.rows = []
        self.size_only = SizeOnly()

    def set_writer(self, wanted):
        if wanted and not self.writer:
            self.writer = subprocess.Popen([sys.executable, "-c", WRITER, self.store / "other",
                                            str(self.arguments.writer_mb)])
        elif not wanted and self.writer:
            self.writer.kill()
            self.writer.wait()
            self.writer = None
            (self.store / "other").unlink(missing_ok=True)

    def one(self, megabytes):
        length = self.arguments.length
        where = self.store / "job"
        job = Job(self.arguments.build, where, self.counter, 10**9, megabytes, 2_000_000, 0)
        # Its memory is filled by then.
        job.read_lines(self.arguments.steps)
        plan = json.loads(job.ask("plan", "--for", f"{length}s", "--json"))
        begin = time.monotonic()
        stopped = job.begin("stop")
        job.end(75)
        took = time.monotonic() - begin
        stopped.communicate()
        # The planner has kept its reserve free as well, for ending processes.
        kept = length - plan["used"] * length if plan["used"] > 0 else plan["duration"]
        row = dict(megabytes=megabytes, bytes=plan["bytes"], writer=self.writer is not None, took=took,
                   kept=kept, p50=plan["p50"], p95=plan["p95"], p99=plan["p99"], probe=plan["probe"],
                   dirty=plan["dirty_bytes"], factors=plan["factors"], used=1 - kept / length)
        if len(self.rows) >= LEARNING:
            said = self.size_only.predict(plan["bytes"])
            row["size only, worst ratio"] = said * self.size_only.worst
            row["size only x2"], row["size only x3"] = 2 * said, 3 * said
        self.size_only.learn(plan["bytes"], took)
        shutil.rmtree(where)
        return row

    def run(self):
        for number in range(self.arguments.windows):
            if self.random.random() < 0.15:
                self.set_writer(self.writer is None)
            low, high = self.arguments.low, self.arguments.high
            row = self.one(self.random.randint(low, high))
            self.rows.append(row)
            print(f"window {number + 1}: {row['megabytes']} MB{', a writer' if row['writer'] else ''}: kept "
                  f"{row['kept']:.2f} s (p50 {row['p50']:.2f}, p95 {row['p95']:.2f}), took "
                  f"{row['took']:.2f} s{' MISSED' if row['took'] > row['kept'] else ''}", flush=True)

    def report(self):
        length, rows = self.arguments.length, self.rows
        print(f"\n{len(rows)} windows of {length} s, {sum(r['writer'] for r in rows)} of them with a writer; "
              f"load {os.getloadavg()[0]:.1f}")
        print(f"{'':24}{'missed':>16}{'used, median':>14}{'least':>8}")
        for name in ["kept", "size only, worst ratio", "size only x2", "size only x3"]:
            counted = [r for r in rows if name in r]
            missed = sum(r["took"] > r[name] for r in counted)
            used = [1 - r[name] / length for r in counted]
            if used:
                print(f"{'plan' if name == 'kept' else name:24}{missed:>4} of {len(counted):<9}"
                      f"{100 * statistics.median(used):>12.1f} %{100 * min(used):>6.1f} %")
        late = rows[len(rows) // 4:]
        held = [sum(r["took"] <= r[name] for r in late) / len(late) for name in ["p50", "p95", "p99"]]
        print("of the last three quarters p50, p95, p99 held in "
              + ", ".join(f"{100 * h:.1f} %" for h in held))

    def missed(self):
        return sum(r["took"] > r["kept"] for r in self.rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--windows", type=int, default=200)
    parser.add_argument("--length", type=int, default=300, help="of a window, in seconds")
    parser.add_argument("--low", type=int, default=20, help="megabytes of the smallest job")
    parser.add_argument("--high", type=int, default=1200)
    parser.add_argument("--steps", type=int, default=2, help="of a job before it has to leave")
    parser.add_argument("--writer-mb", type=int, default=200, help="that the other writes at a time")
    parser.add_argument("--store", type=pathlib.Path, default=pathlib.Path("/var/tmp"))
    parser.add_argument("--slow", type=float, help="MB/s of a store that is made for it, in --store")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--most-missed", type=int, help="exit code 1 if there are more")
    parser.add_argument("--json", type=pathlib.Path)
    arguments = parser.parse_args()
    arguments.build = arguments.build.resolve()
    want_ckpt(arguments.build)
    with tempfile.TemporaryDirectory(dir=arguments.store, prefix="piracema-windows-",
                                     ignore_cleanup_errors=True) as folder, \
            contextlib.ExitStack() as stack:
        store = pathlib.Path(folder)
        if arguments.slow:
            store = stack.enter_context(slow_store(arguments.slow, store))
        bench = Bench(arguments, store)
        try:
            bench.run()
        finally:
            bench.set_writer(False)
        bench.report()
    if arguments.json:
        arguments.json.write_text(json.dumps(bench.rows, indent=1))
    if arguments.most_missed is not None and bench.missed() > arguments.most_missed:
        sys.exit(f"want at most {arguments.most_missed} windows missed, found {bench.missed()}")


if __name__ == "__main__":
    main()
