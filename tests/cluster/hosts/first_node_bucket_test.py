#!/usr/bin/env python3
"""The same as first_node_test where snapshots are in a bucket, so no file says where coordinators are."""

import unittest

from bucket_on_hosts import BucketOnHosts, in_namespace_with_bucket
from stream_on_three import StreamOnThree


class FirstNodeOfBucket(BucketOnHosts, StreamOnThree):
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
    in_namespace_with_bucket()
    unittest.main()
