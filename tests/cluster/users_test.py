#!/usr/bin/env python3
"""Several users of one cluster: what each may ask for, and as whom its jobs run."""

import json
import os
import pathlib
import pwd
import shutil
import signal
import subprocess
import tempfile
import unittest

# Other accounts than the one that the test runs as have to reach the programs.
PROGRAMS = pathlib.Path(tempfile.mkdtemp())
PROGRAMS.chmod(0o711)
BUILT = pathlib.Path(os.environ["PIRACEMA_COMMAND"])
for built in [BUILT, BUILT.with_name("piracema-cluster"), pathlib.Path(os.environ["TALLY_APP"])]:
    shutil.copy(built, PROGRAMS)
os.environ["PIRACEMA_COMMAND"] = str(PROGRAMS / BUILT.name)

from cluster_of_nodes import CLEAN, PIRACEMA, SECONDS_MAX, ClusterOfNodes, children_of  # noqa: E402
from tally_job import expected  # noqa: E402

TALLY = PROGRAMS / pathlib.Path(os.environ["TALLY_APP"]).name
IS_ROOT = os.geteuid() == 0
# Every Debian has them.
ALICE, BOB = ("daemon", "nobody") if IS_ROOT else (pwd.getpwuid(os.geteuid()).pw_name,) * 2
ITEMS = 40_000


def tearDownModule():
    shutil.rmtree(PROGRAMS)


class Users(ClusterOfNodes):
    def setUp(self):
        super().setUp()
        self.folder.chmod(0o711)
        self.wait_for_nodes()

    def call_as(self, user, *words):
        home = self.folder / "c" / "users" / user
        # What is said counts, whatever the environment says.
        environment = dict(CLEAN, PIRACEMA_CLUSTER=str(self.folder / "c"))
        return subprocess.run([PIRACEMA, "cluster", words[0], "--cluster", home, *map(str, words[1:])],
                              env=environment, text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=SECONDS_MAX)

    def ask_as(self, user, *words):
        answer = self.call_as(user, *words)
        self.assertEqual(0, answer.returncode, answer.stderr + self.said())
        return answer.stdout

    def submit_as(self, user, script, *options):
        return int(self.ask_as(user, "submit", *options, "--", "sh", "-c", script))

    def refused(self, why, user, *words, code=1):
        answer = self.call_as(user, *words)
        self.assertEqual(code, answer.returncode, answer.stdout + answer.stderr)
        self.assertIn(why, answer.stderr)

    def add(self, name, *options):
        return self.ask("add-user", name, *options)

    def users(self):
        return {user["user"]: user for user in map(json.loads, self.ask("users", "--json").splitlines())}


class Roles(Users):
    def test_each_user_does_what_its_role_is_for(self):
        self.assertIn("piracema cluster jobs --cluster alice", self.add("alice", "--account", ALICE))
        self.add("bob", "--role", "look")
        self.add("carol", "--role", "administer", "--account", ALICE)
        job = self.submit_as("alice", "sleep 1000")
        self.assertEqual("alice", self.job(job)["user"])
        self.assertIn("alice", self.ask_as("bob", "jobs"))
        for words in [("submit", "--", "true"), ("cancel", job)]:
            self.refused("the user bob has the role look: want submit for that", "bob", *words)
        self.refused("the user alice has the role submit: want administer for that", "alice", "drain", "a")
        own = self.submit("sleep 1000")
        self.refused(f"job {own} is of the user admin, found the user alice", "alice", "cancel", own)
        self.refused("the user alice has the role submit: want administer for that", "alice", "change-user",
                     "alice", "--role", "administer")
        self.ask_as("carol", "drain", "a")
        self.ask_as("carol", "drain", "a", "--off")
        self.ask_as("carol", "cancel", job, own)
        self.ask("change-user", "bob", "--role", "submit", "--account", ALICE)
        self.ask_as("bob", "submit", "--wait", "--", "true")
        self.assertEqual({"user": "bob", "role": "submit", "account": ALICE}, self.users()["bob"])

    def test_a_user_that_is_removed_may_do_nothing_more_and_its_jobs_go_on(self):
        self.add("alice", "--account", ALICE)
        job = self.submit_as("alice", "sleep 1000")
        kept = self.folder / "kept"
        shutil.copytree(self.folder / "c" / "users" / "alice", kept)
        self.assertEqual("alice is no user of the cluster any more\n", self.ask("remove-user", "alice"))
        self.assertNotIn("alice", self.users())
        self.assertFalse((self.folder / "c" / "users" / "alice").exists())
        answer = subprocess.run([PIRACEMA, "cluster", "jobs", "--cluster", kept, "--timeout", "3s"], env=CLEAN,
                                text=True, capture_output=True, timeout=SECONDS_MAX)
        self.assertEqual(1, answer.returncode, answer.stdout)
        self.assertEqual("running", self.job(job)["state"])
        # Another key with the name is the same user, and so are its jobs.
        self.add("alice", "--account", ALICE)
        self.ask_as("alice", "cancel", job)
        for words, why in [(("add-user", "alice"), "the cluster has a user alice already"),
                           (("add-user", "admin"), "the cluster has a user admin already"),
                           (("remove-user", "admin"), "the user admin has made the cluster and stays"),
                           (("remove-user", "dave"), "the cluster has no user dave"),
                           (("change-user", "dave"), "the cluster has no user dave")]:
            answer = self.call(*words)
            self.assertEqual(1, answer.returncode, answer.stderr)
            self.assertIn(why, answer.stderr)
        self.assertEqual(2, self.call("add-user", "-x").returncode)
        self.assertEqual(2, self.call("add-user", "dave", "--role", "king").returncode)

    def test_users_and_owners_outlive_the_whole_control_plane(self):
        self.add("alice", "--account", ALICE)
        job = self.submit_as("alice", "sleep 1000")
        for process in self.processes.values():
            for pid, words in children_of(process.pid):
                if b"replica" in words:
                    os.kill(pid, signal.SIGKILL)
        self.assertEqual(["admin", "alice"], sorted(self.users()))
        self.assertEqual("alice", self.job(job)["user"])
        self.ask_as("alice", "cancel", job)

    def test_an_add_that_was_interrupted_is_done_anew(self):
        home = self.folder / "c" / "users" / "bob"
        home.mkdir(parents=True)
        (home / "user.key").write_text("half a k")
        self.add("bob")
        self.assertEqual("", self.ask_as("bob", "jobs"))


@unittest.skipUnless(IS_ROOT or os.environ.get("CI"), "only root runs jobs as others")
class Accounts(Users):
    def setUp(self):
        os.environ["SECRET_OF_THE_NODE"] = CLEAN["SECRET_OF_THE_NODE"] = "do not tell"
        super().setUp()
        self.add("alice", "--account", ALICE)
        self.add("bob", "--account", BOB)

    def test_a_job_runs_as_its_users_account_and_has_nothing_of_the_nodes(self):
        job = self.submit_as(
            "alice", "id -un; echo home $HOME, user $USER, greeting $GREETING; echo secret $SECRET_OF_THE_NODE.; "
            "touch mine && stat -c %U mine; echo to its log >>/dev/stderr; "
            f"for file in node.key replica/replica; do cat {self.folder}/c/$PIRACEMA_NODE/$file; done; "
            f"ls {self.folder}/c/$PIRACEMA_NODE/jobs; cat /proc/$PPID/environ; "
            "grep -c Groups /proc/self/status; kill -9 $PPID", "--env", "GREETING=hello")
        self.wait(job, code=1)
        said = self.ask("logs", job)
        account = pwd.getpwnam(ALICE)
        self.assertIn(f"{ALICE}\nhome {account.pw_dir}, user {ALICE}, greeting hello\nsecret .\n{ALICE}\n"
                      "to its log\n", said)
        # Keys, the list of jobs, the supervisor's environment, and its life.
        self.assertEqual(5, said.count("ermission denied") + said.count("not permitted"), said)
        self.assertNotIn("do not tell", said)

    def test_a_node_that_runs_as_root_runs_nobodys_jobs_as_root(self):
        self.add("dave")
        self.add("eve", "--account", "nobody-has-this-name")
        self.add("frank", "--account", "root")
        for user, why in [("dave", "want an account for the jobs of the user dave on a node that runs as root"),
                          ("eve", "there is no account 'nobody-has-this-name' here")]:
            job = self.submit_as(user, "id -un")
            self.wait(job, code=127)
            self.assertIn(why, self.job(job)["why"])
        # Unless whoever administers the cluster has said so.
        self.assertEqual("root\n", self.ask("logs", self.done(self.submit_as("frank", "id -un"))))
        self.assertEqual("root\n", self.ask("logs", self.done(self.submit("id -un"))))

    def done(self, job):
        self.wait(job)
        return job

    def test_a_directory_where_the_account_may_not_go_is_named(self):
        shut = self.folder / "shut"
        shut.mkdir(mode=0o700)
        job = self.submit_as("alice", "true", "--cd", shut / "inside")
        self.wait(job, code=127)
        self.assertIn(f"{shut}/inside: Permission denied, for the account of the job's user", self.job(job)["why"])
        self.assertEqual([], list(shut.iterdir()))

    def test_parts_run_as_the_account_and_are_for_its_jobs_alone(self):
        own = self.submit_as("alice", "other=${PIRACEMA_HOSTS##*,}; $PIRACEMA_RSH ${other%=*} "
                             "'id -un; exit 7'; echo ended with $?; exec sleep 1000", "--nodes", 2)
        self.wait_for_output(own, "ended with 7")
        found = self.job(own)
        # Each on one node: the other job asks the same door for a part of hers.
        theft = self.submit_as("bob", f"PIRACEMA_JOB={own} PIRACEMA_ATTEMPT=1 PIRACEMA_HOSTS=$PIRACEMA_NODE=127.0.0.1 {PIRACEMA} cluster rsh "
                               f"{found['others'][0]} id; echo got $?", "--on", found["node"])
        self.wait(theft)
        said = self.ask("logs", theft)
        self.assertIn(f"job {own} does not run here as {BOB}, who has asked for a part of it", said)
        self.assertIn("got 255", said)
        self.assertIn(f"{ALICE}\n", self.ask("logs", own))
        self.ask_as("alice", "cancel", own)

    def test_a_stream_of_a_user_takes_savepoints_for_that_one_alone(self):
        place = self.folder / "alice"
        place.mkdir()
        shutil.chown(place, ALICE)
        stream = int(self.ask_as(
            "alice", "submit", "--nodes", 2, "--slots", 1, "--stream", "--snapshots", place / "s", "--every", "100ms",
            "--", TALLY, place / "out", "replicas=2", f"items={ITEMS}", "pause_us=10000",
            f"hurry={place}/hurry"))
        self.wait_until(lambda: self.call_as("alice", "savepoint", stream, "v1").returncode == 0, "no savepoint")
        # Its address lies where the account alone may look, and the node does.
        self.wait_until(lambda: json.loads(self.ask_as("bob", "status", "--json", stream))["stream"]["known"],
                        "nobody sees how it is")
        self.refused(f"job {stream} is of the user alice, found the user bob", "bob", "savepoint", stream, "v2",
                     code=3)
        self.ask_as("alice", "scale", stream, "tally=3")
        (place / "hurry").touch()
        self.wait(stream)
        self.assertEqual(sorted(expected(ITEMS).splitlines()), sorted((place / "out").read_text().splitlines()))
        self.assertEqual(ALICE, (place / "out").owner())

    def test_what_a_user_leaves_running_ends_with_its_job(self):
        job = self.submit_as("alice", "setsid sh -c 'echo $$ > left; exec sleep 1000' & sleep 1000")
        place = self.folder / "c" / self.wait_until(lambda: self.job(job).get("node"), "no node")
        left = place / "jobs" / str(job) / "left"
        pid = int(self.wait_until(lambda: left.exists() and left.read_text(), "it leaves nothing"))
        self.ask_as("alice", "cancel", job)
        self.wait(job, code=143)
        self.wait_until(lambda: not pathlib.Path(f"/proc/{pid}").exists(), "it lives")


if __name__ == "__main__":
    unittest.main()
