#!/usr/bin/env python3
"""Jobs whose snapshots are in a bucket of a real server. What is wrong with a bucket is told before
anything is begun."""

import sys

import store_jobs
import java_server
import s3
from object_jobs import ObjectJobs


class S3(ObjectJobs):
    def where(self):
        return "s3://tests"

    # ---- what is wrong before the beginning --------------------------------------------------------

    def test_a_wrong_key_bucket_or_server_is_told_with_its_name(self):
        said = self.refused("status 403", "--snapshots", self.at, AWS_SECRET_ACCESS_KEY="wrong")
        self.assertIn(self.server.endpoint, said)
        self.assertIn(self.at, said)
        self.refused("status 404 NoSuchBucket", "--snapshots", "s3://no-such-bucket/job")
        nobody = f"http://127.0.0.1:{java_server.free_port()}"
        self.refused(f"at {nobody}: ", "--snapshots", self.at, AWS_ENDPOINT_URL=nobody)
        self.refused("AWS_SECRET_ACCESS_KEY", "--snapshots", self.at, AWS_SECRET_ACCESS_KEY="")
        self.refused("want s3://BUCKET/PREFIX", "--snapshots", "s3://Bucket")
        self.refused("want snapshots, found nothing", "--snapshots", self.at, "--resume")


if __name__ == "__main__":
    sys.exit(store_jobs.main(S3, s3))
