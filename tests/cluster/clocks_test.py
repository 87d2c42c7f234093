#!/usr/bin/env python3
"""A cluster whose users and nodes have clocks that are wrong, and are set back."""

import subprocess
import unittest

from cluster_of_nodes import CLEAN, PIRACEMA, SECONDS_MAX, ClusterOfNodes
from wall_clock import WallClock


class Clocks(ClusterOfNodes):
    def with_clock(self, ahead):
        return {**CLEAN, **WallClock(self.folder / f"clock{ahead}", ahead).environment()}

    def submit_by_clock(self, ahead):
        return subprocess.run(
            [PIRACEMA, "cluster", "submit", "--cluster", self.folder / "c", "--timeout", "60s", "--wait", "--", "echo",
             "written"],
            env=self.with_clock(ahead), text=True, stdin=subprocess.DEVNULL, capture_output=True, timeout=SECONDS_MAX)

    def test_a_user_whose_other_machine_is_ahead_is_served(self):
        for ahead in (7_200, 0, -7_200):
            with self.subTest(ahead=ahead):
                answer = self.submit_by_clock(ahead)
                self.assertEqual(0, answer.returncode, answer.stderr + self.said())
                self.assertIn("written", answer.stdout)

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
