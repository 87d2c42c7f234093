#!/usr/bin/env python3
"""A cluster whose users and nodes have clocks that are wrong, and are set back."""

import shutil
import subprocess
import unittest

from cluster_of_nodes import CLEAN, PIRACEMA, SECONDS_MAX, ClusterOfNodes
from wall_clock import WallClock


class Clocks(ClusterOfNodes):
    def with_clock(self, ahead):
        return {**CLEAN, **WallClock(self.folder / f"clock{ahead}", ahead).environment()}

    def call_by_clock(self, ahead, *words):
        answer = subprocess.run(
            [PIRACEMA, "cluster", words[0], "--cluster", self.folder / "c", "--timeout", "60s", *words[1:]],
            env=self.with_clock(ahead), text=True, stdin=subprocess.DEVNULL, capture_output=True, timeout=SECONDS_MAX)
        self.assertEqual(0, answer.returncode, f"{words}: {answer.stderr}{self.said()}")
        return answer.stdout

    def test_a_user_whose_other_machine_is_ahead_is_served(self):
        for ahead in (7_200, 0, -7_200):
            with self.subTest(ahead=ahead):
                self.assertIn("written", self.call_by_clock(ahead, "submit", "--wait", "--", "echo", "written"))

    def test_an_administrator_whose_other_machine_is_ahead_is_obeyed(self):
        hours = 7_200
        self.call_by_clock(hours, "admit", "d=localhost")
        self.call_by_clock(0, "add-user", "dora")
        kept = self.folder / "kept"
        shutil.copytree(self.folder / "c" / "users" / "dora", kept)
        as_dora = [PIRACEMA, "cluster", "jobs", "--cluster", kept, "--timeout", "5s"]
        self.assertEqual(0, subprocess.run(as_dora, env=CLEAN, timeout=SECONDS_MAX).returncode)
        self.call_by_clock(-hours, "admit", "e=localhost")
        self.call_by_clock(-2 * hours, "dismiss", "d")
        self.call_by_clock(-hours, "remove-user", "dora")
        # And what was said last holds.
        self.start("e")
        self.wait_until(lambda: self.nodes().get("e", {}).get("state") == "here", "e does not come")
        self.assertEqual(1, subprocess.run(as_dora, env=CLEAN, timeout=SECONDS_MAX).returncode)

    def test_a_node_comes_back_whose_clock_was_set_back_meanwhile(self):
        self.wait_for_nodes()
        for ahead in (7_200, 0):
            self.processes["a"].kill()
            self.processes["a"].wait()
            self.wait_until(lambda: self.nodes()["a"]["state"] != "here", "a is there still")
            self.start("a", env=self.with_clock(ahead))
            self.wait_for_nodes()
        self.wait(self.submit("true", "--on", "a"))


if __name__ == "__main__":
    unittest.main()
