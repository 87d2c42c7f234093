#!/usr/bin/env python3
"""What is no Piracema program, or one that cannot run, is told from one that can."""

import os
import unittest

from support import *


class Programs(BadInput):
    def script(self, name, text, mode=0o755):
        path = self.folder / name
        path.write_text(text)
        path.chmod(mode)
        return f"./{name}"

    def check_no_program(self, says, *app, code=3):
        for command in ["run", "graph"]:
            with self.subTest(app, command=command):
                self.check_refused(code, says, PIRACEMA, command, *app)

    def test_what_cannot_be_started_gets_the_reason(self):
        self.check_no_program("'./missing' cannot be run: No such file", "./missing")
        self.check_no_program("'missing' cannot be run: it is not in the PATH", "missing")
        self.check_no_program("did you mean ./here?", os.path.basename(self.script("here", "")))
        self.check_no_program("'.' cannot be run: it is not in the PATH", ".")
        self.check_no_program("not a regular file", "./")
        self.check_no_program("the program's name is empty", "")
        self.check_no_program("Exec format error", self.script("text", "hello\n"))
        self.check_no_program("No such file", self.script("no_shell", "#!/no/such/shell\n"))
        self.check_no_program("Permission denied", self.script("closed", "", 0o644))

    def test_what_ends_without_a_word_is_asked_about(self):
        for app, how in [(["/bin/true"], "ended with status 0"),
                         (["/bin/cat"], "ended with status 0"),
                         ([self.script("one", "#!/bin/sh\nexit 1\n")], "ended with status 1")]:
            self.check_no_program(f"({how}): is it a Piracema program?", *app)

    def test_what_a_signal_ends_before_it_has_joined_is_a_loss(self):
        crash = self.script("crash", "#!/bin/sh\nkill -SEGV $$\n")
        run = self.run_to_end(PIRACEMA, "run", crash)
        self.assertEqual(4, run.returncode, run.err)
        self.assertIn("killed by signal 11 (SIGSEGV); start with --snapshots DIR", run.err)
        self.check_refused(3, "killed by signal 11 (SIGSEGV)", PIRACEMA, "graph", crash)

    def test_what_refuses_its_arguments_has_the_word_and_its_exit_code(self):
        run = self.run_to_end(*self.job(app=[LINES]))
        self.assertEqual(2, run.returncode)
        self.assertEqual("lines: error: want IN and OUT", run.err.splitlines()[0])
        self.assertIn("left without joining (ended with status 2)", run.err.splitlines()[1])

    def test_what_tells_no_graph_is_not_waited_for_without_end(self):
        self.check_refused(3, "has not told its graph within 10 s", PIRACEMA, "graph", "/bin/sleep",
                           "60")

    def test_what_tells_nonsense_for_a_graph_is_refused(self):
        script = '#!/bin/sh\necho nonsense >&"$PIRACEMA_GRAPH_FD"\n'
        run = self.run_to_end(PIRACEMA, "graph", self.script("liar", script))
        self.assertEqual((3, ""), (run.returncode, run.out), run.err)
        self.assertEqual(1, run.err.count("\n"), run.err)

    def test_a_worker_that_nobody_understands_is_not_replaced_for_ever(self):
        run = self.run_to_end(PIRACEMA, "run", "-n", "2", "--quiet", "--snapshots", "snapshots",
                              GARBLER)
        self.assertEqual(3, run.returncode, run.err)
        self.assertIn("says what no worker of this version says, 3 times",
                      run.err.splitlines()[-1])

    def test_a_graph_that_cannot_run_is_refused_with_the_node_and_the_rule(self):
        for mistake, says in [
                ("empty", "it has no nodes"), ("no source", "it has no source"),
                ("no sink", "it has no sink"), ("no replicas", "replicas, found 0"),
                ("negative replicas", "want 1 to 10000 replicas"), ("too many replicas", "found 1000000"),
                ("ordered replicas", "no order over several"),
                ("ordered source", "cannot be ordered"), ("same name", "two nodes are named 'work'"),
                ("strange name", "node name 'a name with spaces'")]:
            with self.subTest(mistake):
                self.check_refused(3, says, WRONG_GRAPH, mistake)
                for command in ["run", "graph"]:
                    run = self.run_to_end(PIRACEMA, command, WRONG_GRAPH, mistake)
                    self.assertEqual((3, ""), (run.returncode, run.out), run.err)
                    self.assertIn(says, run.err.splitlines()[0])


if __name__ == "__main__":
    unittest.main()
