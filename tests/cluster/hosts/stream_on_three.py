"""A stream of a cluster, on three nodes with a coordinator on each."""

import json
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from cluster_on_hosts import ClusterOnHosts  # noqa: E402
from hosts import CLEAN, STREAM  # noqa: E402


class StreamOnThree(ClusterOnHosts):
    HOSTS = 5

    def setUp(self):
        super().setUp()
        self.out, self.enough = self.folder / "out", self.folder / "enough"
        self.wait_until(lambda: self.call("nodes").stdout.count("here") == self.HOSTS, "nodes are not there")
        self.number = int(self.ask(
            "submit", "--nodes", 3, "--slots", 2, "--stream", "--snapshots", self.snapshots(), "--every",
            "200ms", "--", self.program(), self.out, f"until={self.enough}", "pause_us=300"))
        self.wait_for_more("the stream writes nothing")
        # Workers may write before its node has told the control plane of it.
        self.wait_until(lambda: "COORDINATOR" in self.call("status").stdout, "nobody says who coordinates it")

    def snapshots(self):
        return self.folder / "snapshots"

    def program(self):
        return STREAM

    def ask(self, *words):
        answer = self.call(*words, timeout="30s")
        self.assertEqual(0, answer.returncode, answer.stderr + self.said())
        return answer.stdout

    def job(self):
        return next(job for job in self.jobs() if job["job"] == self.number)

    def written(self):
        partial = self.folder / "out.partial"
        return partial.stat().st_size if partial.exists() else 0

    def wait_for_more(self, why="the stream does not go on"):
        before = self.written()
        self.wait_until(lambda: self.written() > before + 2_000, why)

    def lose_first(self, lose):
        """Where it goes on then; the node that is lost."""
        first = self.job()["node"]
        lose(first)
        self.wait_for_more()
        self.wait_until(lambda: self.job()["node"] != first, "no other node is the first one")
        self.wait_until(lambda: self.call("savepoint", self.number, f"after-{first}").returncode == 0,
                        "nobody answers for the stream")
        return first

    def finish(self, losses):
        self.enough.touch()
        self.ask("wait", self.number)
        items = self.out.read_bytes().count(b"\n")
        wanted = self.folder / "wanted"
        subprocess.run([STREAM, wanted, f"items={items}"], env=CLEAN, check=True)
        self.assertEqual(wanted.read_bytes(), self.out.read_bytes())
        job = self.job()
        self.assertEqual((1, losses, 0), (job["attempt"], job["losses"], job["failures"]))

    def check_nothing_was_redone(self):
        """As far as whoever coordinates it by now knows. Workers that are just moving when another one begins to lead
        begin there once more, from the snapshot with which they moved."""
        status = json.loads(self.ask("status", "--json"))
        [stream] = [job["stream"] for job in status["jobs"] if job["job"] == self.number]
        self.assertEqual(0, stream["items_redone"], stream)
