#!/usr/bin/env python3
"""Where hosts are: a pipeline goes from site to site as seldom as it can, and what is lost goes on nearby."""

import os
import signal
import unittest

from hosts import *

STAGES = os.environ["SITES_APP"]
SITE_OF = {"h1": "east", "h2": "west", "h3": "east", "h4": "west"}


class Sites(OnHosts):
    HOSTS = 4

    def start_stages(self, *options, says_sites=True, items=2_000, places=2):
        self.items = items
        self.write_hosts(*(f"{host} slots={places}" + (f" site={site}" if says_sites else "")
                           for host, site in SITE_OF.items()))
        # That a busy machine is no lost one is for other tests.
        self.start("--hostfile", "hosts", "--heartbeat", "1s", *options, STAGES, "out", items, 1_000)
        planned = self.wait_for("planned")
        self.host_of = [f"h{1 + one['worker'] // places}" for one in planned["replicas"]]

    def crossings(self):
        sites = [SITE_OF[host] for host in self.host_of]
        return sum(a != b for a, b in zip(sites, sites[1:]))

    def check_lines(self):
        lines = [line.split()[:2] for line in (self.folder / "out").read_text().splitlines()]
        self.assertEqual([[str(number), "8"] for number in range(1, self.items + 1)], lines)

    def test_a_pipeline_goes_from_site_to_site_once(self):
        self.start_stages()
        self.assertEqual(1, self.crossings())
        self.assertEqual(3, sum(a != b for a, b in zip(self.host_of, self.host_of[1:])))
        self.finish()
        self.check_lines()
        # Nobody said where the hosts are: it takes them in the order of the file.
        self.start_stages(says_sites=False)
        self.assertEqual(3, self.crossings())
        self.finish()
        self.check_lines()

    def test_the_process_of_a_host_that_is_lost_goes_on_within_its_site(self):
        self.start_stages("--snapshots", "snapshots", "--every", "100ms", items=1 << 40, places=1)
        self.wait_for("snapshot")
        self.assertEqual("h4", self.workers()[3][1])
        self.cut("h4")
        self.wait_for("lost", lambda event: event["worker"] == 3)
        self.wait_for("running")
        # All others have as much to do.
        self.assertEqual("h2", self.workers()[3][1])
        self.job.send_signal(signal.SIGTERM)
        for _ in self.job.stdout:
            pass
        self.assertEqual(75, self.job.wait(SECONDS_MAX), self.said())


if __name__ == "__main__":
    in_namespace()
    unittest.main()
