#!/usr/bin/env python3
"""Jobs are shown by HTTP while they are saved, stopped and go on: what was forecast of a checkpoint, and
what it took."""

import contextlib
import json
import os
import pathlib
import re
import select
import signal
import socket
import subprocess
import sys
import time
import unittest
import urllib.error
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

import hosts
from listening import ports_of
from support import COUNTER, PATIENCE, PIRACEMA, CkptTest, main, skip
from watch import wait_for_end

PROGRAM = [COUNTER, 10**9, 4, 4_000_000, 0]
SHORT = [COUNTER, 40, 1, 1_000_000, 5]
# What a request that is none says, and one that never ends.
GARBAGE = [b"\x00\xff" * 500, b"GET /\r\n", b"POST / HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\n",
           b"GET /" + b"a" * 100_000, b"\x16\x03\x01\x02\x00\x01\x00", b""]


class Case(CkptTest):
    def shown(self, *words, options=(), **environment):
        """A job that has said where it is shown."""
        job = self.start(words[0], "--dir", self.dir, "--http", *options, *words[1:],
                         **{"COUNTER_HOLD": str(self.hold), **environment})
        job.wait_for("shown at http://")
        job.entrance = re.search(r"shown at (\S+)", job.errors()).group(1)
        job.base = job.entrance.split("/?")[0]
        return job

    def get(self, job, path, **headers):
        request = urllib.request.Request(job.base + path, headers=headers)
        try:
            with urllib.request.urlopen(request, timeout=30) as response:
                return response.status, response.read().decode()
        except urllib.error.HTTPError as refused:
            return refused.code, refused.read().decode()

    def seen(self, job):
        code, body = self.get(job, "/api/v1/job")
        return json.loads(body) if code == 200 else None

    def wait_until(self, job, holds):
        """The JSON of the job, when that is so."""
        end, found = time.monotonic() + PATIENCE, None
        while time.monotonic() < end:
            found = self.seen(job)
            if found and holds(found):
                return found
            select.select([], [], [], 0.1)  # A keeper shows itself every second; nothing tells us of it.
        raise AssertionError(f"{found}; {job.errors()}")

    def metrics(self, job):
        return dict(line.rsplit(" ", 1) for line in self.get(job, "/metrics")[1].splitlines() if line[0] != "#")


class Shown(Case):
    def test_a_checkpoint_is_shown_with_what_was_forecast_and_what_it_took(self):
        job = self.shown("run", "--", *PROGRAM)
        job.read(3)
        before = self.wait_until(job, lambda one: one["state"] == "running" and one["forecast"])
        self.assertEqual([], before["checkpoints"]["past"])
        self.assertEqual([*map(str, PROGRAM)], before["command"])
        self.assertEqual(str(self.dir), before["directory"])
        self.assertEqual(1, len(before["hosts"]))
        self.assertEqual(2, before["processes"])  # It has a child.
        self.assertIsNone(before["window"])
        self.assertIsNone(before["stop_in"])
        self.assertGreater(before["resident_bytes"], 4_000_000)
        self.assertEqual((200, "ok\n"), self.get(job, "/readyz"))
        self.assertEqual((200, "ok\n"), self.get(job, "/healthz"))
        said = self.ckpt("save", "--dir", self.dir).stdout
        after = self.wait_until(job, lambda one: one["checkpoints"]["saved"] == 1 and one["store"]
                                and one["store"]["images"] and one["forecast"] and one["forecast"]["learnt"])
        (past,) = after["checkpoints"]["past"]
        self.assertEqual(("saved", 1, 1, False, ""),
                         tuple(past[name] for name in ["outcome", "image", "tries", "stops", "why"]))
        # It took what the command has said, and longer than the job stood still.
        took = re.search(r"in ([\d.]+) (ms|s), frozen for ([\d.]+) (ms|s)", said)
        scale = {"ms": 1e-3, "s": 1}
        for name, at in [("took", 1), ("frozen", 3)]:
            self.assertAlmostEqual(float(took[at]) * scale[took[at + 1]] / past[name], 1, delta=0.05)
        self.assertLessEqual(past["frozen"], past["took"])
        self.assertGreater(past["forecast_p95"], past["forecast_p50"])
        self.assertGreater(past["forecast_p50"], 0)
        (image,) = after["store"]["images"]
        self.assertEqual((1, past["bytes"]), (image["image"], image["bytes"]))
        self.assertEqual(self.images()[0]["bytes"], past["bytes"])
        self.assertGreater(after["store"]["size_bytes"], after["store"]["free_bytes"])
        self.assertEqual(1, after["forecast"]["learnt"])
        metrics = self.metrics(job)
        self.assertEqual("1", metrics['piracema_ckpt_checkpoints_total{outcome="saved"}'])
        self.assertEqual(past["took"], float(metrics["piracema_ckpt_last_checkpoint_duration_seconds"]))
        self.assertEqual(past["bytes"], int(metrics["piracema_ckpt_last_checkpoint_size_bytes"]))
        # The JSON has it to the nanosecond.
        self.assertAlmostEqual(past["forecast_p50"], delta=1e-9, second=
                               float(metrics['piracema_ckpt_last_checkpoint_forecast_seconds{percentile="50"}']))
        self.assertTrue(self.get(job, "/metrics", Accept="application/openmetrics-text")[1].endswith("# EOF\n"))
        lines = json.loads(self.get(job, "/api/v1/log")[1])["lines"]
        self.assertIn("saved: image 1", lines[-1]["text"])
        self.assertNotIn(job.entrance.split("token=")[1], json.dumps(lines))

        # It goes on from there, and says so; by SIGTERM it ends with an image as before.
        self.ckpt("stop", "--dir", self.dir)
        self.assertEqual(75, job.end(), job.errors())
        with self.assertRaises(OSError):
            self.get(job, "/healthz")
        second = self.shown("resume", options=("--every", "300ms"))
        found = self.wait_until(second, lambda one: one["checkpoints"]["saved"] >= 1)
        self.assertEqual(2, found["from_image"])
        self.assertEqual({"launched": 1, "failed": 0}, found["launches"])
        self.assertEqual(0.3, found["every"])
        self.assertLessEqual(len(found["store"]["images"]), 3)
        second.process.send_signal(signal.SIGTERM)
        self.assertEqual(75, second.end(), second.errors())

    def test_a_window_is_shown_with_its_end_and_when_the_last_checkpoint_begins(self):
        job = self.shown("window", "--", *PROGRAM, options=("--for", "1h"))
        job.read(1)
        found = self.wait_until(job, lambda one: one["state"] == "running" and one["forecast"])
        window = found["window"]
        self.assertEqual("--for 1h", window["closes_why"])
        self.assertAlmostEqual(3600, window["closes_in"] + window["open_for"], delta=1)
        self.assertAlmostEqual(found["stop_in"],
                               window["closes_in"] - max(found["forecast"]["ending"], 0.3) - found["forecast"]["planned"],
                               delta=0.1)
        closes = float(self.metrics(job)["piracema_ckpt_window_closes_timestamp_seconds"])
        self.assertAlmostEqual(closes, window["closes_at_unix"], delta=0.1)

    def test_a_checkpoint_that_fails_is_shown_with_why(self):
        criu = self.path / "criu"
        criu.write_text(f'#!/bin/sh\n[ "$1" = dump ] && exit 1\nexec {self.criu()} "$@"\n')
        criu.chmod(0o755)
        job = self.shown("run", "--", *PROGRAM, options=("--criu", criu))
        job.read(1)
        said = self.ckpt("save", "--dir", self.dir, code=1).stderr
        found = self.wait_until(job, lambda one: one["checkpoints"]["failed"] == 1)
        (past,) = found["checkpoints"]["past"]
        self.assertEqual("failed", past["outcome"])
        self.assertIn(past["why"], said)
        self.assertNotEqual("", past["why"])
        self.assertTrue(found["ready"])

    def test_what_cannot_be_shown_is_refused_before_the_job_begins(self):
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            port = taken.getsockname()[1]
            for option, why in [(f"--http=127.0.0.1:{port}", "--http: .*hint: take another port"),
                                ("--http=0.0.0.0:0", "--http: .*want a file with a token"),
                                ("--http=nowhere:x", "--http: want an address")]:
                run = self.ckpt("run", "--dir", self.dir, option, "--", "touch", self.path / "ran", code=3)
                self.assertRegex(run.stderr, why)
        self.assertFalse(self.dir.exists())
        self.assertFalse((self.path / "ran").exists())

    def test_garbage_on_the_port_changes_nothing_of_the_job(self):
        job = self.shown("run", "--", *SHORT)
        host, port = job.base.removeprefix("http://").split(":")
        connections = [socket.create_connection((host, int(port)), timeout=30) for _ in GARBAGE]
        for connection, text in zip(connections, GARBAGE):
            try:
                connection.sendall(text)
            except ConnectionError:
                pass  # It was shut out before it had said all of that.
        self.wait_until(job, lambda one: one["ready"])
        self.assertEqual((200, "ok\n"), self.get(job, "/healthz"))
        request = urllib.request.Request(job.base + "/api/v1/job", data=b"", method="POST", headers={
            "X-Piracema": "1", "Authorization": "Bearer " + job.entrance.split("token=")[1]})
        with self.assertRaises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(request, timeout=30)
        refused.exception.close()
        self.assertEqual(405, refused.exception.code)
        self.assertEqual(404, self.get(job, "/nothing")[0])
        self.assertIn("frozen for", self.ckpt("save", "--dir", self.dir).stdout)
        self.assertEqual(SHORT[-1], job.end(), job.errors())
        for connection in connections:
            connection.close()
        self.assertEqual("".join(job.lines), self.plain(*SHORT)[0])

    def test_a_keeper_whose_page_is_killed_goes_on_and_a_killed_keeper_leaves_no_page(self):
        job = self.shown("run", "--", *PROGRAM)
        job.read(1)
        os.kill(self.page_of(job), signal.SIGKILL)
        job.wait_for("nothing is shown any more")
        self.assertIn("frozen for", self.ckpt("save", "--dir", self.dir).stdout)
        job.kill()
        second = self.shown("resume")
        page = self.page_of(second)
        second.kill()
        wait_for_end(page)

    def page_of(self, job):
        """The process that listens there."""
        port = int(job.base.rsplit(":", 1)[1])
        for folder in pathlib.Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):  # It has ended meanwhile.
                if port in ports_of(int(folder.name)):
                    return int(folder.name)
        raise AssertionError(f"nobody listens at {port}")


@unittest.skipIf(hosts.can_be_made(), "hosts cannot be made here")
class ShownOnSeveral(Case):
    def test_a_job_of_several_hosts_is_shown_with_all_of_them(self):
        places = hosts.Hosts(2, self.path)
        self.addCleanup(places.close)
        job = self.shown("run", "--", *PROGRAM, options=("--hosts", places.names(1, 2), "--rsh", places.rsh))
        job.read(2)
        # Hosts tell of their memory once a second.
        self.wait_until(job, lambda one: one["forecast"])
        self.assertIn("frozen for", self.ckpt("save", "--dir", self.dir).stdout)
        found = self.wait_until(job, lambda one: one["checkpoints"]["saved"] == 1 and one["processes"])
        self.assertEqual(places.names(1, 2), ",".join(found["hosts"]))
        self.assertEqual(2, found["processes"])
        (past,) = found["checkpoints"]["past"]
        self.assertGreater(past["bytes"], 4_000_000)
        self.assertGreater(past["forecast_p50"], 0)


if __name__ == "__main__":
    probe = subprocess.run([PIRACEMA, "run", "--http", "/bin/true"], capture_output=True, text=True,
                           stdin=subprocess.DEVNULL)
    if "install libmicrohttpd" in probe.stderr:
        skip(probe.stderr.strip())
    main()
