#!/usr/bin/env python3
"""Jobs whose snapshots are in a real HDFS. What is wrong with it is told before anything is begun."""

import sys

import store_jobs
import hdfs
import java_server
from object_jobs import ObjectJobs


class Hdfs(ObjectJobs):
    def where(self):
        return self.server.at

    def test_a_folder_without_room_costs_snapshots_until_there_is_some(self):
        self.check_a_store_without_room(lambda: self.server.set_quota("/tests", 1),
                                        lambda: self.server.set_quota("/tests", -1),
                                        "DSQuotaExceededException")

    # ---- what is wrong before the beginning --------------------------------------------------------

    def test_a_wrong_server_path_or_user_is_told_with_its_name(self):
        nobody = f"webhdfs://127.0.0.1:{java_server.free_port()}"
        self.refused(f"{nobody}/tests/x", "--snapshots", f"{nobody}/tests/x")
        said = self.refused("AccessControlException", "--snapshots", self.at.replace("/tests/", "/other/"))
        self.assertIn(f"at {self.server.endpoint}: status 403", said)
        self.refused("want webhdfs://HOST:PORT/PATH", "--snapshots", "hdfs://127.0.0.1:8020/tests")
        self.refused("want webhdfs://HOST:PORT/PATH", "--snapshots", "webhdfs://127.0.0.1/")
        self.refused("HADOOP_USER_NAME", "--snapshots", self.at, HADOOP_USER_NAME="a b")
        self.refused("want snapshots, found nothing", "--snapshots", self.at, "--resume")


if __name__ == "__main__":
    sys.exit(store_jobs.main(Hdfs, hdfs))
