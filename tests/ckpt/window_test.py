#!/usr/bin/env python3
"""Machines are lent for a while: jobs leave in time, whatever happens, and go on in the next window."""

import json
import signal
import subprocess
import time

from support import COUNTER, CkptTest, main
from watch import wait_for_end

# About two seconds of work in steps of 10 ms.
PROGRAM = [COUNTER, 200, 4, 4_000_000, 3]


class Window(CkptTest):
    def window(self, *options, program=PROGRAM, **environment):
        return self.start("window", "--dir", self.dir, *options, "--", *program, **environment)

    def window_that_is_used(self, seconds, script, *options):
        """One that a busy machine, on which a dump may take longer, does not find too short. `script`
        says something."""
        while True:
            job = self.window("--for", f"{seconds}s", *options, program=["/bin/sh", "-c", script])
            line = job.process.stdout.readline()
            if line:
                return job
            self.assertIn(job.end(), [3, 75], job.errors())
            seconds *= 2
            self.assertLess(seconds, 1000, job.errors())

    def test_a_job_goes_on_from_window_to_window_by_the_same_words(self):
        wanted, _ = self.plain(*PROGRAM)
        windows, seconds, code = 0, 4, 75
        while code == 75:
            job = self.window("--for", f"{seconds}s")
            code = job.end()
            windows += 1
            # A machine that is so busy that a dump may take longer: it lends itself for longer. And the
            # third window is one that the job ends in.
            if "shorter than one checkpoint" in job.errors():
                seconds, code, windows = 2 * seconds, 75, windows - 1
            elif windows == 2:
                seconds = 3600
        self.assertEqual(3, code, job.errors())
        self.assertEqual(wanted, (self.dir / "stdout").read_text())
        again = self.window("--for", "4s")
        self.assertEqual(3, again.end())
        self.assertEqual([], again.lines)

    def test_a_dump_that_hangs_is_given_up_and_nothing_of_the_job_stays(self):
        criu = self.path / "criu"
        criu.write_text(f'#!/bin/sh\n[ "$1" = dump ] && exec sleep 4242\nexec {self.criu()} "$@"\n')
        criu.chmod(0o755)
        job = self.window_that_is_used(5, "echo up; exec sleep 4243", "--criu", criu)
        self.assertEqual(75, job.end(), job.errors())
        self.assertIn("not saved in time", job.errors())
        for words in subprocess.run(["ps", "-eo", "args="], capture_output=True, text=True).stdout.splitlines():
            self.assertNotIn(words.strip(), ["sleep 4242", "sleep 4243"])

    def test_a_keeper_that_stands_still_does_not_keep_the_machine(self):
        """As one does that waits for a store that does not answer."""
        script = "echo up; exec sleep 4245"
        job = self.window_that_is_used(8, script)
        # The shell becomes the sleep: the same process, and it is the job's.
        sleeper = next(int(line.split()[0]) for line in subprocess.run(
            ["ps", "-eo", "pid=,args="], capture_output=True, text=True).stdout.splitlines()
            if line.split(maxsplit=1)[1].strip() in ["sleep 4245", f"/bin/sh -c {script}"])
        job.process.send_signal(signal.SIGSTOP)
        wait_for_end(sleeper)
        self.assertIsNone(job.process.poll())
        job.process.send_signal(signal.SIGCONT)
        self.assertEqual(75, job.end(), job.errors())

    def test_of_two_ends_of_a_window_the_earlier_one_counts(self):
        far = (time.localtime().tm_hour + 12) % 24
        job = self.window("--until", f"{far:02}:00", "--for", "300ms")
        self.assertEqual(3, job.end())
        self.assertIn("shorter than one checkpoint", job.errors())

    def test_a_window_that_is_shorter_than_a_checkpoint_is_not_used(self):
        job = self.window("--for", "300ms")
        self.assertEqual(3, job.end())
        self.assertIn("shorter than one checkpoint", job.errors())
        self.assertFalse((self.dir / "stdout").read_text())

    def test_the_calendar_says_when(self):
        now = time.localtime()
        other = "mon tue wed thu fri sat sun".split()[(now.tm_wday + 3) % 7]
        windows = self.path / "windows"
        windows.write_text(f"# another day\n{other} 10:00 11:00\n")
        job = self.window("--windows", windows)
        job.wait_for("waits for its window")
        job.process.terminate()
        self.assertEqual(75, job.end(), job.errors())
        self.assertIn("there is no image: the same words begin it", job.errors())
        windows.write_text("daily 00:00 24:00\n")
        job = self.window("--windows", windows)
        self.assertEqual(3, job.end(), job.errors())
        again = self.window("--windows", windows)
        self.assertEqual(3, again.end())
        self.assertIn("has ended already, with status 3, and is not run again", again.errors())

    def test_a_plan_tells_how_long_and_why(self):
        job = self.run_job(*PROGRAM)
        job.read(5)
        self.ckpt("save", "--dir", self.dir)
        plan = json.loads(self.ckpt("plan", "--dir", self.dir, "--for", "10m", "--json").stdout)
        self.assertEqual(1, plan["learnt"])
        self.assertGreater(plan["bytes"], 4e6)
        self.assertLessEqual(plan["p50"], plan["p95"])
        self.assertLessEqual(plan["p95"], plan["p99"])
        self.assertLess(plan["start_in"] + plan["duration"], 600)
        self.assertIn("at the latest", self.ckpt("plan", "--dir", self.dir, "--for", "10m").stdout)
        self.assertEqual(3, job.end())

    def test_windows_that_make_no_sense_are_refused(self):
        (self.path / "w").write_text("someday 1 2\n")
        (self.path / "others").write_text("daily 00:00 24:00 nobody-is-called-so\n")
        for code, says, options in [(2, "want --until or", []), (2, "want --until or", ["--for", "1h", "--windows", "w"]),
                                    (2, "--until", ["--until", "6"]), (2, "--for", ["--for", "long"]),
                                    (2, "--risk", ["--for", "1h", "--risk", "0"]),
                                    (3, "w:1:", ["--windows", "w"]), (3, "want a window for this host", ["--windows", "others"]), (3, "No such file", ["--windows", "nowhere"])]:
            refused = self.ckpt("window", "--dir", "d", *options, "--", "true", code=code)
            self.assertIn(says, refused.stderr)


if __name__ == "__main__":
    main()
