#!/usr/bin/env python3
"""A program with images that runs as an account of the machine, on nodes of root."""

import os
import pathlib
import pwd
import shutil
import subprocess
import sys
import tempfile
import unittest

from ordinary_user import environment_for
from support import skip, want_ckpt

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cluster"))
if os.geteuid() != 0:
    skip("want root, for nodes of root")
want_ckpt()
# Every Debian has it, and it has no right to anything of root's: programs and a criu are where it gets to.
ACCOUNT = pwd.getpwnam("daemon")
PLACE = tempfile.mkdtemp()
pathlib.Path(PLACE).chmod(0o711)
os.environ.update(environment_for(ACCOUNT.pw_uid, pathlib.Path(PLACE) / "of-account"))

from cluster_of_nodes import CLEAN, PIRACEMA, ClusterOfNodes  # noqa: E402
from cluster_test import COUNT  # noqa: E402


def tearDownModule():
    shutil.rmtree(PLACE)


class Account(ClusterOfNodes):
    def test_a_program_of_an_account_leaves_a_node_of_root_and_goes_on_as_that_account(self):
        self.folder.chmod(0o711)
        self.wait_for_nodes()
        self.ask("add-user", "alice", "--account", ACCOUNT.pw_name)
        place = self.folder / "place"
        place.mkdir()
        os.chown(place, ACCOUNT.pw_uid, ACCOUNT.pw_gid)
        submitted = subprocess.run(
            [PIRACEMA, "cluster", "submit", "--cluster", self.folder / "c" / "users" / "alice", "--images", place / "images",
             "--env", f"LOCK={self.lock}", "--", "sh", "-c", "id -un; " + COUNT],
            env=CLEAN, text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=True)
        job = int(submitted.stdout)
        self.wait_until(lambda: "\n20\n" in self.ask("logs", job), "it does not count")
        self.assertIn(f"{ACCOUNT.pw_name}\n", self.ask("logs", job))
        first = self.job(job)["node"]
        self.ask("drain", first)
        self.lock.touch()
        self.wait(job)
        found = self.job(job)
        self.assertEqual((2, 0), (found["attempt"], found["failures"]))
        self.assertNotEqual(first, found["node"])
        self.assertEqual([ACCOUNT.pw_name, *map(str, range(1, 61))], (place / "images" / "stdout").read_text().split())
        self.assertEqual({ACCOUNT.pw_uid}, {path.stat().st_uid for path in (place / "images").rglob("*")})


if __name__ == "__main__":
    unittest.main()
