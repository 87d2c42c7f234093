#!/usr/bin/env python3
"""A soak: six hosts with a cluster of theirs, whose control plane is on three of them; streams in it, an MPI
program beside them, plain commands that users wait for, and a stream by itself with three coordinators. For
PIRACEMA_SOAK_SECONDS (45) something goes wrong every two seconds or so, anything anywhere. Then all is mended, and what
was written is what is written where nothing goes wrong, byte for byte; who waited for a job has ended as it did.

Draws by PIRACEMA_SEED; of the faults that PIRACEMA_SOAK_FAULTS names, if it does. Wants root, and for the MPI program a
criu; without that it says so and does without."""

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
from lent_hosts import LentHosts  # noqa: E402
from small_homes import SmallHomes  # noqa: E402
from soak_workloads import (AS_ROOT, HEAT, MPI, CancelledJob, Coordinated, MpiJob, PlainJob,  # noqa: E402
                            StreamJob, TallyJob)
from wall_clock import WallClock  # noqa: E402

SOAK_SECONDS = float(os.environ.get("PIRACEMA_SOAK_SECONDS", "45"))
# Nothing that was asked for a savepoint or other numbers takes longer; what could not be ends with one of these.
ASKED = {0, 1, 3, 75}
FAULTS = os.environ.get("PIRACEMA_SOAK_FAULTS", "").split()
# As the service of the package: these are mistakes of the configuration, and end it for good.
ENDS_FOR_GOOD = {2, 3}


def words_of(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return []


class Soak(ClusterOnHosts):
    HOSTS = 6
    # Without a replica: of a host by a calendar, and of one while its user is away.
    LENT_BY_CALENDAR, LENT_BY_USER = ["h5", "h6"], ["h4"]
    # One with a replica, and one without.
    SMALL_HOMES = ["h3", "h6"]

    def setUp(self):
        self.random = random.Random(self.seed())
        self.started, self.until = time.monotonic(), 0
        self.repairs, self.order = [], itertools.count()
        self.asked, self.faults, self.answers, self.pages, self.spoilt = [], {}, {}, {}, {}
        self.names = itertools.count()
        # Hosts whose node somebody has ended, and will start again.
        self.down, self.start_again_at = set(), {}
        self.seen_jobs = None
        super().setUp()

    def prepare_hosts(self):
        self.lent = LentHosts(self, self.LENT_BY_USER)
        self.homes = SmallHomes(self, self.SMALL_HOMES)
        self.clocks = {host: WallClock(self.folder / f"clock-{host}") for host in self.holders}
        for host, clock in self.clocks.items():
            # For who comes there by the remote shell.
            (self.folder / f"environment-{host}").write_text(
                "".join(f"export {name}='{value}'\n" for name, value in clock.environment().items()))

    def options_of(self, host):
        return self.lent.options(host)

    def environment_on(self, host):
        return self.clocks[host].environment()

    def words_of(self, pid):
        return words_of(pid)

    def jobs(self):
        """As of this round of looking; where nobody answers, that is waited for once."""
        if self.seen_jobs is None:
            self.seen_jobs = (super().jobs(),)
        return self.seen_jobs[0]

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
        self.down.discard(host)
        self.start_node(host)

    def look_at_nodes(self):
        """One that has ended by itself is started again as its service would do that."""
        for host, node in self.nodes.items():
            code = node.poll()
            if code is None or host in self.down:
                self.start_again_at.pop(host, None)
                continue
            self.assertNotIn(code, ENDS_FOR_GOOD, f"the node {host} has ended for good: {self.said()}")
            if time.monotonic() > self.start_again_at.setdefault(host, time.monotonic() + 1):
                print(f"{time.monotonic() - self.started:7.1f} {host} had ended with {code}", flush=True)
                self.start_node(host)

    def node_killed(self, host):
        if self.nodes[host].poll() is not None:
            return False
        self.down.add(host)
        self.nodes[host].kill()
        self.later(0.5, 8, lambda: self.restart_node(host))
        return True

    def node_leaves(self, host):
        if self.nodes[host].poll() is not None:
            return False
        self.down.add(host)
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

    def for_a_while(self, host, what, spoil, low=1, high=6):
        """One thing at a time of each kind."""
        if (host, what) in self.spoilt:
            return False
        self.spoilt[host, what] = spoil()

        def repair():
            self.spoilt.pop((host, what))()

        self.later(low, high, repair)
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
        self.down.add(host)
        self.kill_all_on(host)
        self.later(1, 8, lambda: self.restart_node(host))
        return True

    def power_lost(self, _):
        """All of them, and each is back some time after that."""
        self.down.update(self.holders)
        self.kill_all()
        for host in self.holders:
            self.later(0.5, 10, lambda host=host: self.restart_node(host))
        return True

    def host_lent(self, _):
        """For one short window; some time after that it is there for good again."""
        host = self.random.choice(self.LENT_BY_CALENDAR)
        if (host, "clock") in self.spoilt:
            return False

        def lend():
            seconds = self.random.randint(12, 25)
            self.lent.lend(host, seconds)
            self.restart_node(host)
            return give_back

        def give_back():
            self.lent.look()
            self.lent.end(host)
            self.restart_node(host)

        # Longer than the longest window.
        return self.for_a_while(host, "lent", lend, 27, 32)

    def user_back(self, _):
        host = self.random.choice(self.LENT_BY_USER)
        if self.states_of_nodes().get(host) != "here":
            return False

        def come():
            self.lent.come_back(host)
            return lambda: self.lent.go_away(host)

        return self.for_a_while(host, "user", come, 3, 20)

    def clock_jumps(self, host):
        if (host, "lent") in self.spoilt:
            return False

        def jump():
            self.clocks[host].set(self.random.choice([-1, 1]) * self.random.choice([3, 60, 600, 3_600, 40_000]))
            return lambda: self.clocks[host].set(0)

        return self.for_a_while(host, "clock", jump, 1, 20)

    def disk_full(self, _):
        host = self.random.choice(self.SMALL_HOMES)
        return self.for_a_while(host, "disk", lambda: self.homes.fill(host))

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
                self.replica_killed, self.replica_stopped, self.power_lost, self.host_lent, self.user_back,
                self.disk_full, self.clock_jumps, *([self.rank_killed] if self.heat else [])]
        faults = [fault for fault in often + often + rare if not FAULTS or fault.__name__ in FAULTS]
        fault = self.random.choice(faults)
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
        self.running += [TallyJob(self, "tally"), StreamJob(self, "stream"), Coordinated(self, "coordinated"),
                         PlainJob(self, "plain"), CancelledJob(self, "cancelled")]
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
            self.look_at_running()
            self.look_at_asked()
            self.look_at_nodes()
            self.lent.look()
            time.sleep(0.1)
        while self.repairs:
            heapq.heappop(self.repairs)[2]()
        for host, node in self.nodes.items():
            if node.poll() is not None:
                self.start_node(host)
        self.down.clear()
        for host in self.holders:
            self.wait_until(lambda host=host: self.call("drain", host, "--off").returncode == 0, "nobody answers")
        mended = time.monotonic()
        print(f"{mended - self.started:7.1f} all is mended", flush=True)
        # One that failed again and again begins after a pause of a minute, and then has all to do.
        self.wait_until(self.all_over, "jobs do not end", 2 * SECONDS_MAX)
        self.wait_until(lambda: self.call("status").returncode == 0, "the cluster is not well")
        self.wait_until(lambda: not self.asked or self.look_at_asked(), "what was asked does not end")
        self.wait_until(lambda: not [pid for pid in self.of_job() if "PIRACEMA_JOB" in environment_of(pid)],
                        "processes of jobs are left")
        for one in everything:
            self.assertGreater(one.rounds, 0)
        print(json.dumps({"seconds": round(mended - self.started), "over_after": round(time.monotonic() - mended, 1),
                          "faults": self.faults, "done": {one.name: one.rounds for one in everything},
                          "asked": {what: len(said) for what, said in sorted(self.answers.items())},
                          "pages": self.pages, "given_back": self.lent.given_back}), flush=True)

    def look_at_running(self):
        self.seen_jobs = None
        for one in list(self.running):
            one.look()

    def all_over(self):
        self.look_at_nodes()
        self.look_at_running()
        return not self.running


if __name__ == "__main__":
    in_namespace()
    unittest.main()
