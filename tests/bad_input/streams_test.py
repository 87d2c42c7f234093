#!/usr/bin/env python3
"""Standard streams that are closed or full: the job and its files do not suffer."""

import itertools
import unittest

from support import *


class Streams(BadInput):
    def shell(self, command, redirections, **options):
        return self.run_to_end("sh", "-c", f'exec "$@" {redirections}', "sh", *command, **options)

    def test_a_job_needs_no_standard_stream(self):
        # What is opened first must not get the number of a stream that lines are written to.
        for count in [1, 2, 3]:
            for closed in itertools.combinations(["<&-", ">&-", "2>&-"], count):
                with self.subTest(closed):
                    for command in [[LINES, "in", "out"], self.job()[:4] + [LINES, "in", "out"]]:
                        self.assertEqual(0, self.shell(command, " ".join(closed)).returncode)
                        self.check_output()

    def test_a_failure_without_standard_error_is_written_into_no_file(self):
        (self.folder / "in").write_text("a\nthrow\n")
        for command in [[LINES, "in", "out"], self.job("--snapshots", "s")]:
            run = self.shell(command, "<&- >&- 2>&-", environment={"PIRACEMA_SNAPSHOTS": "s"})
            self.assertEqual(1, run.returncode)
            # Which files were opened before the failure is chance.
            for file in self.folder.rglob("*"):
                if file.is_file() and file.name != "in":
                    self.assertNotIn(b"as it was told", file.read_bytes(), file)

    def test_full_streams_do_not_stop_a_job(self):
        for options in [["--json"], []]:
            run = self.shell([PIRACEMA, "run", *options, LINES, "in", "out"],
                             ">/dev/full 2>/dev/full")
            self.assertEqual(0, run.returncode)
            self.check_output()

    def test_whoever_stops_listening_does_not_stop_the_job(self):
        command = [PIRACEMA, "run", "-n", "2", "--json", LINES, "in", "out"]
        run = self.run_to_end("bash", "-c", 'set -o pipefail; "$@" | head -n 1', "bash", *command)
        self.assertEqual(0, run.returncode, run.err)
        self.assertIn('"planned"', run.out)
        self.check_output()
        run = self.run_to_end("bash", "-c", '"$@" 2>&1 >/dev/null | true; exit ${PIPESTATUS[0]}', "bash",
                              PIRACEMA, "run", "-n", "2", LINES, "in", "out")
        self.assertEqual(0, run.returncode)
        self.check_output()

    def test_an_answer_that_cannot_be_written_is_a_failure(self):
        self.assertEqual(0, self.run_to_end(*self.job("--snapshots", "s")).returncode)
        for command in [["graph", LINES, "in", "out"], ["snapshots", "s"], ["--help"],
                        ["run", "--help"], ["--version"]]:
            with self.subTest(command):
                run = self.shell([PIRACEMA, *command], ">/dev/full")
                self.assertIn("standard output: not all could be written", run.err)
                # Help is part of `run` as well, and a job that is done stays done.
                self.assertEqual(0 if command[0] == "run" else 1, run.returncode)

    def test_statistics_that_cannot_be_written_do_not_undo_the_job(self):
        run = self.run_to_end(*self.job("--stats", "/dev/full"))
        self.assertEqual((0, 1), (run.returncode, run.err.count("\n")), run.err)
        self.assertIn("--stats /dev/full: No space left on device", run.err)
        self.check_output()


if __name__ == "__main__":
    unittest.main()
