#!/usr/bin/env python3
"""A real Prometheus scrapes a job that loses a process, with the alert rules of packaging/prometheus, and
answers all that the Grafana dashboard there asks it."""

import json
import os
import pathlib
import re
import select
import shutil
import socket
import subprocess
import tempfile
import time
import unittest
import urllib.parse
import urllib.request

from support import SECONDS_MAX, Job, main, skip

FILES = pathlib.Path(os.environ["SHARE"])
KILL = ["--snapshots", "snapshots", "--every", "200ms", "--kill", "work.1@3"]


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class Prometheus:
    def __init__(self, test, target):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        test.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        text = (FILES / "prometheus.yml").read_text()
        text = text.replace("127.0.0.1:8080", target).replace("scrape_interval: 5s", "scrape_interval: 1s")
        (self.folder / "prometheus.yml").write_text(text)
        shutil.copy(FILES / "alerts.yml", self.folder)
        self.base = f"http://127.0.0.1:{free_port()}"
        self.log = open(self.folder / "log", "w+")
        test.addCleanup(self.log.close)
        self.process = subprocess.Popen(
            ["prometheus", f"--config.file={self.folder}/prometheus.yml",
             f"--storage.tsdb.path={self.folder}/data",
             f"--web.listen-address={self.base.removeprefix('http://')}"],
            stdout=self.log, stderr=self.log, stdin=subprocess.DEVNULL)
        test.addCleanup(self.process.wait)
        test.addCleanup(self.process.kill)

    def ask(self, query):
        """Label sets and values; None while it does not answer yet."""
        address = f"{self.base}/api/v1/query?" + urllib.parse.urlencode({"query": query})
        try:
            with urllib.request.urlopen(address, timeout=10) as response:
                answer = json.load(response)
        except (ConnectionError, urllib.error.URLError):
            if self.process.poll() is not None:
                raise AssertionError((self.folder / "log").read_text())
            return None
        return [(one["metric"], float(one["value"][1])) for one in answer["data"]["result"]]

    def wait_for(self, query, wanted=lambda value: True):
        deadline = time.monotonic() + SECONDS_MAX
        found = None
        while time.monotonic() < deadline:
            found = self.ask(query)
            if found and wanted(found[0][1]):
                return found
            select.select([], [], [], 0.2)  # It scrapes every second; nothing tells us of it.
        raise AssertionError(f"{query}: {found}; {(self.folder / 'log').read_text()}")


    def answer_each_panel(self, test, file, target, but=()):
        """All that a dashboard asks of the job at `target`; its notes are understood."""
        dashboard = json.loads((FILES / file).read_text())
        instance = re.escape(target).replace("\\", "\\\\")
        test.assertGreaterEqual(len(dashboard["panels"]), 10)
        test.assertLessEqual(set(but), {panel["title"] for panel in dashboard["panels"]})
        for panel in dashboard["panels"]:
            for one in panel["targets"]:
                with test.subTest(panel=panel["title"]):
                    if panel["title"] in but:
                        test.assertIsNotNone(self.ask(one["expr"].replace("$instance", instance)))
                        continue
                    self.wait_for(one["expr"].replace("$instance", instance))
        for note in dashboard["annotations"]["list"]:
            test.assertIsNotNone(self.ask(note["expr"].replace("$instance", instance)))


class Scraped(unittest.TestCase):
    def test_a_job_is_scraped_and_each_panel_has_an_answer(self):
        job = Job(self, 60_000, *KILL)
        target = job.base().removeprefix("http://")
        prometheus = Prometheus(self, target)
        prometheus.wait_for("piracema_recoveries_total", lambda value: value == 1)
        prometheus.wait_for('rate(piracema_items_total{node="work",direction="out"}[10s])',
                            lambda value: value > 100)
        busy = prometheus.wait_for('sum by (node) (rate(piracema_time_seconds_total{state="busy"}[10s])) '
                                   "/ on (node) piracema_replicas > 0.5")
        self.assertEqual(["work"], [labels["node"] for labels, _ in busy])
        self.assertEqual([({}, 1.0)], [({}, value) for _, value in prometheus.ask("up")])

        prometheus.answer_each_panel(self, "grafana.json", target)
        with urllib.request.urlopen(prometheus.base + "/api/v1/rules", timeout=10) as response:
            rules = json.load(response)["data"]["groups"][0]["rules"]
        self.assertGreaterEqual(len(rules), 5)
        self.assertEqual([], [rule["name"] for rule in rules if rule.get("lastError")])
        self.assertIsNone(job.process.poll())

    def test_rules_and_panels_are_what_promtool_takes(self):
        queries = []
        for file in sorted(path.name for path in FILES.glob("grafana*.json")):
            dashboard = json.loads((FILES / file).read_text())
            for panel in dashboard["panels"]:
                queries += [one["expr"] for one in panel["targets"]]
            queries += [one["expr"] for one in dashboard["annotations"]["list"]]
        with tempfile.TemporaryDirectory() as folder:
            panels = pathlib.Path(folder) / "panels.yml"
            panels.write_text(json.dumps({"groups": [{"name": "panels", "rules": [
                {"record": f"panel:{number}", "expr": query.replace("$instance", ".*")}
                for number, query in enumerate(queries)]}]}))
            for file in [FILES / "alerts.yml", panels]:
                check = subprocess.run(["promtool", "check", "rules", str(file)], text=True,
                                       capture_output=True, timeout=SECONDS_MAX)
                self.assertEqual(0, check.returncode, check.stdout + check.stderr)


if __name__ == "__main__":
    if shutil.which("prometheus") is None or shutil.which("promtool") is None:
        skip("there is no prometheus: scripts/setup --with-http")
    main()
