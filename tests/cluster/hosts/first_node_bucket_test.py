#!/usr/bin/env python3
"""The same as first_node_test where snapshots are in a bucket, so no file says where coordinators are."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "servers"))
import s3  # noqa: E402
import with_server  # noqa: E402
from hosts import CLEAN, in_namespace, sh  # noqa: E402
from stream_on_three import StreamOnThree  # noqa: E402


class FirstNodeOfBucket(StreamOnThree):
    @classmethod
    def setUpClass(cls):
        sh("ip", "link", "set", "lo", "up")
        cls.server = s3.Server(listens="0.0.0.0")
        cls.addClassCleanup(cls.server.end)
        cls.server.start()
        # As the hosts find it.
        cls.server.host = "10.78.0.100"
        CLEAN.update(cls.server.environment())

    def snapshots(self):
        return f"s3://tests/{self.id()}"

    def test_its_host_dies(self):
        self.lose_first(self.kill_all_on)
        self.finish(losses=1)

    def test_it_drains(self):
        first = self.job()["node"]
        self.ask("drain", first)
        self.wait_until(lambda: first not in [self.job()["node"], *self.job()["others"]], "it stays in the job")
        self.wait_for_more()
        self.finish(losses=0)


if __name__ == "__main__":
    if why := s3.missing():
        sys.exit(with_server.skip(why))
    in_namespace()
    unittest.main()
