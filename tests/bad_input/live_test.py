#!/usr/bin/env python3
"""Sources that wait for the world: snapshots, stops and recoveries go on meanwhile, and nothing is lost."""

import json
import os
import signal
import unittest

from support import *

SHOUT_STDIN = os.environ["SHOUT_STDIN_APP"]


class Live(BadInput):
    def events(self, process, name):
        """Up to the next one of this name."""
        for line in process.stdout:
            event = json.loads(line)
            if event["event"] == name:
                return event
        self.fail(f"no {name}")

    def start_job(self, *options, stdin=subprocess.PIPE):
        return self.start(PIRACEMA, "run", "-n", "2", "--stdin", "--json", "--snapshots", "s", "--every",
                          "20ms", *options, SHOUT_STDIN, "out", "journal", stdin=stdin)

    def say(self, job, lines):
        job.stdin.write("".join(lines))
        job.stdin.flush()

    def end(self, job):
        job.stdin.close()
        out, err = job.stdout.read(), job.stderr.read()
        self.assertEqual(0, job.wait(SECONDS_MAX), err)
        return out

    def test_lines_that_are_piped_in_come_out(self):
        for command in [[SHOUT_STDIN, "out"], [PIRACEMA, "run", "-n", "2", "--stdin", SHOUT_STDIN, "out"]]:
            with self.subTest(command):
                process = self.start(*command, stdin=subprocess.PIPE)
                out, err = process.communicate("".join(f"{i}\n" for i in range(500)), timeout=SECONDS_MAX)
                self.assertEqual(0, process.returncode, err)
                self.check_output()

    def test_standard_input_that_is_not_handed_on_is_an_error_not_an_empty_one(self):
        self.check_refused(1, "want it handed on by `piracema run --stdin`", PIRACEMA, "run", "-n", "2",
                           "--quiet", SHOUT_STDIN, "out")

    def test_while_a_source_has_nothing_snapshots_go_on_and_a_stop_takes_the_last_one(self):
        job = self.start_job()
        self.say(job, ["0\n", "1\n"])
        for _ in range(5):
            self.events(job, "snapshot")
        job.send_signal(signal.SIGTERM)
        job.stdout.read()
        self.assertEqual(75, job.wait(SECONDS_MAX))
        job.stdin.close()
        job = self.start_job("--resume")
        self.say(job, ["2\n"])
        self.end(job)
        self.assertEqual("0!\n1!\n2!\n", (self.folder / "out").read_text())

    def test_a_reader_that_is_killed_has_lost_no_line_and_repeats_none(self):
        job = self.start_job()
        self.events(job, "running")
        lines = [f"{i}\n" for i in range(2_000)]
        for kill in range(5):
            self.say(job, lines[400 * kill:400 * kill + 200])
            os.kill(workers_of(job)[kill % 2], signal.SIGKILL)
            self.say(job, lines[400 * kill + 200:400 * (kill + 1)])
            self.events(job, "recovering")
            self.events(job, "running")
        self.end(job)
        self.assertEqual("".join(line.strip() + "!\n" for line in lines), (self.folder / "out").read_text())

    def test_without_a_journal_a_loss_ends_the_job_with_a_word_about_journals(self):
        job = self.start(PIRACEMA, "run", "-n", "2", "--stdin", "--json", "--snapshots", "s", SHOUT_STDIN, "out",
                         stdin=subprocess.PIPE)
        self.say(job, ["0\n"])
        self.events(job, "snapshot")
        os.kill(workers_of(job)[0], signal.SIGKILL)
        summary = self.events(job, "summary")
        self.assertEqual(1, job.wait(SECONDS_MAX))
        self.assertIn("standard input: what was read since the snapshot cannot be read again", summary["why"])


if __name__ == "__main__":
    unittest.main()
