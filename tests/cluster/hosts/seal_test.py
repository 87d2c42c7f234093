#!/usr/bin/env python3
"""What somebody hears who listens on the network between the hosts of a job: nothing of it, unless the job
is plain. Nor of what replicas of a state machine and their clients say."""

import os
import select
import socket
import subprocess
import threading
import time
import unittest

from hosts import *

ETH_P_ALL = 3
SO_RCVBUFFORCE = 33


class Listener:
    """All that goes over the cables of the bridge, from the beginning to `end`."""

    def __init__(self):
        self.socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
        self.socket.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 64 << 20)
        self.packets = []
        self.enough, self.tell = os.pipe()
        self.thread = threading.Thread(target=self.listen)
        self.thread.start()

    def listen(self):
        while True:
            ready, _, _ = select.select([self.socket, self.enough], [], [])
            if self.socket in ready:
                self.packets.append(self.socket.recv(1 << 17))
            else:
                return

    def end(self):
        """Once all is read that has come."""
        os.close(self.tell)
        self.thread.join()
        os.close(self.enough)
        self.socket.close()
        return self.packets


class Seal(OnHosts):
    def heard_of_a_job(self, *options):
        """What was heard, and the lines that the job has sent from host to host."""
        listener = Listener()
        try:
            self.start_stream("--hosts", "h1,h2", "-n", "4", *options, items=4000)
            summary = self.finish()
        finally:
            packets = listener.end()
        self.assertEqual(4, summary["processes_started"])
        self.check_output()
        self.check_nothing_left()
        lines = [line for line in (self.folder / "out").read_bytes().splitlines() if len(line) >= 10]
        self.assertGreater(len(lines), 1000)
        # Handshakes are plain, and show that the listener hears.
        self.assertTrue(any(b"PC\x01\xff" in packet for packet in packets))
        return b"\0".join(packets), lines

    def test_nothing_of_a_job_is_heard_between_its_hosts(self):
        heard, lines = self.heard_of_a_job()
        self.assertEqual([], [line for line in lines if line in heard])
        self.assertNotIn(b"PIRACEMA_", heard)
        self.assertNotIn(STREAM.encode(), heard.replace(b"\0", b""))

    def test_a_plain_job_is_heard_and_does_the_same(self):
        heard, lines = self.heard_of_a_job("--plain")
        self.assertGreater(sum(line in heard for line in lines), len(lines) // 10)
        # The key of the job is one of the things that an agent is told.
        self.assertIn(b"PIRACEMA_TOKEN=", heard)

    def test_a_plain_worker_and_one_that_wants_a_seal_refuse_each_other(self):
        """A program that makes itself plain on one of the hosts."""
        program = self.folder / "program"
        program.write_text('#!/bin/sh\n[ "$(hostname)" = h2 ] && export PIRACEMA_PLAIN=true\n'
                           f'exec {STREAM} "$@"\n')
        program.chmod(0o755)
        self.start("--hosts", "h1,h2", "-n", "2", program, "out", "items=1000")
        why = "handshake: want a sealed connection to another host, found a peer that sends plain"
        until = time.monotonic() + SECONDS_MAX
        while why not in self.said():
            self.assertLess(time.monotonic(), until, self.said())
            time.sleep(0.05)
        self.assertFalse((self.folder / "out").exists() and (self.folder / "out").read_bytes())

    def keygen(self, name):
        return subprocess.run([PIRACEMA, "kv", "keygen", self.folder / name], check=True, env=CLEAN,
                              capture_output=True, text=True).stdout.strip()

    def kv(self, *words):
        run = subprocess.run([PIRACEMA, "kv", words[0], "--config", self.folder / "group.toml", "--key",
                              self.folder / "client.key", "--timeout", f"{SECONDS_MAX}s", *words[1:]],
                             env=CLEAN, capture_output=True, text=True)
        self.assertEqual(0, run.returncode, run.stderr)
        return run.stdout.strip()

    def test_nothing_of_a_replicated_store_is_heard_between_its_hosts(self):
        text = '[group]\nname = "sealed"\nfaults = "crash"\nf = 1\n'
        for i in range(3):
            text += (f'[replica.{i}]\naddress = "10.78.0.{i + 1}:7000"\n'
                     f'public_key = "{self.keygen(f"replica-{i}.key")}"\n')
        text += f'[client.1]\npublic_key = "{self.keygen("client.key")}"\n'
        (self.folder / "group.toml").write_text(text)
        key, value = "the-name-of-a-treasure", "its-hiding-place-" * 2000
        listener = Listener()
        try:
            for i in range(3):
                self.on(f"h{i + 1}", PIRACEMA, "kv", "replica", "--config", self.folder / "group.toml",
                        "--id", str(i), "--key", self.folder / f"replica-{i}.key", "--directory",
                        self.folder / f"d{i}", "--first-start", stderr=subprocess.DEVNULL)
            self.kv("put", key, value)
            self.assertEqual(value, self.kv("get", key))
        finally:
            packets = listener.end()
        heard = b"\0".join(packets)
        # Once to each follower at least, and handshakes are plain.
        self.assertGreater(len(heard), 4 * len(value))
        self.assertIn(b"PSMR", heard)
        self.assertNotIn(key.encode(), heard)
        self.assertNotIn(b"hiding-place", heard)


if __name__ == "__main__":
    in_namespace()
    unittest.main()
