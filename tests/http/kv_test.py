#!/usr/bin/env python3
"""Replicas of `piracema kv` on a page, for scripts and for Prometheus, while one is lost and another
leads. Pictures are left in $PICTURES."""

import json
import pathlib
import re
import select
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import unittest
import urllib.error
import urllib.request

import page_test
import prometheus_test
from page_test import CONTRAST, CONTRAST_MIN, NAMELESS, PAGE_BYTES_MAX, Browser
from support import CLEAN, PIRACEMA, SECONDS_MAX, main, run_top, skip


def free_ports(count):
    """Other ones than any that the system gives while they are free."""
    some = [socket.socket() for _ in range(count)]
    for one in some:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in some]
    for one in some:
        one.close()
    return ports


class Group(unittest.TestCase):
    """Three replicas, each of which is shown."""

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        addresses = [f"127.0.0.1:{port}" for port in free_ports(3)]
        self.call("init", "--directory", self.folder, *addresses)
        self.processes, self.entrances = {}, {}
        for replica in range(3):
            self.start(replica)
        for replica in range(3):
            self.wait_until(lambda: self.get(replica, "/readyz")[0] == 200, f"replica {replica} is not ready")

    def call(self, *words):
        run = subprocess.run([PIRACEMA, "kv", *map(str, words)], env=CLEAN, text=True, capture_output=True,
                             stdin=subprocess.DEVNULL, timeout=SECONDS_MAX)
        self.assertEqual(0, run.returncode, run.stderr)
        return run.stdout

    def ask(self, *words):
        return self.call(words[0], "--config", self.folder / "group.toml", "--key", self.folder / "client.key",
                         *words[1:])

    def command(self, replica, *options):
        return [str(word) for word in [
            PIRACEMA, "kv", "replica", "--config", self.folder / "group.toml", "--id", replica, "--key",
            self.folder / f"replica-{replica}.key", "--directory", self.folder / f"d{replica}", *options]]

    def start(self, replica, *options):
        first = [] if (self.folder / f"d{replica}").exists() else ["--first-start"]
        process = subprocess.Popen(self.command(replica, "--http", *first, *options), env=CLEAN, text=True,
                                   stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        line = process.stderr.readline()
        self.assertIn("info: the replica is shown at http://", line)
        self.processes[replica], self.entrances[replica] = process, line.split()[-1]

    def base(self, replica):
        return self.entrances[replica].split("/?")[0]

    def get(self, replica, path, **headers):
        request = urllib.request.Request(self.base(replica) + path, headers=headers)
        try:
            with urllib.request.urlopen(request, timeout=30) as response:
                return response.status, response.read().decode()
        except urllib.error.HTTPError as refused:
            return refused.code, refused.read().decode()

    def seen(self, replica):
        code, body = self.get(replica, "/api/v1/replica")
        self.assertEqual(200, code, body)
        return json.loads(body)

    def wait_until(self, holds, why):
        deadline = time.monotonic() + SECONDS_MAX
        while time.monotonic() < deadline:
            found = holds()
            if found:
                return found
            select.select([], [], [], 0.1)  # A replica shows itself every second; nothing tells us of it.
        raise AssertionError(why)

    def lose(self, replica):
        self.processes[replica].kill()
        self.processes[replica].wait()


class Interface(Group):
    def test_it_says_who_leads_what_was_done_and_who_is_behind(self):
        for number in range(5):
            self.ask("put", f"key{number}", "value")
        found = self.wait_until(lambda: (one := self.seen(0))["ordered"] >= 5 and one, "nothing was done")
        leader = found["leader"]
        self.assertEqual(leader == 0, found["leads"])
        self.assertEqual((3, 2, True, ""), (found["here"], found["quorum"], found["takes_part"], found["trouble"]))
        self.assertGreater(found["ordered_per_second"], 0)
        self.assertEqual([leader], [one["id"] for one in found["members"] if one["leads"]])
        status = json.loads(self.ask("status", "--json"))
        self.assertEqual(status["leader"], leader)
        self.assertEqual([one["address"] for one in status["replicas"]], [one["address"] for one in found["members"]])
        # All have voted on what was put, and none is behind.
        self.wait_until(lambda: all(one["behind"] == 0 for one in self.seen(leader)["members"]), "one is behind")
        code, out, said = run_top("--once", self.entrances[leader])
        self.assertEqual((0, ""), (code, said))
        for words in [f"replica {leader} of ", "  leads  ", "3 of 3 members here", "/s ordered"]:
            self.assertIn(words, out)
        _, out, _ = run_top("--once", "--json", self.base(leader))
        self.assertEqual(("kv", leader), (json.loads(out)["kind"], json.loads(out)["replica"]["id"]))

        self.lose(leader)
        other = (leader + 1) % 3
        after = self.wait_until(lambda: (one := self.seen(other))["leader"] != leader and one["takes_part"] and one,
                                "no other one leads")
        self.assertGreaterEqual(after["leader_changes"], 1)
        self.assertLess(after["leader_for"], found["leader_for"] + SECONDS_MAX)
        self.wait_until(lambda: self.seen(other)["here"] == 2, "the loss is not seen")
        self.ask("put", "more", "value")
        self.wait_until(lambda: self.seen(other)["members"][leader]["behind"], "who is lost is not behind")
        self.assertEqual((200, "ok\n"), self.get(other, "/readyz"))
        self.lose((leader + 2) % 3)
        code, why = self.wait_until(lambda: (answer := self.get(other, "/readyz"))[0] == 503 and answer, "it is ready")
        self.assertEqual("it is connected to 0 others, and 1 have to take part with it\n", why)
        self.assertEqual((200, "ok\n"), self.get(other, "/healthz"))
        self.start(leader)
        self.wait_until(lambda: self.get(other, "/readyz")[0] == 200, "it is not back")

    def test_nobody_changes_anything_and_it_ends_as_before(self):
        self.assertEqual(404, self.get(0, "/nothing")[0])
        lines = json.loads(self.get(0, "/api/v1/log")[1])["lines"]
        self.assertNotIn("token", json.dumps(lines))
        token = self.entrances[0].split("token=")[1]
        for headers, code in [({}, 403), ({"X-Piracema": "1", "Authorization": f"Bearer {token}"}, 405)]:
            request = urllib.request.Request(self.base(0) + "/api/v1/replica", data=b"", method="POST", headers=headers)
            with self.assertRaises(urllib.error.HTTPError) as refused:
                urllib.request.urlopen(request, timeout=30)
            refused.exception.close()
            self.assertEqual(code, refused.exception.code)
        self.processes[0].send_signal(signal.SIGTERM)
        self.assertEqual(0, self.processes[0].wait(SECONDS_MAX))

    def test_where_it_cannot_be_shown_it_says_so(self):
        for option, why in [("--http=0.0.0.0:0", "want a file with a token"),
                            ("--http=" + self.base(1).split(":")[-1], "hint: take another port")]:
            run = subprocess.run(self.command(0, option), env=CLEAN, text=True, capture_output=True,
                                 stdin=subprocess.DEVNULL, timeout=SECONDS_MAX)
            self.assertEqual(3, run.returncode, run.stderr)
            self.assertIn(why, run.stderr)

    def test_each_panel_of_the_dashboard_has_an_answer(self):
        target = self.base(0).removeprefix("http://")
        self.ask("put", "key", "value")
        # So few operations make no checkpoint.
        prometheus_test.Prometheus(self, target).answer_each_panel(
            self, "grafana-kv.json", target,
            but=["The last checkpoint: age and how long it took", "Size of the last checkpoint"])

    def test_prometheus_reads_it_and_the_alerts_are_about_figures_that_there_are(self):
        prometheus = prometheus_test.Prometheus(self, self.base(0).removeprefix("http://"))
        self.ask("put", "a", "b")
        prometheus.wait_for('piracema_kv_operations_total{kind="ordered"}', lambda value: value >= 1)
        check = subprocess.run(["promtool", "check", "metrics"], input=self.get(0, "/metrics")[1], text=True,
                               capture_output=True, timeout=SECONDS_MAX)
        self.assertEqual((0, "", ""), (check.returncode, check.stdout, check.stderr))
        self.assertTrue(self.get(0, "/metrics", Accept="application/openmetrics-text")[1].endswith("# EOF\n"))
        with urllib.request.urlopen(prometheus.base + "/api/v1/rules", timeout=30) as response:
            groups = json.load(response)["data"]["groups"]
        rules = [rule for group in groups if group["name"] == "piracema-kv" for rule in group["rules"]]
        self.assertGreaterEqual(len(rules), 4)
        for rule in rules:
            for name in re.findall(r"piracema_\w+", rule["query"]):
                prometheus.wait_for(name)
        self.lose(2)
        (missing,) = [rule for rule in rules if rule["name"] == "PiracemaKvMemberMissing"]
        self.assertEqual("2", prometheus.wait_for(missing["query"])[0][0]["member"])


class ReplicaPage(Group):
    def test_a_loss_is_on_the_page(self):
        for number in range(3):
            self.ask("put", f"key{number}", "value")
        leader = self.seen(0)["leader"]
        page = Browser(self)
        page.open(self.entrances[leader])
        self.assertEqual(self.base(leader) + "/", page.driver.current_url)
        page.wait(lambda: page.text("#phase") == "leads")
        self.assertEqual(f"Replica {leader} of kv", page.text("#title"))
        page.wait(lambda: page.texts("#members tbody tr td:nth-child(3)").count("follows") == 2)
        self.assertEqual(2, len(page.all("#past polyline")))
        self.assertNotIn("bad", page.run("return document.querySelector('#summary div').className"))
        asked = page.run("return performance.getEntriesByType('resource').map(one => [one.name, one.encodedBodySize])")
        self.assertEqual([], [name for name, _ in asked if not name.startswith(self.base(leader) + "/")])
        files = sum(size for name, size in asked if "/api/" not in name)
        self.assertLess(files + len(self.get(leader, "/")[1]), PAGE_BYTES_MAX)
        other = (leader + 1) % 3
        self.lose(other)
        page.wait(lambda: page.texts(f"#members tbody tr:nth-child({other + 1}) td")[1:2] == ["not connected"])
        page.wait(lambda: "bad" in page.run("return document.querySelector('#summary div').className"))
        self.lose((leader + 2) % 3)
        page.wait(lambda: page.text("#phase") == "takes no part")
        self.assertIn("It takes no part: it is connected to 0 others", page.text("#stale"))
        self.assertEqual([], page.complaints())
        self.start(other)
        page.wait(lambda: page.text("#phase") != "takes no part")
        for width in [380, 1280]:
            for dark in [False, True]:
                page = Browser(self, width, dark)
                page.open(self.base(leader) + "/")
                page.wait(lambda: page.all("#members tbody tr"))
                self.assertEqual(width, page.run("return document.documentElement.scrollWidth"), "it scrolls sideways")
                self.assertEqual([], page.run(CONTRAST, CONTRAST_MIN), f"width {width}, dark {dark}")
                self.assertEqual([], page.run(NAMELESS))
                page.picture(f"replica-{width}-{'dark' if dark else 'light'}")
                page.driver.quit()


if __name__ == "__main__":
    if page_test.webdriver is None or page_test.DRIVER is None or shutil.which("chromium") is None:
        skip("there is no Chromium that can be driven: scripts/setup --with-http")
    if shutil.which("prometheus") is None:
        skip("there is no Prometheus: scripts/setup --with-http")
    main()
