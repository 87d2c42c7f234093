#!/usr/bin/env python3
"""Jobs wait in a queue, run while a machine is lent, and survive whoever ends their daemon."""

import contextlib
import json
import os
import re
import select
import shutil
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request

from support import COUNTER, PATIENCE, PIRACEMA, CkptTest, main
from watch import Watch

# About a second of work in steps of 10 ms.
PROGRAM = [COUNTER, 100, 4, 4_000_000, 3]


@contextlib.contextmanager
def taken_address(test):
    """An address that is taken. Skips where nothing can be shown."""
    probe = subprocess.run([PIRACEMA, "run", "--http", "/bin/true"], capture_output=True, text=True,
                           stdin=subprocess.DEVNULL)
    if "install libmicrohttpd" in probe.stderr:
        test.skipTest(probe.stderr.strip())
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        yield f"127.0.0.1:{taken.getsockname()[1]}"


class Daemon(CkptTest):
    def setUp(self):
        super().setUp()
        self.queue = self.path / "queue"
        self.user = self.path / "user"
        self.daemons = 0

    def submit(self, *words, **environment):
        return self.ckpt("submit", "--queue", self.queue, *words, **environment).stdout.strip()

    def daemon(self, *options):
        """A user is there while the file `user` is."""
        self.daemons += 1
        self.log = self.path / f"daemon-{self.daemons}"
        with open(self.log, "w") as log:
            daemon = subprocess.Popen(
                [PIRACEMA, "ckpt", "daemon", "--queue", self.queue, "--idle", "1s", "--grace", "60s",
                 "--presence", f"test -e {self.user}", *options], cwd=self.path, stdout=log, stderr=log)
        self.addCleanup(daemon.wait)
        self.addCleanup(daemon.kill)
        return daemon

    def until(self, condition, daemon):
        """It is asked again whenever a file changes."""
        with Watch(self.path) as watch:
            watch.until(condition, daemon, self.log.read_text)

    def wait_for(self, daemon, *texts):
        """One of them, in what it has logged."""
        self.until(lambda: any(text in self.log.read_text() for text in texts), daemon)

    def jobs(self):
        return json.loads(self.ckpt("queue", "--queue", self.queue, "--json").stdout)

    def wait_for_lines(self, path, daemon):
        self.until(lambda: path.exists() and path.read_text().count("\n") >= 3, daemon)

    def test_jobs_leave_when_the_user_comes_back_and_survive_the_daemon(self):
        wanted, _ = self.plain(*PROGRAM)
        one, two = [self.submit("--dir", self.path / name, "--", *PROGRAM) for name in ["one", "two"]]
        self.assertEqual(["queued", "queued"], [job["state"] for job in self.jobs()])
        twice = self.ckpt("submit", "--queue", self.queue, "--dir", self.path / "one", "--", "true", code=3)
        self.assertIn(f"found that of job {one}", twice.stderr)
        daemon = self.daemon()
        self.wait_for_lines(self.path / "one/stdout", daemon)
        self.user.touch()
        # Gone with an image, or ended just before.
        self.wait_for(daemon, "waits for the next window", f"job {one} has ended")
        self.user.unlink()
        self.wait_for(daemon, f"job {one} has ended with status 3")
        self.wait_for_lines(self.path / "two/stdout", daemon)
        # Its jobs hear of its death, and save themselves.
        daemon.kill()
        daemon.wait()
        last = self.daemon("--until-empty")
        self.assertEqual(0, last.wait(), self.log.read_text())
        for name in ["one", "two"]:
            self.assertEqual(wanted, (self.path / name / "stdout").read_text())
        self.assertEqual([("ended", 3)] * 2, [(job["state"], job["status"]) for job in self.jobs()])
        again = self.ckpt("submit", "--queue", self.queue, "--dir", self.path / "one", "--", *PROGRAM, code=3)
        self.assertIn("these words have, with status 3", again.stderr)
        self.ckpt("queue", "--queue", self.queue, "--clear")
        self.assertEqual([], self.jobs())
        self.assertNotEqual(one, two)

    def test_after_a_reboot_of_everything_a_job_goes_on_from_its_image(self):
        wanted, _ = self.plain(*PROGRAM)
        where = self.path / "job"
        packed = ["--compress"] if shutil.which("zstd") else []
        # It is there when the save is asked for.
        self.submit("--dir", where, *packed, "--", *PROGRAM, COUNTER_HOLD=str(self.hold))
        daemon = self.daemon()
        self.wait_for_lines(where / "stdout", daemon)
        self.ckpt("save", "--dir", where)
        self.assertEqual(bool(packed), bool(list(where.glob("images/*/pages-*.img.zst"))))
        # Daemon, keeper and job at once, as when the power goes: by the session of each.
        daemon.send_signal(signal.SIGSTOP)
        children = subprocess.run(["ps", "-o", "pid=", "--ppid", str(daemon.pid)], capture_output=True,
                                  text=True).stdout.split()
        for pid in children:
            os.kill(int(pid), signal.SIGKILL)
        daemon.kill()
        daemon.wait()
        last = self.daemon("--until-empty")
        with open(os.open(self.hold, os.O_RDWR), "r+b", buffering=0):
            self.assertEqual(0, last.wait(), self.log.read_text())
        self.assertEqual(wanted, (where / "stdout").read_text())

    def test_a_stream_is_stopped_by_its_own_snapshot_and_resumed(self):
        def lines(path):
            return sorted(path.read_text().splitlines())

        words = ["items=3000", "pause_us=300"]
        app = os.environ["STREAM_APP"]
        subprocess.run([PIRACEMA, "run", "-n", "2", app, self.path / "plain", *words], check=True,
                       capture_output=True)
        self.submit("--stream", "--", PIRACEMA, "run", "-n", 2, "--snapshots", self.path / "snapshots",
                    "--every", "100ms", app, self.path / "out", *words)
        daemon = self.daemon()
        self.until(lambda: list(self.path.glob("snapshots/*/manifest.json"))
                   or "has ended" in self.log.read_text(), daemon)
        self.user.touch()
        self.wait_for(daemon, "waits for the next window", "has ended")
        self.user.unlink()
        self.wait_for(daemon, "has ended with status 0")
        self.assertEqual(lines(self.path / "plain"), lines(self.path / "out"))
        daemon.terminate()
        self.assertEqual(0, daemon.wait(), self.log.read_text())

    def test_a_stream_leaves_before_its_window_closes_with_its_last_snapshot(self):
        # No snapshot but the last one.
        words = ["items=3000000", "pause_us=1000"]
        self.submit("--stream", "--", PIRACEMA, "run", "-n", "2", "--snapshots", self.path / "snapshots",
                    "--every", "1h", os.environ["STREAM_APP"], self.path / "out", *words)
        minutes = [time.localtime(time.time() + 60 * ahead) for ahead in [0, 2]]
        windows = self.path / "windows"
        windows.write_text("daily {} {}\n".format(*[time.strftime("%H:%M", one) for one in minutes]))
        self.log = self.path / "log"
        with open(self.log, "w") as log:
            daemon = subprocess.Popen([PIRACEMA, "ckpt", "daemon", "--queue", self.queue, "--windows", windows],
                                      cwd=self.path, stdout=log, stderr=log)
        self.addCleanup(daemon.wait)
        self.addCleanup(daemon.kill)
        self.wait_for(daemon, "waits for the next window", "is killed", "was killed", "has ended", "could not be run")
        said = self.log.read_text()
        self.assertIn("waits for the next window", said)
        self.assertEqual(1, len(list(self.path.glob("snapshots/*/manifest.json"))))
        # It is remembered how long that took; and it is not begun again in what is left of the window.
        self.assertTrue(list(self.queue.glob("streams/*")))
        self.assertEqual(1, said.count(" runs"), said)

    def test_it_is_shown_what_runs_what_waits_and_how_long_the_last_one_took_to_leave(self):
        for name in ["one", "two"]:
            self.submit("--dir", self.path / name, "--", COUNTER, 10**9, 4, 4_000_000, 3)
        with taken_address(self) as refused:
            wrong = self.daemon(f"--http={refused}")
            self.assertEqual(3, wrong.wait())
            self.assertIn("--http: ", self.log.read_text())
        daemon = self.daemon("--http")
        self.wait_for(daemon, "shown at http://")
        base = re.search(r"shown at (http://\S+)/\?", self.log.read_text()).group(1)
        seen = self.wait_until_shown(base, lambda one: one["jobs"] and one["jobs"][0]["state"] == "running")
        self.assertEqual((True, False, 1, 1), tuple(seen[name] for name in ["lent", "user_present", "running", "waiting"]))
        self.assertEqual(["running", "waiting"], [job["state"] for job in seen["jobs"]])
        self.assertEqual(COUNTER, seen["jobs"][0]["command"][0])
        self.assertEqual(str(self.path / "one"), seen["jobs"][0]["directory"])
        with urllib.request.urlopen(base + "/readyz", timeout=30) as answer:
            self.assertEqual(b"ok\n", answer.read())
        self.wait_for_lines(self.path / "one/stdout", daemon)
        self.user.touch()
        self.wait_until_shown(base, lambda one: one["jobs"][0]["state"] == "leaving")
        # By itself it would leave as late as is safe.
        self.ckpt("stop", "--dir", self.path / "one")
        seen = self.wait_until_shown(base, lambda one: one["left"])
        (left,) = seen["left"]
        self.assertEqual(("stopped", seen["jobs"][0]["job"]), (left["outcome"], left["job"]), self.log.read_text())
        self.assertGreater(left["took"], 0)
        self.assertLess(left["took"], left["given"])
        self.assertAlmostEqual(60, left["given"], delta=1)
        self.assertEqual((False, True), (seen["lent"], seen["user_present"]))
        with self.assertRaises(urllib.error.HTTPError) as none:
            urllib.request.urlopen(base + "/readyz", timeout=30)
        self.assertEqual(503, none.exception.code)
        none.exception.close()
        with urllib.request.urlopen(base + "/metrics", timeout=30) as answer:
            lines = answer.read().decode().splitlines()
        for line in ['piracema_ckpt_daemon_jobs_left_total{outcome="stopped"} 1', "piracema_ckpt_daemon_lent 0",
                     'piracema_ckpt_daemon_jobs{state="waiting"} 2']:
            self.assertIn(line, lines)
        daemon.terminate()
        self.assertEqual(0, daemon.wait(), self.log.read_text())

    def wait_until_shown(self, base, holds):
        end, found = time.monotonic() + PATIENCE, None
        while time.monotonic() < end:
            with contextlib.suppress(urllib.error.HTTPError):  # Nothing was shown yet.
                with urllib.request.urlopen(base + "/api/v1/queue", timeout=30) as answer:
                    found = json.load(answer)
                if holds(found):
                    return found
            select.select([], [], [], 0.1)  # A daemon shows itself every second; nothing tells us of it.
        raise AssertionError(f"{found}; {self.log.read_text()}")

    def test_what_makes_no_sense_is_refused(self):
        for code, says, words in [
                (2, "want --windows, --idle", ["daemon", "--queue", self.queue]),
                (2, "--idle", ["daemon", "--queue", self.queue, "--idle", "long"]),
                (2, "--grace", ["daemon", "--queue", self.queue, "--idle", "1s", "--grace", "x"]),
                (2, "want -- and the program", ["submit", "--queue", self.queue, "--dir", "d"]),
                (2, "--dir and --stream", ["submit", "--queue", self.queue, "--", "true"]),
                (3, "'./nothing' cannot be run", ["submit", "--queue", self.queue, "--dir", "d", "--", "./nothing"]),
                (3, "'nothing-of-this-name' cannot", ["submit", "--queue", self.queue, "--stream", "--",
                                                      "nothing-of-this-name"]),
                (3, "want a queue, found something else", ["queue", "--queue", self.path]),
                (3, "want a queue, found nothing", ["queue", "--queue", self.queue])]:
            (self.path / "something").touch()
            self.assertIn(says, self.ckpt(*words, code=code).stderr)
        # A daemon runs jobs as who has started it, so whoever is not root has a queue of its own.
        self.path.chmod(0o755)
        self.queue.mkdir()
        if os.geteuid() == 0:
            as_nobody = subprocess.run(
                [PIRACEMA, "ckpt", "submit", "--queue", str(self.queue), "--dir", "d", "--", "true"], cwd="/",
                user=65534, capture_output=True, text=True)
            self.assertEqual((3, True), (as_nobody.returncode, "want root" in as_nobody.stderr), as_nobody.stderr)
        first = self.daemon()
        self.until(lambda: list(self.queue.glob("host-*.lock")), first)
        second = self.daemon()
        self.assertEqual(3, second.wait())
        self.assertIn("for one daemon alone", self.log.read_text())


if __name__ == "__main__":
    main()
