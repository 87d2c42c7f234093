#!/usr/bin/env python3
"""Files that cannot be read or written: named, with the reason, and nothing else is touched."""

import os
import unittest

from support import *


class Files(BadInput):
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
