#!/usr/bin/env python3
"""Do jobs that are hit at random moments end with the output of jobs that are not? Many of them.

    bench/streams/killer.py BUILD_DIRECTORY [--jobs 2000] [--parallel 2] [--seed 1] [--on-disk] [--keep DIR]

Each job is `piracema run` with snapshots of tests/cluster/apps/stream.cpp, or of tally.cpp, which has
state by key, with 2 to 5 processes, 500 to 4000 items (tally: three times as many), a snapshot each 50 to
300 ms, by TCP or shared memory. It is hit up to --hits times: a worker gets SIGKILL or SIGSTOP (for a
moment, or for good), the job is told to stop (SIGTERM or SIGINT, now and then twice), or the
coordinator gets SIGKILL; after the last two it is started again with --resume. Jobs with state by key
are also told to have other numbers of replicas and processes (`piracema scale`), and are hit meanwhile;
with --on-disk these have their states there.
Some of the jobs have --keep-workers: there the next coordinator goes on with the workers of the one
that was killed, of which some are killed meanwhile, and agents get SIGKILL, too. Others have
--coordinators 3, of which one is killed. In the end a job is left alone.

It has ended wrongly when its output is not, byte for byte, that of a run in which nothing is hit, or
when it ended by itself with another exit code than 0; it hangs when it says nothing for --patience
seconds. Of such a job all is kept, its seed is printed, and the exit code is 1 in the end.
`--only SEED` makes that job alone again, as far as real processes do the same twice.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import queue
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

ITEMS_MAX = 4000
STOPPED = 75  # With a snapshot to go on from.
# It was hit before its first snapshot, or before there was a place for them.
NO_SNAPSHOT = ("nothing to resume: ", "want a snapshot directory, found nothing")
# Its output was complete when somebody was lost, and there is no snapshot that knows of it.
COMPLETE = "exists: remove it or ask to overwrite"
COUNTED = ["kills", "freezes", "stops", "scaled", "not scaled", "agents killed", "coordinators killed",
           "resumed", "taken over", "begun anew"]


class Wrong(Exception):
    """What is wrong with a job, in a sentence."""


class Life:
    """One process of `piracema run`, from its start to its end."""

    def __init__(self, command, mark, errors):
        self.mark = mark
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True,
                                        env={**os.environ, "PIRACEMA_KILLER_JOB": mark})
        self.lines = queue.Queue()
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self):
        for line in self.process.stdout:
            self.lines.put(line)
        self.lines.put(None)

    def next_event(self, patience):
        """None when no more come; {} when none came in that time."""
        try:
            line = self.lines.get(timeout=max(patience, 0.001))
        except queue.Empty:
            return {}
        return None if line is None else json.loads(line)

    def pids(self):
        """All processes of this job; the workers and the coordinators among them."""
        everybody, workers, coordinators = [], [], []
        for entry in os.scandir("/proc"):
            if not entry.name.isdigit():
                continue
            try:
                variables = pathlib.Path(entry.path, "environ").read_bytes().split(b"\0")
                state = pathlib.Path(entry.path, "stat").read_text().rsplit(") ", 1)[1][0]
            except OSError:
                continue
            if f"PIRACEMA_KILLER_JOB={self.mark}".encode() not in variables or state == "Z":
                continue
            everybody.append(int(entry.name))
            if any(variable.startswith(b"PIRACEMA_SLOT=") for variable in variables):
                workers.append(int(entry.name))
            elif words_of(entry.name)[1:2] == [b"run"]:
                coordinators.append(int(entry.name))
        return everybody, workers, coordinators


def tell(pid, number):
    try:
        os.kill(pid, number)
        return True
    except ProcessLookupError:
        return False


def words_of(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return []


def is_agent(pid):
    return words_of(pid)[1:2] == [b"agent"]


class Job:
    """One job, its hits, and what became of it."""

    def __init__(self, arguments, seed, reference):
        self.arguments, self.seed, self.reference = arguments, seed, reference
        self.random = random.Random(seed)
        self.folder = arguments.keep / f"job-{seed}"
        self.folder.mkdir(parents=True)
        self.items = self.random.randrange(500, ITEMS_MAX + 1)
        self.tallies = self.random.random() < 0.4
        self.counts = dict.fromkeys(COUNTED, 0)
        self.has_snapshot = False
        control = self.random.random()
        self.keeps_workers, self.several = control < 0.4, control > 0.75
        self.entrance, self.scalings = None, []
        build = arguments.build
        self.command = [
            str(build / "tools/piracema"), "run", "--json", "-n", str(self.random.randrange(2, 6)),
            "--snapshots", str(self.folder / "snapshots"),
            "--every", f"{self.random.choice([50, 100, 200, 300])}ms",
            "--transport", self.random.choice(["tcp", "shm"])]
        if self.keeps_workers:
            self.command += ["--keep-workers", "1m"]
        if self.several:
            self.command += ["--coordinators", "3"]
        program, items, words = "stream_app", self.items, []
        if self.tallies:
            self.command += ["--http"]
            if arguments.on_disk:
                self.command += ["--state-directory", str(self.folder / "states"), "--state-memory", "1MiB"]
            program, items, words = "tally_app", 3 * self.items, ["replicas=2"]
        self.program = [str(build / "tests/cluster" / program), str(self.folder / "out"),
                        f"items={items}", f"pause_us={self.random.choice([50, 200, 500])}", *words]

    def run(self):
        hits = self.random.randrange(1, self.arguments.hits + 1)
        resume = False
        with open(self.folder / "errors", "w") as errors:
            while True:
                said = os.stat(errors.fileno()).st_size
                words = ["--resume"] if resume else []
                life = Life(self.command + words + self.program, f"{os.getpid()}-{self.seed}", errors)
                kept = False
                try:
                    code, was_hit, hits = self.live(life, hits)
                    kept = self.keeps_workers and code == -signal.SIGKILL
                    if kept:
                        self.hit_those_left(life)
                finally:
                    if not kept:
                        self.end_all(life)
                    self.end_scalings()
                if code == 0:
                    break
                if not self.has_snapshot and self.is_to_begin_anew(code, resume, said):
                    shutil.rmtree(self.folder / "snapshots", ignore_errors=True)
                    resume = False
                    self.counts["begun anew"] += 1
                    continue
                if code not in was_hit:
                    raise Wrong(f"it ended with code {code}, want 0{''.join(f' or {c}' for c in was_hit)}")
                self.has_snapshot |= code == STOPPED
                resume = True
                self.counts["resumed"] += 1
        self.is_right()

    def is_right(self):
        out = (self.folder / "out").read_bytes()
        if out != (tally(3 * self.items) if self.tallies else self.reference[self.items]):
            raise Wrong("its output is another one")

    def is_to_begin_anew(self, code, resume, said):
        """Without a snapshot: whether it is refused, and says so, as docs/limits.md has it."""
        if code == 1 and self.has_said([COMPLETE], said):
            self.is_right()
            (self.folder / "out").unlink()
            return True
        return resume and code == 3 and self.has_said(NO_SNAPSHOT, said)

    def has_said(self, texts, since):
        """Whether its processes wrote one of these to standard error after so many bytes."""
        said = (self.folder / "errors").read_bytes()[since:].decode(errors="replace")
        return any(text in said for text in texts)

    def live(self, life, hits):
        """Until it ends: its exit code, those that our hit excuses, and the hits that are left."""
        was_hit, waking, code, coordinators_killed = (), {}, None, 0
        due = time.monotonic() + self.random.expovariate(1 / 0.25) if hits else None
        heard = time.monotonic()
        while True:
            event = life.next_event(0.01)
            now = time.monotonic()
            if event is None:
                break
            if event:
                heard = now
                self.has_snapshot |= event["event"] == "snapshot"
                self.counts["taken over"] += event["event"] == "reattached"
                if event["event"] == "http":
                    self.entrance = event["entrance"]
                if event["event"] == "summary":
                    code = event["code"]
            if now - heard > self.arguments.patience:
                raise Wrong(f"it hangs: nothing was heard of it for {self.arguments.patience} s")
            for pid in [pid for pid, at in waking.items() if at < now]:
                tell(pid, signal.SIGCONT)
                del waking[pid]
            if due is not None and now > due and not was_hit:
                before = self.counts["coordinators killed"]
                was_hit = self.hit(life, waking, may_lose_coordinator=coordinators_killed == 0)
                coordinators_killed += self.counts["coordinators killed"] - before
                hits -= 1
                due = now + self.random.expovariate(1 / 0.15) if hits else None
        try:
            ended = life.process.wait(self.arguments.patience)
        except subprocess.TimeoutExpired:
            raise Wrong("it hangs: it says no more and does not end") from None
        # The others have gone on after the first of them was killed: the last one says how it ended.
        if self.several and ended == -signal.SIGKILL:
            ended = code
        return ended, was_hit, hits

    def hit(self, life, waking, may_lose_coordinator):
        """The exit codes that this excuses, none if it is not to end the job."""
        if self.entrance and self.random.random() < 0.4:
            self.scale()
            return ()
        what = self.random.random()
        if what < 0.65:
            workers = sorted(life.pids()[1])
            if not workers:
                return ()
            pid = self.random.choice(workers)
            if what < 0.5:
                self.counts["kills"] += tell(pid, signal.SIGKILL)
                self.note(f"SIGKILL to worker {pid}")
            elif tell(pid, signal.SIGSTOP):
                self.counts["freezes"] += 1
                self.note(f"SIGSTOP to worker {pid}")
                if self.random.random() < 0.5:
                    waking[pid] = time.monotonic() + self.random.uniform(0.05, 2)
            return ()
        if what < (0.7 if self.keeps_workers else 0.85):
            number = self.random.choice([signal.SIGTERM, signal.SIGINT])
            self.counts["stops"] += tell(life.process.pid, number)
            self.note(f"{signal.Signals(number).name} to the coordinator")
            if self.random.random() < 0.2:
                tell(life.process.pid, number)
            return (STOPPED, 128 + number, -number)
        if self.keeps_workers and what < 0.75:
            for pid in life.pids()[0]:
                if pid != life.process.pid and is_agent(pid):
                    self.counts["agents killed"] += tell(pid, signal.SIGKILL)
                    self.note(f"SIGKILL to agent {pid}")
            return ()
        if self.several:
            coordinators = sorted(life.pids()[2])
            # Before all three stand there is no majority without the one that is killed.
            if may_lose_coordinator and len(coordinators) == 3 and self.has_snapshot:
                pid = self.random.choice(coordinators)
                self.counts["coordinators killed"] += tell(pid, signal.SIGKILL)
                self.note(f"SIGKILL to coordinator {pid} of {coordinators}")
            return ()
        self.counts["coordinators killed"] += tell(life.process.pid, signal.SIGKILL)
        self.note("SIGKILL to the coordinator")
        return (-signal.SIGKILL,)

    def scale(self):
        """Asked for, and not waited for: it is hit meanwhile."""
        replicas = self.random.randrange(1, 6)
        words = [f"tally={replicas}", "-n", str(self.random.randrange(1, 6))]
        self.note(f"scale {' '.join(words)}")
        self.scalings.append(subprocess.Popen(
            [self.command[0], "scale", "--json", self.entrance, *words],
            stdout=subprocess.DEVNULL, stderr=open(self.folder / "scale-errors", "a")))

    def end_scalings(self):
        """Each ends in bounded time, also when its job is over."""
        for process in self.scalings:
            try:
                done = process.wait(self.arguments.patience) == 0
            except subprocess.TimeoutExpired:
                process.kill()
                raise Wrong("`piracema scale` hangs") from None
            self.counts["scaled" if done else "not scaled"] += 1
        self.scalings, self.entrance = [], None

    def hit_those_left(self, life):
        """Nobody coordinates them for a moment, and one of them may be killed in it."""
        time.sleep(self.random.uniform(0, 0.3))
        workers = sorted(life.pids()[1])
        if workers and self.random.random() < 0.3:
            pid = self.random.choice(workers)
            self.counts["kills"] += tell(pid, signal.SIGKILL)
            self.note(f"SIGKILL to worker {pid}, whom nobody coordinates")

    def note(self, what):
        """Beside what the job says of itself."""
        with open(self.folder / "hits", "a") as hits:
            print(f"{time.time():.3f} {what}", file=hits)

    def end_all(self, life):
        """Workers end with their coordinator; one that is stopped only when it is woken."""
        if life.process.poll() is None:
            life.process.kill()
            life.process.wait()
        until = time.monotonic() + self.arguments.patience
        while True:
            left = life.pids()[0]
            if not left:
                return
            for pid in left:
                tell(pid, signal.SIGCONT)
            if time.monotonic() > until:
                for pid in left:
                    tell(pid, signal.SIGKILL)
                raise Wrong(f"processes {left} are left behind")
            time.sleep(0.005)  # They are nobody's children that would be waited for.


def tally(items):
    """What tally_app writes of so many items."""
    counts, sums, lines = {}, {}, []
    for item in range(items):
        key = item * 31 % 5_000
        counts[key] = counts.get(key, 0) + 1
        sums[key] = sums.get(key, 0) + item
        lines.append(f"key {key}: {counts[key]} {sums[key]}\n")
    return "".join(lines).encode()


class Reference:
    """What a run writes in which nothing is hit: the first lines of the longest one."""

    def __init__(self, build, folder):
        out = folder / "reference"
        subprocess.run([str(build / "tests/cluster/stream_app"), str(out), f"items={ITEMS_MAX}"],
                       check=True, stdout=subprocess.DEVNULL)
        self.lines = out.read_bytes().splitlines(keepends=True)
        assert len(self.lines) == ITEMS_MAX

    def __getitem__(self, items):
        return b"".join(self.lines[:items])


def make(arguments, seed, reference):
    """One job: its counts, and what is wrong with it, if anything is."""
    job = Job(arguments, seed, reference)
    try:
        job.run()
    except (Wrong, FileNotFoundError) as wrong:
        return seed, job.counts, str(wrong)
    shutil.rmtree(job.folder)
    return seed, job.counts, None


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--jobs", type=int, default=2000)
    parser.add_argument("--parallel", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--hits", type=int, default=5)
    parser.add_argument("--patience", type=float, default=60)
    parser.add_argument("--on-disk", action="store_true", help="states by key lie there")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="begin no job later")
    parser.add_argument("--only", type=int, help="the seed of a single job")
    parser.add_argument("--keep", type=pathlib.Path, help="for files; default: a new folder")
    arguments = parser.parse_args()
    arguments.build = arguments.build.resolve()
    arguments.keep = arguments.keep or pathlib.Path(tempfile.mkdtemp(prefix="piracema-killer-"))
    arguments.keep.mkdir(parents=True, exist_ok=True)
    reference = Reference(arguments.build, arguments.keep)
    seeds = [arguments.only] if arguments.only is not None else [
        arguments.seed * 1_000_000 + i for i in range(arguments.jobs)]
    total, done, bad = dict.fromkeys(COUNTED, 0), 0, []
    begun = said = time.monotonic()

    def in_time(seed):
        if time.monotonic() - begun > 60 * arguments.minutes:
            return None
        return make(arguments, seed, reference)

    def summary():
        hung = sum(1 for _, why in bad if why.startswith("it hangs"))
        figures = ", ".join(f"{total[name]} {name}" for name in COUNTED)
        return (f"{done} jobs: {figures}; {len(bad) - hung} ended wrongly, {hung} hung; "
                f"{time.monotonic() - begun:.0f} s")

    with concurrent.futures.ThreadPoolExecutor(arguments.parallel) as pool:
        for result in pool.map(in_time, seeds):
            if result is None:
                continue
            seed, counts, wrong = result
            done += 1
            for name in COUNTED:
                total[name] += counts[name]
            if wrong:
                bad.append((seed, wrong))
                print(f"job {seed}: {wrong}; files in {arguments.keep / f'job-{seed}'}", flush=True)
            if time.monotonic() - said > 20:
                said = time.monotonic()
                print(summary(), flush=True)
    print(summary())
    if not bad:
        shutil.rmtree(arguments.keep)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
