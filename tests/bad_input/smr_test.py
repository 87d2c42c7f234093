#!/usr/bin/env python3
"""Replicas of `piracema kv` against users, disks and strangers: a line and a code, and the rest of
the group goes on."""

import os
import random
import re
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
        self.check_configuration(r"127\.0\.0\.1:\d+", "localhost:1", "replica.0.address: ")
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

    def test_wrong_words_are_usage(self):
        self.check_refused(2, "", PIRACEMA, "kv", "nothing")
        self.check_refused(2, "", PIRACEMA, "kv", "replica")


if __name__ == "__main__":
    unittest.main()
