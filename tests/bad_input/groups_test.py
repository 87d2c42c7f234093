#!/usr/bin/env python3
"""Groups and their file: right ones run where they should, wrong ones do not run at all."""

import json
import os
import pathlib
import signal
import socket
import unittest

from support import *

GROUPED = os.environ["GROUPED_APP"]
ITEMS = 20_000
CORE = min(os.sched_getaffinity(0))
SUM = f"sum {ITEMS * (ITEMS + 1) // 2}\n"


def group(name, **more):
    return {"name": name, "endpoint": "localhost", **more}


def figure_5(protocol="auto", **more):
    """Paper 004's figure 5, on this host."""
    return {"protocol": protocol, "groups": [
        group("G1", batchSize=10, messageOTF=64), group("G2", batchSize=20, threadMapping=str(CORE)),
        group("G3", batchSize=20), group("G4")], **more}


class Groups(BadInput):
    def write(self, groups):
        text = groups if isinstance(groups, str) else json.dumps(groups)
        (self.folder / "groups.json").write_text(text)

    def command(self, *app, options=()):
        return [PIRACEMA, "run", "--groups", "groups.json", *options, GROUPED, *app]

    def check_runs(self, *app, options=()):
        run = self.run_to_end(*self.command(*app, options=options))
        self.assertEqual((0, SUM), (run.returncode, run.out), run.err)
        return run

    def start_endless(self, **environment):
        """A job that runs; its processes by their slots."""
        job = self.start(*self.command("right", "0", options=["--json"]), environment=environment)
        for line in job.stdout:
            if json.loads(line)["event"] == "running":
                break
        workers = {}
        for pid in workers_of(job):
            environment = pathlib.Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
            slot = [int(e[14:]) for e in environment if e.startswith(b"PIRACEMA_SLOT=")]
            workers[slot[0]] = pid
        self.assertEqual([0, 1, 2, 3], sorted(workers))
        return job, workers

    def test_every_group_is_a_process_with_its_bricks(self):
        for protocol in ["auto", "TCP", "shm"]:
            with self.subTest(protocol):
                self.write(figure_5(protocol))
                run = self.check_runs("right", ITEMS)
                for line in ["process 0: Sc", "process 1: L/0, R/0, R/1",
                             "process 2: L/1, R/2, R/3", "process 3: Sk"]:
                    self.assertIn(line + "\n", run.err)

    def test_a_program_without_groups_is_spread_by_itself(self):
        self.write({"groups": [group("A"), group("B"), group("C")]})
        run = self.check_runs("none", ITEMS)
        self.assertIn("process 2: ", run.err)

    def test_a_program_without_groups_is_spread_by_what_took_time_in_another_run(self):
        nodes = [{"name": "Sc", "busy": 8}, {"name": "L", "busy": 0}, {"name": "R", "busy": 0},
                 {"name": "Sk", "busy": 8}]
        (self.folder / "stats").write_text(json.dumps({"nodes": nodes}))
        self.write({"groups": [group("A"), group("B")]})
        run = self.check_runs("none", ITEMS, options=["--costs", "stats"])
        self.assertRegex(run.err, "process [01]: Sc(, [LR]/.)*\n")
        self.assertRegex(run.err, "process [01]: ([LR]/., )*Sk\n")
        for text, says in [("", "something else"), ("[]", "something else"),
                           ('{"nodes": [{"name": "Sc"}]}', "a node without name or time"),
                           ('{"nodes": [{"name": "Sc", "busy": -1}]}', "a time below 0"),
                           ('{"nodes": [{"name": "Sc", "busy": 1, "bytes_out": -1}]}', "bytes that are no number"),
                           ('{"nodes": []}', "no node that had anything to do"),
                           ('{"nodes": [{"name": "Sc", "busy": 1}]}', "node 'L' had to do")]:
            with self.subTest(text):
                (self.folder / "stats").write_text(text)
                self.check_refused(3, says, *self.command("none", options=["--costs", "stats"]))

    def test_a_batch_of_one_is_as_right_as_any(self):
        self.write({"groups": [group(f"G{i}", batchSize=1) for i in range(1, 5)]})
        self.check_runs("right", ITEMS)

    def test_one_message_on_its_way_is_as_right_as_any_number(self):
        self.write({"groups": [group(f"G{i}", batchSize=3, messageOTF=1, internalMessageOTF=1)
                               for i in range(1, 5)]})
        self.check_runs("right", ITEMS)

    def test_an_edge_may_have_sizes_of_its_own(self):
        self.write(figure_5(edges=[{"from": "G1", "to": "G2", "batchSize": 1, "messageOTF": 1},
                                   {"from": "G3", "to": "G4", "batchSize": 500}]))
        self.check_runs("right", ITEMS)

    def test_parts_of_a_graph_use_different_protocols(self):
        self.write(figure_5("tcp", edges=[{"from": "G1", "to": "G2", "protocol": "shm"}]))
        job, workers = self.start_endless()

        def rings(slot):
            links = [os.readlink(link) for link in pathlib.Path(f"/proc/{workers[slot]}/fd").iterdir()
                     if link.is_symlink()]
            return sum("piracema-rings" in link for link in links)
        self.assertEqual([1, 1, 0, 0], [rings(slot) for slot in range(4)])
        job.kill()

    def test_threads_keep_to_the_cores_of_their_group(self):
        self.write(figure_5())
        job, workers = self.start_endless()
        for task in pathlib.Path(f"/proc/{workers[1]}/task").iterdir():
            self.assertIn(f"Cpus_allowed_list:\t{CORE}\n", (task / "status").read_text())
        job.kill()

    def test_each_thread_of_a_replica_has_a_core_where_there_are_enough(self):
        cores = sorted(os.sched_getaffinity(0))[:2]
        if len(cores) < 2:
            self.skipTest("this machine has one core")
        groups = figure_5()
        groups["groups"][0]["threadMapping"] = f"{cores[1]}"
        groups["groups"][3]["threadMapping"] = f"{cores[1]},{cores[0]}"
        self.write(groups)
        job, workers = self.start_endless()

        def allowed(slot):
            return [next(line for line in (task / "status").read_text().splitlines()
                         if line.startswith("Cpus_allowed_list")).split()[1]
                    for task in pathlib.Path(f"/proc/{workers[slot]}/task").iterdir()]
        # One replica: it keeps to the first core of the list, its process to both.
        self.assertIn(f"{cores[1]}", allowed(3))
        self.assertGreater(len(set(allowed(3))), 1)
        self.assertEqual({f"{cores[1]}"}, set(allowed(0)))
        job.kill()

    def test_processes_share_out_the_memory_nodes_of_a_machine(self):
        cores = sorted(os.sched_getaffinity(0))[:2]
        if len(cores) < 2:
            self.skipTest("this machine has one core")
        for node, core in enumerate(cores):
            (self.folder / f"nodes/node{node}").mkdir(parents=True)
            (self.folder / f"nodes/node{node}/cpulist").write_text(f"{core}\n")
        groups = figure_5()
        del groups["groups"][1]["threadMapping"]
        groups["groups"][3]["threadMapping"] = f"{cores[0]},{cores[1]}"
        self.write(groups)
        job, workers = self.start_endless(PIRACEMA_TOPOLOGY=str(self.folder / "nodes"))
        wanted = [{cores[0]}, {cores[0]}, {cores[1]}, set(cores)]  # The last one has said it itself.
        self.assertEqual(wanted, [os.sched_getaffinity(workers[slot]) for slot in range(4)])
        job.kill()

    def test_the_failure_of_a_group_is_that_of_the_job(self):
        self.write(figure_5())
        for slot in [0, 2]:
            job, workers = self.start_endless()
            before = set(os.listdir("/dev/shm"))
            os.kill(workers[slot], signal.SIGKILL)
            _, err = job.communicate(timeout=SECONDS_MAX)
            self.assertEqual(4, job.returncode, err)
            # Worlds of MPI are those of tests that run at the same time.
            self.assertEqual(set(), {name for name in set(os.listdir("/dev/shm")) - before
                                     if "piracema" in name and "piracema-world-" not in name})

    def test_a_port_that_is_taken_is_said(self):
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = taken.getsockname()[1]
            self.write({"groups": [group("G1"), group("G2"), group("G3"),
                                   {"name": "G4", "endpoint": f"localhost:{port}"}]})
            run = self.run_to_end(*self.command("right", ITEMS))
        self.assertNotEqual(0, run.returncode)
        self.assertIn(f"listening on 127.0.0.1:{port}: Address already in use", run.err)
        self.assertEqual("", run.out)

    def test_groups_that_break_a_rule_are_refused_by_name(self):
        self.write(figure_5())
        for rule, says in [
                ("name", "group 'G1': there is a group of that name already"),
                ("brick", "group 'G1': there is no brick 'X'"),
                ("level", "group 'G1': brick 'L/0' is at level 2"),
                ("single", "group 'G2': brick 'Sc' is a single node"),
                ("whole", "group 'G4': it is created from the whole program"),
                ("member", "group 'G1': brick 'Sk' is no part of"),
                ("doubled", "group 'G3': brick 'R/0' is in group 'G2' already"),
                ("missing", "brick 'R/3' is in no group")]:
            with self.subTest(rule):
                self.check_refused(3, says, *self.command(rule))

    def test_a_file_that_is_wrong_is_refused_with_line_and_column(self):
        right = json.dumps(figure_5())
        for text, says in [
                ("", "groups.json:1:1: want a value"), ("{", "groups.json:1:2: want a name"),
                (right[:-3], "groups.json:1:"), ("[]", "groups.json:1:1: want an object"),
                (right.replace("batchSize", "batchsize"), "found 'batchsize'"),
                (right.replace(": 10", ": 0"), "want a whole number from 1 to 1048576, found 0"),
                (right.replace(": 10", ": -1"), "found -1"),
                (right.replace(": 10", ': "10"'), "found a string"),
                (right.replace('"G2"', '"G1"'), "want each group once, found 'G1' again"),
                (right.replace('"G2"', '"G7"'), "want group 'G2', which the program has"),
                (right.replace('"auto"', '"UDP"'), "want auto, tcp, shm or mpi, found 'UDP'"),
                (right.replace('"localhost"', '"no-such-host.invalid"'), "want a host"),
                (right.replace('"localhost"', '"localhost:99999"'), "want HOST or HOST:PORT"),
                (json.dumps(figure_5(more=1)), "want protocol, groups or edges, found 'more'"),
                (json.dumps({"groups": figure_5()["groups"] + [group("G5")]}), "found 'G5'")]:
            with self.subTest(says):
                self.write(text)
                self.check_refused(3, says, *self.command("right"))
        self.check_refused(3, "nowhere.json: No such file", PIRACEMA, "run", "--groups",
                           "nowhere.json", GROUPED, "right")

    def test_what_the_file_says_is_not_said_again_beside_it(self):
        self.write(figure_5())
        for option, value in [("-n", "2"), ("--hosts", "a,b"), ("--transport", "mpi")]:
            with self.subTest(option):
                self.check_refused(2, f"and {option} as well: want one of them",
                                   *self.command("right", options=[option, value]))

    def test_groups_that_mpirun_starts_are_not_kept_for_another_coordinator(self):
        self.write(figure_5("mpi"))
        for option, value in [("--coordinators", "3"), ("--keep-workers", "10s")]:
            with self.subTest(option):
                self.check_refused(
                    3, "workers that mpirun has started end with it", *self.command(
                        "right", options=["--mpirun", "true", "--snapshots", "s", option, value]))


if __name__ == "__main__":
    unittest.main()
