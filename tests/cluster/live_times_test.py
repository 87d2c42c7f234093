#!/usr/bin/env python3
"""Event time by the clock, in real processes: a source that has nothing holds no result up, a time far ahead
makes nothing late, and whatever is killed each line is counted once."""

import os
import signal
import time
import unittest

from tally_job import SECONDS_MAX, Job

LIVE = os.environ["LIVE_APP"]


class LiveTimes(unittest.TestCase):
    def setUp(self):
        self.job = Job(self, 0, workers=3, app=LIVE)
        self.files = [open(self.job.folder / f"lines.{source}", "w", encoding="utf-8") for source in range(2)]
        for file in self.files:
            self.addCleanup(file.close)

    def say(self, source, text):
        self.files[source].write(text + "\n")
        self.files[source].flush()

    def say_now(self, source, word, from_now_ms=0):
        self.say(source, f"{time.time_ns() // 1_000_000 + from_now_ms} {word}")

    def written(self):
        """As far as a snapshot has it."""
        for name in ["out", "out.partial"]:
            path = self.job.folder / name
            if path.exists():
                return path.read_text().splitlines()
        return []

    def wait_for(self, word):
        until = time.monotonic() + SECONDS_MAX
        while not any(word in line for line in self.written()):
            self.assertLess(time.monotonic(), until, f"no '{word}' in {self.written()}: {self.job.said()}")
            time.sleep(0.01)

    def end(self):
        for source in range(2):
            self.say(source, "end")
        self.job.end()
        counted = {}
        for line in self.written():
            word, _, count = line.replace("late ", "late_").partition(" ")
            counted[word] = counted.get(word, 0) + (int(count.split()[1]) if count else 1)
        return counted

    def test_a_result_comes_although_one_source_has_never_had_anything_and_the_other_has_no_more(self):
        self.say_now(0, "first")
        self.wait_for("first")
        self.say_now(0, "second")
        self.wait_for("second")
        self.assertEqual({"first": 1, "second": 1}, self.end())

    def test_a_line_of_another_day_is_left_out_and_makes_no_other_late(self):
        self.say_now(0, "tomorrow", 24 * 3_600_000)
        self.say_now(0, "first")
        self.wait_for("first")
        self.say_now(0, "old", -3_600_000)
        self.wait_for("late old")
        self.assertEqual({"late_tomorrow": 1, "first": 1, "late_old": 1}, self.end())

    def test_each_line_is_counted_once_whatever_is_killed_and_stopped_while_a_source_rests(self):
        said = 0
        for hurt in [signal.SIGKILL, signal.SIGSTOP, signal.SIGKILL]:
            at = len(self.job.events)
            for _ in range(100):
                self.say_now(0, "word")
                said += 1
            self.say_now(1, f"rests-{said}")
            self.job.wait_for("snapshot", at)
            os.kill(self.job.workers()[said // 100 % 3], hurt)
            self.job.wait_for("running", self.job.wait_for("recovering", at))
            self.wait_for(f"rests-{said}")
        counted = self.end()
        late = sum(count for word, count in counted.items() if word.startswith("late_"))
        self.assertEqual(said + 3, sum(counted.values()), counted)
        self.assertLess(late, said, counted)


if __name__ == "__main__":
    unittest.main()
