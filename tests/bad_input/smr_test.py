#!/usr/bin/env python3
"""Replicas of `piracema kv` against users, disks and strangers: a line and a code, and the rest of
the group goes on."""

import json
import os
import random
import re
import shutil
import socket
import time
import unittest

from support import *

RANDOM = random.Random(3)


class Smr(BadInput):
    def setUp(self):
        super().setUp()
        self.demo = None

    def start_group(self, *options):
        """A group of three in one terminal; its configuration and ports."""
        self.place = self.folder / "group"
        self.demo = self.start(PIRACEMA, "kv", "demo", "--directory", self.place, *options,
                               stdin=subprocess.PIPE)
        self.ask("put a b", "ok ")
        self.config = self.place / "group.toml"
        self.ports = [int(port) for port in re.findall(r'127\.0\.0\.1:(\d+)', self.config.read_text())]
        # Two of three answer clients; the third may be starting yet.
        for port in self.ports:
            self.wait_for_port(port)

    def ask(self, line, wanted):
        """The answer to a line; lines about leaders and replicas are passed by."""
        self.demo.stdin.write(line + "\n")
        self.demo.stdin.flush()
        for said in self.demo.stdout:
            if not said.startswith(("replica ", "kv ")):
                self.assertTrue(said.startswith(wanted), said)
                return said
        self.fail("the group has ended: " + self.demo.stderr.read())

    def wait_for_port(self, port):
        until = time.monotonic() + SECONDS_MAX
        while True:
            try:
                return socket.create_connection(("127.0.0.1", port)).close()
            except ConnectionRefusedError:
                if time.monotonic() > until:
                    raise
                time.sleep(0.01)  # Nothing but the port tells when somebody listens to it.

    def end_group(self):
        _, err = self.demo.communicate("quit\n", timeout=SECONDS_MAX)
        self.assertEqual(0, self.demo.returncode, err)
        return err

    def replica(self, *options):
        return [PIRACEMA, "kv", "replica", "--config", self.config, "--id", "0", "--key",
                self.place / "replica-0.key", "--directory", self.folder / "d", *options]

    def check_configuration(self, pattern, by, says):
        text = self.config.read_text()
        changed = re.sub(pattern, by, text, count=1)
        self.assertNotEqual(text, changed)
        wrong = self.folder / "wrong.toml"
        wrong.write_text(changed)
        command = self.replica("--first-start")
        command[4] = wrong
        self.check_refused(3, says, *command)

    def test_a_wrong_configuration_is_named_with_its_line(self):
        self.start_group()
        self.end_group()
        keys = re.findall(r'public_key = "(\w+)"', self.config.read_text())
        self.check_configuration(r"f = 1", "f = 2", "wrong.toml:4: group.f: want 5 replicas or more")
        self.check_configuration(r'"crash"', '"byzantine"', "want 4 replicas or more (3f + 1)")
        self.check_configuration(keys[1], keys[0], "is also that of replica.0: two with one identity")
        self.check_configuration(r"f = 1", "g = 1", "wrong.toml:4: group.g: unknown; want name")
        self.check_configuration(r"127\.0\.0\.1:\d+", "local host:1", "replica.0.address: ")
        self.check_configuration(r"127\.0\.0\.1:\d+", "192.0.2.1:999", "192.0.2.1:999")

    def test_wrong_keys_are_refused(self):
        self.start_group()
        self.end_group()
        key = self.place / "replica-0.key"
        os.chmod(key, 0o644)
        self.check_refused(3, "want permissions 0600, found 0644", *self.replica())
        os.chmod(key, 0o600)
        key.write_text("no key\n")
        self.check_refused(3, "found something else", *self.replica())
        key.unlink()
        self.check_refused(3, "No such file", *self.replica())
        other = self.replica()
        other[other.index("--key") + 1] = self.place / "replica-1.key"
        self.check_refused(3, "the key of replica 0 is ", *other)
        other[other.index("--id") + 1] = "7"
        self.check_refused(3, "replica 7 is not in the configuration", *other)

    def test_the_doctor_says_where_a_replica_can_run(self):
        self.start_group()
        run = self.run_to_end(PIRACEMA, "kv", "doctor", "--json", "--directory", self.folder, "--config", self.config)
        self.assertEqual(0, run.returncode, run.err)
        found = {one["what"]: one for one in json.loads(run.out)}
        self.assertIn("until a batch is on the disk of", found["disk"]["text"])
        self.assertIn("free there", found["room"]["text"])
        ports = [one["text"] for one in json.loads(run.out) if one["what"] == "port"]
        self.assertEqual([f"127.0.0.1:{port}: somebody listens there" for port in self.ports], ports)
        self.end_group()
        run = self.run_to_end(PIRACEMA, "kv", "doctor", "--directory", self.folder, "--config", self.config)
        self.assertEqual(3, run.out.count(": free on this host"))
        before = os.listdir(self.folder)
        run = self.run_to_end(PIRACEMA, "kv", "doctor", "--directory", "nowhere")
        self.assertEqual(1, run.returncode)
        self.assertRegex(run.out, "^MISSING +disk +nowhere: No such file or directory")
        self.assertEqual(before, os.listdir(self.folder))  # Nothing is left behind.

    def test_one_identity_cannot_run_twice(self):
        self.start_group()
        self.check_refused(3, "Address already in use", *self.replica("--first-start"))
        twice = self.replica()
        twice[twice.index("--directory") + 1] = self.place / "replica-0"
        self.check_refused(3, "want it for one replica alone", *twice)
        self.ask("get a", "b")
        self.end_group()

    def test_random_bytes_on_every_port_disturb_nobody(self):
        self.start_group()
        for port in self.ports:
            for i in range(40):
                with socket.create_connection(("127.0.0.1", port)) as stranger:
                    noise = RANDOM.randbytes(RANDOM.randrange(1, 5_000))
                    try:
                        stranger.sendall((bytes([0, 0, 0, 0]) if i % 2 else b"") + noise)
                    except OSError:
                        pass  # Hung up on in the middle.
        silent = [socket.create_connection(("127.0.0.1", port))
                  for port in self.ports for _ in range(300)]
        self.ask("put a c", "ok ")
        for one in silent:
            one.close()
        self.assertIn("refused a connection from 127.0.0.1", self.end_group())

    def test_an_operation_that_is_too_large_is_refused(self):
        self.start_group()
        client = [PIRACEMA, "kv", "put", "--config", self.config, "--key", self.place / "client.key"]
        small = self.folder / "small.toml"
        small.write_text(re.sub(r"operation_bytes_max = \d+", "operation_bytes_max = 100",
                                self.config.read_text()))
        client[4] = small
        self.check_refused(1, "bytes, at most 100 are taken", *client, "a", "x" * 200)
        self.ask("get a", "b")
        self.end_group()

    def test_replicas_refuse_an_operation_that_the_client_finds_small_enough(self):
        self.start_group()
        self.end_group()
        large = self.folder / "large.toml"
        large.write_text(self.config.read_text())
        self.config.write_text(re.sub(r"operation_bytes_max = \d+", "operation_bytes_max = 100",
                                      self.config.read_text()))
        self.start_group()
        self.check_refused(1, "bytes, at most 100 are taken", PIRACEMA, "kv", "put", "--config",
                           large, "--key", self.place / "client.key", "a", "x" * 200)
        self.ask("get a", "b")
        self.end_group()

    def test_a_replica_whose_state_is_another_one_ends_and_the_others_go_on(self):
        self.start_group()
        self.end_group()
        self.config.write_text(re.sub(r"checkpoint_every = \d+", "checkpoint_every = 32",
                                      self.config.read_text()))
        replicas = []
        for i in range(3):
            command = self.replica("--first-start")
            command[0] = SMR_LIAR if i == 1 else PIRACEMA
            command[command.index("--id") + 1] = i
            command[command.index("--key") + 1] = self.place / f"replica-{i}.key"
            command[command.index("--directory") + 1] = self.folder / f"fresh-{i}"
            replicas.append(self.start(*command, environment={"LIE": "diverge"}))

        def put(key):
            put = self.run_to_end(PIRACEMA, "kv", "put", "--config", self.config, "--key",
                                  self.place / "client.key", key, "x")
            self.assertEqual(0, put.returncode, put.err)

        put("poison")
        for i in range(500):
            put(f"key-{i}")
            if replicas[1].poll() is not None:
                break
        self.assertEqual(1, replicas[1].wait(SECONDS_MAX))
        said = replicas[1].stderr.read()
        self.assertIn("the state of this replica (1) after instance ", said)
        self.assertIn("differs from that of a quorum of the others", said)
        # The reply was the right one; what the operation left behind was not.
        self.assertRegex(said, r"the first that ended otherwise is operation 0 of instance \d+: "
                               r"client 1, session \d+, sequence \d+, \d+ bytes: .*poison")
        put("after")
        for i in (0, 2):
            self.assertIsNone(replicas[i].poll())

    def test_nobody_changes_a_group_without_the_right_key(self):
        self.start_group()
        change = [PIRACEMA, "kv", "change", "--config", self.config, "--key",
                  self.place / "administrator.key"]
        self.check_refused(3, "is not that of the administrator", *change[:6],
                           self.place / "client.key", "--remove", "1")
        self.check_refused(2, "want --remove, --add or --f", *change)
        self.check_refused(3, "want a section [replica.9] with added = true, found none", *change,
                           "--add", "9")
        self.check_refused(3, "replica 9 is to go and is not there", *change, "--remove", "9")
        self.check_refused(3, "need 3 replicas, the view has 2", *change, "--remove", "1")
        self.check_refused(3, "64 hexadecimal digits", PIRACEMA, "kv", "admit", "--config",
                           self.config, "--key", self.place / "administrator.key", "7", "no key")
        nobody = self.folder / "nobody.toml"
        nobody.write_text(re.sub(r"administrator = .*", "", self.config.read_text()))
        change[4] = nobody
        self.check_refused(3, "nobody may change this group", *change, "--remove", "1")
        self.ask("get a", "b")
        self.end_group()

    def test_a_client_that_nobody_knows_is_told_so(self):
        self.start_group()
        key = self.folder / "stranger.key"
        made = self.run_to_end(PIRACEMA, "kv", "keygen", key)
        self.assertEqual(0, made.returncode)
        self.check_refused(3, "is not that of client 1", PIRACEMA, "kv", "get", "--config",
                           self.config, "--key", key, "a")
        # Its own file may name it as long as the replicas' do not.
        public = made.out.strip()
        own = self.folder / "own.toml"
        own.write_text(self.config.read_text() + f"\n[client.9]\npublic_key = \"{public}\"\n")
        self.check_refused(1, "client 9 is not known to replica", PIRACEMA, "kv", "get", "--config",
                           own, "--key", key, "--client", "9", "--timeout", "60s", "a")
        self.end_group()

    def test_nobody_there_is_an_error_in_time(self):
        self.start_group()
        self.end_group()
        self.check_refused(1, "no answer in time", PIRACEMA, "kv", "get", "--config", self.config,
                           "--key", self.place / "client.key", "--timeout", "300ms", "a")

    def test_a_full_disk_is_said_so(self):
        self.start_group()
        self.end_group()
        on_disk = self.on_disk(SMALL_DISK)
        command = self.replica("--first-start")
        command[command.index("--directory") + 1] = "small/d"
        self.check_refused(3, "No space left on device", *on_disk, *command)

    # ---- a group of three processes of this test, which can be lost one by one

    def own_group(self, settings=""):
        """The files of a group that does not run yet."""
        self.start_group()
        self.end_group()
        if settings:
            self.config.write_text(self.config.read_text() + settings)
        self.replicas = {}

    def directory(self, i):
        return self.folder / f"own-{i}"

    def run_replica(self, i, *options):
        command = self.replica(*options)
        command[command.index("--id") + 1] = i
        command[command.index("--key") + 1] = self.place / f"replica-{i}.key"
        command[command.index("--directory") + 1] = self.directory(i)
        log = open(self.folder / f"log-{i}", "a")
        self.addCleanup(log.close)
        self.replicas[i] = self.start(*command, stderr=log)

    def kill(self, i):
        self.replicas[i].kill()
        self.replicas[i].wait()

    def said(self, i):
        return (self.folder / f"log-{i}").read_text()

    def wait_until(self, condition):
        until = time.monotonic() + SECONDS_MAX
        while not condition():
            self.assertLess(time.monotonic(), until, "".join(self.said(i) for i in self.replicas))
            time.sleep(0.05)  # For what another process writes, of which nothing else tells.

    def kv(self, operation, *words, code=0, config=None):
        run = self.run_to_end(PIRACEMA, "kv", operation, "--config", config or self.config, "--key",
                              self.place / "client.key", *words)
        self.assertEqual(code, run.returncode, run.err)
        return run

    def test_a_first_start_after_a_loss_is_refused_by_who_remembers(self):
        self.own_group()
        for i in range(3):
            self.run_replica(i, "--first-start")
        self.kv("put", "a", "b")
        self.wait_until(lambda: all((self.directory(i) / "lives").exists() for i in range(3)))
        self.kill(2)
        shutil.rmtree(self.directory(2))
        self.run_replica(2, "--first-start")
        self.assertEqual(3, self.replicas[2].wait(SECONDS_MAX))
        self.assertIn("remembers this replica (2) with another memory", self.said(2))
        self.assertIn("replica 2 was started as if for the first time", self.said(0) + self.said(1))
        # As it should have been done; and the group goes on with it.
        shutil.rmtree(self.directory(2))
        self.run_replica(2)
        self.wait_until(lambda: "votes again" in self.said(2))
        self.kill(0)
        self.kv("put", "a", "c")

    def test_a_group_that_lost_too_many_disks_says_so_and_there_is_a_way_out(self):
        self.own_group()
        for i in range(3):
            self.run_replica(i, "--first-start")
        for i in range(40):
            self.kv("put", f"key-{i}", f"value-{i}")
        token = self.kv("put", "last", "one").out
        lease = self.kv("lease", "3600").out.split()[1]
        self.kv("put", "locked", "by me", lease)
        for i in (1, 2):
            self.kill(i)
            shutil.rmtree(self.directory(i))
            self.run_replica(i)
        silent = "still silent: this replica has lost what it had promised"
        self.wait_until(lambda: self.said(1).count(silent) >= 2 and "nothing can be decided" in self.said(0))
        self.assertRegex(self.said(1), r"without the memory of what they had promised: 2; if the disks")
        self.assertRegex(self.said(0), r"nothing can be decided: want 2 of 3 replicas, here are 1; .*: 1, 2;")
        status = json.loads(self.kv("status", "--json", code=1).out)
        self.assertFalse(status["goes_on"])
        self.assertEqual([False, True, True], [one["silent"] for one in status["replicas"]])

        rescue = [PIRACEMA, "kv", "new-group", "--config", self.config, "--id", "0", "--directory",
                  self.directory(0), "--name", "demo-2", "--write", "new.toml", "saved"]
        self.check_refused(3, "stop the replica first", *rescue)
        for i in range(3):
            self.kill(i)
        self.check_refused(1, "nothing was done: say --force", *rescue)
        self.assertFalse((self.folder / "saved").exists())
        def left():
            return {one.name: one.read_bytes() for one in self.directory(0).iterdir()
                    if one.name != ".lock"}

        before = left()
        forced = self.run_to_end(*rescue, "--force")
        self.assertEqual(0, forced.returncode, forced.err)
        self.assertIn("begins with 41 entries, as replica 0 of 'demo' knew them", forced.out)
        self.assertIn("all leases, and 1 entries that were bound to them", forced.out)
        self.assertTrue(before == left())

        new = self.folder / "new.toml"
        self.config = new
        for i in range(3):
            shutil.rmtree(self.directory(i))
            self.run_replica(i, "--first-start")
        restored = self.kv("restore", "saved")
        self.assertIn("loaded 41 entries of group demo; 1 that were bound to leases are left out", restored.out)
        self.assertEqual("value-7\n", self.kv("get", "key-7").out)
        self.kv("get", "locked", code=1)
        version = int(re.search(r"version (\d+)", token)[1])
        self.assertGreater(int(re.search(r"version (\d+)", self.kv("put", "last", "two").out)[1]), version)
        saved = (self.folder / "saved").read_bytes()
        (self.folder / "saved").write_bytes(saved[:-1] + bytes([saved[-1] ^ 1]))
        self.check_refused(3, "want a backup, found one whose checksum is wrong", PIRACEMA, "kv", "restore",
                           "--config", new, "--key", self.place / "client.key", "saved")

    def test_a_wrong_setting_is_refused_alike_by_replicas_and_clients(self):
        self.own_group()
        self.config.write_text(re.sub(r"checkpoint_every = \d+", "checkpoint_every = 20",
                                      self.config.read_text()))
        says = "settings.checkpoint_every: want a number from 32 to 1000000000, found '20'"
        self.check_refused(3, says, *self.replica("--first-start"))
        self.check_refused(3, says, PIRACEMA, "kv", "get", "--config", self.config, "--key",
                           self.place / "client.key", "a")

    def test_damage_to_a_directory_is_called_by_its_name(self):
        self.own_group()
        for i in range(3):
            self.run_replica(i, "--first-start")
        self.kv("put", "a", "b")
        for damage, says in [
                (lambda d: (d / "replica").write_bytes(b"?" * 60), "the file 'replica' is damaged"),
                (lambda d: [one.unlink() for one in d.glob("log-*")], "the log is missing"),
                (lambda d: (d / "replica").unlink(), "the file 'replica' cannot be used")]:
            self.kill(2)
            damage(self.directory(2))
            (self.folder / "log-2").write_text("")
            self.run_replica(2)
            self.wait_until(lambda: "votes again" in self.said(2))
            self.assertIn(says, self.said(2))
            self.assertRegex(self.said(2), r"(?m)^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z piracema replica 2: ")

    def test_a_wrong_key_does_not_flood_the_log(self):
        self.own_group()
        for i in range(2):
            self.run_replica(i, "--first-start")
        self.kv("put", "a", "b")
        wrong = self.folder / "other.key"
        other = self.folder / "other.toml"
        public = self.run_to_end(PIRACEMA, "kv", "keygen", wrong).out.strip()
        keys = re.findall(r'public_key = "(\w+)"', self.config.read_text())
        other.write_text(self.config.read_text().replace(keys[2], public))
        command = self.replica("--first-start")
        command[command.index("--config") + 1] = other
        command[command.index("--id") + 1] = 2
        command[command.index("--key") + 1] = wrong
        process = self.start(*command)
        self.wait_until(lambda: "more before it)" in self.said(0))
        process.kill()
        for line in self.said(0).splitlines():
            left_out = re.search(r"and (\d+) more before it", line)
            # From 10 ms up to half a second between two calls, of each of the two for the other.
            self.assertLess(int(left_out[1]) if left_out else 0, 300, line)

    def test_a_removed_replica_ends_by_itself(self):
        self.own_group()
        text = self.config.read_text()
        key = self.run_to_end(PIRACEMA, "kv", "keygen", self.place / "replica-3.key").out.strip()
        port = socket.socket()
        port.bind(("127.0.0.1", 0))
        text += f'\n[replica.3]\naddress = "localhost:{port.getsockname()[1]}"\npublic_key = "{key}"\nadded = true\n'
        address = f"127.0.0.1:{port.getsockname()[1]}"
        self.config.write_text(text)
        port.close()
        for i in range(3):
            self.run_replica(i, "--first-start")
        self.run_replica(3, "--first-start", "--listen", address)
        self.kv("put", "a", "b")
        change = self.run_to_end(PIRACEMA, "kv", "change", "--config", self.config, "--key",
                                 self.place / "administrator.key", "--timeout", "200s", "--remove", "0",
                                 "--add", "3")
        self.assertEqual(0, change.returncode, change.err)
        self.assertEqual(0, self.replicas[0].wait(SECONDS_MAX), self.said(0))
        self.assertIn("view 1 is without this replica: it was removed, and ends", self.said(0))
        # Nor does it stay when it is started again.
        self.run_replica(0)
        self.assertEqual(0, self.replicas[0].wait(SECONDS_MAX), self.said(0))
        self.kv("put", "a", "c")
        status = json.loads(self.kv("status", "--json").out)
        self.assertTrue(status["goes_on"])
        self.assertEqual(3, status["here"])
        self.assertIn("trouble", status["replicas"][0])
        self.assertIn("group demo: goes on, led by ", self.kv("status").out)

    def test_wrong_words_are_usage(self):
        self.check_refused(2, "", PIRACEMA, "kv", "nothing")
        self.check_refused(2, "", PIRACEMA, "kv", "replica")


if __name__ == "__main__":
    unittest.main()
