#!/usr/bin/env python3
"""A job that loses a process, as it is seen over HTTP: by scripts, by Prometheus, from its beginning to
its end; and who may not stop it."""

import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest
import urllib.error

from support import APP, PIRACEMA, SECONDS_MAX, Job, main, run_top, skip

KILL = ["--snapshots", "snapshots", "--every", "200ms", "--kill", "work.1@5"]


class Http(unittest.TestCase):
    def test_a_loss_is_seen_from_who_was_lost_to_what_was_redone(self):
        job = Job(self, 20_000, *KILL)
        failures = job.wait_for("recovery", "failures", lambda found: found["failures"] and
                                found["failures"][0]["first_out_after"] is not None)
        failure = failures["failures"][0]
        loss = failure["losses"][0]
        self.assertIn("work/1", loss["replicas"])
        self.assertEqual("process_ended", loss["cause"])
        self.assertIn("SIGKILL", loss["how"])
        self.assertLessEqual(loss["killed_at"], loss["at"])
        self.assertEqual(2, failure["epoch"])
        self.assertGreaterEqual(failure["snapshot"], 1)
        self.assertLessEqual(failure["recovering_after"], failure["running_after"])

        seen = job.wait_for("figures", "job", lambda found: found["items_in_per_second"] > 0
                            and found["recoveries"] == 1 and found["phase"] == "running")
        self.assertEqual(1, seen["failures"])
        self.assertEqual(3, seen["processes_started"])
        self.assertEqual(0.2, seen["snapshots"]["every"])
        graph = job.api("graph")
        self.assertEqual(["numbers", "work", "lines"], [node["name"] for node in graph["nodes"]])
        times = [node["busy"] + node["blocked"] + node["idle"] for node in graph["nodes"]]
        # All of the time of each replica is one of the three, so three replicas have three times as much.
        self.assertAlmostEqual(times[1], 3 * times[0], places=2)
        work = graph["nodes"][1]
        self.assertGreater(work["busy_share"], 0.5)
        self.assertIn("work holds the job back", seen["bottleneck"])
        self.assertGreater(graph["nodes"][0]["blocked_share"], 0.5)
        replicas = job.api("replicas")
        self.assertEqual(5, replicas["count"])
        self.assertEqual(3, len(job.get("/api/v1/replicas?node=work").split('"name"')) - 1)
        workers = job.api("hosts")["hosts"][0]["workers"]
        self.assertEqual([0, 1], [worker["worker"] for worker in workers])
        self.assertEqual(1, sum(worker["incarnation"] for worker in workers))
        snapshots = job.api("snapshots")["snapshots"]
        # The one that was being taken when the process was lost may have failed by it, and no other.
        failed = [one["failed"] for one in snapshots if one["failed"] is not None]
        self.assertTrue(failed in ([], ["worker 1 was lost"], ["worker 0 was lost"]), failed)
        complete = [one for one in snapshots if one["failed"] is None]
        self.assertTrue(complete and all(one["took"] > 0 for one in complete))
        self.assertEqual("ok\n", job.get("/healthz"))
        self.assertEqual("ok\n", job.get("/readyz"))

        text = job.get("/metrics")
        self.assertIn('piracema_failures_total{cause="process_ended"} 1\n', text)
        self.assertIn("\npiracema_recoveries_total 1\n", text)
        self.assertIn("\npiracema_epoch 2\n", text)
        self.assertRegex(text, r'\npiracema_items_total\{node="work",direction="in"\} [1-9]')
        self.assertIn('replica="2"', job.get("/metrics/replicas"))
        self.assertTrue(job.get("/metrics", Accept="application/openmetrics-text").endswith("# EOF\n"))
        self.assertEqual(202, job.post("/api/v1/stop", job.token(), **{"X-Piracema": "1"}))
        code, said = job.end()
        self.assertEqual(75, code, said)

    def test_who_may_not_stop_it_does_not(self):
        job = Job(self, 20_000, *KILL[:4])
        mark = {"X-Piracema": "1"}
        self.assertEqual(401, job.post("/api/v1/stop", **mark))
        self.assertEqual(401, job.post("/api/v1/stop", "0" * 32, **mark))
        self.assertEqual(403, job.post("/api/v1/stop", job.token()))
        self.assertEqual(403, job.post("/api/v1/stop", job.token(), Origin="http://evil.example", **mark))
        self.assertEqual(421, job.post("/api/v1/stop", job.token(), Host="evil.example", **mark))
        self.assertEqual(404, job.post("/metrics", job.token(), **mark))
        # Everybody on this machine may read the log, so the token is not in it.
        self.assertNotIn(job.token(), job.get("/api/v1/all"))
        job.wait_for("work", "job", lambda found: found["items"] > 0)
        self.assertEqual(202, job.post("/api/v1/stop", job.token(), **mark))
        self.assertEqual(75, job.end()[0])

    def test_a_program_that_runs_by_itself_shows_itself_if_it_is_asked_to(self):
        job = Job(self, 0, command=[APP, "out", "3000", "slow"],
                  environment={"PIRACEMA_HTTP": "on", "PIRACEMA_SNAPSHOTS": "snapshots"})
        seen = job.wait_for("work", "job", lambda found: found["items"] > 0)
        self.assertEqual("cluster_driver_test_app", seen["program"])
        self.assertEqual("this process", job.api("hosts")["hosts"][0]["name"])
        job.wait_for("snapshot", "snapshots", lambda found: found["count"] > 0)
        self.assertEqual(202, job.post("/api/v1/stop", job.token(), **{"X-Piracema": "1"}))
        self.assertEqual(75, job.end()[0])

    def test_an_address_beyond_loopback_wants_a_token(self):
        for http, words in [(["--http=0.0.0.0:0"], "want a file with a token"),
                            (["--http=nowhere"], "want an address such as"),
                            (["--http=0.0.0.0:0", "--http-token", "/nowhere"], "'/nowhere'")]:
            code, said = Job(self, 10, http=http).end()
            self.assertEqual(3, code, said)
            self.assertIn(words, said)

    def test_an_option_without_a_value_does_not_take_the_program_for_one(self):
        code, said = Job(self, 10).end()
        self.assertEqual(0, code, said)

    def test_top_shows_the_same_until_the_job_is_over(self):
        job = Job(self, 20_000, *KILL)
        job.wait_for("recovery", "job", lambda found: found["recoveries"] == 1
                     and found["phase"] == "running" and found["items_in_per_second"] > 0)
        code, out, said = run_top("--once", job.entrance())
        self.assertEqual(0, code, said)
        for words in ["cluster_driver_test_app  running", "work ", "in the job", "SIGKILL",
                      "running again after"]:
            self.assertIn(words, out)
        self.assertNotIn("\x1b", out)
        code, out, said = run_top("--once", "--json", job.base())
        self.assertEqual((0, "", 1), (code, said, out.count("\n")))
        self.assertEqual(("stream", 1), (json.loads(out)["kind"], json.loads(out)["job"]["recoveries"]))
        with subprocess.Popen([PIRACEMA, "top", "--every", "200ms", job.base()], text=True,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE) as top:
            self.addCleanup(top.kill)
            screens = 0
            while screens < 3:
                line = top.stdout.readline()
                self.assertTrue(line, f"it ended after {screens} screens")
                screens += line.count("cluster_driver_test_app")
            self.assertEqual(202, job.post("/api/v1/stop", job.token(), **{"X-Piracema": "1"}))
            _, said = top.communicate(timeout=SECONDS_MAX)
            self.assertEqual(0, top.returncode, said)
            self.assertIn("the job has ended", said)
        self.assertEqual(75, job.end()[0])

    def test_top_says_what_it_did_not_find(self):
        for words, code, said in [(["127.0.0.1:1"], 3, "127.0.0.1:1: Connection refused"),
                                  (["nowhere"], 2, "found 'nowhere'"), ([], 2, "ADDRESS"),
                                  (["--http-token", "/nowhere", "80"], 3, "/nowhere")]:
            found, _, text = run_top(*words)
            self.assertEqual(code, found, text)
            self.assertIn(said, text)

    def token_file(self):
        folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, folder)
        token = folder / "token"
        token.touch(0o600)
        token.write_text("0123456789abcdef\n")
        return token

    def test_whoever_reads_wants_a_token_that_is_given_on_loopback_too(self):
        token = self.token_file()
        job = Job(self, 20_000, http=("--http", "--http-token", str(token)))
        with self.assertRaises(urllib.error.HTTPError) as refused:
            job.get("/api/v1/job")
        self.assertEqual(401, refused.exception.code)
        refused.exception.close()
        self.assertIn("phase", job.get("/api/v1/job", Authorization="Bearer 0123456789abcdef"))
        self.assertEqual("ok\n", job.get("/healthz"))

    def test_top_is_asked_for_the_token_beyond_loopback(self):
        token = self.token_file()
        job = Job(self, 20_000, http=("--http=0.0.0.0:0", "--http-token", str(token)))
        port = job.entrance().split("/?")[0].rsplit(":", 1)[1]
        code, _, said = run_top("--once", port)
        self.assertEqual(3, code)
        self.assertIn("401", said)
        code, out, said = run_top("--once", "--http-token", str(token), port)
        self.assertEqual(0, code, said)

    def test_nobody_is_served_who_has_not_asked(self):
        job = Job(self, 300, http=())
        inodes = set()
        for file in pathlib.Path(f"/proc/{job.process.pid}/maps").read_text().splitlines():
            inodes.add(file.split("/")[-1])
        self.assertFalse([name for name in inodes if name.startswith("libmicrohttpd")])
        self.assertEqual(0, job.end()[0])

    def test_a_node_that_is_slow_has_items_that_wait_and_is_behind(self):
        # Without snapshots it ends with a worker that a busy machine keeps silent.
        job = Job(self, 20_000, "--heartbeat", "2s")
        graph = job.wait_for("lag", "graph", lambda found: any(
            node["waiting_items"] and node["lag"] for node in found["nodes"]))
        numbers, work, lines = graph["nodes"]
        self.assertEqual((None, None), (numbers["waiting_items"], numbers["lag"]))
        # The sink takes at once what comes.
        self.assertGreater(work["waiting_items"], lines["waiting_items"])
        self.assertGreater(work["lag"], 0)
        job.wait_for("lag of the sinks", "job", lambda found: found["lag"])
        figures = job.get("/metrics")
        for name in ['piracema_waiting_items{node="work"} ', 'piracema_lag_seconds{node="work"} ',
                     'piracema_lag_seconds{node="lines"} ', "piracema_sink_lag_seconds "]:
            self.assertIn("\n" + name, figures)
        self.assertNotIn('piracema_lag_seconds{node="numbers"}', figures)

    def test_promtool_finds_nothing_to_say_about_the_figures(self):
        if shutil.which("promtool") is None:
            if os.environ.get("CI"):
                self.fail("promtool is missing: scripts/setup --with-http")
            self.skipTest("promtool is missing: scripts/setup --with-http")
        job = Job(self, 20_000, *KILL)
        job.wait_for("recovery", "job", lambda found: found["recoveries"] == 1)
        for path in ["/metrics", "/metrics/replicas"]:
            check = subprocess.run(["promtool", "check", "metrics"], input=job.get(path), text=True,
                                   capture_output=True, timeout=SECONDS_MAX)
            self.assertEqual((0, "", ""), (check.returncode, check.stdout, check.stderr))


if __name__ == "__main__":
    probe = subprocess.run([PIRACEMA, "run", "--http", "/bin/true"], capture_output=True, text=True,
                           stdin=subprocess.DEVNULL)
    if "install libmicrohttpd" in probe.stderr:
        skip(probe.stderr.strip())
    main()
