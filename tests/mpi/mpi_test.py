#!/usr/bin/env python3
"""Programs under the mpirun of one MPI: by themselves, and started by piracema run."""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

FAMILY = os.environ["MPI_FAMILY"]
PIRACEMA = os.environ["PIRACEMA_COMMAND"]
SUMS = os.environ["SUMS_APP"]
CONFORMANCE = os.environ["CONFORMANCE"]
MPIRUN = shutil.which(f"mpirun.{FAMILY}")
PLUGIN = pathlib.Path(os.environ["PLUGINS"]) / f"libpiracema_mpi_{FAMILY}.so"

# Sixteen processes on two busy cores take their time.
SECONDS_MAX = 300

CLEAN = {name: value for name, value in os.environ.items()
         if not name.startswith(("PIRACEMA_", "OMPI_", "PMI"))}
if FAMILY == "openmpi":
    FLAGS = ["--oversubscribe", "--allow-run-as-root", "--bind-to", "none",
             "--mca", "pml", "ob1", "--mca", "btl", "vader,self"]
else:
    FLAGS = ["-bind-to", "none"]
    # With UCX_TLS=tcp MPICH 4.0 does not come back from MPI_Finalize after a barrier of 8 ranks.
    CLEAN["UCX_TLS"] = "posix,self"


def sum_of_squares(last):
    return f"sum {last * (last + 1) * (2 * last + 1) // 6}\n"


def ranks_of(pid):
    """The processes of the program below a process, without those that they have made themselves."""
    parents, program = {}, set()
    for entry in pathlib.Path("/proc").iterdir():
        try:
            one = int(entry.name)
            parents[one] = int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1])
            if (entry / "cmdline").read_bytes().split(b"\0")[0].decode() == SUMS:
                program.add(one)
        except (OSError, ValueError, UnicodeDecodeError):
            pass  # Gone meanwhile, or no process.

    def is_below(one):
        while one in parents and one != pid:
            one = parents[one]
        return one == pid
    return sorted(one for one in program if parents[one] not in program and is_below(one))


class Mpi(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def start(self, *command, **environment):
        process = subprocess.Popen([str(word) for word in command], cwd=self.folder, text=True,
                                   env={**CLEAN, **environment}, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(process.wait)
        self.addCleanup(lambda: process.poll() is None and process.kill())
        return process

    def run_to_end(self, *command, **environment):
        process = self.start(*command, **environment)
        process.out, process.err = process.communicate(timeout=SECONDS_MAX)
        return process

    def mpirun(self, ranks, *words):
        return [MPIRUN, *FLAGS, "-n", ranks, *words]

    def job(self, *options, app):
        quiet = [] if "--json" in options else ["--quiet"]
        return [PIRACEMA, "run", *quiet, "--transport", "mpi", "--mpirun",
                " ".join([MPIRUN, *FLAGS]), *options, *app]

    def test_the_suite_of_all_transports(self):
        run = self.run_to_end(*self.mpirun(1, CONFORMANCE))
        self.assertEqual(0, run.returncode, run.out + run.err)
        self.assertIn("0 failed", run.out)
        self.assertNotIn(" 0 passed", run.out)

    def test_a_program_needs_no_other_launcher(self):
        for ranks in [2, 8]:
            with self.subTest(ranks):
                run = self.run_to_end(*self.mpirun(ranks, SUMS, 20_000))
                self.assertEqual((0, sum_of_squares(20_000)), (run.returncode, run.out), run.err)

    def test_one_rank_is_a_program_by_itself(self):
        run = self.run_to_end(*self.mpirun(1, SUMS, 1_000))
        self.assertEqual((0, sum_of_squares(1_000)), (run.returncode, run.out), run.err)

    def test_piracema_run_starts_mpirun(self):
        run = self.run_to_end(*self.job("-n", 4, app=[SUMS, 20_000]))
        self.assertEqual((0, sum_of_squares(20_000)), (run.returncode, run.out), run.err)

    def slow_sums(self):
        """Goes on until `enough` is called; the sum that comes then."""
        last = 400_000
        return [SUMS, last, 200, self.folder / "enough"], sum_of_squares(last)

    def enough(self):
        (self.folder / "enough").touch()

    def wait_for(self, job, name):
        """An event of `piracema run --json`."""
        for line in job.stdout:
            if json.loads(line)["event"] == name:
                return
        self.fail(f"no event '{name}' came: {job.stderr.read()}")

    def wait_until(self, so, job):
        """Looks again and again, as ranks under mpirun alone tell nobody of what they do."""
        while not so():
            if job.poll() is not None:
                self.fail(f"it ended with {job.returncode} before its rank was killed: "
                          f"{job.stderr.read()}")
            time.sleep(0.01)

    def end_of(self, job):
        return job.communicate(timeout=SECONDS_MAX)

    def end_of_killed(self, job):
        """What an mpirun has said one of whose ranks was killed. Open MPI's may stand still for ever in
        PMIx_server_finalize when all its ranks are gone; that is not ours, and is ended."""
        try:
            return job.communicate(timeout=60)
        except subprocess.TimeoutExpired:
            self.assertEqual([], ranks_of(job.pid))
            job.kill()
            return job.communicate(timeout=SECONDS_MAX)

    def test_a_world_with_a_dead_or_sleeping_rank_is_started_again_from_the_last_snapshot(self):
        stats = self.folder / "stats"
        app, result = self.slow_sums()
        job = self.start(*self.job("-n", 3, "--json", "--snapshots", "snapshots", "--every", "50ms",
                                   "--stats", stats, app=app))
        worlds = set()
        for fault in [signal.SIGKILL, signal.SIGSTOP]:
            self.wait_for(job, "running")
            self.wait_for(job, "snapshot")
            ranks = ranks_of(job.pid)
            self.assertEqual(3, len(ranks))
            worlds.add(world_of(ranks[0]))
            if FAMILY == "openmpi":  # Its ranks have their shared memory where it will be removed.
                self.assertIn("vader_segment", " ".join(map(str, world_of(ranks[0]).iterdir())))
            os.kill(ranks[-1], fault)
            self.wait_for(job, "lost")
        self.wait_for(job, "running")
        self.enough()
        out, err = job.communicate(timeout=SECONDS_MAX)
        # Beside events, what the program prints goes to standard error.
        self.assertEqual((0, 1), (job.returncode, (out + err).count("sum ")), err)
        self.assertIn(result, err)
        self.assertGreaterEqual(len(json.loads(stats.read_text())["recoveries"]), 2)
        self.assertEqual([], [world for world in worlds if world.exists()])

    def test_a_world_that_dies_without_snapshots_is_a_failure(self):
        app, _ = self.slow_sums()
        for command, end in [(self.job("-n", 3, app=app), self.end_of),
                             (self.mpirun(3, *app), self.end_of_killed)]:
            job = self.start(*command)
            self.wait_until(lambda: len(ranks_of(job.pid)) == 3, job)
            os.kill(ranks_of(job.pid)[-1], signal.SIGKILL)
            out, err = end(job)
            self.assertNotEqual(0, job.returncode, err)
            self.assertNotIn("sum", out)

    def test_a_program_that_died_goes_on_when_it_is_called_again(self):
        app, result = self.slow_sums()
        job = self.start(*self.mpirun(3, *app), SUMS_SNAPSHOTS="snapshots")
        self.wait_until(lambda: newest(self.folder / "snapshots") >= 2, job)
        os.kill(ranks_of(job.pid)[-1], signal.SIGKILL)
        self.end_of_killed(job)
        self.assertNotEqual(0, job.returncode)
        self.enough()
        run = self.run_to_end(*self.mpirun(3, *app), SUMS_SNAPSHOTS="snapshots", SUMS_RESUME="1")
        self.assertEqual((0, result), (run.returncode, run.out), run.err)

    def test_the_paper_s_groups_run_by_mpi(self):
        groups = pathlib.Path(os.environ["GROUPS_FILE"]).read_text().replace('"auto"', '"MPI"', 1)
        (self.folder / "groups.json").write_text(groups)
        run = self.run_to_end(PIRACEMA, "run", "--groups", "groups.json", "--mpirun",
                              " ".join([MPIRUN, *FLAGS]), os.environ["GROUPS_APP"])
        self.assertEqual((0, "sum 10000300000\n"), (run.returncode, run.out), run.err)
        self.assertIn("process 2: L/1, R/2, R/3\n", run.err)

    def test_a_missing_plug_in_is_said(self):
        # Of ranks that end at once mpirun of MPICH may drop what they have said.
        logs = self.folder / "logs"
        run = self.run_to_end(*self.mpirun(2, SUMS, 10), PIRACEMA_PLUGINS=str(self.folder), PIRACEMA_LOG_DIRECTORY=str(logs))
        self.assertNotEqual(0, run.returncode)
        self.assertIn(f"want the plug-in libpiracema_mpi_{FAMILY}.so", "".join(log.read_text() for log in logs.iterdir()))


def world_of(rank):
    """Where ranks of a world that piracema run has started share memory."""
    name = b"OMPI_MCA_btl_vader_backing_directory="
    variables = pathlib.Path(f"/proc/{rank}/environ").read_bytes().split(b"\0")
    found = [variable[len(name):] for variable in variables if variable.startswith(name)]
    return pathlib.Path(os.fsdecode(found[0]))


def newest(snapshots):
    """The number of the newest complete snapshot; 0 while there is none."""
    numbers = [int("".join(c for c in path.parent.name if c.isdigit()) or 0)
               for path in snapshots.glob("*/manifest*")]
    return max(numbers, default=0)


if __name__ == "__main__":
    if MPIRUN is None or not PLUGIN.exists():
        print(f"skipped: there is no mpirun.{FAMILY}, or no plug-in for it; "
              "scripts/setup --with-mpi installs both")
        sys.exit(77)
    unittest.main()
