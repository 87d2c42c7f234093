#!/usr/bin/env python3
"""The coordinators of a job are on several hosts, and each of these is lost: the one with the command,
the one whose coordinator leads, at once or cut off or stopped. Another one leads, what was on the host
is started elsewhere, and the output is what it would have been, byte for byte."""

import contextlib
import json
import os
import pathlib
import signal
import sys
import unittest
import urllib.error
import urllib.request

from hosts import *

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from waiting import wait_until  # noqa: E402


class CoordinatorJobs(OnHosts):
    def start_several(self, *options, on="h1", hosts="h1,h2,h3", count=3):
        self.start_stream("--hosts", hosts, "-n", "3", "--coordinators", str(count), *options,
                          before=self.typed_on(on))

    def typed_on(self, host):
        """Words before a command there."""
        if host == "h0":
            return []
        return ["nsenter", "--target", str(self.holders[host].pid), "--net", "--uts", "env",
                f"TMPDIR={self.folder}/tmp-{host}"]

    def host_of(self, pid):
        networks = {network_of(holder.pid): host for host, holder in self.holders.items()}
        return networks.get(network_of(pid), "h0")

    def coordinators(self):
        """Host -> process."""
        found = {}
        for pid in self.of_job():
            with contextlib.suppress(OSError):
                words = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
                environment = environment_of(pid)
                # The command is none, nor who brings one to its host.
                sits = "PIRACEMA_COUNCIL_FD" in environment and "PIRACEMA_COUNCIL_HOST" not in environment
                if words[1:2] == [b"run"] and b"--coordinators" in words and sits:
                    found[self.host_of(pid)] = pid
        return found

    def until(self, so):
        self.assertTrue(wait_until(so, SECONDS_MAX), self.said())

    def hosts_of_workers(self):
        return {host for _, host in self.workers().values()}

    def end(self, code=0):
        """All that is said, until nobody is left who could say more; the command has this code."""
        (self.folder / "enough").touch()
        self.events += [json.loads(line) for line in self.job.stdout]
        self.assertEqual(code, self.job.wait(SECONDS_MAX), self.said())

    def check(self):
        self.check_output(len((self.folder / "out").read_bytes().splitlines()))
        self.wait_for_ends(self.of_job, "processes are left")

    def check_nothing_redone(self, workers):
        self.assertEqual(workers, self.workers())
        happened = [event["event"] for event in self.events]
        self.assertNotIn("recovering", happened)
        self.assertNotIn("lost", happened)

    def lose_work_of(self, host):
        self.wait_for("recovering")
        self.wait_for("running")
        self.wait_for("snapshot")
        self.assertNotIn(host, {self.host_of(pid) for pid, _ in self.workers().values()
                                if environment_of(pid).get("PIRACEMA_INCARNATION") != "0"})


class Coordinators(CoordinatorJobs):
    # ---- where they are ------------------------------------------------------------------------

    def test_they_are_on_the_first_hosts_and_their_keys_in_no_command_line(self):
        self.start_several()
        self.assertEqual("h1", self.wait_for("leads")["host"])
        self.wait_for("snapshot")
        self.assertEqual({"h1", "h2", "h3"}, set(self.coordinators()))
        self.assertEqual({"h1", "h2", "h3"}, self.hosts_of_workers())
        worker = environment_of(self.workers()[0][0])
        self.assertEqual(3, len(worker["PIRACEMA_COORDINATOR"].split(",")))
        for pid in self.of_job():
            for file in "cmdline", "environ":
                text = pathlib.Path(f"/proc/{pid}/{file}").read_bytes()
                if pid not in [pid for pid, _ in self.workers().values()]:
                    self.assertNotIn(worker["PIRACEMA_TOKEN"].encode(), text)
        self.end()
        self.check()
        self.check_nothing_left()

    def test_a_command_on_a_host_that_has_no_workers_is_one_of_them(self):
        self.start_several(on="h0")
        self.wait_for("snapshot")
        self.assertEqual({"h0", "h1", "h2"}, set(self.coordinators()))
        self.end()
        self.check()
        self.check_nothing_left()

    def test_the_page_of_the_command_shows_the_job_whichever_host_leads(self):
        self.start_several("--http", on="h0")
        address = self.wait_for("http")["address"]

        def leader():
            with urllib.request.urlopen(f"http://{address}/api/v1/job", timeout=60) as response:
                return json.load(response)["coordinator"]["host"]

        self.wait_for("snapshot")
        first = self.coordinators()["h0"]
        os.kill(first, signal.SIGKILL)
        second = self.wait_for("leads")["host"]
        self.assertIn(second, ("h1", "h2"))
        self.assertEqual(second, leader())
        self.until(lambda: "all 3 coordinators take part again" in self.said())
        self.cut(second)
        self.until(lambda: self.is_led_elsewhere(leader, second))
        self.mend(second)
        self.end()
        self.check()

    def is_led_elsewhere(self, leader, host):
        """Nobody leads for a while."""
        with contextlib.suppress(urllib.error.HTTPError):
            return leader() != host
        return False

    # ---- a coordinator is lost -----------------------------------------------------------------

    def test_the_command_is_killed_and_nothing_is_redone(self):
        self.start_several()
        self.wait_for("snapshot")
        workers = self.workers()
        self.job.kill()
        self.job.wait()
        self.wait_for("snapshot")
        self.check_nothing_redone(workers)
        self.end(-signal.SIGKILL)
        self.assertEqual(1, [event["event"] for event in self.events].count("leads"))
        self.assertEqual(0, self.events[-1]["code"])
        self.check()

    def test_the_one_beside_the_command_is_killed_and_the_command_has_the_exit_code(self):
        for code, ends in ((75, lambda: os.kill(self.coordinators()["h2"], signal.SIGTERM)), (0, None)):
            self.start_several(*([] if code else ["--resume"]))
            self.wait_for("snapshot")
            workers = self.workers()
            os.kill(self.coordinators()["h1"], signal.SIGKILL)
            self.assertIn(self.wait_for("leads")["host"], ("h2", "h3"))
            self.assertEqual(2, self.wait_for("reattached")["term"], self.events)
            self.wait_for("snapshot")
            self.check_nothing_redone(workers)
            if ends:
                ends()
                self.events += [json.loads(line) for line in self.job.stdout]
                self.assertEqual(code, self.job.wait(SECONDS_MAX), self.said())
        self.end()
        self.check()

    def test_agents_and_workers_that_do_not_see_the_file_of_addresses_know_them(self):
        self.start_several(on="h0")
        self.wait_for("snapshot")
        workers = self.workers()
        sh("nsenter", "--target", self.holders["h3"].pid, "--mount", "mount", "-t", "tmpfs", "none",
           self.folder / "snapshots/coordinator")
        os.kill(self.coordinators()["h0"], signal.SIGKILL)
        self.wait_for("leads")
        self.assertEqual(1, self.wait_for("reattached")["epoch"], self.events)
        self.wait_for("snapshot")
        self.check_nothing_redone(workers)
        self.end()
        self.check()

    def test_a_leader_that_is_stopped_is_followed_and_looks_on_when_it_goes_on(self):
        self.start_several()
        self.wait_for("snapshot")
        workers = self.workers()
        first = self.coordinators()["h1"]
        os.kill(first, signal.SIGSTOP)
        self.assertIn(self.wait_for("leads")["host"], ("h2", "h3"))
        self.wait_for("reattached")
        self.wait_for("snapshot")
        os.kill(first, signal.SIGCONT)
        self.wait_for("follows")
        self.wait_for("snapshot")
        self.check_nothing_redone(workers)
        self.end()
        self.check()
        self.check_nothing_left()

    # ---- a host is lost ------------------------------------------------------------------------

    def test_the_host_of_the_command_is_cut_off_for_good(self):
        self.start_several()
        self.wait_for("snapshot")
        self.cut("h1")
        self.assertIn(self.wait_for("leads")["host"], ("h2", "h3"))
        self.lose_work_of("h1")
        (self.folder / "enough").touch()
        self.assertEqual(0, self.wait_for("summary")["code"])
        # It is alone, and finds in the shared directory that the job is over.
        self.end()
        self.check()

    def test_the_host_of_the_command_is_cut_off_and_comes_back(self):
        self.start_several()
        self.wait_for("snapshot")
        self.cut("h1")
        self.wait_for("leads")
        self.lose_work_of("h1")
        self.mend("h1")
        self.wait_for("snapshot")
        self.end()
        self.assertIn("h1", [event["host"] for event in self.events if event["event"] == "follows"])
        self.check()

    def test_the_host_of_the_command_dies_with_all_that_runs_there(self):
        self.start_several("--stats", "stats")
        self.wait_for("snapshot")
        self.assertIn("h1", self.hosts_of_workers())
        for pid in [pid for pid in self.of_job() if self.host_of(pid) == "h1"]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.cut("h1")
        self.job.wait()
        self.until(lambda: len(self.workers()) == 3 and self.hosts_of_workers() <= {"h2", "h3"})
        (self.folder / "enough").touch()
        self.wait_for_ends(self.of_job, "the job does not end")
        self.check()
        self.assertEqual(0, json.loads((self.folder / "stats").read_text())["code"])

    def test_the_host_of_another_leader_is_cut_off_and_the_command_has_the_exit_code(self):
        self.start_several()
        self.wait_for("snapshot")
        first = self.coordinators()["h1"]
        os.kill(first, signal.SIGSTOP)
        second = self.wait_for("leads")["host"]
        self.wait_for("snapshot")
        os.kill(first, signal.SIGCONT)
        self.wait_for("follows")
        self.cut(second)
        self.wait_for("leads", lambda event: event["host"] != second)
        self.lose_work_of(second)
        self.end()
        self.mend(second)
        self.check()

    # ---- what cannot be ------------------------------------------------------------------------

    def refused(self, text, **how):
        self.start_several(*how.pop("options", ()), **how)
        self.finish(3)
        self.assertIn(text, self.said())
        self.assertFalse((self.folder / "snapshots").exists())
        self.wait_for_ends(self.of_job, "processes are left")

    def test_what_cannot_be_is_refused_by_name(self):
        self.refused("--coordinators 3: want as many machines, this one and 2 others of the job, "
                     "found 2: 10.78.0.1, h2", hosts="h1,h2")
        self.refused("--coordinators 5: want as many machines", count=5)
        self.refused("--hosts: 'localhost' is another machine on each host",
                     hosts="localhost,h2,h3")
        self.refused("--hosts: no coordinator can be on host 'h77'", hosts="h1,h2,h77")
        self.refused("none can be kept", options=["--transport", "mpi"])
        self.refused("found --stdin and other hosts", options=["--stdin"])

    def test_a_name_that_means_another_machine_on_its_host_is_refused(self):
        (self.folder / "n2").write_text((self.folder / "h2").read_text())
        (self.folder / "tmp-n2").mkdir()
        names = (self.folder / "names").read_text()
        (self.folder / "names").write_text(names + "10.78.0.2 n2\n")
        (self.folder / "other-names").write_text(names + "10.78.0.3 n2\n")
        sh("nsenter", "--target", self.holders["h2"].pid, "--mount", "mount", "--bind",
           self.folder / "other-names", "/etc/hosts")
        self.refused("no coordinator can be on host 'n2': want a name that means it there, too",
                     hosts="h1,n2,h3")


class OthersTakeTheirPlaces(CoordinatorJobs):
    HOSTS = 4

    def wait_until_complete(self, hosts):
        self.until(lambda: f"all 3 coordinators take part again: {hosts}" in self.said())

    def test_a_lost_host_is_replaced_by_a_free_one_and_a_killed_process_on_its_own(self):
        self.start_several(hosts="h1,h2,h3,h4")
        self.wait_for("snapshot")
        self.assertEqual({"h1", "h2", "h3"}, set(self.coordinators()))
        self.cut("h2")
        self.wait_until_complete("10.78.0.1, 10.78.0.4, 10.78.0.3")
        self.lose_work_of("h2")
        # Two of those that began are gone now, and the one beside the command is the second.
        workers = self.workers()
        os.kill(self.coordinators()["h1"], signal.SIGKILL)
        self.wait_for("leads", lambda event: event["host"] in ("h3", "h4"))
        self.until(lambda: self.said().count("coordinators take part again") == 2)
        self.assertLessEqual({"h1", "h3", "h4"}, set(self.coordinators()))
        self.wait_for("snapshot")
        self.assertEqual(workers, self.workers())
        # None of those that began is left then.
        os.kill(self.coordinators()["h3"], signal.SIGKILL)
        self.wait_for("snapshot")
        self.wait_for("snapshot")
        self.end()
        self.mend("h2")
        self.check()

    def test_where_those_that_are_left_are_on_other_hosts_the_command_hands_on_its_signal(self):
        self.start_several(hosts="h1,h2,h3,h4")
        self.wait_for("snapshot")
        os.kill(self.coordinators()["h1"], signal.SIGKILL)
        self.wait_for("reattached")
        self.wait_for("snapshot")
        self.job.send_signal(signal.SIGTERM)
        self.events += [json.loads(line) for line in self.job.stdout]
        self.assertEqual(75, self.job.wait(SECONDS_MAX), self.said())
        self.wait_for_ends(self.of_job, "processes are left")


if __name__ == "__main__":
    in_namespace()
    unittest.main()
