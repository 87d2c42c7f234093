#!/usr/bin/env python3
"""Jobs of several hosts are saved together and go on elsewhere. Hosts are network namespaces here."""

import os
import shutil
import signal
import subprocess

import hosts
from support import COUNTER, CkptTest, main, skip

AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
STEPS, STATUS = 60, 3
# Bytes, rounds of work a step: about 10 ms.
PROGRAM = [COUNTER, STEPS, 4, 4_000_000, STATUS]
ENDLESS = [COUNTER, 10**9, 1, 4_000_000, 0]
HEAT = [600, 400, 4]


class Several(CkptTest):
    def setUp(self):
        super().setUp()
        self.hosts = hosts.Hosts(4, self.path)
        self.addCleanup(self.hosts.close)

    def on(self, *numbers):
        return ("--hosts", self.hosts.names(*numbers), "--rsh", self.hosts.rsh)

    def elsewhere(self, *program):
        """The program, as mpirun starts its own: on the second host, by the job's remote shell."""
        words = ["env", f"COUNTER_HOLD={self.hold}", *program]
        return ["/bin/sh", "-c", f"{self.dir}/bin/rsh -x host-2 {' '.join(map(str, words))}"]

    def wanted(self):
        out, code = self.plain(*PROGRAM)
        self.assertEqual(STATUS, code)
        return out

    def test_a_program_goes_on_where_it_was_and_on_other_hosts(self):
        wanted = self.wanted()
        job = self.run_job(*self.elsewhere(*PROGRAM), options=self.on(1, 2))
        job.read(10)
        self.assertIn("frozen for", self.ckpt("save", "--dir", self.dir).stdout)
        job.read(5)
        self.ckpt("stop", "--dir", self.dir)
        self.assertEqual(75, job.end(), job.errors())
        self.hosts.wait_for_end(1, 2)
        self.ckpt("verify", "--dir", self.dir)
        second = self.resume(*self.on(4, 3))
        self.assertEqual(STATUS, second.end(), second.errors())
        self.assertEqual(wanted, "".join(job.lines + second.lines))
        self.assertEqual(wanted, (self.dir / "stdout").read_text())

    def test_it_is_told_where_it_cannot_be(self):
        refused = self.run_job("true", options=("--hosts", "a b"))
        self.assertEqual(2, refused.end(), refused.errors())
        refused = self.run_job("true", options=("--hosts", "a,b", "--rsh", "false"))
        self.assertEqual(3, refused.end(), refused.errors())
        self.assertIn("it cannot be reached: the remote shell ended with status 1", refused.errors())
        job = self.run_job(*self.elsewhere(*ENDLESS), options=self.on(1, 2))
        job.read(1)
        self.ckpt("stop", "--dir", self.dir)
        self.assertEqual(75, job.end(), job.errors())
        refused = self.resume(*self.on(1))
        self.assertEqual(2, refused.end(), refused.errors())
        self.assertIn("as many as the job was saved on, which is 2", refused.errors())

    def test_a_host_that_is_lost_costs_what_was_done_since_the_last_image(self):
        wanted = self.wanted()
        job = self.run_job(*self.elsewhere(*PROGRAM), options=self.on(1, 2))
        job.read(10)
        self.ckpt("save", "--dir", self.dir)
        job.read(5)
        with subprocess.Popen([os.environ["PIRACEMA_COMMAND"], "ckpt", "save", "--dir", self.dir],
                              stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True) as asking:
            # In the midst of it, most likely; any moment is right.
            self.hosts.kill(2)
            self.assertEqual(3, job.end(), job.errors())
            self.assertIn(f"{hosts.NETWORK}.2: its agent has gone", job.errors())
            asking.communicate()
        self.hosts.wait_for_end(1)
        second = self.resume(*self.on(1, 3))
        self.assertEqual(STATUS, second.end(), second.errors())
        self.assertEqual(wanted, (self.dir / "stdout").read_text())

    def test_a_store_that_is_full_on_one_host_costs_the_image_and_nothing_else(self):
        wanted = self.wanted()
        criu = self.path / "criu"
        criu.write_text(f'#!/bin/sh\nfor last; do :; done\ncase "$*" in *" dump "*|"dump "*) [ "$(hostname)" = host-2 ] '
                        f'&& [ -e {self.path}/full ] && echo "Error (x): No space left" > /dev/stderr && exit 1;; esac\n'
                        f'exec {self.criu()} "$@"\n')
        criu.chmod(0o755)
        job = self.run_job(*self.elsewhere(*PROGRAM), options=(*self.on(1, 2), "--criu", criu))
        job.read(5)
        self.ckpt("save", "--dir", self.dir)
        (self.path / "full").touch()
        for word in ["save", "stop"]:
            refused = self.ckpt(word, "--dir", self.dir, code=1)
            self.assertIn(f"{hosts.NETWORK}.2: criu", refused.stderr)
            job.read(3)
        self.assertEqual([1], [image["image"] for image in self.images()])
        self.assertEqual(STATUS, job.end(), job.errors())
        self.assertEqual(wanted, "".join(job.lines))

    def test_nothing_stays_anywhere_when_the_keeper_is_killed(self):
        job = self.run_job(*self.elsewhere(*ENDLESS), options=self.on(1, 2))
        job.read(1)
        self.ckpt("save", "--dir", self.dir)
        job.process.kill()
        # Hosts hear of it before the system has closed all that it had, its lock included.
        job.process.wait()
        self.hosts.wait_for_end(1, 2)
        second = self.resume(*self.on(2, 1))
        second.read(1)
        self.ckpt("save", "--dir", self.dir)
        second.process.send_signal(signal.SIGINT)
        self.assertEqual(75, second.end(), second.errors())

    def stop_and_resume(self, command, **environment):
        wanted, code = self.plain(*command, **environment)
        self.assertEqual(0, code)
        lines = []
        job = self.run_job(*command, options=self.on(1, 2), **environment)
        for numbers in [(3, 4), (2, 1)]:
            job.read(10)
            self.ckpt("save", "--dir", self.dir)
            job.read(10)
            self.ckpt("stop", "--dir", self.dir)
            self.assertEqual(75, job.end(), job.errors())
            lines += job.lines
            job = self.resume(*self.on(*numbers), **environment)
        self.assertEqual(0, job.end(), job.errors())
        self.assertEqual(wanted, "".join(lines + job.lines))

    def test_open_mpi(self):
        if shutil.which("mpirun.openmpi") is None or "HEAT2D_APP" not in os.environ:
            self.skipTest("no Open MPI; scripts/setup --with-mpi installs one")
        self.stop_and_resume(["mpirun.openmpi", "--oversubscribe", "--map-by", "node", "-n", 4,
                              os.environ["HEAT2D_APP"], *HEAT], **AS_ROOT)


if __name__ == "__main__":
    why = hosts.can_be_made()
    if why:
        skip(why)
    main()
