#!/usr/bin/env python3
"""A job of `piracema ckpt` on a page and for Prometheus, while it is saved and stopped. Pictures are left in
$PICTURES."""

import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import unittest
import urllib.request

import page_test
import prometheus_test
from page_test import CONTRAST, CONTRAST_MIN, NAMELESS, PAGE_BYTES_MAX, Browser
from support import CLEAN, PIRACEMA, SECONDS_MAX, main, run_top, skip

PROGRAM = ["/bin/sh", "-c", "while :; do sleep 0.1; done"]


class Saved(unittest.TestCase):
    def setUp(self):
        # Not in /tmp, which may be memory.
        self.folder = pathlib.Path(tempfile.mkdtemp(dir="/var/tmp", prefix="piracema-ckpt-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def start(self, *words):
        self.job = subprocess.Popen(
            [PIRACEMA, "ckpt", words[0], "--dir", "job", "--http", *words[1:]], cwd=self.folder, env=CLEAN,
            text=True, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL)
        self.addCleanup(self.job.stderr.close)
        self.addCleanup(self.job.wait)
        self.addCleanup(self.job.kill)
        line = self.job.stderr.readline()
        self.assertIn("the job is shown at http://", line)
        self.entrance = line.split()[-1]
        self.base = self.entrance.split("/?")[0]

    def ckpt(self, word, directory="job"):
        done = subprocess.run([PIRACEMA, "ckpt", word, "--dir", directory], cwd=self.folder, env=CLEAN, text=True,
                              capture_output=True, stdin=subprocess.DEVNULL, timeout=SECONDS_MAX)
        self.assertEqual(0, done.returncode, done.stderr)

    def get(self, path):
        with urllib.request.urlopen(self.base + path, timeout=30) as response:
            return response.read().decode()

    def test_the_page_shows_checkpoints_beside_what_was_forecast(self):
        self.start("window", "--for", "1h", "--every", "1h", "--", *PROGRAM)
        page = Browser(self)
        page.open(self.entrance)
        self.assertEqual(self.base + "/", page.driver.current_url)
        page.wait(lambda: page.text("#phase") == "running")
        self.assertEqual("sh", page.text("#title"))
        self.assertEqual(" ".join(PROGRAM), page.text("#command"))
        page.wait(lambda: "--for 1h" in page.text("#summary"))
        self.assertIn("None yet.", page.text("#checkpoints"))
        self.ckpt("save")
        page.wait(lambda: page.texts("#checkpoints tbody td:nth-child(2)") == ["saved"])
        page.wait(lambda: len(page.all("#images tbody tr")) == 1)
        # The forecast is a bar, and what it took a line.
        self.assertEqual((1, 1), (len(page.all("#past rect")), len(page.all("#past line.l-out"))))
        (seen,) = json.loads(self.get("/api/v1/job"))["checkpoints"]["past"]
        cells = page.texts("#checkpoints tbody tr td")
        self.assertEqual(f"{seen['took'] * 1e3:.0f} ms" if seen["took"] < 1 else f"{seen['took']:.2f} s", cells[1])
        code, out, said = run_top("--once", self.entrance)
        self.assertEqual((0, ""), (code, said))
        for words in ["sh  running", " ".join(PROGRAM), "the window closes in ", "(--for 1h)", "it would take ",
                      "checkpoints: 1 saved, 0 failed", "images: 1", "  saved\n"]:
            self.assertIn(words, out)
        _, out, _ = run_top("--once", "--json", self.base)
        self.assertEqual(("ckpt", 1), (json.loads(out)["kind"], json.loads(out)["job"]["checkpoints"]["saved"]))
        self.assertTrue(json.loads(out)["log"]["lines"])
        asked = page.run("return performance.getEntriesByType('resource').map(one => [one.name, one.encodedBodySize])")
        self.assertEqual([], [name for name, _ in asked if not name.startswith(self.base + "/")])
        files = sum(size for name, size in asked if "/api/" not in name)
        self.assertLess(files + len(self.get("/")), PAGE_BYTES_MAX)
        self.assertEqual([], page.complaints())
        for width in [380, 1280]:
            for dark in [False, True]:
                other = Browser(self, width, dark)
                other.open(self.base + "/")
                other.wait(lambda: other.all("#images tbody tr"))
                self.assertEqual(width, other.run("return document.documentElement.scrollWidth"), "it scrolls sideways")
                self.assertEqual([], other.run(CONTRAST, CONTRAST_MIN), f"width {width}, dark {dark}")
                self.assertEqual([], other.run(NAMELESS))
                other.picture(f"ckpt-{width}-{'dark' if dark else 'light'}")
                other.driver.quit()
        self.job.send_signal(signal.SIGTERM)
        self.assertEqual(75, self.job.wait(SECONDS_MAX))
        page.wait(lambda: page.text("#phase") == "no answer")
        self.assertIn("The keeper has ended", page.text("#stale"))

    def test_the_page_of_a_queue_shows_what_runs_and_what_has_left(self):
        user = self.folder / "user"
        for name in ["one", "two"]:
            subprocess.run([PIRACEMA, "ckpt", "submit", "--queue", "queue", "--dir", name, "--", *PROGRAM],
                           cwd=self.folder, env=CLEAN, check=True, stdout=subprocess.DEVNULL)
        self.job = subprocess.Popen(
            [PIRACEMA, "ckpt", "daemon", "--queue", "queue", "--idle", "1s", "--grace", "60s", "--presence",
             f"test -e {user}", "--http"], cwd=self.folder, env=CLEAN, text=True, stdin=subprocess.DEVNULL,
            stderr=subprocess.PIPE, stdout=subprocess.DEVNULL)
        self.addCleanup(self.job.stderr.close)
        self.addCleanup(self.job.wait)
        self.addCleanup(self.job.kill)
        self.entrance = self.job.stderr.readline().split("shown at ")[1].strip()
        self.base = self.entrance.split("/?")[0]
        page = Browser(self)
        page.open(self.entrance)
        page.wait(lambda: page.texts("#jobs tbody td:nth-child(3)") == ["running", "waiting"])
        self.assertEqual("lent", page.text("#phase"))
        page.wait(lambda: (self.folder / "one/control").exists())
        user.touch()
        page.wait(lambda: page.text("#phase") == "not lent")
        # By itself it would leave as late as is safe.
        self.ckpt("stop", "one")
        page.wait(lambda: len(page.all("#gone tbody tr")) == 1)
        self.assertIn("its user is there", page.text("#summary"))
        page.wait(lambda: " runs" in page.text("#log") and "has to leave" in page.text("#log"))
        code, out, said = run_top("--once", self.entrance)
        self.assertEqual((0, ""), (code, said))
        for words in [f"queue on {socket.gethostname()}  not lent", "its user is there", " starts: ", "COMMAND", "stopped"]:
            self.assertIn(words, out)
        self.assertEqual([], page.complaints())
        for width in [380, 1280]:
            for dark in [False, True]:
                other = Browser(self, width, dark)
                other.open(self.base + "/")
                other.wait(lambda: other.all("#gone tbody tr") and other.text("#log"))
                self.assertEqual(width, other.run("return document.documentElement.scrollWidth"), "it scrolls sideways")
                self.assertEqual([], other.run(CONTRAST, CONTRAST_MIN), f"width {width}, dark {dark}")
                self.assertEqual([], other.run(NAMELESS))
                other.picture(f"queue-{width}-{'dark' if dark else 'light'}")
                other.driver.quit()
        check = subprocess.run(["promtool", "check", "metrics"], input=self.get("/metrics"), text=True,
                               capture_output=True, timeout=SECONDS_MAX)
        self.assertEqual((0, "", ""), (check.returncode, check.stdout, check.stderr))
        rules = (prometheus_test.FILES / "alerts.yml").read_text()
        names = set(re.findall(r"piracema_ckpt_daemon_\w+", rules))
        self.assertGreaterEqual(len(names), 2)
        self.assertEqual(set(), names - set(re.findall(r"^\w+", self.get("/metrics"), re.MULTILINE)))
        self.job.terminate()
        self.assertEqual(0, self.job.wait(SECONDS_MAX))
        page.wait(lambda: page.text("#phase") == "no answer")

    def test_each_panel_of_the_dashboard_has_an_answer(self):
        self.start("window", "--for", "1h", "--every", "1h", "--", *PROGRAM)
        target = self.base.removeprefix("http://")
        prometheus = prometheus_test.Prometheus(self, target)
        prometheus.wait_for('piracema_ckpt_state{state="running"}', lambda value: value == 1)
        self.ckpt("save")
        prometheus.answer_each_panel(self, "grafana-ckpt.json", target)

    def test_prometheus_reads_it_and_the_alerts_are_about_figures_that_there_are(self):
        self.start("run", "--", *PROGRAM)
        prometheus = prometheus_test.Prometheus(self, self.base.removeprefix("http://"))
        prometheus.wait_for('piracema_ckpt_state{state="running"}', lambda value: value == 1)
        self.ckpt("save")
        prometheus.wait_for('piracema_ckpt_checkpoints_total{outcome="saved"}', lambda value: value == 1)
        check = subprocess.run(["promtool", "check", "metrics"], input=self.get("/metrics"), text=True,
                               capture_output=True, timeout=SECONDS_MAX)
        self.assertEqual((0, "", ""), (check.returncode, check.stdout, check.stderr))
        with urllib.request.urlopen(prometheus.base + "/api/v1/rules", timeout=30) as response:
            groups = json.load(response)["data"]["groups"]
        rules = [rule for group in groups if group["name"] == "piracema-ckpt" for rule in group["rules"]]
        self.assertGreaterEqual(len(rules), 5)
        for rule in rules:
            for name in re.findall(r"piracema_\w+", rule["query"]):
                if "_daemon_" not in name:
                    prometheus.wait_for(name)
        # A keeper that stands still does not keep what is known of it from being read.
        (silent,) = [rule for rule in rules if rule["name"] == "PiracemaCkptKeeperIsSilent"]
        self.job.send_signal(signal.SIGSTOP)
        prometheus.wait_for(silent["query"].replace("> 60", "> 3"))
        self.job.send_signal(signal.SIGCONT)
        prometheus.wait_for("piracema_ckpt_shown_age_seconds", lambda value: value < 3)


if __name__ == "__main__":
    if page_test.webdriver is None or page_test.DRIVER is None or shutil.which("chromium") is None:
        skip("there is no Chromium that can be driven: scripts/setup --with-http")
    if shutil.which("prometheus") is None:
        skip("there is no Prometheus: scripts/setup --with-http")
    doctor = subprocess.run([PIRACEMA, "ckpt", "doctor", "--json"], capture_output=True, text=True)
    lacking = [one["text"] for one in json.loads(doctor.stdout) if one["needed"] and not one["ok"]]
    if os.geteuid() != 0 or lacking:
        skip(f"nothing can be saved here: {'; '.join(lacking) or 'want root'}")
    main()
