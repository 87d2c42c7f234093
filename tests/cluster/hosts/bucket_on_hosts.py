"""A server of S3 that all hosts of a test reach; they need share nothing else."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "servers"))
import s3  # noqa: E402
import with_server  # noqa: E402
from hosts import CLEAN, in_namespace, sh  # noqa: E402


class BucketOnHosts:
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        sh("ip", "link", "set", "lo", "up")
        cls.server = s3.Server(listens="0.0.0.0")
        cls.addClassCleanup(cls.server.end)
        cls.server.start()
        # As the hosts find it.
        cls.server.host = "10.78.0.100"
        CLEAN.update(cls.server.environment())


def in_namespace_with_bucket():
    """Or ends the test: it is skipped."""
    if why := s3.missing():
        sys.exit(with_server.skip(why))
    in_namespace()
