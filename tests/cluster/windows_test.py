#!/usr/bin/env python3
"""Windows, and states that end by event time, in processes that are killed, stopped and scaled: what a job
writes is what one pass over all items with one dictionary gives, and it shows how far event time has come."""

import os
import signal
import subprocess
import tempfile
import time
import unittest
import urllib.request

import rocksdb
from tally_job import CLEAN, PIRACEMA, SECONDS_MAX, Job

WINDOWS = os.environ["WINDOWS_APP"]
SIZE, EVERY, WAIT, TTL, GAP = 1_000, 250, 50, 500, 490


def happened(item):
    return item - item * 7_919 % 41 - (1_000 if item % 97 == 13 else 0)


def in_time(items, late):
    """Items with when they happened, those of one source after the other's; `late` gets the others."""
    for source in range(2):
        latest = None
        for item in range(source, items, 2):
            at = happened(item)
            if latest is not None and at < latest - WAIT:
                late.append(f"late {item}\n")
                continue
            latest = at if latest is None else max(latest, at)
            yield item, at


def expected(items):
    """The lines, sorted, and how many items are late."""
    windows, late = {}, []
    for item, at in in_time(items, late):
        end = (at // EVERY + 1) * EVERY
        while end <= at + SIZE:
            found = windows.setdefault((item * 31 % 500, end), [0, 0])
            found[0] += 1
            found[1] += item
            end += EVERY
    lines = [f"key {key} to {end}: {count} {total}\n" for (key, end), (count, total) in windows.items()]
    return sorted(late + lines), len(late)


def expected_runs(items):
    """The same of runs of each key's items."""
    states, lines, late = {}, [], []

    def end(key):
        _, count, total = states.pop(key)
        lines.append(f"key {key}: {count} {total}\n")

    for item, at in in_time(items, late):
        key = item * 31 % 500
        if key in states and at - states[key][0] >= TTL:
            end(key)
        latest, count, total = states.get(key, (at, 0, 0))
        states[key] = max(latest, at), count + 1, total + item
    for key in list(states):
        end(key)
    return sorted(late + lines), len(late)


def expected_sessions(items):
    """The same of each key's items in the order of their times, of both sources."""
    keys, lines, late = {}, [], []
    for item, at in in_time(items, late):
        keys.setdefault(item // 2 * 31 % 250, []).append((at, item))
    for key, found in keys.items():
        found.sort()
        for number, (at, item) in enumerate(found):
            if number == 0 or at - found[number - 1][0] >= GAP:
                count, total = 0, 0
            count, total = count + 1, total + item
            if number + 1 == len(found) or found[number + 1][0] - at >= GAP:
                lines.append(f"key {key} to {at + GAP}: {count} {total}\n")
    return sorted(late + lines), len(late)


class WindowsCase(unittest.TestCase):
    def check(self, job, expected=expected):
        lines, late = expected(job.items)
        self.assertEqual(lines, sorted((job.folder / "out").read_text().splitlines(True)))
        counted = {node["name"]: node["items_late"] for node in job.events[-1]["nodes"]}
        self.assertEqual(late, counted["numbers+times"])

    def job(self, items, *options, **others):
        return Job(self, items, *options, app=WINDOWS, **others)

    def run_with_losses(self, *options, node="windows", expected=expected, program=()):
        job = self.job(16_000, *options, workers=3, pause_us=400, program=list(program))
        at = job.wait_for("snapshot")
        job.kill_one(0)
        at = job.wait_for("running", job.wait_for("recovering", at))
        said = job.scale(f"{node}=3", "-n", "4")
        self.assertEqual(0, said.returncode, said.stderr)
        at = job.wait_for("snapshot", job.wait_for("scaled", at))
        os.kill(job.workers()[1], signal.SIGSTOP)
        at = job.wait_for("running", job.wait_for("recovering", at))
        job.end()
        self.check(job, expected)


class Windows(WindowsCase):
    def test_windows_have_what_belongs_to_them_whatever_is_killed_stopped_or_scaled(self):
        self.run_with_losses()

    def test_states_end_by_event_time_whatever_is_killed_stopped_or_scaled(self):
        lines, late = expected_runs(16_000)
        runs = [int(line.split()[2]) for line in lines if line.startswith("key")]
        self.assertTrue(min(runs) < 3 < max(runs), "want short runs and long ones")
        self.run_with_losses(node="runs", expected=expected_runs, program=[f"ttl_ms={TTL}"])

    def test_sessions_are_those_of_all_items_in_order_whatever_is_killed_stopped_or_scaled(self):
        lines, _ = expected_sessions(16_000)
        runs = [int(line.split()[4]) for line in lines if line.startswith("key")]
        self.assertTrue(min(runs) < 3 < max(runs), "want short sessions and long ones")
        self.run_with_losses(expected=expected_sessions, program=[f"gap_ms={GAP}"])

    def test_a_job_that_is_stopped_goes_on_with_more_replicas_of_its_windows(self):
        job = self.job(12_000, pause_us=400)
        job.wait_for("snapshot")
        job.process.send_signal(signal.SIGINT)
        job.end(75)
        again = self.job(12_000, "--resume", workers=3, pause_us=0, folder=job.folder,
                         program=["replicas=5"])
        again.end()
        self.check(again)

    def test_a_job_does_not_go_on_with_other_windows(self):
        job = self.job(12_000, pause_us=400)
        job.wait_for("snapshot")
        job.process.send_signal(signal.SIGINT)
        job.end(75)
        again = self.job(12_000, "--resume", folder=job.folder, program=["every_ms=500"])
        again.end(3)
        self.assertIn("of 1000000000 ns every 250000000 ns)", again.said())
        self.assertIn("of 1000000000 ns every 500000000 ns)", again.said())

    def test_a_program_by_itself_counts_what_was_late(self):
        with tempfile.TemporaryDirectory(prefix="piracema-windows-") as folder:
            run = subprocess.run([WINDOWS, "out", "items=8000"], cwd=folder, env=CLEAN, text=True,
                                 capture_output=True, timeout=SECONDS_MAX)
            self.assertEqual(0, run.returncode, run.stderr)
            lines, late = expected(8_000)
            with open(os.path.join(folder, "out"), encoding="utf-8") as out:
                self.assertEqual(lines, sorted(out))
            self.assertIn(f"{late} items were late for event time", run.stderr)

    def test_a_job_shows_how_far_event_time_has_come_and_what_was_late(self):
        job = self.job(10_000, pause_us=400)
        job.wait_for("snapshot", job.wait_for("snapshot"))
        come = [None]
        while None in come:  # What is shown may be a second old.
            time.sleep(0.05)
            come = [node["event_time_unix"] for node in job.get()["graph"]["nodes"]] or [None]
        self.assertEqual(5, len(come))
        for second in come:
            self.assertTrue(-1 < second < 10, come)
        address = job.entrance().split("/?")[0]
        with urllib.request.urlopen(address + "/metrics", timeout=30) as metrics:
            text = metrics.read().decode()
        self.assertIn('piracema_event_time_timestamp_seconds{node="windows"}', text)
        self.assertIn('piracema_late_items_total{node="numbers+times"}', text)
        job.end()
        self.check(job)


@rocksdb.wanted
class WindowsOnDisk(WindowsCase):
    def test_windows_on_disk_have_what_belongs_to_them(self):
        with tempfile.TemporaryDirectory(prefix="piracema-windows-") as states:
            self.run_with_losses("--state-directory", states)


if __name__ == "__main__":
    unittest.main(verbosity=2)
