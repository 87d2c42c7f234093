#!/usr/bin/env python3
"""The applications of paper 000 (section 5), each with the operator interface, with blocks and by hand
with MPI: all give what a sequential run gives, and the first two do so when a worker is killed."""

import bz2
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

PIRACEMA = os.environ["PIRACEMA_COMMAND"]
APPS = pathlib.Path(os.environ["APPS"])
PLUGINS = pathlib.Path(os.environ["PLUGINS"])
WORKERS = 3
SECONDS_MAX = 300

CLEAN = {name: value for name, value in os.environ.items()
         if not name.startswith(("PIRACEMA_", "OMPI_", "PMI"))}
# With UCX_TLS=tcp MPICH 4.0 does not come back from MPI_Finalize after a barrier of 8 ranks.
CLEAN["UCX_TLS"] = "posix,self"
MPIRUN = {
    "openmpi": ["mpirun.openmpi", "--oversubscribe", "--allow-run-as-root", "--bind-to", "none",
                "--mca", "pml", "ob1", "--mca", "btl", "vader,self"],
    "mpich": ["mpirun.mpich", "-bind-to", "none"],
}
FAMILIES = [family for family in MPIRUN if shutil.which(MPIRUN[family][0])
            and (PLUGINS / f"libpiracema_mpi_{family}.so").exists()]


def text(size, seed=1):
    """Words in lines, some of them long runs of one letter."""
    chance = random.Random(seed)
    words = ["".join(chance.choices("etaoinshrdlu", k=chance.randint(1, 9))) for _ in range(3_000)]
    lines = []
    while size > 0:
        lines.append(" ".join(chance.choices(words, k=2_000)) + "\n" + "=" * chance.randint(0, 3_000))
        size -= len(lines[-1])
    return "".join(lines).encode()


def primes_up_to(last):
    sieve = bytearray([1]) * (last + 1)
    sieve[:2] = b"\0\0"
    for number in range(2, int(last ** 0.5) + 1):
        if sieve[number]:
            sieve[number * number::number] = bytes(len(range(number * number, last + 1, number)))
    return sum(sieve)


class Application:
    """Programs that read IN and write OUT: (a) operators, (b) blocks, (c) by hand."""

    def __init__(self, folder, operators, blocks, twin):
        self.operators = lambda into, out: [APPS / folder / operators, WORKERS, into, out]
        self.blocks = lambda into, out: blocks(APPS / folder, into, out)
        self.twins = {"openmpi": APPS / folder / f"{twin}_mpi", "mpich": APPS / folder / f"{twin}_mpich"}

    def ways(self):
        return {"operators": self.operators, "blocks": self.blocks}


def plain(program):
    return lambda folder, into, out: [folder / program, WORKERS, into, out]


BZIP2 = Application("bzip2", "bzip2_operators", lambda folder, into, out: [
    folder / "bzip2_app", "--workers", WORKERS, into, out], "bzip2")
BUNZIP2 = Application("bzip2", "bunzip2_operators", plain("bunzip2_app"), "bunzip2")
EYES = Application("eyes", "eyes_operators", plain("eyes_app"), "eyes")


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def file(self, name, content):
        path = self.folder / name
        path.write_bytes(content)
        return path

    def out(self):
        """A path where nothing is yet."""
        self.outs = getattr(self, "outs", 0) + 1
        return self.folder / f"out{self.outs}"

    def call(self, *command):
        return subprocess.run([str(word) for word in command], cwd=self.folder, env=CLEAN, text=True,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              timeout=SECONDS_MAX)

    def launchers(self):
        """Alone, as processes of ours, and as ranks of each MPI."""
        return {"alone": [], "piracema run": [PIRACEMA, "run", "--quiet", "-n", "4"],
                **{f"mpirun of {family}": [*MPIRUN[family], "-n", "4"] for family in FAMILIES}}

    def check_everywhere(self, application, into, right):
        for way, program in application.ways().items():
            for name, launcher in self.launchers().items():
                with self.subTest(way=way, launcher=name):
                    out = self.out()
                    run = self.call(*launcher, *program(into, out))
                    self.assertEqual(0, run.returncode, run.stdout + run.stderr)
                    self.assertTrue(out.read_bytes() == right, "another output")
        for family, twin in application.twins.items():
            if twin.exists() and shutil.which(MPIRUN[family][0]):
                with self.subTest(twin=family):
                    out = self.out()
                    run = self.call(*MPIRUN[family], "-n", WORKERS + 2, twin, into, out)
                    self.assertEqual(0, run.returncode, run.stdout + run.stderr)
                    self.assertTrue(out.read_bytes() == right, "another output")

    def kill_one(self, slot, program, *options):
        """Runs a program as four processes, one of which is killed once there is a snapshot. What was
        printed."""
        stats = self.out()
        job = subprocess.Popen([PIRACEMA, "run", "--json", "-n", "4", "--snapshots", str(self.out()),
                                "--every", "20ms", "--stats", str(stats), *options,
                                *map(str, program)],
                               cwd=self.folder, env=CLEAN, text=True, stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(job.communicate)
        self.addCleanup(lambda: job.poll() is None and job.kill())
        for line in job.stdout:
            if json.loads(line)["event"] == "snapshot":
                break
        else:
            self.fail(f"no snapshot was taken: {job.stderr.read()}")
        victims = workers_of(job.pid, str(program[0]))
        self.assertEqual(4, len(victims))
        os.kill(victims[slot], signal.SIGKILL)
        out, err = job.communicate(timeout=SECONDS_MAX)
        self.assertEqual(0, job.returncode, err)
        self.assertGreaterEqual(len(json.loads(stats.read_text())["recoveries"]), 1)
        return out + err

    def check_killed(self, application, into, right):
        for way, program in application.ways().items():
            for slot in range(3):
                with self.subTest(way=way, slot=slot):
                    out = self.out()
                    self.kill_one(slot, program(into, out))
                    self.assertTrue(out.read_bytes() == right, "another output")


def workers_of(pid, program):
    """Those below a process that run a program, but for what they have started themselves."""
    parents, running = {}, set()
    for entry in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            parents[int(entry.name)] = int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1])
            if (entry / "cmdline").read_bytes().split(b"\0")[0].decode() == program:
                running.add(int(entry.name))
        except (OSError, UnicodeDecodeError):
            pass  # Gone meanwhile.

    def is_below(one):
        while one in parents and one != pid:
            one = parents[one]
        return one == pid
    return sorted(one for one in running if parents[one] not in running and is_below(one))


class Bzip2(Case):
    def packed(self, content):
        """As bzip2 has it, in the blocks of all our programs."""
        return b"".join(bz2.compress(content[i:i + 900_000])
                        for i in range(0, len(content), 900_000)) or bz2.compress(b"")

    def test_all_compress_as_bzip2_does(self):
        for size in [0, 1, 900_000, 4_000_000]:
            with self.subTest(size=size):
                content = text(size)[:size]
                right = self.packed(content)
                self.assertEqual(content, bz2.decompress(right))
                self.check_everywhere(BZIP2, self.file("in", content), right)

    def test_all_decompress_what_bzip2_made(self):
        content = text(5_000_000)
        zeros = bytes(100_000_000)
        files = {"one stream": (bz2.compress(content), content),
                 "streams": (self.packed(content), content),
                 "small blocks": (bz2.compress(content[:900_000], 1), content[:900_000]),
                 "zeros": (bz2.compress(zeros), zeros),
                 "nothing": (bz2.compress(b""), b"")}
        for name, (packed, right) in files.items():
            with self.subTest(file=name):
                self.check_everywhere(BUNZIP2, self.file("in", packed), right)

    def test_damage_is_found_by_all(self):
        packed = bytearray(bz2.compress(text(2_000_000)))
        damaged = {"cut short": packed[:len(packed) * 2 // 3], "no bzip2": b"nothing of the kind",
                   "empty": b"", "a wrong end": packed[:-3] + bytes([packed[-3] ^ 1]) + packed[-2:]}
        packed[len(packed) // 2] ^= 16
        damaged["a wrong bit"] = packed
        launchers = {"operators": [], "blocks": []}
        for name, content in damaged.items():
            into = self.file("in", bytes(content))
            for way, program in BUNZIP2.ways().items():
                with self.subTest(file=name, way=way):
                    run = self.call(*launchers[way], *program(into, self.out()))
                    self.assertNotEqual(0, run.returncode)
                    self.assertRegex(run.stderr, "damaged|ends in|no bzip2 stream|lost a block")

    def test_a_killed_worker_leaves_no_trace_in_what_was_compressed(self):
        content = text(30_000_000)
        self.check_killed(BZIP2, self.file("in", content), self.packed(content))

    def test_a_killed_worker_leaves_no_trace_in_what_was_decompressed(self):
        content = text(60_000_000)
        self.check_killed(BUNZIP2, self.file("in", bz2.compress(content)), content)

    def test_wrong_arguments_are_told_once(self):
        for family in FAMILIES:
            with self.subTest(mpi=family):
                run = self.call(*MPIRUN[family], "-n", "3", APPS / "bzip2/bzip2_operators", "nothing")
                self.assertNotEqual(0, run.returncode)
                # Its rank says so which is the first one, outside of every operator.
                self.assertEqual(1, run.stderr.count("usage: bzip2_operators"), run.stderr)


class Primes(Case):
    def commands(self, last):
        return {"operators": [APPS / "farm/primes_operators", last, WORKERS],
                "blocks": [APPS / "farm/primes_app", last, WORKERS]}

    def check(self, run, last):
        self.assertEqual(0, run.returncode, run.stdout + run.stderr)
        self.assertIn(f" items {last}\nsum {primes_up_to(last)}\n", run.stdout)

    def test_all_count_the_primes_that_there_are(self):
        self.assertEqual(9_592, primes_up_to(100_000))
        for last in [1, 100_000]:
            for way, program in self.commands(last).items():
                for name, launcher in self.launchers().items():
                    with self.subTest(way=way, launcher=name, last=last):
                        self.check(self.call(*launcher, *program), last)
            for family in FAMILIES:
                twin = APPS / f"farm/primes_{'mpi' if family == 'openmpi' else 'mpich'}"
                for batch in [1, 1_000]:
                    if twin.exists():
                        with self.subTest(twin=family, batch=batch, last=last):
                            self.check(self.call(*MPIRUN[family], "-n", WORKERS + 2, twin, last, batch), last)

    def check_count_of_killed(self, slot, *options):
        # So many that each is at it for a second or more.
        for way, last in {"operators": 3_000_000, "blocks": 10_000_000}.items():
            with self.subTest(way=way, slot=slot, options=options):
                printed = self.kill_one(slot, self.commands(last)[way], *options)
                self.assertEqual(1, printed.count("sum "), printed)
                self.assertIn(f"sum {primes_up_to(last)}\n", printed)

    def test_a_killed_worker_leaves_no_trace_in_the_count(self):
        for slot in range(3):
            self.check_count_of_killed(slot)

    def test_a_killed_rank_leaves_no_trace_in_the_count(self):
        """Its mpirun ends with it, and is started again."""
        for family in FAMILIES:
            self.check_count_of_killed(1, "--transport", "mpi", "--mpirun", " ".join(MPIRUN[family]))


class Eyes(Case):
    def clip(self, frames):
        path = self.folder / "clip.avi"
        self.assertEqual(0, self.call(APPS / "eyes/eyes_clip", frames, 480, 270, path).returncode)
        run = self.call(APPS / "eyes/eyes_sequential", path)
        self.assertEqual(0, run.returncode, run.stderr)
        lines = run.stdout.splitlines()
        self.assertEqual(frames, len(lines))
        self.assertTrue(all("face" in line for line in lines), lines)
        self.assertGreaterEqual(sum("eye" in line for line in lines), frames // 2, lines)
        return path, run.stdout.encode()

    def test_all_find_the_same_faces_and_eyes(self):
        self.check_everywhere(EYES, *self.clip(20))

    def test_a_killed_worker_leaves_no_trace_in_what_was_found(self):
        self.check_killed(EYES, *self.clip(80))

    def test_what_is_no_video_is_refused(self):
        into = self.file("in", b"no video")
        for way, program in EYES.ways().items():
            with self.subTest(way=way):
                run = self.call(*program(into, self.out()))
                self.assertNotEqual(0, run.returncode)
                self.assertIn("is no video that can be read", run.stderr)


# Test case -> a program that it wants, and how that is had.
WANTED = {"Bzip2": ("bzip2/bzip2_operators", "libbz2-dev"), "Primes": ("farm/primes_operators", ""),
          "Eyes": ("eyes/eyes_operators", "an OpenCV: scripts/setup --with-opencv")}

if __name__ == "__main__":
    for missing in [family for family in MPIRUN if family not in FAMILIES]:
        print(f"without {missing}: there is no mpirun, or no plug-in for it; scripts/setup --with-mpi "
              "installs both")
    for case, (program, means) in WANTED.items():
        if case in sys.argv[1:2] and not (APPS / program).exists():
            print(f"skipped: apps/{program} was left out, as it wants {means}")
            sys.exit(77)
    unittest.main()
