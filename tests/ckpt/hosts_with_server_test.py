#!/usr/bin/env python3
"""Jobs of several hosts whose directory is on a real GlusterFS, of which each host has a client of its own."""

import hosts
import hosts_with_server
from support import COUNTER, CkptTest, main, skip

STEPS, STATUS = 60, 3
PROGRAM = [COUNTER, STEPS, 4, 4_000_000, STATUS]


class HostsWithServer(CkptTest):
    def setUp(self):
        super().setUp()
        self.several = hosts_with_server.HostsWithServer(3, self.path)
        self.addCleanup(self.several.close)
        self.dir = self.several.places["remote"] / "job"

    def on(self, *numbers):
        return self.several.on("remote", *numbers)

    def test_what_a_job_writes_on_another_host_is_passed_on_as_it_comes(self):
        wanted, code = self.plain(*PROGRAM)
        self.assertEqual(STATUS, code)
        job = self.run_job(*PROGRAM, options=self.on(1, 2))
        # Nothing else would have it passed on before the image.
        job.read(10)
        self.ckpt("save", "--dir", self.dir)
        job.read(5)
        self.ckpt("stop", "--dir", self.dir)
        self.assertEqual(75, job.end(), job.errors())
        self.ckpt("verify", "--dir", self.dir)
        second = self.resume(*self.on(3, 2))
        self.assertEqual(STATUS, second.end(), second.errors())
        self.assertEqual(wanted, (self.dir / "stdout").read_text())
        self.assertEqual(wanted, "".join(job.lines + second.lines))


if __name__ == "__main__":
    why = hosts_with_server.gluster.missing() or hosts.can_be_made()
    if why:
        skip(why)
    main()
