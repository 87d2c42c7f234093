"""A cluster with a node d on a machine that is lent for a while."""

import shutil
import subprocess

from cluster_of_nodes import CLEAN, PIRACEMA, ClusterOfNodes, children_of, state_of


class LentNode(ClusterOfNodes):
    def setUp(self):
        super().setUp()
        self.wait_for_nodes()
        self.ask("admit", "d=127.0.0.1")
        shutil.copytree(self.folder / "c" / "d", self.folder / "d")

    def command(self, *words):
        return [PIRACEMA, "cluster", "node", "--home", self.folder / "d", "--slots", "2", *words]

    def start_lent(self, *words):
        log = open(self.folder / "d.log", "a")
        self.addCleanup(log.close)
        self.processes["d"] = subprocess.Popen(self.command(*words), env=CLEAN, stdin=subprocess.DEVNULL,
                                               stdout=log, stderr=log)
        self.addCleanup(self.processes["d"].wait)
        self.addCleanup(self.processes["d"].kill)

    def said(self):
        log = self.folder / "d.log"
        return super().said() + (f"d: {log.read_text()}" if log.exists() else "")

    def of_jobs(self):
        """What belongs to jobs on the lent machine; supervisors come first."""
        found = [pid for pid, words in children_of(self.processes["d"].pid) if b"supervise" in words]
        for pid in found:
            found += [child for child, _ in children_of(pid)]
        return found

    def gone(self, pids):
        """None is alive; who has ended and was not asked about yet does nothing any more."""
        return all(state_of(pid) in "XZ" for pid in pids)

    def state_of_lent(self):
        return self.nodes().get("d", {}).get("state")
