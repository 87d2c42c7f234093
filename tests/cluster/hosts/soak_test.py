#!/usr/bin/env python3
"""A soak: six hosts with a cluster of theirs, whose control plane is on three of them; streams in it, an MPI
program beside them, and a stream by itself with three coordinators. For PIRACEMA_SOAK_SECONDS (45) something goes
wrong every two seconds or so, anything anywhere. Then all is mended, and what was written is what is written where
nothing goes wrong, byte for byte.

Draws by PIRACEMA_SEED. Wants root, and for the MPI program a criu; without that it says so and does without."""

import heapq
import itertools
import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from cluster_on_hosts import ClusterOnHosts  # noqa: E402
from hosts import CLEAN, PIRACEMA, SECONDS_MAX, environment_of, in_namespace  # noqa: E402
from soak_workloads import AS_ROOT, HEAT, MPI, Coordinated, MpiJob, StreamJob, TallyJob  # noqa: E402

SOAK_SECONDS = float(os.environ.get("PIRACEMA_SOAK_SECONDS", "45"))
# Nothing that was asked for a savepoint or other numbers takes longer; what could not be ends with one of these.
ASKED = {0, 1, 3, 75}


def words_of(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return []


class Soak(ClusterOnHosts):
    HOSTS = 6

    def setUp(self):
        super().setUp()
        self.random = random.Random(self.seed())
        self.started, self.until = time.monotonic(), 0
        self.repairs, self.order = [], itertools.count()
        self.asked, self.faults, self.answers, self.pages, self.spoilt = [], {}, {}, {}, {}
        self.names = itertools.count()

    def seed(self):
        seed = int(os.environ.get("PIRACEMA_SEED", random.randrange(1 << 30)))
        print(f"seed {seed}; PIRACEMA_SEED={seed} draws the same again", flush=True)
        return seed

    # ---- faults ----------------------------------------------------------------------------------

    def later(self, low, high, what):
        heapq.heappush(self.repairs, (time.monotonic() + self.random.uniform(low, high), next(self.order), what))

    def pick(self, right):
        found = [pid for pid in self.of_job() if right(pid)]
        return self.random.choice(found) if found else None

    # Of what follows each says whether there was anything to strike.

    def kill_one(self, right):
        pid = self.pick(right)
        return pid is not None and self.signal(pid, signal.SIGKILL)

    def stop_one(self, right, low, high):
        pid = self.pick(right)
        if pid is None or not self.signal(pid, signal.SIGSTOP):
            return False
        self.later(low, high, lambda: self.signal(pid, signal.SIGCONT))
        return True

    def worker_killed(self, _):
        return self.kill_one(lambda pid: "PIRACEMA_SLOT" in environment_of(pid))

    def agent_killed(self, _):
        return self.kill_one(lambda pid: words_of(pid)[1:2] == [b"agent"])

    def coordinator_killed(self, _):
        return self.kill_one(lambda pid: words_of(pid)[1:2] == [b"run"] and "PIRACEMA_SLOT" not in environment_of(pid))

    def rank_killed(self, _):
        return self.kill_one(lambda pid: words_of(pid)[0:1] == [HEAT.encode()])

    def worker_stopped(self, _):
        return self.stop_one(lambda pid: "PIRACEMA_SLOT" in environment_of(pid), 0.2, 4)

    def restart_node(self, host):
        if self.nodes[host].poll() is None:
            self.nodes[host].kill()
            self.nodes[host].wait()
        self.start_node(host)

    def node_killed(self, host):
        if self.nodes[host].poll() is not None:
            return False
        self.nodes[host].kill()
        self.later(0.5, 8, lambda: self.restart_node(host))
        return True

    def node_leaves(self, host):
        if self.nodes[host].poll() is not None:
            return False
        self.nodes[host].send_signal(signal.SIGTERM)
        self.later(1, 10, lambda: self.restart_node(host))
        return True

    def node_stopped(self, host):
        node = self.nodes[host]
        if node.poll() is not None:
            return False
        node.send_signal(signal.SIGSTOP)
        self.later(0.5, 8, lambda: node.send_signal(signal.SIGCONT))
        return True

    def node_drained(self, host):
        is_taken = self.call("drain", host).returncode == 0
        self.later(2, 8, lambda: self.call("drain", host, "--off"))
        return is_taken

    def host_cut(self, host):
        self.cut(host)
        self.later(0.5, 8, lambda: self.mend(host))
        return True

    def for_a_while(self, host, what, spoil):
        """One thing at a time of each kind."""
        if (host, what) in self.spoilt:
            return False
        self.spoilt[host, what] = spoil()

        def repair():
            self.spoilt.pop((host, what))()

        self.later(1, 6, repair)
        return True

    def host_slow(self, host):
        return self.for_a_while(host, "slow", lambda: self.narrow(host))

    def host_deaf(self, host):
        return self.for_a_while(host, "received", lambda: self.lose(host, "received"))

    def host_mute(self, host):
        return self.for_a_while(host, "sent", lambda: self.lose(host, "sent"))

    def host_lossy(self, host):
        return self.for_a_while(host, "some", lambda: self.lose(host, "some"))

    def host_dies(self, host):
        self.kill_all_on(host)
        self.later(1, 8, lambda: self.restart_node(host))
        return True

    def replica_killed(self, _):
        return self.kill_one(lambda pid: words_of(pid)[1:3] == [b"cluster", b"replica"])

    def replica_stopped(self, _):
        return self.stop_one(lambda pid: words_of(pid)[1:3] == [b"cluster", b"replica"], 0.5, 6)

    def stream_asked(self, _):
        """No fault; it is to be done, or not, with everything else going on."""
        job = next((one.job for one in self.running if isinstance(one, TallyJob)), None)
        if job is None:
            return False
        words = self.random.choice([("savepoint", "--within", "20s", job, f"soak-{next(self.names)}"),
                                    ("scale", "--within", "20s", job, f"tally={self.random.randint(1, 4)}"),
                                    ("scale", "--within", "20s", job, "--nodes", self.random.randint(2, 4))])
        process = subprocess.Popen(self.words(*words), env=CLEAN, text=True, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.addCleanup(process.kill)
        self.asked.append((words, time.monotonic(), process))
        return True

    def look_at_asked(self):
        for words, since, process in list(self.asked):
            if process.poll() is None:
                self.assertLess(time.monotonic() - since, SECONDS_MAX, f"{words} does not end")
                continue
            said, _ = process.communicate()
            self.assertIn(process.returncode, ASKED, f"{words}: {said}")
            self.answers.setdefault(f"{words[0]} {process.returncode}", []).append(said)
            self.asked.remove((words, since, process))

    # ---- the soak --------------------------------------------------------------------------------

    def draw_fault(self):
        often = [self.worker_killed, self.stream_asked, self.node_killed, self.host_cut, self.node_drained,
                 self.host_dies, self.worker_stopped]
        rare = [self.agent_killed, self.coordinator_killed, self.node_leaves, self.node_stopped, self.host_slow,
                self.host_deaf, self.host_mute, self.host_lossy,
                self.replica_killed, self.replica_stopped, *([self.rank_killed] if self.heat else [])]
        fault = self.random.choice(often + often + rare)
        host = self.random.choice(list(self.holders))
        print(f"{time.monotonic() - self.started:7.1f} {fault.__name__} {host}", flush=True)
        if fault(host):
            self.faults[fault.__name__] = self.faults.get(fault.__name__, 0) + 1

    def plain_heat(self):
        """What the MPI program writes, if it can be saved here."""
        if os.geteuid() != 0 or not HEAT:
            print("no MPI program, or not root: without one", flush=True)
            return ""
        findings = json.loads(subprocess.run([PIRACEMA, "ckpt", "doctor", "--json"], env=CLEAN, capture_output=True,
                                             text=True).stdout)
        if missing := [one["text"] for one in findings if one["needed"] and not one["ok"]]:
            print(f"an MPI program cannot be saved here, without one: {missing}", flush=True)
            return ""
        subprocess.run([*MPI, self.folder / "heat"], env={**CLEAN, **AS_ROOT}, check=True, stdout=subprocess.DEVNULL)
        return (self.folder / "heat").read_text()

    def test_whatever_goes_wrong_what_is_written_is_the_same(self):
        self.heat = self.plain_heat()
        self.started = time.monotonic()
        self.until = self.started + SOAK_SECONDS
        self.running = []
        self.running += [TallyJob(self, "tally"), StreamJob(self, "stream"), Coordinated(self, "coordinated")]
        if self.heat:
            self.running.append(MpiJob(self, "mpi"))
        everything = list(self.running)
        next_fault = self.started + 3
        while time.monotonic() < self.until:
            now = time.monotonic()
            while self.repairs and self.repairs[0][0] <= now:
                heapq.heappop(self.repairs)[2]()
            if now >= next_fault:
                self.draw_fault()
                next_fault = time.monotonic() + self.random.uniform(0.5, 3.5)
            for one in list(self.running):
                one.look()
            self.look_at_asked()
            time.sleep(0.1)
        while self.repairs:
            heapq.heappop(self.repairs)[2]()
        for host, node in self.nodes.items():
            if node.poll() is not None:
                self.start_node(host)
        for host in self.holders:
            self.wait_until(lambda host=host: self.call("drain", host, "--off").returncode == 0, "nobody answers")
        mended = time.monotonic()
        print(f"{mended - self.started:7.1f} all is mended", flush=True)
        self.wait_until(self.all_over, "jobs do not end")
        self.wait_until(lambda: self.call("status").returncode == 0, "the cluster is not well")
        self.wait_until(lambda: not self.asked or self.look_at_asked(), "what was asked does not end")
        self.wait_until(lambda: not [pid for pid in self.of_job() if "PIRACEMA_JOB" in environment_of(pid)],
                        "processes of jobs are left")
        for one in everything:
            self.assertGreater(one.rounds, 0)
        print(json.dumps({"seconds": round(mended - self.started), "over_after": round(time.monotonic() - mended, 1),
                          "faults": self.faults, "done": {one.name: one.rounds for one in everything},
                          "asked": {what: len(said) for what, said in sorted(self.answers.items())},
                          "pages": self.pages}), flush=True)

    def all_over(self):
        for one in list(self.running):
            one.look()
        return not self.running


if __name__ == "__main__":
    in_namespace()
    unittest.main()
