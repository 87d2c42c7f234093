#!/usr/bin/env python3
"""The piracema command as a user meets it: exit codes, one-line errors, files, signals.

    command_test.py PIRACEMA APP    APP is src/cluster/driver/test_app.cpp
"""

import json
import os
import pathlib
import re
import select
import signal
import subprocess
import sys
import tempfile
import unittest

PIRACEMA, APP = sys.argv[1:3]
ITEMS = 3000
WANTED = "".join(f"{i}\n" for i in range(1, ITEMS + 1))


class Command(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = pathlib.Path(self.folder.name)
        self.out = self.path / "out"

    def start(self, *arguments, **environment):
        kept = {k: v for k, v in os.environ.items() if not k.startswith("PIRACEMA_")}
        return subprocess.Popen(
            [PIRACEMA, *map(str, arguments)], cwd=self.path, env={**kept, **environment},
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def run_it(self, *arguments, **environment):
        process = self.start(*arguments, **environment)
        process.out, process.err = process.communicate(timeout=300)
        return process

    def check_refused(self, code, says, *arguments, **environment):
        """One line that says it, and the exit code."""
        run = self.run_it(*arguments, **environment)
        self.assertEqual((code, 1), (run.returncode, run.err.count("\n")), run.err)
        self.assertIn(says, run.err)
        self.assertEqual("", run.out)

    def app(self, *more):
        return [APP, self.out, ITEMS, *more]

    def test_two_dashes_end_the_options_and_others_are_the_program_s(self):
        for options in [[], ["-n", "2"], ["--quiet", "--every", "1s"]]:
            run = self.run_it("run", *options, "--", *self.app())
            self.assertEqual(0, run.returncode, run.err)
            self.assertEqual(WANTED, self.out.read_text())
            self.out.unlink()
        self.assertIn("digraph", self.run_it("graph", "--", *self.app()).out)
        script = self.path / "words"
        script.write_text(f'#!/bin/sh\necho "$@" > {self.path}/said\nexec {APP} {self.out} {ITEMS}\n')
        script.chmod(0o755)
        for words in [["--", script, "-v", "--", "x"], [script, "-v", "--", "x", "--"]]:
            run = self.run_it("run", "-n", "1", *words)
            self.assertEqual(0, run.returncode, run.err)
            self.assertEqual(" ".join(map(str, words[words.index(script) + 1:])),
                             (self.path / "said").read_text().strip())
            self.out.unlink()
        self.check_refused(2, "want the program to run", "run", "--")

    def test_what_cannot_be_meant_is_a_usage_error_of_one_line(self):
        self.check_refused(2, "want a command")
        self.check_refused(2, "unknown command 'walk'", "walk")
        self.check_refused(2, "want the program to run", "run")
        self.check_refused(2, "want a number from 1 to 4096, found '0'", "run", "-n", "0", *self.app())
        self.check_refused(2, "unknown option '--fast'", "run", "--fast", *self.app())
        self.check_refused(2, "found '7'", "run", "--every", "7", *self.app())
        self.check_refused(2, "found 'work'", "run", "--kill", "work", *self.app())
        self.check_refused(2, "DIR is required", "snapshots")
        for product, command, other in [("kv", "put", "watch"), ("ckpt", "save", "daemon"), ("cluster", "drain", "rsh")]:
            self.check_refused(2, "want a command: ", product)
            self.check_refused(2, "unknown command 'walk': want ", product, "walk")
            run = self.run_it(product, "walk")
            self.assertRegex(run.err, rf"\b{command}, (.*, )?{other}\b|\b{other}, (.*, )?{command}\b")
            self.assertIn(f"; see piracema {product} --help", run.err)
        self.check_refused(2, "see piracema cluster drain --help", "cluster", "drain")
        self.check_refused(2, "error: OPERATOR=N: want an operator and at least 1", "scale", 1, "count=0")
        self.check_refused(2, "JOBS: want a number, found 'x'", "cluster", "cancel", "x")

    def test_the_doctor_says_what_is_missing_and_for_whom(self):
        run = self.run_it("doctor", "--json")
        report = json.loads(run.out)
        self.assertEqual((0 if report["ok"] else 1, ""), (run.returncode, run.err))
        parts = {finding["part"] for finding in report["findings"]}
        self.assertEqual({"machine", "streams", "cluster", "kv", "coll", "ckpt"}, parts)

        run = self.run_it("doctor", PATH=self.folder.name)  # No compiler, no mpirun.
        self.assertEqual(1, run.returncode)
        self.assertRegex(run.out, r"streams +MISSING +compiler .*: sudo apt install g\+\+\n")
        # MPIs in places of their own (scripts/get-mpi) are there, whatever PATH is.
        mpi = re.search(r"(?m)^coll +ok ", run.out)
        self.assertRegex(run.out, r"something is missing for: streams, " + ("(?!.*coll)" if mpi else ".*coll.*") + r".*\n$")

    def test_a_new_project_has_its_name_and_takes_the_place_of_nothing(self):
        self.assertEqual(0, self.run_it("new", "my-stream_2").returncode)
        made = {file.name: file.read_text() for file in (self.path / "my-stream_2").iterdir()}
        names = {"CMakeLists.txt", "README.md", "loses_a_process.sh", "main.cpp"}
        self.assertEqual(names, made.keys())
        self.assertIn("add_executable(my-stream_2 main.cpp)", made["CMakeLists.txt"])
        for text in made.values():
            self.assertNotRegex(text, "@[A-Z]+@")
        outputs = re.findall(r"in\.txt (\w+\.txt)", made["README.md"])
        self.assertEqual(2, len(set(outputs)), "what the first command has written the second one refuses")
        self.check_refused(3, "want nothing at my-stream_2, found", "new", "my-stream_2")
        (self.path / "file").touch()
        self.check_refused(3, "file", "new", "file")
        for name in ["", "..", "a/b", "a b", "test", "$(id)", "x" * 65]:
            self.check_refused(2, "want a name of letters", "new", name)

    def test_what_is_asked_of_and_not_there_is_a_configuration_error(self):
        for words in [("jobs",), ("submit", "--", "true"), ("cancel", 1), ("wait", 1), ("status",)]:
            self.check_refused(3, "nothing/cluster.toml: no such file", "cluster", words[0], "--cluster", "nothing", *words[1:])
        self.check_refused(3, "nothing: want a queue, found nothing", "ckpt", "queue", "--queue", "nothing")
        self.assertFalse((self.path / "nothing").exists())

    def test_what_cannot_be_run_is_a_configuration_error_of_one_line(self):
        self.check_refused(3, "No such file", "run", "./nothing")
        self.check_refused(3, "is it a Piracema program?", "run", "-n", "3", "true")
        self.check_refused(3, "is it a Piracema program?", "graph", "true")
        self.check_refused(3, "nothing to resume", "run", "--resume", *self.app())
        self.check_refused(3, "--stats", "run", "--stats", "/nowhere/x", *self.app())
        self.check_refused(3, "snapshot directory", "snapshots", self.path)
        self.out.write_text("mine\n")
        self.check_refused(3, "found one that holds", "run", "--snapshots", ".", *self.app())

    def test_a_setting_comes_from_the_option_then_the_environment_then_the_file(self):
        (self.path / "piracema.toml").write_text('[run]\nworkers = 1\nstats = "s.json"\n')

        def workers(*options, **environment):
            self.out.unlink(missing_ok=True)
            run = self.run_it("run", "--quiet", *options, *self.app(), **environment)
            self.assertEqual(0, run.returncode, run.err)
            return json.loads((self.path / "s.json").read_text())["workers"]

        self.assertEqual(1, workers())
        self.assertEqual(2, workers(PIRACEMA_WORKERS="2"))
        self.assertEqual(3, workers("-n", "3", PIRACEMA_WORKERS="2"))

        self.check_refused(3, "PIRACEMA_WORKERS", "run", *self.app(), PIRACEMA_WORKERS="none")
        (self.path / "piracema.toml").write_text("[run]\nspeed = 7\n")
        self.check_refused(3, "piracema.toml:2: run.speed", "run", *self.app())
        self.check_refused(3, "other.toml", "run", "--config", "other.toml", *self.app())

    def test_a_graph_is_printed_for_graphviz(self):
        run = self.run_it("graph", *self.app())
        self.assertEqual(0, run.returncode, run.err)
        self.assertTrue(run.out.startswith("digraph piracema {"), run.out)
        self.assertFalse(self.out.exists())

    def test_a_loss_is_survived_and_told(self):
        run = self.run_it("run", "-n", "3", "--json", "--snapshots", "s", "--every", "20ms",
                          "--heartbeat", "20ms", "--stats", "stats.json", "--kill", "work.1@30",
                          *self.app())
        self.assertEqual(0, run.returncode, run.err)
        self.assertEqual(WANTED, self.out.read_text())
        events = [json.loads(line) for line in run.out.splitlines()]
        names = [event["event"] for event in events]
        for name in ["planned", "killed", "lost", "recovering", "summary"]:
            self.assertIn(name, names)
        summary = json.loads((self.path / "stats.json").read_text())
        self.assertEqual("work.1@30", summary["kills"][0]["order"])
        self.assertGreater(summary["kills"][0]["kill_to_first_out_ms"], 0)
        self.assertEqual(0, self.run_it("snapshots", "s", "--verify").returncode)

    def test_ctrl_c_stops_with_a_snapshot_and_resume_goes_on(self):
        options = ["-n", "3", "--json", "--snapshots", "s", "--every", "20ms"]
        process = self.start("run", *options, *self.app("slow"))
        for line in process.stdout:
            if json.loads(line)["event"] == "snapshot":
                break
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=300)
        self.assertEqual(75, process.returncode, err)

        self.check_refused(3, "--resume", "run", "--snapshots", "s", *self.app())
        run = self.run_it("run", *options, "--resume", *self.app())
        self.assertEqual(0, run.returncode, run.err)
        self.assertEqual(WANTED, self.out.read_text())

    def test_workers_and_their_agent_do_not_outlive_the_command(self):
        process = self.start("run", "-n", "3", "--json", APP, self.out, "1000000000")
        for line in process.stdout:
            if json.loads(line)["event"] == "running":
                break
        def children_of(pid):
            return pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        [agent] = children_of(process.pid)
        pids = [agent, *children_of(agent)]
        self.assertEqual(4, len(pids))
        left = [os.pidfd_open(int(pid)) for pid in pids]
        process.kill()
        process.communicate(timeout=300)
        for one in left:
            ended, _, _ = select.select([one], [], [], 300)
            self.assertEqual([one], ended)
            os.close(one)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
