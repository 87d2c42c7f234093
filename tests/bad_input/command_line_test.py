#!/usr/bin/env python3
"""Options, variables and settings that make no sense: exit code 2 or 3, and nothing was begun."""

import unittest

from support import *


class CommandLine(BadInput):
    def tearDown(self):
        self.assertEqual([], sorted(file.name for file in self.folder.glob("out*")))

    def test_an_option_that_cannot_be_meant_is_a_usage_error(self):
        number = "want a number from 1 to 4096, found "
        time = "want a time from 1ms to 1 year"
        order = "want OP.REPLICA@PERCENT with 0 to 100 percent"
        for options, says in [
                (["-n", "0"], number + "'0'"), (["-n", "-1"], number + "'-1'"),
                (["-n", "abc"], number + "'abc'"), (["-n", "100000"], number + "'100000'"),
                (["-n", ""], number + "''"), (["--every", "0"], time), (["--every", "-1s"], time),
                (["--every", "5parsecs"], "found '5parsecs'"), (["--every", "5"], "found '5'"),
                (["--heartbeat", "0ms"], time), (["--keep", "0"], "want a number from 1"),
                (["--kill", "shout"], order), (["--kill", "shout.1@101"], order),
                (["--kill", "shout.1@x"], order), (["--kill", "shout.-1@5"], order),
                (["--snapshots", ""], "want a name, found an empty one"),
                (["--stats", ""], "want a name"), (["--dead-letters", ""], "want a name"),
                (["--config", ""], "want a name"), (["--fast"], "unknown option '--fast'"),
                (["--hosts", "a,,b"], "want names with commas"), (["--hosts", "-x"], "want names with"),
                (["--hosts", "a:0"], "want names with"), (["-H", "a", "--hostfile", "f"], "excludes"),
                (["--rsh", " "], "want"), (["--costs", ""], "want a name"),
                (["--quiet", "--json"], "excludes"), (["--resume=perhaps"], "--resume")]:
            with self.subTest(options):
                self.check_refused(2, says, PIRACEMA, "run", *options, LINES, "in", "out")

    def test_a_command_that_cannot_be_meant_is_a_usage_error(self):
        for words, says in [
                ([], "want a command"), (["walk"], "unknown command 'walk'"),
                ([""], "unknown command ''"), (["--fast"], "--fast"),
                (["run"], "want the program to run"), (["run", "--"], "want the program to run"),
                (["graph"], "want the program to graph"), (["graph", "--fast"], "'--fast'"),
                (["snapshots"], "DIR is required"), (["snapshots", "a", "b"], "b"),
                (["run", "--every"], "--every"), (["run", "-n"], "--workers")]:
            with self.subTest(words):
                self.check_refused(2, says, PIRACEMA, *words)

    def test_what_does_not_fit_the_program_is_a_configuration_error(self):
        nodes = "nodes and their replicas are read (1), shout (2), write (1)"
        for order in ["nobody.0@40", "shout.2@40", "SHOUT.0@40"]:
            with self.subTest(order):
                self.check_refused(3, nodes, *self.job("--kill", order))
        self.check_refused(3, "no/where: No such file", *self.job("--stats", "no/where"))
        self.check_refused(3, ".: Is a directory", *self.job("--stats", "."))

    def test_what_cannot_be_together_with_hosts_that_come_and_go_is_named(self):
        self.folder.joinpath("hosts").write_text("localhost\n")
        watch = ["--watch-hosts", "--hostfile", "hosts", "--snapshots", "s"]
        for options, says in [
                (["--watch-hosts"], "want --hostfile FILE, found none"),
                (watch[:3], "want --snapshots DIR, found none"),
                ([*watch, "--coordinators", "3"], "want other hosts from the start with --watch-hosts"),
                ([*watch, "--transport", "mpi"], "want --transport auto or tcp, found mpi"),
                ([*watch, "--stdin"], "want a job without --stdin"),
                ([*watch, "--leave-with-host"], "--leave-with-host: want --coordinators 3 or 5, or --join"),
                ([*watch[:2], "none", *watch[3:]], "--hostfile: none: no such file")]:
            with self.subTest(options):
                self.check_refused(3, says, *self.job(*options))

    def test_a_variable_with_garbage_is_named(self):
        for name, value in [("WORKERS", "many"), ("EVERY", "5parsecs"), ("KEEP", "-3"),
                            ("HEARTBEAT", "soon"), ("STATS", "no/where"), ("SNAPSHOTS", "in")]:
            with self.subTest(name):
                said = {"STATS": "no/where: No such", "SNAPSHOTS": "in: want a snapshot directory"}
                self.check_refused(3, said.get(name, f"PIRACEMA_{name}: want "),
                                   PIRACEMA, "run", "--quiet", LINES, "in", "out",
                                   environment={f"PIRACEMA_{name}": value})
        self.check_refused(3, "PIRACEMA_QUIET: want true or false, found 'perhaps'", PIRACEMA,
                           "run", LINES, "in", "out", environment={"PIRACEMA_QUIET": "perhaps"})

    def test_variables_that_make_a_worker_of_a_program_are_checked(self):
        token = "0123456789abcdef" * 2
        worker = {"PIRACEMA_COORDINATOR": "127.0.0.1:1", "PIRACEMA_TOKEN": token}
        for changes, code, says in [
                ({"PIRACEMA_TOKEN": "short"}, 3, "want 32 hexadecimal digits"),
                ({"PIRACEMA_COORDINATOR": "nowhere"}, 3, "nowhere"),
                ({"PIRACEMA_SLOT": "first"}, 3, "PIRACEMA_SLOT: want a number, found 'first'"),
                ({"PIRACEMA_SLOT": "99999999999"}, 3, "PIRACEMA_SLOT"),
                ({"PIRACEMA_SLOT": "5000"}, 3, "slot: want one below 4096, found 5000"),
                ({"PIRACEMA_INCARNATION": "-1"}, 3, "PIRACEMA_INCARNATION: want a number"),
                ({"PIRACEMA_HEARTBEAT_MS": "0"}, 3, "PIRACEMA_HEARTBEAT_MS: want at least 1"),
                ({"PIRACEMA_AT_WORK_FD": "1"}, 3, "descriptor 1"),
                ({"PIRACEMA_GRAPH_FD": "out"}, 3, "PIRACEMA_GRAPH_FD: want a descriptor"),
                ({"PIRACEMA_GRAPH_FD": "77"}, 3, "descriptor 77"),
                ({}, 1, "connecting to 127.0.0.1:1: Connection refused")]:
            with self.subTest(changes):
                self.check_refused(code, says, LINES, "in", "out",
                                   environment={**worker, **changes})

    def test_a_line_of_the_settings_that_is_wrong_is_named(self):
        settings = self.folder / "piracema.toml"
        for text, says in [
                ("[run]\nworkrs = 4\n", ":2: run.workrs: unknown"),
                ("\n[run]\n\nworkers = \"x\"\n", ":4: run.workers: want a number from 1 to 4096"),
                ("workers = 4\n", ":1: workers: unknown"), ("[graph]\nx = 1\n", ":2: graph.x"),
                ("[run]\nquiet = \"maybe\"\n", ":2: run.quiet: want true or false"),
                ("[run]\nevery = 5\n", ":2: run.every: want a time"),
                ("[run]\nworkers = [1, 2]\n", ":2: run.workers: want one value, found 2"),
                ("[run]\nsnapshots = \"\"\n", ":2: run.snapshots: want a name"),
                ("[run]\nresume = true\n", ":2: run.resume: unknown"),
                ("[run\nworkers = 4\n", ":1: [run: unknown"), ("\0\xff\n", "want text")]:
            with self.subTest(text):
                settings.write_text(text, encoding="latin-1")
                self.check_refused(3, says, PIRACEMA, "run", LINES, "in", "out")

    def test_settings_that_are_no_file_are_refused(self):
        for name, says in [("nowhere", "No such file"), ("/etc", "found a directory"),
                           ("/dev/zero", "found a special file")]:
            with self.subTest(name):
                self.check_refused(3, says, *self.job("--config", name))
        (self.folder / "piracema.toml").mkdir()
        self.check_refused(3, "piracema.toml: want a file of settings", *self.job())


if __name__ == "__main__":
    unittest.main()
