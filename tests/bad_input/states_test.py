#!/usr/bin/env python3
"""Programs whose state is not what was saved, or is not saved at all: refused, or said at the start."""

import json
import signal
import unittest

from support import *

ITEMS = 4_000


class States(BadInput):
    def stopped_job(self, state="whole"):
        """A job that was stopped with snapshots in "s", long before it would have ended."""
        process = self.start(PIRACEMA, "run", "-n", "2", "--json", "--snapshots", "s", "--every",
                             "20ms", CHANGED_STATE, "out", state)
        for line in process.stdout:
            if json.loads(line)["event"] == "snapshot":
                break
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=SECONDS_MAX)
        self.assertEqual(75, process.returncode, err)

    def resumed(self, state, *options):
        return self.job("--snapshots", "s", "--resume", *options, app=(CHANGED_STATE, "out", state))

    def alone(self, state, *words):
        return (CHANGED_STATE, "out", state, *words)

    def refused_both_ways(self, state, code, *says, allow=False):
        """Resumed with this state, as several processes and as one."""
        for command in [self.resumed(state, *["--allow-changed-state"] * allow),
                        self.alone(state, "resume", *["allow"] * allow)]:
            run = self.run_to_end(*command, environment={"PIRACEMA_SNAPSHOTS": "s"})
            self.assertEqual(code, run.returncode, run.err)
            errors = [line for line in run.err.splitlines() if "error: " in line]
            self.assertEqual(1, len(errors), run.err)
            for text in says:
                self.assertIn(text, errors[0])

    def check_output(self):
        counts = dict.fromkeys(range(10), 0)
        wanted = []
        for n in range(1, ITEMS + 1):
            counts[n % 10] += 1
            wanted.append(counts[n % 10])
        self.assertEqual(wanted, [int(n) for n in (self.folder / "out").read_text().split()])

    def test_a_state_of_another_type_is_refused_and_both_are_shown(self):
        self.stopped_job()
        found = "found {map(i64, i64), i64, string}"
        for state, want in [("narrow", "want {map(i64, i32), i64, string}"),
                            ("swapped", "want {map(i64, i64), string, i64}"),
                            ("shorter", "want {map(i64, i64), i64}"), ("none", "want nothing")]:
            with self.subTest(state):
                self.refused_both_ways(state, 3, "'count'", want, found, "allow-changed-state")
        run = self.run_to_end(*self.resumed("whole"))
        self.assertEqual(0, run.returncode, run.err)
        self.check_output()

    def test_bytes_that_are_left_over_or_missing_are_an_error_whoever_knows(self):
        self.stopped_job()
        self.refused_both_ways("shorter", 1, "count", "are left over", allow=True)
        self.refused_both_ways("none", 1, "count", "are left over", allow=True)
        self.refused_both_ways("swapped", 1, "count", "of its state", allow=True)

    def said(self, state, strict=False, code=0, snapshots=True):
        """What is said of the operator at the start, as several processes and as one."""
        sentences = []
        several, one = "s-" + state, "t-" + state
        options = [*["--snapshots", several] * snapshots, *["--strict"] * strict]
        for name, command in [
                (several, self.job(*options, app=self.alone(state, "quick"))),
                (one, self.alone(state, *["strict"] * strict, "quick"))]:
            environment = {"PIRACEMA_SNAPSHOTS": name} if snapshots else {}
            run = self.run_to_end(*command, environment=environment)
            self.assertEqual(code, run.returncode, run.err)
            self.assertEqual(code == 0, (self.folder / "out").exists())
            (self.folder / "out").unlink(missing_ok=True)
            sentences.append([line for line in run.err.splitlines() if "operator " in line])
            if code != 0:
                self.assertIn("error: strict: want a program all of whose state is saved", run.err)
        self.assertEqual(*sentences)
        return sentences[0]

    def test_what_is_not_saved_is_said_once_with_its_operator_and_refused_if_that_is_wanted(self):
        for state, says in [("captured", "its captures and members are not saved"),
                            ("changing", "its captures and members can change"),
                            ("private", "its `serialize` cannot be called"),
                            ("farm", "each of its 3 replicas has a state of its own")]:
            with self.subTest(state):
                for strict in [False, True]:
                    sentences = self.said(state, strict, code=3 if strict else 0)
                    self.assertEqual(1, len(sentences))
                    self.assertIn("warning: operator 'count': " + says, sentences[0])

    def test_a_program_whose_state_is_saved_is_strict_and_nothing_is_said(self):
        for state in ["whole", "none", "grouped"]:
            with self.subTest(state):
                self.assertEqual([], self.said(state, strict=True))

    def test_where_nothing_is_saved_at_all_nothing_is_said_unless_that_is_wanted(self):
        self.assertEqual([], self.said("captured", snapshots=False))
        self.assertEqual(1, len(self.said("captured", strict=True, code=3, snapshots=False)))


if __name__ == "__main__":
    unittest.main()
