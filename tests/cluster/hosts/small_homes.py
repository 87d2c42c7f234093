"""Hosts whose nodes' homes are small file systems of their own, which become full and are emptied again."""

import os
import subprocess

from hosts import CLEAN


class SmallHomes:
    MEGABYTES = 96

    def __init__(self, test, hosts):
        self.test, self.hosts = test, hosts
        for host in hosts:
            self.make(host)

    def home(self, host):
        return self.test.folder / "c" / host

    def make(self, host):
        """As init has made it, and seen on that host alone."""
        script = ('cp -a "$1" "$1.first" && mount -t tmpfs -o size="$2"m none "$1" && '
                  'cp -a "$1.first/." "$1" && rm -r "$1.first"')
        subprocess.run(["nsenter", "--target", str(self.test.holders[host].pid), "--mount", "sh", "-c", script, "sh",
                        str(self.home(host)), str(self.MEGABYTES)], check=True, env=CLEAN)

    def filler(self, host):
        return f"/proc/{self.test.holders[host].pid}/root{self.home(host)}/full"

    def fill(self, host, megabytes_left=0):
        """To the last byte, or so far; what takes that back."""
        with open(self.filler(host), "wb", buffering=0) as file:
            for size in (1 << 20, 1 << 12, 1):
                try:
                    while True:
                        file.write(b"\0" * size)
                except OSError:
                    pass
            if megabytes_left:
                os.truncate(file.fileno(), os.fstat(file.fileno()).st_size - (megabytes_left << 20))
        return lambda: os.unlink(self.filler(host))
