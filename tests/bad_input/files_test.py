#!/usr/bin/env python3
"""Files that cannot be read or written: named, with the reason, and nothing else is touched."""

import json
import os
import signal
import time
import unittest

from support import *


class Files(BadInput):
    def wait_for(self, so):
        """Until it is so, at most as long as anything may take."""
        until = time.monotonic() + SECONDS_MAX
        while not so():
            self.assertLess(time.monotonic(), until)
            time.sleep(0.001)

    def test_an_input_that_cannot_be_read_is_named(self):
        (self.folder / "link").symlink_to("nowhere")
        os.mkfifo(self.folder / "pipe")
        for name, says in [("missing", "No such file"), ("link", "No such file"), ("", "No such"),
                           ("/etc", "found a directory"), ("pipe", "found a pipe"),
                           ("/dev/zero", "found a device"), ("in/x", "Not a directory")]:
            with self.subTest(name):
                self.check_both_ways(1, f"input '{name}' ", [LINES, name, "out"])
                self.check_both_ways(1, says, [LINES, name, "out"])
                self.assertFalse((self.folder / "out").exists())

    def test_an_output_that_cannot_be_written_is_named_before_the_work(self):
        (self.folder / "mine").write_text("mine\n")
        (self.folder / "link").symlink_to("nowhere")
        os.mkfifo(self.folder / "pipe")
        for name, says in [("mine", "exists: remove it"), ("/tmp", "not a regular file"),
                           ("/dev/full", "not a regular file"), ("pipe", "not a regular file"),
                           ("link", "a link to nothing"), ("", "want the name of a file"),
                           ("missing/out", "No such file"), ("in/out", "Not a directory")]:
            with self.subTest(name):
                # An hour each: whoever tells it after the work does so too late.
                app = [LINES, "in", name, "3600000"]
                self.check_refused(1, says, *self.job(app=app))
                self.check_refused(1, says, *self.job("--snapshots", "s", app=app))
        self.assertEqual("mine\n", (self.folder / "mine").read_text())
        self.assertFalse((self.folder / ".partial").exists())

    def test_one_process_tells_of_its_output_as_several_do(self):
        (self.folder / "out").write_text("mine\n")
        self.check_refused(1, "exists: remove it", LINES, "in", "out")

    def test_a_disk_that_fills_up_in_the_middle_ends_the_job_and_is_named(self):
        self.lines(20_000)
        small = self.on_disk(SMALL_DISK)
        says = "output 'small/out.partial' cannot be written at byte 65536: No space left"
        app = [LINES, "in", "small/out"]
        self.check_refused(1, says, *small, *app)
        self.check_refused(1, says, *small, *self.job(app=app))
        run = self.run_to_end(*small, *self.job("--snapshots", "s", "--every", "20ms", app=app))
        self.assertEqual(1, run.returncode, run.err)
        self.assertIn("write failed 3 times", run.err.splitlines()[-1])
        self.assertIn(says, run.err.splitlines()[-1])

    def test_a_second_job_with_the_same_output_is_refused_and_the_first_one_goes_on(self):
        (self.folder / "gate").touch()
        first = self.start(LINES, "in", "out", "0", "gate")
        self.wait_for(lambda: (self.folder / "out.partial").exists())
        self.check_refused(1, f"output 'out' is being written by process {first.pid}", LINES, "in", "out")
        self.check_refused(1, f"output 'out' is being written by process {first.pid}", *self.job())
        (self.folder / "gate").unlink()
        self.assertEqual(0, first.wait(SECONDS_MAX))
        self.check_output()

    def test_an_output_whose_job_was_killed_is_free_again(self):
        (self.folder / "gate").touch()
        first = self.start(LINES, "in", "out", "0", "gate")
        self.wait_for(lambda: (self.folder / "out.partial").exists())
        first.kill()
        first.wait()
        self.assertEqual(0, self.run_to_end(LINES, "in", "out").returncode)
        self.check_output()

    def test_a_replacement_takes_the_output_over_and_others_are_refused_as_before(self):
        (self.folder / "gate").touch()
        app = (LINES, "in", "out", "0", "gate")
        first = self.start(PIRACEMA, "run", "-n", "2", "--json", "--snapshots", "s", "--every", "20ms", *app)
        seen = lambda event: self.wait_for(lambda: json.loads(first.stdout.readline())["event"] == event)
        seen("snapshot")
        for worker in workers_of(first):
            os.kill(worker, signal.SIGKILL)
        seen("recovering")
        seen("snapshot")
        self.check_refused(1, "output 'out' is being written by process ", LINES, "in", "out")
        (self.folder / "gate").unlink()
        _, err = first.communicate(timeout=SECONDS_MAX)
        self.assertEqual(0, first.returncode, err)
        self.check_output()

    def test_a_limit_on_the_size_of_files_is_an_error_that_names_file_and_limit(self):
        self.lines(200_000)
        limited = ["bash", "-c", 'ulimit -f 1000; exec "$@"', "bash"]
        says = "cannot be written at byte "
        for app in [[LINES, "in", "out"], self.job(app=(LINES, "in", "out"))]:
            run = self.check_refused(1, "output 'out.partial' " + says, *limited, *app)
            self.assertRegex(run.err, r"File too large: files may have 1024000 bytes here \(ulimit -f\)")

    def test_dead_letters_go_to_a_file_that_can_be_written(self):
        (self.folder / "in").write_text("a\nthrow\nb\n")
        options = ["--snapshots", "s", "--dead-letters"]
        self.check_refused(3, "dead letters 'no/where': No such", *self.job(*options, "no/where"))
        self.check_refused(3, "dead letters '.': Is a directory", *self.job(*options, "."))
        self.assertFalse((self.folder / "out").exists())

        run = self.run_to_end(*self.job(*options, "letters"))
        self.assertEqual(0, run.returncode, run.err)
        self.assertEqual("a!\nb!\n", (self.folder / "out").read_text())
        self.assertIn('"node":"shout"', (self.folder / "letters").read_text())

    def test_a_dead_letter_that_cannot_be_written_is_told(self):
        (self.folder / "in").write_text("a\nthrow\nb\n")
        run = self.run_to_end(*self.job("--snapshots", "s", "--dead-letters", "/dev/full"))
        self.assertIn("dead letters '/dev/full': item 1 of 'shout' cannot be written", run.err)

    def test_an_operator_that_throws_without_dead_letters_is_named(self):
        (self.folder / "in").write_text("a\nthrow\nb\n")
        self.check_both_ways(1, "at item 1: process: as it was told to", [LINES, "in", "out"])


if __name__ == "__main__":
    unittest.main()
