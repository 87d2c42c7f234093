#!/usr/bin/env python3
"""What is logged, in each form, by all processes of a command; and errors say what to do next."""

import json
import os
import socket
import unittest

from support import *

GROUPED = os.environ["GROUPED_APP"]
SHOUT_STDIN = os.environ["SHOUT_STDIN_APP"]
TIME = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"


class Log(BadInput):
    def objects(self, text):
        """Each line is an object, with all that belongs there."""
        found = [json.loads(line) for line in text.splitlines()]
        for one in found:
            self.assertRegex(one["time"], f"^{TIME}$")
            self.assertIn(one["level"], ["debug", "info", "warning", "error"])
            self.assertEqual((socket.gethostname(), int), (one["host"], type(one["pid"])))
            self.assertNotEqual("", one["message"])
        return found

    def files(self, folder):
        """By the process."""
        start = socket.gethostname() + "."
        names = [file.name for file in (self.folder / folder).iterdir()]
        self.assertTrue(all(name.startswith(start) for name in names), names)
        return {name.removeprefix(start): (self.folder / folder / name).read_text() for name in names}

    def with_a_port_that_is_taken(self, *options, environment={}):
        """A job whose second process cannot begin."""
        with socket.create_server(("127.0.0.1", 0)) as taken:
            groups = [{"name": name, "endpoint": "localhost"} for name in ["G1", "G2", "G3"]]
            groups.append({"name": "G4", "endpoint": f"localhost:{taken.getsockname()[1]}"})
            (self.folder / "groups.json").write_text(json.dumps({"groups": groups}))
            run = self.run_to_end(PIRACEMA, "run", "--groups", "groups.json", *options, GROUPED, "right",
                                  "20000", environment=environment)
        self.assertNotEqual(0, run.returncode)
        return run

    def with_a_coordinator_that_is_lost(self, *options, environment={}):
        """What its agent and its workers say, which look for another one for a while."""
        job = self.start(PIRACEMA, "run", "-n", "2", "--stdin", "--snapshots", "s", "--keep-workers", "1s", "--json",
                         *options, SHOUT_STDIN, "out", "journal", stdin=subprocess.PIPE, environment=environment)
        for line in job.stdout:
            if json.loads(line)["event"] == "running":
                break
        job.kill()
        said = job.stderr.read()  # Until the last of them has ended.
        job.communicate()
        return said

    def test_workers_and_agents_log_as_the_command_does(self):
        lines = self.objects(self.with_a_coordinator_that_is_lost("--log-format", "json"))
        gone = {line["process"] for line in lines if "the coordinator is gone" in line["message"]}
        self.assertEqual({"agent", "worker 0", "worker 1"}, gone)

    def test_a_variable_says_it_as_well(self):
        said = self.with_a_coordinator_that_is_lost(environment={"PIRACEMA_LOG_FORMAT": "text"})
        for process in ["agent", "worker 0", "worker 1"]:
            self.assertRegex(said, f"(?m)^{TIME} piracema {process}: warning: (agent: )?the coordinator is gone")

    def test_an_object_has_the_hint_by_itself(self):
        lines = self.objects(self.with_a_port_that_is_taken("--log-format", "json").err)
        errors = [line for line in lines if line["level"] == "error"]
        self.assertTrue(errors)
        for error in errors:
            self.assertRegex(error["message"], "Address already in use$")
            self.assertIn("take another port", error["hint"])

    def test_a_job_logs_times_and_levels(self):
        run = self.run_to_end(PIRACEMA, "run", "-n", "2", "--log-format", "text", LINES, "in", "out")
        self.assertEqual(0, run.returncode, run.err)
        self.assertTrue(run.err)
        for line in run.err.splitlines():
            self.assertRegex(line, f"^{TIME} piracema[^:]*: (info|warning): ")

    def test_each_process_has_its_file(self):
        said = self.with_a_coordinator_that_is_lost("--log-directory", "logs")
        files = self.files("logs")
        self.assertEqual({"piracema.log", "agent.log", "worker-0.log", "worker-1.log"}, set(files))
        for name, process in [("agent.log", "agent"), ("worker-1.log", "worker 1")]:
            lines = self.objects(files[name])
            self.assertIn("the coordinator is gone", lines[0]["message"])
            self.assertEqual({process}, {line["process"] for line in lines})
            # The same lines as on standard error.
            self.assertEqual(files[name], "".join(
                line + "\n" for line in said.splitlines() if f'"process":"{process}"' in line))

    def test_a_disk_that_is_full_costs_lines_of_the_log_and_nothing_else(self):
        full = SMALL_DISK.replace("&& exec", "&& { head -c 1M /dev/zero > small/zero; } 2>/dev/null; exec")
        run = self.run_to_end(*self.on_disk(full), PIRACEMA, "run", "-n", "2", "--log-directory", "small/logs",
                              LINES, "in", "out")
        self.assertEqual(0, run.returncode, run.err)
        said = [line for line in run.err.splitlines() if "cannot write a log there: No space left on device" in line]
        self.assertTrue(said)
        # Once for each process that had something to say.
        self.assertEqual(len(said), len({line.split(": ")[0] for line in said}), run.err)
        self.check_output()

    def test_a_file_has_the_size_that_was_said_and_one_before_it(self):
        for _ in range(5):
            run = self.run_to_end(PIRACEMA, "run", "-n", "2", "--log-directory", "logs", "--log-file-size", "300",
                                  LINES, "in", "out")
            self.assertEqual(0, run.returncode, run.err)
            self.check_output()
        files = self.files("logs")
        self.assertIn("piracema.log.1", files)
        self.assertEqual([], [name for name in files if not name.endswith((".log", ".log.1"))])
        self.assertEqual({}, {name: text for name, text in files.items() if len(text) > 300 or text[-1:] not in ("", "\n")})

    def test_a_format_and_a_directory_that_are_none_are_refused(self):
        self.check_refused(2, "--log-format: want text or json, found 'yaml'", *self.job("--log-format", "yaml"))
        self.check_refused(2, "--log-file-size: ", *self.job("--log-file-size", "little"))
        self.check_refused(2, "in/logs: cannot write a log there: Not a directory",
                           *self.job("--log-directory", "in/logs"))

    def test_a_name_that_is_not_utf_8_does_not_break_a_line(self):
        run = subprocess.run([os.fsencode(PIRACEMA), b"run", b"--log-format", b"json", b"no\xffpe"], env=CLEAN,
                             cwd=self.folder, capture_output=True, timeout=SECONDS_MAX)
        self.assertEqual(3, run.returncode)
        [line] = self.objects(run.stderr.decode())
        self.assertIn("'no\\xffpe' cannot be run", line["message"])

    def test_an_error_says_what_to_do_next(self):
        self.check_refused(3, "; hint: piracema kv keygen", PIRACEMA, "kv", "status", "--config",
                           self.configuration(), "--key", "nowhere.key")
        on_disk = self.on_disk(FIXED_DISK)
        self.check_refused(3, "; hint: name a directory on a disk that can be written to", *on_disk,
                           *self.job("--snapshots", "fixed/s"))

    def configuration(self):
        run = self.run_to_end(PIRACEMA, "kv", "init", "--directory", "g", "127.0.0.1:7301", "127.0.0.1:7302",
                              "127.0.0.1:7303")
        self.assertEqual(0, run.returncode, run.err)
        return "g/group.toml"


if __name__ == "__main__":
    unittest.main()
