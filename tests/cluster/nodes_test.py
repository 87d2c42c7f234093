#!/usr/bin/env python3
"""A cluster of three nodes on this machine, each a process: jobs are done, and once at a time,
whatever becomes of nodes and of the control plane."""

import json
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import time
import unittest

from cluster_of_nodes import (CLEAN, PIRACEMA, SECONDS_MAX, STREAM, ClusterOfNodes, children_of)

# Whoever has the lock is alone; a second one alive would say so.
ALONE = "exec 9>>$LOCK; flock -n 9 || exit 99; "


class Cluster(ClusterOfNodes):
    # ---- what is asked for -----------------------------------------------------------------------

    def test_jobs_local_where_there_is_a_place_and_end_as_their_programs_do(self):
        done = self.call("submit", "--wait", "--env", "GREETING=hello", "--", "sh", "-c",
                         "echo $GREETING $PIRACEMA_JOB.$PIRACEMA_ATTEMPT")
        self.assertEqual((0, "1\nhello 1.1\n"), (done.returncode, done.stdout), done.stderr)
        failed = self.call("submit", "--wait", "--", "sh", "-c", "exit 7")
        self.assertEqual(7, failed.returncode)
        self.assertIn("job 2 failed: ended with status 7", failed.stderr)
        missing = self.call("submit", "--wait", "--", "no-such-program")
        self.assertEqual(127, missing.returncode)
        self.assertIn("'no-such-program' cannot be run", missing.stderr)
        again = self.submit(f"echo x >> {self.folder}/tries; [ $PIRACEMA_ATTEMPT = 3 ]", "--retries", 2)
        self.wait(again)
        self.assertEqual("x\nx\nx\n", (self.folder / "tries").read_text())
        self.assertEqual("", self.ask("jobs"))

    def test_what_is_not_shown_of_much_that_a_job_has_written_is_said(self):
        done = self.call("submit", "--wait", "--", "sh", "-c", "seq 100000")
        whole = "".join(f"{number}\n" for number in range(1, 100001))
        missing = [int(bytes) for bytes in re.findall(r"(\d+) bytes are missing here: they are on the node [abc] "
                                                      r"alone, in jobs/1\.1\.log", done.stderr)]
        self.assertEqual(0, done.returncode, done.stderr)
        self.assertTrue(missing, done.stderr)
        shown = done.stdout.removeprefix("1\n")
        self.assertEqual(len(whole), len(shown) + sum(missing))
        self.assertTrue(whole.endswith(shown[-1000:]))

    def test_jobs_wait_for_places_and_say_so(self):
        self.wait_for_nodes()
        busy = [self.submit("while [ ! -e $LOCK ]; do sleep 0.05; done", "--slots", 2) for _ in range(3)]
        waiting = self.submit("echo it was time", "--slots", 2)
        large = self.submit("true", "--slots", 3)
        self.assertRegex(self.job(waiting)["why"], "waits for 2 slots: [abc] has 0 of 2 free")
        self.assertIn("waits for a node of 3 slots: the largest is a with 2", self.job(large)["why"])
        self.assertEqual(["waiting", "waiting"], [self.job(one)["state"] for one in (waiting, large)])
        self.lock.touch()
        for one in [*busy, waiting]:
            self.wait(one)
        self.assertEqual("it was time\n", self.ask("logs", waiting))
        self.ask("cancel", large)
        self.assertEqual("cancelled", self.job(large)["state"])
        self.wait(large, code=1)

    def test_what_is_cancelled_is_asked_to_leave(self):
        job = self.submit("trap 'echo asked; exit 3' TERM; echo up; while :; do sleep 0.05; done")
        self.wait_for_output(job, "up")
        self.ask("cancel", job)
        self.wait(job, code=3)
        self.assertEqual("cancelled", self.job(job)["state"])
        self.assertIn("asked", self.ask("logs", job))

    def test_what_is_wrong_is_said(self):
        self.wait_for_nodes()
        for words, code, why in [
                (("wait", 99), 1, "there is no job 99"), (("cancel", 99), 1, "there is no job 99"),
                (("drain", "z"), 1, "there is no node 'z'"),
                (("submit", "--"), 2, "PROGRAM is required"),
                (("submit", "--slots", 0, "--", "true"), 2, "want 1 to 65536 slots, found 0"),
                (("submit", "--cd", "here", "--", "true"), 2, "want an absolute path"),
                (("submit", "--stream", "--snapshots", "here", "--", "true"), 2,
                 "--snapshots: want an absolute path or an address, or --cd, found 'here'"),
                (("submit", "--env", "X", "--", "true"), 2, "want NAME=value, found 'X'")]:
            answer = self.call(*words)
            self.assertEqual(code, answer.returncode, answer.stderr)
            self.assertIn(why, answer.stderr)
        second = subprocess.run([PIRACEMA, "cluster", "node", "--home", self.folder / "c" / "a"],
                                env=CLEAN, text=True, stderr=subprocess.PIPE, timeout=SECONDS_MAX)
        self.assertEqual(3, second.returncode)
        self.assertIn("for one node alone, found it in use by process", second.stderr)
        twice = subprocess.run([PIRACEMA, "cluster", "init", "--directory", self.folder / "c", "x=h:1"],
                               env=CLEAN, text=True, stderr=subprocess.PIPE, timeout=SECONDS_MAX)
        self.assertEqual(3, twice.returncode)
        self.assertIn("there is a cluster already", twice.stderr)
        # What is wrong is said before anything is made.
        for address, code in (("h:2", 2), ("h:3", 0)):
            made = subprocess.run([PIRACEMA, "cluster", "init", "--directory", self.folder / "other", "x=h:1",
                                   "y=h:2", f"z={address}"], env=CLEAN, text=True, stdout=subprocess.DEVNULL,
                                  stderr=subprocess.PIPE, timeout=SECONDS_MAX)
            self.assertEqual(code, made.returncode, made.stderr)

    # ---- what may happen -------------------------------------------------------------------------

    def runs_alone(self):
        """A job that is the only one with the lock, and goes on until it is to end; its node."""
        job = self.submit(ALONE + "echo attempt $PIRACEMA_ATTEMPT; "
                          "while [ ! -e $LOCK.enough ]; do sleep 0.05; done")
        self.wait_for_output(job, "attempt 1")
        return job, self.job(job)["node"]

    def finish(self, job, losses=1):
        pathlib.Path(f"{self.lock}.enough").touch()
        self.wait(job)
        self.assertEqual(losses, self.job(job)["losses"])

    def test_a_node_that_is_killed_loses_its_jobs_to_others(self):
        job, node = self.runs_alone()
        self.processes[node].kill()
        self.wait_for_output(job, "attempt 2")
        self.assertNotEqual(node, self.job(job)["node"])
        self.finish(job)
        self.processes[node].wait()
        self.start(node)
        self.wait_for_nodes()

    def test_a_node_that_stands_still_has_ended_its_jobs_before_others_begin_them(self):
        job, node = self.runs_alone()
        self.processes[node].send_signal(signal.SIGSTOP)
        self.wait_for_output(job, "attempt 2")
        self.processes[node].send_signal(signal.SIGCONT)
        self.wait_for_nodes()
        self.finish(job)

    def test_a_cluster_whose_control_plane_stands_still_for_a_while_goes_on(self):
        job, _ = self.runs_alone()
        replicas = [pid for process in self.processes.values()
                    for pid, words in children_of(process.pid) if b"replica" in words]
        self.assertEqual(3, len(replicas))
        for pid in replicas[:2]:
            os.kill(pid, signal.SIGSTOP)
        answer = self.call("jobs", timeout="1s")
        self.assertEqual(1, answer.returncode)
        self.assertIn("the control plane of the cluster has not answered", answer.stderr)
        for pid in replicas[:2]:
            os.kill(pid, signal.SIGCONT)
        pathlib.Path(f"{self.lock}.enough").touch()
        self.wait(job)

    def test_replicas_that_are_killed_are_started_again_and_have_forgotten_nothing(self):
        job, _ = self.runs_alone()
        for process in self.processes.values():
            for pid, words in children_of(process.pid):
                if b"replica" in words:
                    os.kill(pid, signal.SIGKILL)
        pathlib.Path(f"{self.lock}.enough").touch()
        self.wait(job)
        self.assertEqual(1, self.job(job)["job"])

    def test_a_node_that_drains_gives_its_jobs_away_and_takes_no_more(self):
        job, node = self.runs_alone()
        self.ask("drain", node)
        self.wait_for_output(job, "attempt 2")
        self.assertEqual("draining", self.nodes()[node]["state"])
        self.finish(job, losses=0)
        self.ask("drain", "--off", node)
        self.assertEqual("here", self.nodes()[node]["state"])

    def test_a_node_that_is_told_to_end_lets_its_jobs_leave(self):
        job, node = self.runs_alone()
        self.processes[node].terminate()
        self.wait_for_output(job, "attempt 2")
        self.assertEqual(0, self.processes[node].wait(SECONDS_MAX))
        self.finish(job, losses=0)
        self.assertEqual("left", self.nodes()[node]["state"])

    def test_its_status_says_what_is_there_and_what_is_missing(self):
        self.wait_for_nodes()
        job = self.submit("sleep 1000", "--on", "b")
        self.submit("true", "--slots", 3)
        self.wait_until(lambda: self.job(job)["state"] == "running", "the job does not run")
        well = self.call("status")
        self.assertEqual(0, well.returncode, well.stderr)
        for part in ("goes on, led from 127.0.0.1:", "3 of 3 replicas take part", "3 here", "1 running, 1 waiting",
                     "waits for a node of 3 slots: the largest is a with 2"):
            self.assertIn(part, well.stdout)
        status = json.loads(self.ask("status", "--json"))
        self.assertEqual([True, False, False], sorted((one["leads"] for one in status["replicas"]), reverse=True))
        self.assertEqual(["a", "b", "c"], [node["node"] for node in status["nodes"]])
        self.assertEqual(job, status["jobs"][0]["job"])
        self.processes["b"].kill()
        self.wait_until(lambda: "1 not heard of" in self.call("status").stdout, "the loss is not told")
        ill = self.call("status")
        self.assertEqual(1, ill.returncode)
        self.assertIn("2 of 3 replicas take part", ill.stdout)
        self.assertIn("does not answer: ", ill.stdout)
        # Without a majority it says so, and does not wait for it.
        self.processes["a"].kill()
        self.wait_until(lambda: "does not go on; 1 of 3 replicas take part, 2 have to" in
                        self.call("status", timeout="3s").stdout, "the loss of the majority is not told")
        self.assertEqual(1, self.call("status", timeout="3s").returncode)
        wrong = subprocess.run([PIRACEMA, "cluster", "status", "--cluster", self.folder], env=CLEAN, text=True,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertEqual(3, wrong.returncode)
        self.assertIn("cluster.toml", wrong.stderr)

    def test_a_stream_goes_on_elsewhere_from_its_snapshot(self):
        out, snapshots, enough = (self.folder / name for name in ("out", "snapshots", "enough"))
        stream = (f"[ $PIRACEMA_ATTEMPT = 1 ] || RESUME=--resume; echo attempt $PIRACEMA_ATTEMPT; "
                  f"exec {PIRACEMA} run -n 2 --json --snapshots {snapshots} --every 50ms $RESUME "
                  f"{STREAM} {out} until={enough} pause_us=200")
        job = self.submit(stream, "--slots", 2)
        self.wait_for_output(job, '"event":"snapshot"')
        node = self.job(job)["node"]
        self.ask("drain", node)
        self.wait_for_output(job, "attempt 2")
        self.wait_for_output(job, '"event":"snapshot"')
        # And once more, without a word.
        self.processes[self.job(job)["node"]].kill()
        self.wait_for_output(job, "attempt 3")
        self.wait_for_output(job, '"event":"snapshot"')
        enough.touch()
        self.wait(job)
        items = out.read_bytes().count(b"\n")
        self.assertGreater(items, 0)
        subprocess.run([STREAM, self.folder / "wanted", f"items={items}"], env=CLEAN, check=True)
        self.assertEqual((self.folder / "wanted").read_bytes(), out.read_bytes())

    def test_a_stream_with_three_coordinators_goes_on_when_one_is_killed(self):
        out, snapshots, enough = (self.folder / name for name in ("out", "snapshots", "enough"))
        job = self.submit(f"exec {PIRACEMA} run -n 2 --json --coordinators 3 --snapshots {snapshots} --every 50ms "
                          f"{STREAM} {out} until={enough} pause_us=200", "--slots", 2)

        def events(name):
            lines = [line for line in self.ask("logs", job).splitlines(True) if line.endswith("}\n")]
            return [event for event in map(json.loads, lines) if event.get("event") == name]

        self.wait_until(lambda: events("snapshot"), "it takes no snapshot")
        os.kill(events("leads")[0]["pid"], signal.SIGKILL)
        self.wait_until(lambda: len(events("leads")) == 2, "no other one leads")
        taken = len(events("snapshot"))
        self.wait_until(lambda: len(events("snapshot")) > taken, "it takes no snapshot any more")
        self.assertRegex(self.ask("savepoint", job, "after"), r"^savepoint 'after' is snapshot \d+, in ")
        enough.touch()
        self.wait(job)
        self.assertEqual(1, self.job(job)["attempt"])
        self.assertFalse(events("recovering"))
        items = out.read_bytes().count(b"\n")
        subprocess.run([STREAM, self.folder / "wanted", f"items={items}"], env=CLEAN, check=True)
        self.assertEqual((self.folder / "wanted").read_bytes(), out.read_bytes())

    def test_a_stream_that_was_cancelled_goes_on_as_another_job(self):
        out, partial, snapshots, enough = (
            self.folder / name for name in ("out", "out.partial", "snapshots", "enough"))
        stream = ("submit", "--stream", "--snapshots", snapshots, "--every", "50ms")
        program = ("--", STREAM, out, f"until={enough}", "pause_us=200")
        first = int(self.ask(*stream, "--slots", 2, *program))
        self.wait_until(lambda: partial.exists() and partial.stat().st_size > 0, "it writes nothing")
        self.ask("cancel", first)
        self.wait(first, code=75)
        self.assertEqual("cancelled", self.job(first)["state"])
        there = partial.stat().st_size
        refused = int(self.ask(*stream, "--slots", 2, *program))
        self.wait(refused, code=3)
        self.assertIn("--resume", self.ask("logs", refused))
        second = int(self.ask(*stream, "--resume", "--slots", 1, *program))
        self.wait_until(lambda: partial.stat().st_size > there, "it does not go on")
        enough.touch()
        self.wait(second)
        items = out.read_bytes().count(b"\n")
        subprocess.run([STREAM, self.folder / "wanted", f"items={items}"], env=CLEAN, check=True)
        self.assertEqual((self.folder / "wanted").read_bytes(), out.read_bytes())

    def test_whatever_becomes_of_nodes_each_job_is_done_and_once_at_a_time(self):
        seed = int(os.environ.get("PIRACEMA_SEED", time.time_ns() % 1_000_000))
        print(f"PIRACEMA_SEED={seed}", flush=True)
        chance = random.Random(seed)
        jobs, self.leaving = [], set()
        self.wait_for_nodes()  # One that was never there cannot be drained.
        until = time.monotonic() + float(os.environ.get("PIRACEMA_SECONDS", 20))
        while time.monotonic() < until:
            lock = self.folder / f"lock{len(jobs)}"
            jobs.append(self.submit(f"LOCK={lock}; {ALONE} sleep {chance.uniform(0.1, 6):.1f}",
                                    "--slots", chance.randint(1, 2)))
            self.hurt(chance, chance.choice(self.NODES))
            time.sleep(chance.uniform(0, 1.5))
        self.raise_all()
        for name in self.NODES:
            self.ask("drain", "--off", name)
        for job in jobs:
            self.wait(job)

    def raise_all(self):
        """A majority of the control plane is there, or will be."""
        for name, process in self.processes.items():
            if process.poll() is None:
                process.send_signal(signal.SIGCONT)  # It looks after its replica.
            if name in self.leaving:
                # One that had hardly begun does not know yet how to leave.
                self.assertIn(process.wait(SECONDS_MAX), (0, -signal.SIGTERM), self.said())
        self.leaving.clear()
        for name in self.NODES:
            if self.processes[name].poll() is not None:
                self.start(name)

    def hurt(self, chance, name):
        kind = chance.choice(["kill", "stop", "go on", "terminate", "replica", "drain", "nothing"])
        if kind in ("kill", "terminate", "replica"):
            self.raise_all()
        process = self.processes[name]
        if kind == "kill":
            process.kill()
            process.wait()
        elif kind == "terminate":
            process.terminate()
            self.leaving.add(name)
        elif kind == "replica":
            for pid, words in children_of(process.pid):
                if b"replica" in words:
                    os.kill(pid, signal.SIGKILL)
        elif kind == "drain":
            self.ask("drain", name, *chance.choice([[], ["--off"]]))
        elif kind != "nothing" and process.poll() is None:
            process.send_signal(signal.SIGSTOP if kind == "stop" else signal.SIGCONT)


class FirstStart(ClusterOfNodes):
    """All machines have lost power in it, when the log of the replica was just there."""

    def start(self, name, env=CLEAN):
        log = self.folder / "c" / name / "replica" / "log-0000000000000001"
        if not log.parent.exists():
            log.parent.mkdir(mode=0o700)
            log.write_bytes(bytes(4_096))
        return super().start(name, env)

    def test_a_cluster_begins_and_a_directory_that_is_lost_later_is_missed(self):
        self.wait_for_nodes()
        self.wait(self.submit("true"))
        self.assertNotIn("is silent until it has caught up", self.said())
        self.processes["a"].terminate()
        self.processes["a"].wait()
        shutil.rmtree(self.folder / "c" / "a" / "replica")
        super().start("a")
        self.wait_until(lambda: "is silent until it has caught up" in self.said(), "nobody misses it")
        self.wait_until(lambda: self.call("status").returncode == 0, "it does not catch up")


if __name__ == "__main__":
    unittest.main()
