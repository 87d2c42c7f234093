#!/usr/bin/env python3
"""Snapshot directories that do not fit the job: refused before anything in them is changed."""

import json
import signal
import unittest

from support import *

# Lines for two replicas that take 4 ms each: nobody waits for the last one.
LONG = 10_000


class Snapshots(BadInput):
    def stopped_job(self):
        """A job that was stopped with snapshots in "s", long before it would have ended."""
        self.lines(LONG)
        process = self.start(PIRACEMA, "run", "-n", "2", "--json", "--snapshots", "s", "--every",
                             "20ms", LINES, "in", "out", "4")
        for line in process.stdout:
            if json.loads(line)["event"] == "snapshot":
                break
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=SECONDS_MAX)
        self.assertEqual(75, process.returncode, err)

    def manifests(self):
        return sorted((self.folder / "s").glob("*/manifest.json"))

    def content(self):
        return {path: path.read_bytes() for path in (self.folder / "s").glob("*/*")}

    def resume(self, *app):
        """Goes on with it, without pauses."""
        return self.job("--snapshots", "s", "--resume", app=app or (LINES, "in", "out"))

    def test_a_directory_that_is_none_of_snapshots_is_not_taken_over(self):
        (self.folder / "mine").mkdir()
        (self.folder / "mine" / "letter").write_text("Dear Sir")
        for name, says in [("mine", 'found one that holds "letter"'), ("in", "found a file"),
                           ("no/where", "No such file"), ("/proc/s", "cannot make directory"),
                           ("in/s", "Not a directory")]:
            with self.subTest(name):
                self.check_refused(3, says, *self.job("--snapshots", name))
        self.assertEqual(["letter"], [path.name for path in (self.folder / "mine").iterdir()])
        self.assertFalse((self.folder / "out").exists())

    def test_an_address_is_no_directory_and_none_is_made_for_it(self):
        for address in ("gs://bucket/job", "ftp://node:8020/job"):
            says = ("want a directory of snapshots, s3://BUCKET/PREFIX or webhdfs://HOST:PORT/PATH, found the "
                    f'address "{address}"')
            for options in ([], ["--resume"]):
                with self.subTest(address, options=options):
                    self.check_refused(3, says, *self.job("--snapshots", address, *options))
            self.check_refused(3, says, PIRACEMA, "snapshots", address)
        self.assertEqual([], [path.name for path in self.folder.iterdir() if ":" in path.name])

    def test_nothing_can_be_resumed_where_nothing_is(self):
        (self.folder / "empty").mkdir()
        self.check_refused(3, "no directory of snapshots was given", *self.job("--resume"))
        self.check_refused(3, "want a snapshot directory, found an empty one",
                           *self.job("--resume", "--snapshots", "empty"))
        self.check_refused(3, "want a snapshot directory, found nothing",
                           *self.job("--resume", "--snapshots", "missing"))
        self.assertFalse((self.folder / "missing").exists())

    def test_a_job_that_is_done_is_not_done_again(self):
        self.assertEqual(0, self.run_to_end(*self.job("--snapshots", "s")).returncode)
        self.check_output()
        run = self.run_to_end(PIRACEMA, "run", "--snapshots", "s", "--resume", LINES, "in", "out")
        self.assertEqual((0, 1), (run.returncode, run.err.count("\n")), run.err)
        self.assertIn("nothing to resume: the run had ended with snapshot", run.err)
        self.assertFalse((self.folder / "out").exists())

    def test_a_run_that_has_not_ended_is_neither_begun_anew_nor_given_to_another_program(self):
        self.stopped_job()
        before = self.content()
        self.check_refused(3, "give --resume to go on", *self.job("--snapshots", "s"))
        run = self.run_to_end(*self.resume(WRONG_GRAPH))
        self.assertEqual(3, run.returncode, run.err)
        self.assertIn("holds snapshots of another program: want source > operator1", run.err)
        self.assertIn("found read > shout x2 > write (ordered)", run.err)
        self.check_refused(3, "want", *self.job("--resume", "--snapshots", "s/" +
                                                self.manifests()[0].parent.name))
        self.assertEqual(before, self.content())

        run = self.run_to_end(*self.resume())
        self.assertEqual(0, run.returncode, run.err)
        self.check_output()

    def test_a_run_whose_input_has_changed_is_not_resumed(self):
        self.stopped_job()
        before = self.content()
        (self.folder / "in").write_text("short\n")
        self.check_refused(1, "input 'in' was cut: want", *self.resume())
        (self.folder / "in").unlink()
        self.check_refused(1, "input 'in' cannot be opened", *self.resume())
        self.assertEqual(before, self.content())

        self.lines(LONG)
        run = self.run_to_end(*self.resume())
        self.assertEqual(0, run.returncode, run.err)
        self.check_output()

    def test_snapshots_of_another_version_are_refused(self):
        self.stopped_job()
        for path in self.manifests():
            path.write_text(path.read_text().replace('"version": 3', '"version": 4'))
        says = "this program reads versions 1 to 3 of the format, found 4"
        before = self.content()
        self.check_refused(3, says, *self.resume())
        self.check_refused(3, says, *self.job("--snapshots", "s"))
        self.check_refused(3, says, PIRACEMA, "snapshots", "s")
        self.assertEqual(before, self.content())

    def test_a_part_of_another_version_makes_its_snapshot_useless_and_no_other(self):
        self.stopped_job()
        self.assertGreater(len(self.manifests()), 1)
        newest = self.manifests()[-1].parent
        part = bytearray((newest / "part-0000").read_bytes())
        part[8] = 2
        (newest / "part-0000").write_bytes(part)
        run = self.run_to_end(*self.resume())
        self.assertEqual((0, 1), (run.returncode, run.err.count("\n")), run.err)
        self.assertIn(f"{newest.name}/part-0000", run.err)
        self.assertIn("version", run.err)
        self.check_output()

    def test_two_jobs_do_not_share_a_directory(self):
        self.lines(LONG)
        first = self.start(PIRACEMA, "run", "-n", "2", "--json", "--snapshots", "s", LINES, "in",
                           "out", "4")
        for line in first.stdout:
            if json.loads(line)["event"] == "running":
                break
        says = f"want it for one job alone, found it in use by process {first.pid}"
        other = (LINES, "in", "other")
        self.check_refused(3, says, *self.job("--snapshots", "s", app=other))
        self.check_refused(3, says, *self.job("--snapshots", "s", "--resume", app=other))
        self.check_refused(3, says, *other, environment={"PIRACEMA_SNAPSHOTS": "s"})
        self.assertIsNone(first.poll())  # Else it was not in use.
        first.send_signal(signal.SIGINT)
        _, err = first.communicate(timeout=SECONDS_MAX)
        self.assertEqual(75, first.returncode, err)
        run = self.run_to_end(*self.resume())
        self.assertEqual(0, run.returncode, run.err)
        self.check_output()
        self.assertFalse((self.folder / "other").exists())

    def test_a_disk_that_cannot_be_written_is_known_before_the_job(self):
        fixed = self.on_disk(FIXED_DISK)
        self.check_refused(3, "Read-only file system", *fixed, *self.job("--snapshots", "fixed/s"))
        self.check_refused(3, "Read-only file system", *fixed, *self.job("--snapshots", "fixed"))

    def test_a_full_disk_costs_snapshots_and_never_claims_an_output_that_is_not_whole(self):
        run = self.run_to_end(
            *self.on_disk(SMALL_DISK.replace("64k", "8k")),
            *self.job("--snapshots", "small/s", "--every", "20ms", app=(LINES, "in", "out", "1")))
        self.assertIn(run.returncode, [0, 1], run.err)
        self.assertIn("failed, the job goes on", run.err)
        self.assertIn("No space left on device", run.err)
        if run.returncode == 0:
            self.check_output()
        else:
            self.assertFalse((self.folder / "out").exists())


if __name__ == "__main__":
    unittest.main()
