"""Whether this machine has what keeps states on disk."""

import json
import os
import subprocess
import unittest


def is_there():
    told = subprocess.run([os.environ["PIRACEMA_COMMAND"], "doctor", "--json"], capture_output=True, text=True)
    return any(one["what"] == "librocksdb" and one["ok"] for one in json.loads(told.stdout)["findings"])


# In CI it is there, or a test of it fails.
wanted = unittest.skipUnless("CI" in os.environ or is_there(), "no RocksDB here: scripts/setup --with-rocksdb")
