#!/usr/bin/env python3
"""Programs that say when they are small have small images; and what a user has run before an image and after a
restart. It is sizes that are compared."""

import ctypes
import os
import pathlib
import re
import shutil
import signal
import subprocess
import unittest

import hosts
from mpi_test import AS_ROOT
from support import CkptTest, main, only_root

BREATHING = os.environ.get("BREATHING_APP")
MEGABYTES = 64
MB = 1_000_000
# What an image of a program that has freed its memory has no more than.
SMALL = 4 * MB
INCLUDE = pathlib.Path(__file__).resolve().parents[2] / "include"
AT_A_GOOD_MOMENT = "at a good moment"
BOUND = ("--good-moment-within", "200s")

MODULE = """
#define PIRACEMA_CKPT_DEFINE
#include <piracema/ckpt.h>
"""
# As docs/checkpoints.md has it.
FORTRAN = """
program moments
  use iso_c_binding, only: c_int
  implicit none
  interface
    integer(c_int) function piracema_ckpt_good_moment() bind(c)
      import :: c_int
    end function
  end interface
  integer :: step
  step = 0
  do
    step = step + 1
    if (piracema_ckpt_good_moment() == 1) print *, "saved"
    print *, step
    flush(6)
    call execute_command_line("sleep 0.1")
  end do
end program
"""


@unittest.skipUnless(BREATHING, "no C compiler")
class Moments(CkptTest):
    def breathing(self, how, cycles=24):
        return [BREATHING, cycles, MEGABYTES, how]

    def begin(self, how, *options, cycles=24, **environment):
        return self.run_job(*self.breathing(how, cycles), options=options, **environment)

    def save(self):
        return self.ckpt("save", "--dir", self.dir).stdout

    def sizes(self):
        return [image["bytes"] for image in self.images()]

    def read_until(self, job, line):
        while not job.lines or job.lines[-1] != line + "\n":
            job.read(1)

    def held(self, how, *options):
        """One that stays full until it is let go; and how to let it go."""
        fifo = self.path / "full"
        os.mkfifo(fifo)
        job = self.begin(how, *options, BREATHING_HOLD=str(fifo))
        self.read_until(job, "1 full")
        return job, lambda: os.close(os.open(fifo, os.O_WRONLY))

    def comes_to_an_end(self, job, before=()):
        wanted, _ = self.plain(*self.breathing("silent"))
        self.assertEqual(0, job.end(), job.errors())
        self.assertEqual(wanted, "".join([*before, *job.lines]))

    def test_outside_of_a_capsule_nothing_happens(self):
        says, _ = self.plain(*self.breathing("says", 4))
        silent, _ = self.plain(*self.breathing("silent", 4))
        self.assertEqual(silent, says)
        # Nor where the file is none of ours, or gone.
        other = self.path / "other"
        other.write_bytes(b"\1" * 4096)
        for file in [other, self.path / "none", self.path, ""]:
            done = subprocess.run([*map(str, self.breathing("says", 4))], capture_output=True, text=True,
                                  env={**os.environ, "PIRACEMA_CKPT_BOARD": str(file)})
            self.assertEqual((silent, "", 0), (done.stdout, done.stderr, done.returncode))

    def test_a_capsule_in_which_nobody_wants_to_hear_of_it_hears_nothing(self):
        job = self.begin("says")
        self.read_until(job, "2 full")
        self.assertNotIn(AT_A_GOOD_MOMENT, self.save())
        self.comes_to_an_end(job)
        self.assertNotIn("cycle", job.errors())

    def test_images_of_good_moments_are_small_and_the_program_goes_on_from_them(self):
        job = self.begin("says", *BOUND)
        for cycle in range(1, 5):
            self.read_until(job, f"{2 * cycle} full")
            self.assertIn(AT_A_GOOD_MOMENT, self.save())
            self.assertLess(max(self.sizes()), SMALL)
        self.assertEqual(4, len(re.findall(r"^saved in cycle \d+$", job.errors(), re.M)), job.errors())
        self.read_until(job, "12 full")
        self.assertIn(AT_A_GOOD_MOMENT, self.ckpt("stop", "--dir", self.dir).stdout)
        self.assertEqual(75, job.end(), job.errors())
        self.assertLess(max(self.sizes()), SMALL)
        second = self.resume(*BOUND)
        second.wait_for("restored in cycle 12")
        second.read(2)
        self.assertIn(AT_A_GOOD_MOMENT, self.save())
        self.assertNotIn("failed in", second.errors())
        self.comes_to_an_end(second, job.lines)

    def test_who_says_nothing_is_saved_when_the_bound_is_over(self):
        job, let_go = self.held("silent", "--good-moment-within", "1s")
        self.assertNotIn(AT_A_GOOD_MOMENT, self.save())
        self.assertGreater(self.sizes()[0], MEGABYTES * MB)
        self.assertIn("saved though the program has not said that it is a good moment", job.errors())
        let_go()
        self.comes_to_an_end(job)

    def test_periodic_images_wait_for_good_moments(self):
        job = self.begin("says", "--every", "100ms", *BOUND)
        job.wait_for("saved: image 3")
        said = re.findall(r"saved: image \d.*", job.errors())
        for line in said:
            self.assertIn(AT_A_GOOD_MOMENT, line)
        self.assertLess(max(self.sizes()), SMALL)
        self.comes_to_an_end(job)

    def test_a_window_is_left_with_the_image_of_a_good_moment(self):
        # The whole of the window may be waited for: it is left at the first one.
        job = self.start("window", "--dir", self.dir, "--for", "200s", *BOUND, "--", *self.breathing("says", 4000))
        self.assertEqual(75, job.end(let=False), job.errors())
        self.assertRegex(job.errors(), f"saved: image 1, .*{AT_A_GOOD_MOMENT}")
        self.assertLess(self.sizes()[0], SMALL)

    def test_a_signal_waits_for_no_good_moment(self):
        job, _ = self.held("says", *BOUND)
        job.process.send_signal(signal.SIGTERM)
        self.assertEqual(75, job.end(let=False), job.errors())
        self.assertGreater(self.sizes()[0], MEGABYTES * MB)

    def test_a_good_moment_at_which_no_image_can_be_made_is_over_with_that(self):
        options = self.criu_that_does('[ "$CRTOOLS_SCRIPT_ACTION" = pre-dump ] && echo none >&2 && exit 1')
        job = self.begin("says", *BOUND, *options)
        self.read_until(job, "2 full")
        self.ckpt("save", "--dir", self.dir, code=1)
        job.wait_for("failed in cycle")
        self.comes_to_an_end(job)

    def test_one_who_is_told_before_an_image_makes_himself_small(self):
        job = self.begin("obeys", *BOUND, "--before-save", "kill -USR1 $PIRACEMA_CKPT_PID")
        self.read_until(job, "2 full")
        self.assertIn(AT_A_GOOD_MOMENT, self.save())
        self.assertLess(self.sizes()[0], SMALL)
        self.comes_to_an_end(job)

    def test_a_command_that_fails_or_does_not_end_is_said_and_costs_no_image(self):
        for number, (command, said) in enumerate([
                ("echo out; echo why >&2; exit 3", "has ended with status 3: why"),
                ("kill -9 $$", "was ended by signal 9"),
                ("echo begun; sleep 1000", "had not ended after 500 ms, and was killed: begun")]):
            with self.subTest(command):
                self.dir = self.path / f"job-{number}"
                job = self.begin("silent", "--before-save", command, "--command-within", "500ms")
                job.read(1)
                text = f"--before-save '{command}' {said}"
                self.assertIn(text, self.save())
                self.assertIn(text, job.errors())
                # What it leaves behind is not in the way of the next one.
                self.assertIn("image 2", self.save())
                job.kill()

    def test_what_a_command_leaves_behind_is_ended_with_it(self):
        job = self.begin("silent", "--before-save", "sleep 1000 & sleep 2000 &")
        job.read(1)
        self.assertNotIn("--before-save", self.save())
        self.comes_to_an_end(job)
        self.assertNotIn("is left by the program", job.errors())

    def test_a_command_is_run_after_each_restart_beside_the_program(self):
        after = f"kill -0 $PIRACEMA_CKPT_PID && echo restored >> {self.path}/after; ls no-such-file"
        job = self.begin("says", "--after-restore", after)
        job.read(3)
        self.save()
        job.read(1)
        self.ckpt("stop", "--dir", self.dir)
        self.assertEqual(75, job.end(), job.errors())
        self.assertFalse((self.path / "after").exists())
        second = self.resume("--after-restore", after)
        second.wait_for("--after-restore")
        self.assertRegex(second.errors(), "--after-restore '.*' has ended with status 2: .*no-such-file")
        self.assertEqual("restored\n", (self.path / "after").read_text())
        self.comes_to_an_end(second, job.lines)

    def test_times_that_are_none_are_refused(self):
        for option in ["--good-moment-within", "--command-within"]:
            refused = self.ckpt("run", "--dir", self.dir, option, "soon", "--", "true", code=2)
            self.assertIn(f"{option}: ", refused.stderr)

    def compiled(self, name, text, *command):
        source = self.path / name
        source.write_text(text)
        subprocess.run([*command, f"-I{INCLUDE}", source], cwd=self.path, check=True)

    def test_programs_in_other_languages_have_it_by_a_file_of_one_include(self):
        self.compiled("moment.c", MODULE, "cc", "-shared", "-fPIC", "-o", "libmoment.so")
        library = ctypes.CDLL(str(self.path / "libmoment.so"))
        self.assertEqual((0, 0), (library.piracema_ckpt_wanted(), library.piracema_ckpt_good_moment()))
        if not shutil.which("gfortran"):
            self.skipTest("no gfortran")
        self.compiled("moment.c", MODULE, "cc", "-c", "-o", "moment.o")
        self.compiled("moments.f90", FORTRAN, "gfortran", "-o", "moments", "moment.o")
        job = self.run_job(self.path / "moments", options=BOUND)
        job.read(2)
        self.assertIn(AT_A_GOOD_MOMENT, self.save())
        while job.lines[-1].strip() != "saved":
            job.read(1)


class Ranks(CkptTest):
    """Their image has an mpirun as well, and what the MPI has."""

    CYCLES = 120
    MEGABYTES = 60

    def program(self, says=0, app="BREATHING_MPI_APP"):
        if app not in os.environ:
            self.skipTest("no MPI for C")
        return [os.environ[app], self.CYCLES, self.MEGABYTES, says]

    def stop_and_resume(self, *command, options=(), on=(), **environment):
        wanted, _ = self.plain(*command, **environment)
        job = self.run_job(*command, options=[*options, *BOUND], **environment)
        job.read(5)
        self.assertIn(AT_A_GOOD_MOMENT, self.ckpt("save", "--dir", self.dir).stdout)
        job.wait_for("saved in cycle")
        job.read(5)
        self.assertIn(AT_A_GOOD_MOMENT, self.ckpt("stop", "--dir", self.dir).stdout)
        self.assertEqual(75, job.end(), job.errors())
        small = self.images()[-1]["bytes"]
        # Who does not wait for it has an image with all that the ranks have.
        second = self.resume(*(on or options), **environment)
        second.wait_for("restored in cycle")
        second.read(5)
        self.assertNotIn(AT_A_GOOD_MOMENT, self.ckpt("save", "--dir", self.dir).stdout)
        large = self.images()[-1]["bytes"]
        print(f"{small / MB:.1f} MB at a good moment, {large / MB:.1f} MB at another one")
        self.assertGreater(large - small, 1.9 * self.MEGABYTES * MB)
        self.assertEqual(0, second.end(), second.errors())
        self.assertEqual(wanted, "".join(job.lines + second.lines))

    def test_open_mpi(self):
        self.stop_and_resume("mpirun.openmpi", "--oversubscribe", "-n", 2, *self.program(), **AS_ROOT)

    def test_mpich(self):
        self.stop_and_resume("mpiexec.hydra", "-n", 2, *self.program(app="BREATHING_MPICH_APP"), UCX_TLS="self,posix")

    @only_root
    def test_a_rank_on_another_host_says_it_for_all(self):
        if why := hosts.can_be_made():
            self.skipTest(why)
        several = hosts.Hosts(2, self.path)
        self.addCleanup(several.close)
        options = ["--hosts", several.names(1, 2), "--rsh", several.rsh]
        self.stop_and_resume("mpirun.openmpi", "--oversubscribe", "-n", 2, "--map-by", "node",
                             *self.program(says=1), options=options, **AS_ROOT)


if __name__ == "__main__":
    main()
