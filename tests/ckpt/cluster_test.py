#!/usr/bin/env python3
"""Programs that know nothing of being saved, as jobs of a cluster: they leave nodes, with an image, and go on
on others; in one window with a stream as well."""

import contextlib
import os
import pathlib
import shutil
import subprocess
import sys
import time
import unittest

from support import skip, want_ckpt

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cluster"))
from cluster_of_nodes import CLEAN, PIRACEMA, STREAM, ClusterOfNodes, children_of  # noqa: E402

AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
# Lines with the heat of 1,000 by 1,000 points, every 20 steps.
HEAT = ["mpirun", "-n", "2", "--oversubscribe", os.environ.get("HEAT2D_APP", ""), "1000", "3000", "20"]
# It counts to 60, and from 40 on only if there is a file $LOCK.
COUNT = ("i=0; while [ $i -lt 60 ]; do i=$((i+1)); echo $i; sleep 0.1; "
         "while [ $i = 40 ] && [ ! -e $LOCK ]; do sleep 0.1; done; done")


class Saved(ClusterOfNodes):
    def setUp(self):
        super().setUp()
        self.wait_for_nodes()

    def log_of(self, job):
        """What it has written, of all its attempts, on whatever node."""
        logs = self.folder.glob(f"*/jobs/{job}.*.log"), self.folder.glob(f"c/*/jobs/{job}.*.log")
        by_attempt = sorted((int(path.name.split(".")[1]), path) for found in logs for path in found)
        return "".join(path.read_text() for _, path in by_attempt)

    def lines_of(self, job):
        return [line for line in self.log_of(job).splitlines() if not line.startswith("piracema: ")]

    def at(self, moment):
        time.sleep(max(0, moment - time.time()))

    def test_a_program_goes_on_where_it_was_when_its_node_is_to_be_empty(self):
        images = self.folder / "images"
        job = self.submit(COUNT, "--images", images)
        self.wait_until(lambda: "\n20\n" in self.log_of(job), "it does not count")
        node = self.job(job)["node"]
        self.ask("drain", node)
        self.lock.touch()
        self.wait(job)
        self.assertNotEqual(node, self.job(job)["node"])
        self.assertEqual(0, self.job(job)["failures"])
        self.assertEqual([str(i) for i in range(1, 61)], self.lines_of(job))

    def test_a_program_whose_node_is_lost_goes_on_from_its_last_image(self):
        images = self.folder / "images"
        job = self.submit(COUNT, "--images", images, "--every", "1s")
        self.wait_until(lambda: '"complete":true' in subprocess.run(
            [PIRACEMA, "ckpt", "list", "--json", "--dir", images], env=CLEAN, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout, "no image")
        node = self.job(job)["node"]
        self.processes[node].kill()
        self.lock.touch()
        self.wait(job)
        self.assertEqual(2, self.job(job)["attempt"])
        self.assertIn("goes on from image", self.log_of(job))
        self.assertEqual("60", self.lines_of(job)[-1])
        self.assertEqual({str(i) for i in range(1, 61)}, set(self.lines_of(job)))

    def test_a_program_that_fails_goes_on_from_its_last_image(self):
        images = self.folder / "images"
        job = self.submit(COUNT + f"; [ -e {self.folder}/well ]", "--images", images, "--every", "500ms", "--retries", 2)
        self.wait_until(lambda: "\n40\n" in self.log_of(job), "it does not count")
        self.lock.touch()
        self.wait_until(lambda: self.job(job)["failures"] == 1, "it does not fail")
        (self.folder / "well").touch()
        self.wait(job)
        self.assertIn("goes on from image", self.log_of(job))
        self.assertEqual({str(i) for i in range(1, 61)}, set(self.lines_of(job)))

    def test_a_program_that_was_cancelled_goes_on_as_another_job(self):
        images = self.folder / "images"
        first = self.submit(COUNT, "--images", images)
        self.wait_until(lambda: "\n20\n" in self.log_of(first), "it does not count")
        self.ask("cancel", first)
        self.wait_until(lambda: self.job(first)["state"] == "cancelled", "it does not end")
        self.lock.touch()
        second = self.submit(COUNT, "--images", images, "--resume")
        self.wait(second)
        self.assertEqual([str(i) for i in range(1, 61)], self.lines_of(first) + self.lines_of(second))

    def test_an_mpi_job_and_a_stream_leave_one_window_and_go_on_elsewhere(self):
        if not HEAT[4]:
            self.skipTest("no MPI")
        began = time.monotonic()
        wanted = subprocess.run(HEAT, env={**CLEAN, **AS_ROOT}, check=True, text=True,
                                stdout=subprocess.PIPE).stdout
        usual = time.monotonic() - began
        for name in self.NODES:
            self.ask("drain", name)
        # Half of it is done in the window, which the stream shares; less where the machine was busier before.
        opens = int(time.time()) - 10
        closes = opens + 10 + int(max(10, 0.6 * usual))
        self.ask("admit", "d=127.0.0.1")
        shutil.copytree(self.folder / "c" / "d", self.folder / "d")
        windows = self.folder / "windows"
        windows.write_text("daily " + " ".join(time.strftime("%H:%M:%S", time.localtime(at))
                                               for at in (opens, closes)) + "\n")
        log = open(self.folder / "d.log", "w")
        self.addCleanup(log.close)
        self.processes["d"] = subprocess.Popen(
            [PIRACEMA, "cluster", "node", "--home", self.folder / "d", "--slots", "4", "--windows", windows],
            env=CLEAN, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        self.addCleanup(self.processes["d"].wait)
        self.addCleanup(self.processes["d"].kill)
        heat = int(self.ask("submit", "--slots", 2, "--images", self.folder / "images",
                            *(word for name, value in AS_ROOT.items() for word in ("--env", f"{name}={value}")),
                            "--", *HEAT))
        out, enough = self.folder / "out", self.folder / "enough"
        stream = int(self.ask("submit", "--slots", 2, "--stream", "--snapshots", self.folder / "snapshots", "--",
                              STREAM, out, f"until={enough}", "pause_us=500"))
        self.wait_until(lambda: self.lines_of(heat), "the MPI job does not begin")
        for name in self.NODES:
            self.ask("drain", name, "--off")
        mine = [pid for pid, words in children_of(self.processes["d"].pid) if b"supervise" in words]
        self.assertEqual(2, len(mine))
        self.at(closes)
        for pid in mine:
            with contextlib.suppress(FileNotFoundError):
                state = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
                self.assertEqual("Z", state, "a job is on the machine after its window")
        self.wait(heat)
        self.assertEqual(2, self.job(heat)["attempt"])
        self.assertIn("goes on from image", self.log_of(heat))
        self.assertEqual(wanted.splitlines(), self.lines_of(heat))
        enough.touch()
        self.wait(stream)
        self.assertEqual(2, self.job(stream)["attempt"])
        items = out.read_bytes().count(b"\n")
        subprocess.run([STREAM, self.folder / "wanted", f"items={items}"], env=CLEAN, check=True)
        self.assertEqual((self.folder / "wanted").read_bytes(), out.read_bytes())

    def test_what_is_wrong_is_said(self):
        for words, why in [(("--images", "here"), "--images: want an absolute path, found 'here'"),
                           (("--images", "/x", "--nodes", 2), "want one node with --images, found --nodes 2"),
                           (("--resume",), "want --resume with --stream or --images, found neither"),
                           (("--every", "1s"), "want --every with --stream or --images, found neither"),
                           (("--images", "/x", "--every", "often"), "--every: ")]:
            answer = self.call("submit", *words, "--", "true")
            self.assertEqual(2, answer.returncode, answer.stderr)
            self.assertIn(why, answer.stderr)


if __name__ == "__main__":
    if os.geteuid() != 0:
        skip("want root, for nodes of root")
    want_ckpt()
    unittest.main()
