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
from cluster_of_nodes import CLEAN, PIRACEMA, STREAM, ClusterOfNodes, children_of, stands_still, state_of  # noqa: E402

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

    def lend(self, seconds, *words):
        """A node d whose window is open, and closes after that; when it does."""
        opens = int(time.time()) - 10
        closes = opens + 10 + seconds
        windows = self.folder / "windows"
        windows.write_text("daily " + " ".join(time.strftime("%H:%M:%S", time.localtime(at))
                                               for at in (opens, closes)) + "\n")
        self.start_lent("--windows", windows, *words)
        return closes

    def start_lent(self, *words):
        self.ask("admit", "d=127.0.0.1")
        shutil.copytree(self.folder / "c" / "d", self.folder / "d")
        log = open(self.folder / "d.log", "w")
        self.addCleanup(log.close)
        self.processes["d"] = subprocess.Popen(
            [PIRACEMA, "cluster", "node", "--home", self.folder / "d", *words],
            env=CLEAN, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        self.addCleanup(self.processes["d"].wait)
        self.addCleanup(self.processes["d"].kill)

    def of_jobs_on_lent(self):
        return [pid for pid, words in children_of(self.processes["d"].pid) if b"supervise" in words]

    def check_gone(self, pids):
        for pid in pids:
            with contextlib.suppress(FileNotFoundError):
                state = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
                self.assertEqual("Z", state, "a job is on the machine after its window")

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
        well = self.folder / "well"
        job = self.submit(COUNT + f"; [ -e {well} ] || ! touch {well}", "--images", images, "--every", "500ms",
                          "--retries", 2)
        self.wait_until(lambda: "\n40\n" in self.log_of(job), "it does not count")
        self.lock.touch()
        self.wait(job)
        self.assertEqual(1, self.job(job)["failures"])
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
        closes = self.lend(int(max(10, 0.6 * usual)), "--slots", "4")
        heat = int(self.ask("submit", "--slots", 2, "--images", self.folder / "images",
                            *(word for name, value in AS_ROOT.items() for word in ("--env", f"{name}={value}")),
                            "--", *HEAT))
        out, enough = self.folder / "out", self.folder / "enough"
        stream = int(self.ask("submit", "--slots", 2, "--stream", "--snapshots", self.folder / "snapshots", "--",
                              STREAM, out, f"until={enough}", "pause_us=500"))
        self.wait_until(lambda: self.lines_of(heat), "the MPI job does not begin")
        for name in self.NODES:
            self.ask("drain", name, "--off")
        mine = self.of_jobs_on_lent()
        self.assertEqual(2, len(mine))
        self.at(closes)
        self.check_gone(mine)
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

    def heat_over_two_nodes(self, *options):
        """Two ranks, each on a node, and what they write when nothing happens."""
        if not HEAT[4]:
            self.skipTest("no MPI")
        heat = [*HEAT[:3], "--map-by", "node", *HEAT[3:]]
        wanted = subprocess.run(heat, env={**CLEAN, **AS_ROOT}, check=True, text=True,
                                stdout=subprocess.PIPE).stdout
        job = int(self.ask("submit", "--nodes", 2, "--slots", 2, "--images", self.folder / "images", *options,
                           *(word for name, value in AS_ROOT.items() for word in ("--env", f"{name}={value}")),
                           "--", *heat))
        self.wait_until(lambda: len(self.lines_of(job)) > 10, "the MPI job does not begin")
        return job, wanted

    def said_by_ranks(self):
        """Without what mpirun says when the ssh that it has started is faster than itself."""
        lines = (self.folder / "images" / "stdout").read_text().splitlines(True)
        return "".join(line for line in lines if "plm:rsh: Warning: setpgid(" not in line)

    def below(self, node):
        """Processes that descend from it, with their words."""
        found, left = [], [self.processes[node].pid]
        while left:
            below = children_of(left.pop())
            left += [pid for pid, _ in below]
            found += below
        return found

    def ranks(self, node, program=HEAT[4]):
        """Of that program, below the node."""
        return [pid for pid, words in self.below(node) if words[0] == program.encode()]

    def test_each_mpirun_finds_the_nodes_of_its_job_and_the_way_there(self):
        for mpirun in "mpirun.openmpi", "mpirun.mpich":
            if not shutil.which(mpirun):
                self.skipTest(f"no {mpirun}")
        for mpirun, each in ("mpirun.openmpi", "--map-by node"), ("mpirun.mpich", "-ppn 1"):
            with self.subTest(mpirun):
                # Two ranks, each on a node, whose output and code come to the job.
                script = (f"env {' '.join(f'{name}={value}' for name, value in AS_ROOT.items())} {mpirun} -n 2 {each} "
                          "sh -c 'echo a rank; sleep 7777; exit 3'; echo ended with $?")
                job = int(self.ask("submit", "--nodes", 2, "--", "sh", "-c", script))
                self.wait_until(lambda: self.ask("logs", job).count("a rank") == 2, "there are no ranks")
                nodes = [self.job(job)["node"], *self.job(job)["others"]]
                ranks = [self.ranks(node, "sleep") for node in nodes]
                self.assertEqual([1, 1], [len(each) for each in ranks])
                for pid, in ranks:
                    os.kill(pid, 9)
                self.wait_until(lambda: "ended with " in self.ask("logs", job), "it does not end")
                self.assertIn("ended with 3", self.ask("logs", job))
                self.wait(job)
                self.assertEqual([[], []], [self.ranks(node, "sleep") for node in nodes])

    def test_an_mpi_job_over_several_nodes_goes_on_where_it_was_when_one_is_to_be_empty(self):
        job, wanted = self.heat_over_two_nodes()
        first, other = self.job(job)["node"], self.job(job)["others"][0]
        self.assertEqual([1, 1], [len(self.ranks(node)) for node in (first, other)])
        self.ask("drain", other)
        self.wait(job)
        self.assertEqual(2, self.job(job)["attempt"])
        self.assertNotIn(other, [self.job(job)["node"], *self.job(job)["others"]])
        self.assertIn("goes on from image", self.log_of(job))
        self.assertEqual(wanted, self.said_by_ranks())

    def test_an_mpi_job_over_several_nodes_leaves_the_window_of_one_and_goes_on_elsewhere(self):
        if not shutil.which("mpirun.openmpi"):
            self.skipTest("no mpirun.openmpi")
        # One node that stays, and one that is lent and has as much room, so that it is not the first.
        for name in self.NODES[1:]:
            self.ask("drain", name)
        closes = self.lend(25, "--slots", "2")
        self.wait_for_nodes(2)
        # Two ranks, each on a node; they cannot end before there is the lock.
        count = COUNT.replace("$LOCK", str(self.lock))
        job = int(self.ask("submit", "--nodes", 2, "--slots", 2, "--images", self.folder / "images",
                           *(word for name, value in AS_ROOT.items() for word in ("--env", f"{name}={value}")),
                           "--", "mpirun.openmpi", "-n", "2", "--map-by", "node", "sh", "-c", count))
        self.wait_until(lambda: self.lines_of(job).count("5") == 2, "the MPI job does not begin")
        self.assertEqual((self.NODES[0], ["d"]), (self.job(job)["node"], self.job(job)["others"]))
        mine = self.of_jobs_on_lent()
        self.assertTrue(mine)
        for name in self.NODES[1:]:
            self.ask("drain", name, "--off")
        self.at(closes)
        self.check_gone(mine)
        self.lock.touch()
        self.wait(job)
        found = self.job(job)
        self.assertEqual((2, 0), (found["attempt"], found["failures"]))
        self.assertNotIn("d", [found["node"], *found["others"]])
        self.assertIn("goes on from image", self.log_of(job))
        self.assertEqual(sorted([*range(1, 61)] * 2), sorted(map(int, (self.folder / "images" / "stdout").read_text().split())))
        learnt = (self.folder / "d" / "leaving").iterdir()
        self.assertTrue(any(path.stat().st_size for path in learnt), "what it took to leave was not learnt")

    def test_an_mpi_job_stands_still_while_a_user_is_there_and_is_saved_when_he_stays(self):
        if not shutil.which("mpirun.openmpi"):
            self.skipTest("no mpirun.openmpi")
        there = self.folder / "there"
        self.start_lent("--slots", "2", "--idle", "1s", "--presence", f"test -e {there}", "--grace", "60s",
                        "--suspend", "20s")
        self.wait_until(lambda: self.nodes().get("d", {}).get("state") == "here", "d is not there")
        for name in self.NODES:
            self.ask("drain", name)
        # They cannot end before there is the lock.
        count = COUNT.replace("$LOCK", str(self.lock))
        job = int(self.ask("submit", "--slots", 2, "--images", self.folder / "images",
                           *(word for name, value in AS_ROOT.items() for word in ("--env", f"{name}={value}")),
                           "--", "mpirun.openmpi", "-n", "2", "--oversubscribe", "sh", "-c", count))
        self.wait_until(lambda: self.lines_of(job).count("5") == 2, "the MPI job does not begin")
        for name in self.NODES:
            self.ask("drain", name, "--off")
        ranks = self.ranks("d", "sh")
        self.assertEqual(2, len(ranks))
        keepers = [pid for pid, words in self.below("d") if b"ckpt" in words and b"run" in words]
        self.assertTrue(keepers)
        there.touch()
        self.wait_until(lambda: all(map(stands_still, ranks)), "the ranks do not stand still")
        # Who is to save them does not.
        self.assertNotIn("T", [state_of(pid) for pid in keepers])
        stopped_at = self.lines_of(job)
        self.wait_until(lambda: self.job(job)["state"] == "suspended", "nobody is told")
        self.assertTrue(all(map(stands_still, ranks)))
        self.assertEqual(stopped_at, self.lines_of(job))
        there.unlink()
        self.wait_until(lambda: not any(map(stands_still, ranks)), "the ranks stand still for ever")
        self.wait_until(lambda: self.lines_of(job).count("40") == 2, "the MPI job does not go on")
        self.assertEqual(1, self.job(job)["attempt"])
        there.touch()
        self.wait_until(lambda: all(map(stands_still, ranks)), "the ranks do not stand still")
        self.wait_until(lambda: self.job(job)["node"] in self.NODES, "the MPI job does not leave")
        self.lock.touch()
        self.wait(job)
        found = self.job(job)
        self.assertEqual((2, 0), (found["attempt"], found["failures"]))
        self.assertIn("goes on from image", self.log_of(job))
        # This mpirun says that it forwards SIGCONT.
        said = (self.folder / "images" / "stdout").read_text().splitlines()
        self.assertEqual(sorted([*range(1, 61)] * 2), sorted(int(line) for line in said if line.isdigit()))

    def test_a_program_with_images_goes_on_where_machines_are_like_the_one_that_it_began_on(self):
        for name in self.NODES:
            self.ask("drain", name)
        self.lend(3_600, "--slots", "4", "--kind", "another one")
        self.wait_until(lambda: self.nodes().get("d", {}).get("state") == "here", "d is not there")
        kinds = {node["kind"] for name, node in self.nodes().items() if name != "d"}
        self.assertEqual(1, len(kinds), kinds)
        job = self.submit(COUNT, "--images", self.folder / "images")
        self.wait_until(lambda: "\n20\n" in self.log_of(job), "it does not count")
        self.assertEqual("d", self.job(job)["node"])
        for name in self.NODES:
            self.ask("drain", name, "--off")
        self.ask("drain", "d")
        self.wait_until(lambda: "waits for a node of 1 slot that is there: d is draining" in self.job(job).get("why", ""),
                        "it does not wait")
        self.ask("drain", "d", "--off")
        self.lock.touch()
        self.wait(job)
        self.assertEqual(["d", 2], [self.job(job)["node"], self.job(job)["attempt"]])
        self.assertEqual([str(i) for i in range(1, 61)], self.lines_of(job))

    def test_an_mpi_job_over_several_nodes_that_loses_one_goes_on_from_its_last_image(self):
        job, wanted = self.heat_over_two_nodes("--every", "1s")
        other = self.job(job)["others"][0]
        self.wait_until(lambda: '"complete":true' in subprocess.run(
            [PIRACEMA, "ckpt", "list", "--json", "--dir", self.folder / "images"], env=CLEAN, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout, "no image")
        self.processes[other].kill()
        self.wait(job)
        found = self.job(job)
        self.assertEqual((2, 0), (found["attempt"], found["failures"]))
        self.assertNotIn(other, [found["node"], *found["others"]])
        self.assertIn("goes on from image", self.log_of(job))
        self.assertEqual(wanted, self.said_by_ranks())

    def test_what_is_wrong_is_said(self):
        for words, why in [(("--images", "here"), "--images: want an absolute path, found 'here'"),
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
