"""Whether this machine has what keeps states on disk."""

import ctypes
import os
import unittest


def is_there():
    for name in ("librocksdb.so.7.8", "librocksdb.so.6.11", "librocksdb.so.8.9", "librocksdb.so"):
        try:
            ctypes.CDLL(name)
            return True
        except OSError:
            pass
    return False


# In CI it is there, or a test of it fails.
wanted = unittest.skipUnless(is_there() or "CI" in os.environ, "no RocksDB here: scripts/setup --with-rocksdb")
