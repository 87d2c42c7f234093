#!/usr/bin/env python3
"""A cluster on a page, for scripts and for Prometheus, as a user sees it who may look and no more; with a
node that is lost, and a control plane that does not go on. Pictures are left in $PICTURES."""

import http.client
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import unittest
import urllib.error
import urllib.request

os.environ.setdefault("STREAM_APP", "")
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "cluster"))

from cluster_of_nodes import CLEAN, PIRACEMA, SECONDS_MAX, ClusterOfNodes, children_of  # noqa: E402
import page_test  # noqa: E402
import prometheus_test  # noqa: E402
from page_test import CONTRAST, CONTRAST_MIN, NAMELESS, PAGE_BYTES_MAX, Browser  # noqa: E402
from support import APP, main, run_top, skip  # noqa: E402


def shown(page, selector):
    """Its text; tables are drawn anew every second, and an element of before is none any more."""
    return page.run("const one = document.querySelector(arguments[0]); return one ? one.innerText : '';", selector)


class Shown(ClusterOfNodes):
    def setUp(self):
        super().setUp()
        self.wait_for_nodes()
        self.ask("add-user", "bob", "--role", "look")
        self.process = subprocess.Popen(
            [PIRACEMA, "cluster", "dashboard", "--cluster", self.folder / "c" / "users" / "bob", "--timeout", "2s"],
            env=CLEAN, text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.addCleanup(self.process.stdout.close)
        self.addCleanup(self.process.wait)
        self.addCleanup(self.process.kill)
        self.entrance = self.process.stdout.readline().split()[-1]
        self.base = self.entrance.split("/?")[0]
        self.wait_until(lambda: self.get("/readyz")[0] == 200, "it is not ready")

    def get(self, path, **headers):
        request = urllib.request.Request(self.base + path, headers=headers)
        try:
            with urllib.request.urlopen(request, timeout=30) as response:
                return response.status, response.read().decode()
        except urllib.error.HTTPError as refused:
            return refused.code, refused.read().decode()

    def seen(self):
        code, body = self.get("/api/v1/cluster")
        self.assertEqual(200, code, body)
        return json.loads(body)

    def lose(self, name):
        """The node, with its replica of the control plane and all that runs there."""
        process = self.processes[name]
        replicas = [pid for pid, words in children_of(process.pid) if b"replica" in words]
        process.kill()
        process.wait()
        for pid in replicas:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass

    def figure(self, name, /, **labels):
        _, text = self.get("/metrics")
        for line in text.splitlines():
            if line.startswith(name) and all(f'{key}="{value}"' in line for key, value in labels.items()):
                return float(line.split()[-1])
        return None


    def stream(self):
        """A stream that runs and has lost a worker, as a job of the cluster; its number, and its stream."""
        job = int(self.ask("submit", "--slots", 2, "--name", "counts", "--stream", "--snapshots", self.folder / "s",
                           "--every", "100ms", "--", APP, self.folder / "out", "100000000", "slow"))

        # Before its node is killed, so that nothing of it writes while all is removed.
        self.addCleanup(self.call, "wait", job)
        self.addCleanup(self.call, "cancel", job)

        def known(right):
            found = next((one for one in self.seen()["jobs"] if one["job"] == job), {})
            one = found.get("stream", {"known": False})
            return one["known"] and right(one) and one
        self.wait_until(lambda: known(lambda one: one["snapshots"]["taken"] > 1), "it is not seen")

        def workers(pid):
            for child, words in children_of(pid):
                yield from [child] if words[0] == APP.encode() else workers(child)
        os.kill(list(workers(self.processes[self.job(job)["node"]].pid))[-1], signal.SIGKILL)
        return job, self.wait_until(
            lambda: known(lambda one: one["failure"] and one["failure"]["running_after_ms"] is not None), "no loss")


class Interface(Shown):
    def test_what_runs_inside_a_stream_is_in_the_json_and_the_figures(self):
        sleeps = self.submit("sleep 1000")
        job, one = self.stream()
        self.assertIn("noticed by the end of its process: killed by signal 9 (SIGKILL)", one["failure"]["text"])
        self.wait_until(lambda: self.seen()["jobs"][0].get("stream") ==
                        {"known": False, "why": "it shows no stream"}, f"job {sleeps} is not said to be none")
        code, out, said = run_top("--once", self.entrance)
        self.assertEqual((0, ""), (code, said))
        for words in ["cluster  goes on  3 of 3 replicas", "counts  ", "/s out", "it shows no stream"]:
            self.assertIn(words, out)
        self.assertEqual("cluster", json.loads(run_top("--once", "--json", self.base)[1])["kind"])
        self.assertEqual(1.0, self.figure("piracema_cluster_streams", known="yes"))
        self.assertEqual(0.0, self.figure("piracema_cluster_streams", known="no"))
        labels = {"job_id": job, "name": "counts"}
        self.wait_until(lambda: self.figure("piracema_cluster_stream_items_per_second", direction="out", **labels),
                        "it stands still")
        self.assertEqual(1.0, self.figure("piracema_cluster_stream_failures_total", **labels))
        self.assertEqual(1.0, self.figure("piracema_cluster_stream_recoveries_total", **labels))
        self.assertEqual(2.0, self.figure("piracema_cluster_stream_workers", **labels))
        self.assertGreater(self.figure("piracema_cluster_stream_snapshots_total", outcome="complete", **labels), 1)
        self.assertGreater(self.figure("piracema_cluster_stream_last_snapshot_size_bytes", **labels), 0)
        self.assertIsNone(self.figure("piracema_cluster_stream_workers", job_id=sleeps))
        self.ask("cancel", job)
        self.wait_until(lambda: self.figure("piracema_cluster_streams", known="yes") == 0, "it is shown still")
        self.assertIsNone(self.figure("piracema_cluster_stream_workers", **labels))

    def test_it_says_what_status_says_and_changes_nothing(self):
        job = self.submit("echo hello; exec sleep 1000")
        failed = self.submit("exit 3")
        self.wait(failed, code=3)
        self.wait_until(lambda: self.get(f"/api/v1/log?job={job}") == (200, "hello\n"), "no log")
        self.wait_until(lambda: [one["state"] for one in self.seen()["jobs"]] == ["running", "failed"], "no end")
        found = self.seen()
        status = json.loads(self.ask("status", "--json"))
        for name in ["goes_on", "wanted", "here"]:
            self.assertEqual(status[name], found[name])
        self.assertEqual([node["node"] for node in status["nodes"]], [node["node"] for node in found["nodes"]])
        self.assertEqual(["admin", "admin"], [one["user"] for one in found["jobs"]])
        self.assertEqual("bob", found["seen_as"])
        self.assertEqual(["admin", "bob"], [user["user"] for user in found["users"]])
        self.assertEqual(404, self.get("/api/v1/log?job=77")[0])
        self.assertEqual(400, self.get("/api/v1/log?job=x")[0])
        self.assertEqual(404, self.get("/nothing")[0])
        # Nobody changes anything through it, with the token or without; nor by another name.
        host = self.base.removeprefix("http://")
        token = self.entrance.split("token=")[1]
        for method, headers, code in [("POST", {}, 403), ("POST", {"X-Piracema": "1"}, 401),
                                      ("POST", {"X-Piracema": "1", "Authorization": f"Bearer {token}"}, 405),
                                      ("DELETE", {"X-Piracema": "1", "Authorization": f"Bearer {token}"}, 405),
                                      ("GET", {"Host": "evil.example"}, 421)]:
            connection = http.client.HTTPConnection(host, timeout=30)
            connection.request(method, "/api/v1/cluster", headers=headers)
            answer = connection.getresponse()
            answer.read()
            self.assertEqual(code, answer.status, (method, headers))
            connection.close()
        self.process.send_signal(signal.SIGINT)
        self.assertEqual(0, self.process.wait(SECONDS_MAX))

    def test_a_lost_node_and_a_lost_control_plane_are_seen(self):
        self.assertEqual(0.0, self.figure("piracema_cluster_node_lost", node="c"))
        self.lose("c")
        self.wait_until(lambda: self.figure("piracema_cluster_node_lost", node="c") == 1.0, "it is not seen")
        self.assertEqual(1.0, self.figure("piracema_cluster_goes_on"))
        self.assertEqual(200, self.get("/readyz")[0])
        self.lose("b")
        code, why = self.wait_until(lambda: (found := self.get("/readyz"))[0] == 503 and found, "it is not seen")
        self.assertIn("while the control plane does not go on", why)
        self.assertEqual(0.0, self.figure("piracema_cluster_goes_on"))
        # What is not known is not said.
        self.assertIsNone(self.figure("piracema_cluster_node_lost", node="c"))
        self.assertEqual(503, self.get("/api/v1/log?job=1")[0])
        self.assertEqual((200, "ok\n"), self.get("/healthz"))
        self.start("b")
        self.wait_until(lambda: self.get("/readyz")[0] == 200, "it is not back")

    def test_prometheus_reads_it_and_the_alerts_are_about_figures_that_there_are(self):
        prometheus = prometheus_test.Prometheus(self, self.base.removeprefix("http://"))
        self.wait(self.submit("true"))
        prometheus.wait_for('piracema_cluster_jobs{user="admin",state="done"}', lambda value: value == 1)
        _, openmetrics = self.get("/metrics", Accept="application/openmetrics-text")
        self.assertTrue(openmetrics.endswith("# EOF\n"))
        with urllib.request.urlopen(prometheus.base + "/api/v1/rules", timeout=30) as response:
            groups = json.load(response)["data"]["groups"]
        rules = [rule for group in groups if group["name"] == "piracema-cluster" for rule in group["rules"]]
        self.assertGreaterEqual(len(rules), 4)
        for rule in rules:
            for name in re.findall(r"piracema_\w+", rule["query"]):
                self.assertTrue(prometheus.ask(name), name)
        self.lose("c")
        (lost,) = [rule for rule in rules if rule["name"] == "PiracemaNodeLost"]
        prometheus.wait_for(lost["query"])

    def test_each_panel_of_a_cluster_has_an_answer_and_so_has_each_alert_about_streams(self):
        target = self.base.removeprefix("http://")
        prometheus = prometheus_test.Prometheus(self, target)
        self.wait(self.submit("true"))
        job, _ = self.stream()
        prometheus.answer_each_panel(self, "grafana-cluster.json", target)
        with urllib.request.urlopen(prometheus.base + "/api/v1/rules", timeout=30) as response:
            groups = json.load(response)["data"]["groups"]
        rules = [rule for group in groups if group["name"] == "piracema-cluster-streams" for rule in group["rules"]]
        self.assertGreaterEqual(len(rules), 5)
        for rule in rules:
            for name in re.findall(r"piracema_\w+", rule["query"]):
                self.assertTrue(prometheus.ask(name), name)
        # Prometheus has a label "job" of its own: which stream it is about is said by another one.
        [(labels, _)] = prometheus.ask("piracema_cluster_stream_workers")
        self.assertEqual((str(job), "counts"), (labels["job_id"], labels["name"]))
        self.assertNotIn("exported_job", labels)

    def test_where_it_cannot_serve_it_says_so(self):
        place = ["--cluster", self.folder / "c" / "users" / "bob"]
        for words, why in [(["--http", "0.0.0.0:0"], "is reached by other machines: want a file with a token"),
                           (["--http", self.base.split(":")[-1]], "cannot listen on 127.0.0.1:"),
                           (["--http", "nowhere"], "found 'nowhere'"),
                           (["--http-token", self.folder / "none"], "token file")]:
            run = subprocess.run([PIRACEMA, "cluster", "dashboard", *place, *words], env=CLEAN, text=True,
                                 capture_output=True, stdin=subprocess.DEVNULL, timeout=SECONDS_MAX)
            self.assertIn(run.returncode, (1, 3), run.stderr)
            self.assertIn(why, run.stderr)


class ClusterPage(Shown):
    def test_it_shows_what_runs_inside_streams_and_what_they_lost(self):
        job, _ = self.stream()
        self.submit("sleep 1000", "--name", "plain")
        page = Browser(self)
        page.open(self.entrance)
        page.wait(lambda: "it shows no stream" in shown(page, "#losses"))
        cells = page.texts("#streams tbody tr:first-child > *")
        self.assertEqual([str(job), "counts", "running"], cells[:3])
        self.assertRegex(cells[3], "/s$")
        self.assertEqual(["2", "1"], [cells[8], cells[12]])
        self.assertRegex(cells[9], " ago$")
        self.assertRegex(cells[13], r"^[abc], for \d")
        self.assertRegex(shown(page, "#losses"), rf"Job {job} counts, .* ago: worker \d .* was lost; noticed by the end of its process")
        self.assertEqual([], page.complaints())
        for width in [380, 1280]:
            for dark in [False, True]:
                page = Browser(self, width, dark)
                page.open(self.base + "/")
                page.wait(lambda: "it shows no stream" in shown(page, "#losses"))
                self.assertEqual(width, page.run("return document.documentElement.scrollWidth"), "it scrolls sideways")
                self.assertEqual([], page.run(CONTRAST, CONTRAST_MIN), f"width {width}, dark {dark}")
                self.assertEqual([], page.run(NAMELESS))
                page.picture(f"cluster-streams-{width}-{'dark' if dark else 'light'}")
                page.driver.quit()

    def test_it_shows_nodes_and_jobs_and_what_they_wait_for_and_say(self):
        job = self.submit("echo hello from the job; exec sleep 1000", "--name", "long", "--on", "a")
        self.submit("true", "--slots", "50", "--name", "large")
        page = Browser(self)
        page.open(self.entrance)
        self.assertEqual(self.base + "/", page.driver.current_url)
        page.wait(lambda: page.text("#phase") == "all is well")
        page.wait(lambda: "waits for a node of 50 slots" in shown(page, "#jobs"))
        self.assertEqual("waiting: it waits for a place.", shown(page, "#job-states"))
        self.assertEqual("", shown(page, "#node-states"))
        self.assertIn("running", shown(page, "#jobs tbody tr:nth-child(1)"))
        self.assertIn("admin", shown(page, "#jobs tbody tr:nth-child(1)"))
        self.assertFalse(page.all("#log")[0].is_displayed())
        # By the keyboard alone; what was chosen stays so while the page is drawn anew.
        page.run("document.getElementById('log-of').focus()")
        page.driver.switch_to.active_element.send_keys(f"{job} ")
        page.wait(lambda: "hello from the job" in page.text("#log"))
        page.drawn(2)
        self.assertEqual("log-of", page.run("return document.activeElement.id"))
        self.assertEqual(str(job), page.run("return document.activeElement.value"))
        self.assertIn("leads", shown(page, "#replicas"))
        self.lose("c")
        page.wait(lambda: page.text("#phase") == "something is missing")
        page.wait(lambda: "not heard of" in shown(page, "#nodes tbody tr:nth-child(3)"))
        self.assertEqual("not heard of: no word of it for 5 s: its jobs begin elsewhere.", shown(page, "#node-states"))
        page.wait(lambda: "the node c was lost: not heard of for 5000 ms" in shown(page, "#events tbody tr"))
        self.assertNotIn(self.entrance.split("token=")[1], page.run("return document.documentElement.outerHTML"))
        asked = page.run("return performance.getEntriesByType('resource').map(one => [one.name, one.encodedBodySize])")
        self.assertEqual([], [name for name, _ in asked if not name.startswith(self.base + "/")])
        files = sum(size for name, size in asked if "/api/" not in name)
        self.assertLess(files + len(self.get("/")[1]), PAGE_BYTES_MAX)
        self.assertEqual([], page.complaints())
        self.lose("b")
        page.wait(lambda: page.text("#phase") == "the control plane does not go on")
        self.assertRegex(page.text("#stale"), "while the control plane does not go on; this is what was known at ..:..:..")
        self.start("b")
        page.wait(lambda: page.text("#phase") == "something is missing")
        for width in [380, 1280]:
            for dark in [False, True]:
                page = Browser(self, width, dark)
                page.open(self.base + "/")
                page.wait(lambda: page.all("#jobs tbody tr"))
                self.assertEqual(width, page.run("return document.documentElement.scrollWidth"), "it scrolls sideways")
                self.assertEqual([], page.run(CONTRAST, CONTRAST_MIN), f"width {width}, dark {dark}")
                self.assertEqual([], page.run(NAMELESS))
                page.picture(f"cluster-{width}-{'dark' if dark else 'light'}")
                page.driver.quit()


if __name__ == "__main__":
    if page_test.webdriver is None or page_test.DRIVER is None or shutil.which("chromium") is None:
        skip("there is no Chromium that can be driven: scripts/setup --with-http")
    if shutil.which("prometheus") is None:
        skip("there is no Prometheus: scripts/setup --with-http")
    main()
