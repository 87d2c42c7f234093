#!/usr/bin/env python3
"""An MPI job of `piracema coll` on a page, for scripts and for Prometheus: real ones, one whose rank 0 is
killed, and files of figures that nobody would write. Pictures are left in $PICTURES."""

import json
import math
import os
import pathlib
import re
import select
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.error
import urllib.request

sys.dont_write_bytecode = True
sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / "conformance" / "coll"))
import job as mpi_job
import page_test
import prometheus_test
from page_test import CONTRAST, CONTRAST_MIN, NAMELESS, PAGE_BYTES_MAX, Browser
from support import CLEAN, PIRACEMA, SECONDS_MAX, main, run_top, skip

ROUNDS = os.environ.get("ROUNDS_OPENMPI", "")
OPEN_MPI = ["mpirun.openmpi", *mpi_job.OPEN_MPI]
ROOT = 2 ** 32 - 1


def text(words):
    return struct.pack("<Q", len(words.encode())) + words.encode()


def listed(form, values):
    return struct.pack("<Q", len(values)) + b"".join(struct.pack("<" + form, value) for value in values)


def figures(number, gained=0.0, engine="tree", mst=None, ranks=4, left_alone="", measured=5):
    """A file of figures as docs/formats/coll.md has it, of four ranks at two sites."""
    calls = [(0, 100, 10, 2.0, 0.05, 1), (8, 0, 40, 0.0, 0.5, 0)]
    links = [(1, 0.00005, 0.000001, 0.001, 0.002, 0.25), (2, 0.02, 0.0002, -1.0, -1.0, 0.5), (3, -1.0, -1.0, -1.0, -1.0, -1.0)]
    mst = mst or {"counts": [0] * 6, "neighbours": [], "costs": []}
    out = struct.pack("<Q", 0x1_3146_4350) + struct.pack("<QB", number, 0)
    out += text(engine) + text("Some MPI 1.2") + text("first") + struct.pack("<II", ranks, 4711) + text(left_alone)
    out += struct.pack("<Q", 2) + text("first") + text("second") + listed("I", [0, 0, 1, 1])
    out += struct.pack("<BBd", 0, 1, 60.0) + struct.pack("<QQQ", 160, 150, 100) + struct.pack("<d", gained)
    out += struct.pack("<Q", len(calls)) + b"".join(struct.pack("<IQQddB", *one) for one in calls)
    out += struct.pack("<QQ", 6, measured) + struct.pack("<Q", len(links)) + b"".join(struct.pack("<Iddddd", *one) for one in links)
    out += listed("I", [0, 0, 1, 1]) + listed("d", [0.00005, 0.02, 0.02, 0.00004]) + struct.pack("<Q", 3)
    out += struct.pack("<Q", 1) + struct.pack("<dQdd", 1.5, 1024, 0.0201, 0.0402)
    out += listed("I", [ROOT, 0, 1, 0]) + listed("d", [-1.0, 0.00005, 0.02, 0.0201])
    out += struct.pack("<6Q", *mst["counts"]) + listed("I", mst["neighbours"]) + listed("d", mst["costs"])
    return out + listed("I", mst.get("parents", [])) + listed("d", mst.get("latencies", []))


class Shown(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        (self.folder / "links").write_text("0-1 2-3 5ms\n")
        self.environment = {**CLEAN, "TMPDIR": str(self.folder)}

    def start(self, *words):
        self.job = subprocess.Popen([PIRACEMA, "coll", "--http", *map(str, words)], cwd=self.folder, env=self.environment,
                                    stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        self.addCleanup(self.job.stderr.close)
        self.addCleanup(self.job.wait)
        # All of it: a launcher that is killed may leave its ranks.
        self.addCleanup(lambda: mpi_job.send(mpi_job.below(self.job.pid), signal.SIGKILL))
        self.said = b""
        while not self.said.endswith(b"\n") or b"shown at " not in self.said:
            ready, _, _ = select.select([self.job.stderr], [], [], SECONDS_MAX)
            piece = os.read(self.job.stderr.fileno(), 65536) if ready else b""
            self.assertTrue(piece, self.said)
            self.said += piece
        self.entrance = self.said.split(b"shown at ")[1].split()[0].decode()
        self.base = self.entrance.split("/?")[0]

    def start_rounds(self, *options):
        self.start("--emulate", "links", *options, "--", *OPEN_MPI, "-n", "4", ROUNDS, "stop")

    def end(self):
        code = self.job.wait(SECONDS_MAX)
        self.said += self.job.stderr.read()
        self.assertEqual([], list(self.folder.glob("piracema_coll_*")), "what it made for a while is left")
        return code

    def get(self, path):
        try:
            with urllib.request.urlopen(self.base + path, timeout=30) as response:
                return response.status, response.read().decode()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.read().decode()

    def wait_for(self, what, wanted):
        """The job as JSON, once `wanted` holds for it."""
        deadline = time.monotonic() + SECONDS_MAX
        while time.monotonic() < deadline:
            found = json.loads(self.get("/api/v1/job")[1])
            if wanted(found):
                return found
            select.select([], [], [], 0.1)  # It is renewed every second; nothing tells us of it.
        raise AssertionError(f"no {what}: {found}")

    def look_at_all(self, name, ready):
        """By day and night, on a phone and on a desk."""
        for width in [380, 1280]:
            for dark in [False, True]:
                other = Browser(self, width, dark)
                other.open(self.base + "/")
                other.wait(lambda: ready(other))
                self.assertEqual(width, other.run("return document.documentElement.scrollWidth"), "it scrolls sideways")
                self.assertEqual([], other.run(CONTRAST, CONTRAST_MIN), f"width {width}, dark {dark}")
                self.assertEqual([], other.run(NAMELESS))
                other.picture(f"{name}-{width}-{'dark' if dark else 'light'}")
                other.driver.quit()


def drawn_tree(page):
    """Parents by rank, as they are drawn."""
    edges = page.run("return [...document.querySelectorAll('#tree path')].map(one => [one.dataset.rank, one.dataset.parent])")
    return {int(rank): int(parent) for rank, parent in edges}


@unittest.skipUnless(ROUNDS and shutil.which("mpirun.openmpi"), "Open MPI is not installed (scripts/setup --with-mpi)")
class OpenMpi(Shown):
    def test_the_page_shows_calls_links_and_the_tree(self):
        self.start_rounds("--engine", "tree")
        page = Browser(self)
        page.open(self.entrance)
        self.assertEqual(self.base + "/", page.driver.current_url)
        page.wait(lambda: page.text("#phase") == "running")
        self.assertEqual("mpirun.openmpi", page.text("#title"))
        self.assertIn(f"-n 4 {ROUNDS} stop", page.text("#command"))
        seen = self.wait_for("tree", lambda one: one["job"] and one["job"]["trees"] and one["job"]["calls"]["by_class"] and
                             one["job"]["pairs_measured"] == 6 and
                             # As long as few answers have come a busy machine makes a rank a site of its own.
                             one["job"]["sites"] and one["job"]["sites"]["of_rank"] == [0, 0, 1, 1])["job"]
        self.assertEqual(("tree", 4), (seen["engine"], seen["ranks"]))
        self.assertLess(0.005, seen["links"][1]["latency"])
        self.assertGreater(0.005, seen["links"][0]["latency"])
        self.assertEqual(-1, seen["trees"][0]["parents"][0])
        page.wait(lambda: drawn_tree(page) == {rank: parent for rank, parent in
                                               enumerate(self.wait_for("job", lambda one: True)["job"]["trees"][0]["parents"]) if rank})
        self.assertEqual(["0", "1", "2", "3"], sorted(page.texts("#tree svg text:not(.soft)")))
        self.assertEqual(["root"], [cell for cell in page.texts("#parents tbody td:nth-child(2)") if not cell.isdigit()])
        page.wait(lambda: "6 of 6" in page.text("#summary") and "100 %" in page.text("#summary"))
        self.assertIn("only one way was tried", page.text("#summary"))
        self.assertEqual(["broadcast"], page.texts("#calls tbody th"))
        self.assertEqual(["trees"], page.texts("#calls tbody td:nth-child(8)"))
        page.wait(lambda: len(page.texts("#links tbody tr")) == 3)
        self.assertTrue(all(cell.endswith(" ago") for cell in page.texts("#links tbody td:nth-child(6)")))
        self.assertIn("2 sites", page.text("#sites"))
        self.assertIn("Links are emulated", page.text("#remarks"))
        # Calls go on, and the page with them.
        before = seen["calls"]["of_rank_0"]
        self.wait_for("more calls", lambda one: one["job"]["calls"]["of_rank_0"] > before + 20)
        asked = page.run("return performance.getEntriesByType('resource').map(one => [one.name, one.encodedBodySize])")
        self.assertEqual([], [name for name, _ in asked if not name.startswith(self.base + "/")])
        self.assertLess(sum(size for name, size in asked if "/api/" not in name) + len(self.get("/")[1]), PAGE_BYTES_MAX)
        self.assertEqual([], page.complaints())
        self.look_at_all("coll", lambda other: drawn_tree(other))
        (self.folder / "stop").touch()
        self.assertEqual(0, self.end(), self.said)
        self.assertIn(b"collective calls of rank 0", self.said)
        page.wait(lambda: page.text("#phase") == "no answer")
        self.assertIn("The launcher has ended", page.text("#stale"))
        # What was known stays in front of whoever looks.
        self.assertEqual(3, len(drawn_tree(page)))

    def test_what_was_gained_is_shown_once_both_ways_were_tried(self):
        self.start_rounds()
        page = Browser(self)
        page.open(self.entrance)
        seen = self.wait_for("trial", lambda one: one["job"] and
                             any(row["gained"] is not None for row in one["job"]["calls"]["by_class"]))["job"]
        (row,) = seen["calls"]["by_class"]
        self.assertAlmostEqual(seen["gained"], row["native_took"] / row["native"] * row["ours"] - row["ours_took"], 6)
        page.wait(lambda: "against native calls, as measured" in page.text("#summary") or
                  "trees take longer than native calls" in page.text("#summary"))
        # The sign is that of the machine on this day; what belongs to it is not.
        page.wait(lambda: ("−" in page.texts("#calls tbody td:nth-child(7)")[0]) == ("Trees took " in page.text("#remarks")))
        self.assertRegex(self.get("/metrics")[1], r"(?m)^piracema_coll_gained_seconds -?[\d.e-]+$")
        (self.folder / "stop").touch()
        self.assertEqual(0, self.end(), self.said)

    def test_engine_mst_shows_its_rounds_and_the_whole_tree(self):
        self.start_rounds("--engine", "mst")
        page = Browser(self)
        page.open(self.entrance)
        seen = self.wait_for("round", lambda one: one["job"] and one["job"]["mst"]["parents"] and
                             one["job"]["mst"]["along_rounds"] > 0)["job"]
        parents = seen["mst"]["parents"]
        # Near links keep each pair together, and one far one joins the pairs.
        self.assertEqual(0, parents[1])
        self.assertEqual(1, [parents[2] in (0, 1), parents[3] in (0, 1)].count(True), parents)
        self.assertEqual([rank for rank, parent in enumerate(parents) if parent == 0],
                         sorted(one["rank"] for one in seen["mst"]["neighbours"]))
        page.wait(lambda: len(drawn_tree(page)) == 3 and drawn_tree(page)[1] == 0)
        self.assertIn("as it hangs from rank 0", page.text("#tree-words"))
        self.assertIn("Rounds", page.text("#summary"))
        self.assertIn("Only broadcasts go along the distributed tree", page.text("#remarks"))
        (self.folder / "stop").touch()
        self.assertEqual(0, self.end(), self.said)

    def test_a_job_on_one_host_says_that_it_is_left_alone(self):
        self.start("--", *OPEN_MPI, "-n", "2", ROUNDS, "stop")
        page = Browser(self)
        page.open(self.entrance)
        page.wait(lambda: "All calls are left to the MPI library: one host." in page.text("#remarks"))
        self.assertIn("left alone: one host", page.text("#summary"))
        self.assertEqual("None: all is left to the MPI library.", page.text("#tree-words"))
        self.wait_for("calls", lambda one: one["job"]["calls"]["of_rank_0"] > 20)
        self.assertIn("piracema_coll_left_alone 1\n", self.get("/metrics")[1])
        (self.folder / "stop").touch()
        self.assertEqual(0, self.end(), self.said)

    def test_rank_0_is_stopped_and_then_killed(self):
        self.start_rounds("--engine", "tree")
        seen = self.wait_for("job", lambda one: one["ready"])
        self.assertEqual((200, "ok\n"), self.get("/readyz"))
        os.kill(seen["job"]["pid_of_rank_0"], signal.SIGSTOP)
        page = Browser(self)
        page.open(self.entrance)
        page.wait(lambda: page.text("#phase") == "silent")
        self.assertIn("rank 0 has shown nothing for a while", page.text("#stale"))
        self.assertEqual(503, self.get("/readyz")[0])
        self.assertEqual(200, self.get("/healthz")[0])
        os.kill(seen["job"]["pid_of_rank_0"], signal.SIGCONT)
        page.wait(lambda: page.text("#phase") == "running")
        os.kill(seen["job"]["pid_of_rank_0"], signal.SIGKILL)
        self.assertNotEqual(0, self.end())
        page.wait(lambda: page.text("#phase") == "no answer")

    def test_top_shows_the_same_on_a_terminal_until_the_job_has_ended(self):
        self.start_rounds("--engine", "tree")
        self.wait_for("tree", lambda one: one["job"] and one["job"]["trees"] and one["job"]["pairs_measured"] == 6)
        code, out, said = run_top("--once", self.entrance)
        self.assertEqual((0, ""), (code, said))
        for words in ["mpirun.openmpi  running", "engine tree  4 ranks", f"-n 4 {ROUNDS} stop",
                      "6 of 6 links measured", "broadcast", "along a binomial tree", "Links are emulated"]:
            self.assertIn(words, out)
        code, out, said = run_top("--once", "--json", self.base)
        self.assertEqual((0, "", 1), (code, said, out.count("\n")))
        self.assertEqual(("coll", 4), (json.loads(out)["kind"], json.loads(out)["job"]["job"]["ranks"]))
        looks = subprocess.Popen([PIRACEMA, "top", "--json", "--every", "200ms", self.base], env=CLEAN, text=True,
                                 stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(looks.kill)
        for _ in range(2):
            self.assertEqual("running", json.loads(looks.stdout.readline())["job"]["state"])
        (self.folder / "stop").touch()
        self.assertEqual(0, self.end(), self.said)
        _, said = looks.communicate(timeout=SECONDS_MAX)
        self.assertEqual(0, looks.returncode, said)
        self.assertIn("the job has ended", said)
        code, _, said = run_top("--once", self.base)
        self.assertEqual(3, code, said)

    def test_only_rank_0_has_one_thread_more_and_only_if_it_is_asked_for(self):
        def name_of(task):
            """Nothing where it has ended: what starts a rank does so meanwhile."""
            try:
                return task.joinpath("comm").read_text().strip()
            except (FileNotFoundError, ProcessLookupError):
                return ""

        def ranks(pid):
            """The names of each one's threads."""
            processes = [pathlib.Path(f"/proc/{one}") for one in mpi_job.below(pid)]
            return [sorted(filter(None, map(name_of, process.glob("task/*")))) for process in processes
                    if name_of(process).startswith("coll_rounds")]

        def wait_for(what, wanted):
            deadline = time.monotonic() + SECONDS_MAX
            while not wanted():
                self.assertLess(time.monotonic(), deadline, what())
                select.select([], [], [], 0.1)  # Nothing tells that a rank is through MPI_Init.

        self.start_rounds("--engine", "tree")
        self.wait_for("job", lambda one: one["ready"] and one["job"]["calls"]["of_rank_0"] > 20)
        shown = ranks(self.job.pid)
        self.assertEqual([0, 0, 0, 1], sorted(one.count("piracema_shows") for one in shown))
        (usual,) = {len(one) - one.count("piracema_shows") for one in shown}
        bare = subprocess.Popen([PIRACEMA, "coll", "--engine", "tree", "--emulate", "links", "--report", "report", "--",
                                 *OPEN_MPI, "-n", "4", ROUNDS, "stop"], cwd=self.folder, env=self.environment,
                                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(bare.wait)
        self.addCleanup(lambda: mpi_job.send(mpi_job.below(bare.pid), signal.SIGKILL))
        # What a rank has anyway: its own, the MPI library's, the one that measures links.
        wait_for(lambda: ranks(bare.pid), lambda: [len(one) for one in ranks(bare.pid)] == [usual] * 4)
        self.assertNotIn("piracema_shows", sum(ranks(bare.pid), []))
        (self.folder / "stop").touch()
        # Both have files there while they run.
        self.assertEqual(0, bare.wait(SECONDS_MAX))
        self.assertEqual(0, self.end(), self.said)

    def test_a_program_that_dies_has_its_exit_code_and_leaves_nothing(self):
        self.start("--", *OPEN_MPI, "-n", "1", "sh", "-c", "exit 5")
        self.assertEqual(5, self.end())

    def test_a_file_that_rank_0_cannot_write_is_said_on_both_sides(self):
        self.start_rounds("--engine", "tree", "--figures", self.folder / "none" / "figures")
        while b"nothing is shown of this job: " not in self.said:
            ready, _, _ = select.select([self.job.stderr], [], [], SECONDS_MAX)
            self.assertTrue(ready, self.said)
            self.said += os.read(self.job.stderr.fileno(), 65536)
        seen = self.wait_for("trouble", lambda one: "--figures FILE" in one["trouble"])
        self.assertEqual("starting", seen["state"])
        (self.folder / "stop").touch()
        self.assertEqual(0, self.end(), self.said)
        self.assertEqual(1, self.said.count(b"nothing is shown of this job: "))

    def test_each_panel_of_the_dashboard_has_an_answer(self):
        self.start_rounds("--engine", "tree")
        target = self.base.removeprefix("http://")
        # Nothing is known of large data as long as none was sent.
        prometheus_test.Prometheus(self, target).answer_each_panel(self, "grafana-coll.json", target,
                                                                   but=["Rate of rank 0's links"])
        (self.folder / "stop").touch()
        self.assertEqual(0, self.end(), self.said)

    def test_prometheus_reads_it_and_the_alerts_are_about_figures_that_there_are(self):
        self.start_rounds("--engine", "mst")
        prometheus = prometheus_test.Prometheus(self, self.base.removeprefix("http://"))
        prometheus.wait_for("piracema_coll_ready", lambda value: value == 1)
        prometheus.wait_for('rate(piracema_coll_rank_calls_total{done="trees"}[10s])', lambda value: value > 1)
        prometheus.wait_for("piracema_coll_link_pairs_measured", lambda value: value == 6)
        check = subprocess.run(["promtool", "check", "metrics"], input=self.get("/metrics")[1], text=True,
                               capture_output=True, timeout=SECONDS_MAX)
        self.assertEqual((0, "", ""), (check.returncode, check.stdout, check.stderr))
        with urllib.request.urlopen(prometheus.base + "/api/v1/rules", timeout=30) as response:
            groups = json.load(response)["data"]["groups"]
        rules = [rule for group in groups if group["name"] == "piracema-coll" for rule in group["rules"]]
        self.assertEqual(4, len(rules))
        for rule in rules:
            for name in re.findall(r"piracema_\w+", rule["query"]):
                prometheus.wait_for(name)
        (self.folder / "stop").touch()
        self.assertEqual(0, self.end(), self.said)


@unittest.skipUnless(os.environ.get("ROUNDS_MPICH") and shutil.which("mpiexec.mpich"),
                     "MPICH is not installed (scripts/setup --with-mpi)")
class Mpich(Shown):
    def test_a_job_is_shown(self):
        words = [word for name, value in mpi_job.MPICH.items() for word in ("-genv", name, value)]
        self.start("--engine", "tree", "--emulate", "links", "--", "mpiexec.mpich", *words, "-n", "4",
                   os.environ["ROUNDS_MPICH"], "stop")
        seen = self.wait_for("tree", lambda one: one["job"] and one["job"]["trees"])
        self.assertIn("MPICH", seen["job"]["library"])
        self.assertEqual(4, len(seen["job"]["trees"][0]["parents"]))
        (self.folder / "stop").touch()
        self.assertEqual(0, self.end(), self.said)


class Composed(Shown):
    """A launcher that starts nothing, and figures as they may be written by anybody."""

    def setUp(self):
        super().setUp()
        launcher = self.folder / "mpirun"
        # It says where rank 0 would write, and ends when it is told to.
        launcher.write_text('#!/bin/sh\nfor word; do case $word in PIRACEMA_COLL_FIGURES=*) echo "${word#*=}" > place.new; '
                            'mv place.new place;; esac; done\nread code < orders\nexit "$code"\n')
        launcher.chmod(0o755)
        os.mkfifo(self.folder / "orders")

    def start_nothing(self, *options):
        (self.folder / "library.so").touch()
        self.start("--mpi", "openmpi", "--library", self.folder / "library.so", *options, "--", "./mpirun", "program")
        deadline = time.monotonic() + SECONDS_MAX
        while not (self.folder / "place").exists():
            self.assertLess(time.monotonic(), deadline)
            select.select([], [], [], 0.05)  # The launcher makes it at once.
        self.place = pathlib.Path((self.folder / "place").read_text().strip())

    def stop_nothing(self, code=0):
        (self.folder / "orders").write_text(f"{code}\n")
        self.assertEqual(code, self.end())

    def put(self, content):
        fresh = self.place.with_name("fresh")
        fresh.write_bytes(content)
        fresh.rename(self.place)

    def test_losses_are_warned_of(self):
        self.start_nothing()
        self.assertTrue(self.place.is_absolute())
        self.assertEqual(0o700, self.place.parent.stat().st_mode & 0o777, "others may put something there")
        page = Browser(self)
        page.open(self.entrance)
        page.wait(lambda: page.text("#phase") == "starting")
        self.assertIn("no rank has called MPI_Init yet", page.text("#stale"))
        self.put(figures(1, gained=-1.5))
        page.wait(lambda: page.text("#phase") == "running")
        self.assertIn("Trees took 1.50 s longer than the MPI library's own collectives", page.text("#remarks"))
        self.assertIn("−1.50 s", page.text("#summary .bad"))
        self.assertIn("10 calls of rank 0 were not looked at", page.text("#remarks"))
        self.assertEqual(["broadcast", "allreduce"], page.texts("#calls tbody th"))
        self.assertEqual(["100", "0"], page.texts("#calls tbody td:nth-child(3)"))
        self.assertEqual(["10", "40"], page.texts("#calls tbody td:nth-child(5)"))
        # A broadcast of ours took 20 ms and a native one 5.
        self.assertEqual(["−1.50 s", "–"], page.texts("#calls tbody td:nth-child(7)"))
        self.assertEqual(["trees", "native"], page.texts("#calls tbody td:nth-child(8)"))
        self.assertEqual({1: 0, 2: 1, 3: 0}, drawn_tree(page))
        self.assertEqual(["20 ms"], [words for words in page.texts("#tree svg text.soft") if words == "20 ms"][:1])
        self.assertIn("2.0 times as long", page.text("#tree-words"))
        self.assertEqual(["50 µs", "20 ms", "–"], page.texts("#links tbody td:nth-child(2)"))
        self.assertEqual(["1 GB/s", "–", "–"], page.texts("#links tbody td:nth-child(4)"))
        self.assertEqual(["250 ms ago", "500 ms ago", "not yet"], page.texts("#links tbody td:nth-child(6)"))
        self.assertEqual(["first", "second", "second"], page.texts("#links tbody td:nth-child(8)"))
        self.assertEqual(["50 µs", "20 ms", "20 ms", "40 µs"], page.texts("#between tbody td"))
        self.look_at_all("coll-loses", lambda other: drawn_tree(other))
        self.put(figures(2, engine="mst", mst={"counts": [3, 40, 9, 5, 2, 1], "neighbours": [1, 2], "costs": [0.00005, 0.02]}))
        page.wait(lambda: drawn_tree(page) == {1: 0, 2: 0})
        self.assertIn("Round 3: rank 0 and its neighbours", page.text("#tree-words"))
        for words in ["5 broadcasts of rank 0 went along a binomial tree", "2 broadcasts of rank 0 went along a tree of its own",
                      "1 of these came after a round was over"]:
            self.assertIn(words, page.text("#remarks"))
        self.put(figures(3, engine="mst", mst={"counts": [4, 50, 12, 5, 2, 1], "neighbours": [1, 2], "costs": [0.00005, 0.02],
                                               "parents": [ROOT, 0, 0, 2], "latencies": [-1.0, 0.00005, 0.02, 0.00004]}))
        page.wait(lambda: drawn_tree(page) == {1: 0, 2: 0, 3: 2})
        self.assertIn("4 rounds are over", page.text("#tree-words"))
        self.assertEqual([], page.complaints())
        self.stop_nothing(7)

    def test_the_alerts_about_losses_links_and_what_falls_back_fire(self):
        self.start_nothing()
        lost = {"counts": [3, 40, 9, 5, 2, 0], "neighbours": [], "costs": []}
        self.put(figures(1, gained=-1000, engine="mst", mst=lost, measured=0))
        prometheus = prometheus_test.Prometheus(self, self.base.removeprefix("http://"))
        prometheus.wait_for("piracema_coll_mst_fallen_back_total", lambda value: value == 0)
        with urllib.request.urlopen(prometheus.base + "/api/v1/rules", timeout=30) as response:
            groups = json.load(response)["data"]["groups"]
        rules = {rule["name"]: rule["query"] for group in groups if group["name"] == "piracema-coll" for rule in group["rules"]}
        prometheus.wait_for(rules["PiracemaCollTreesLose"], lambda value: value == 1000)
        prometheus.wait_for(rules["PiracemaCollNoLinkMeasured"])
        self.assertEqual([], prometheus.ask(rules["PiracemaCollFallsBack"]))
        lost["counts"][5] = 2
        self.put(figures(2, gained=1000, engine="mst", mst=lost))
        prometheus.wait_for(rules["PiracemaCollFallsBack"])
        prometheus.wait_for("piracema_coll_gained_seconds", lambda value: value == 1000)
        self.assertEqual([], prometheus.ask(rules["PiracemaCollTreesLose"]))
        prometheus.wait_for("piracema_coll_link_pairs_measured", lambda value: value == 5)
        self.assertEqual([], prometheus.ask(rules["PiracemaCollNoLinkMeasured"]))
        # Nobody renews the file any more.
        prometheus.wait_for(rules["PiracemaCollRank0IsSilent"].replace("> 60", "> 3"))
        self.stop_nothing()

    def test_garbage_is_said_and_does_no_harm(self):
        self.start_nothing()
        good = figures(1)
        self.put(good)
        self.wait_for("job", lambda one: one["ready"])
        wrong = {"nothing": b"", "noise": os.urandom(5000), "a part": good[:-5], "more": good + b"x",
                 "another version": good[:4] + b"\2" + good[5:], "too much": b"x" * 600_000,
                 "no number": figures(2, gained=math.nan), "other ranks": figures(2, ranks=5)}
        for what, content in wrong.items():
            # A broken file is said once no good one came for a while, as before MPI_Init.
            with self.subTest(what):
                self.put(content)
                self.wait_for("word of it", lambda one: one["trouble"].startswith("figures of a job: ") or
                              "more than 524288 bytes" in one["trouble"])
                self.assertEqual(503, self.get("/readyz")[0])
                # What was known stays, and is still good.
                self.assertEqual(4, json.loads(self.get("/api/v1/job")[1])["job"]["ranks"])
                self.assertEqual(200, self.get("/metrics")[0])
        self.place.unlink()
        os.mkfifo(self.place)
        self.wait_for("word of it", lambda one: "want a file" in one["trouble"])
        self.place.unlink()
        self.put(figures(3))
        self.wait_for("job again", lambda one: one["ready"])
        self.stop_nothing()

    def test_words_of_others_are_shown_as_words(self):
        self.start_nothing("--figures", "figures")
        self.put(figures(1, left_alone="<img src=x onerror=alert(1)>\"\n"))
        page = Browser(self)
        page.open(self.entrance)
        page.wait(lambda: "<img src=x" in page.text("#remarks"))
        self.assertEqual([], page.all("img"))
        check = subprocess.run(["promtool", "check", "metrics"], input=self.get("/metrics")[1], text=True,
                               capture_output=True, timeout=SECONDS_MAX)
        self.assertEqual(0, check.returncode, check.stdout + check.stderr)
        self.stop_nothing()

    def test_figures_of_a_job_before_are_not_shown(self):
        (self.folder / "figures").write_bytes(figures(9))
        self.start_nothing("--figures", "figures")
        self.assertEqual("starting", json.loads(self.get("/api/v1/job")[1])["state"])
        self.assertFalse((self.folder / "figures").exists())
        self.stop_nothing()


class Refused(Shown):
    def refuse(self, code, words, *options):
        done = subprocess.run([PIRACEMA, "coll", *map(str, options), "--", "./mpirun"], cwd=self.folder, env=self.environment,
                              capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=SECONDS_MAX)
        self.assertEqual(code, done.returncode, done.stderr)
        self.assertIn(words, done.stderr)
        self.assertFalse((self.folder / "ran").exists(), "it was started all the same")

    def test_a_wrong_address_is_found_before_anything_is_started(self):
        (self.folder / "mpirun").write_text("#!/bin/sh\ntouch ran\n")
        (self.folder / "mpirun").chmod(0o755)
        (self.folder / "library.so").touch()
        known = ["--mpi", "openmpi", "--library", "library.so"]
        self.refuse(3, "--http: want an address such as 127.0.0.1:8080", *known, "--http=nowhere")
        self.refuse(3, "--http: ", *known, "--http=0.0.0.0:0")
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            self.refuse(3, "--http: ", *known, f"--http=127.0.0.1:{taken.getsockname()[1]}")
        self.refuse(2, "--figures is for --http", *known, "--figures", "here")
        self.refuse(3, "is there, and no file", *known, "--http", "--figures", self.folder)
        self.assertEqual([], list(self.folder.glob("piracema_coll_*")))


if __name__ == "__main__":
    if page_test.webdriver is None or page_test.DRIVER is None or shutil.which("chromium") is None:
        skip("there is no Chromium that can be driven: scripts/setup --with-http")
    if shutil.which("prometheus") is None:
        skip("there is no Prometheus: scripts/setup --with-http")
    main()
