"""What the benchmarks of `piracema ckpt` share: jobs, what they are told, and a store that is slow."""

import contextlib
import json
import os
import pathlib
import re
import select
import subprocess
import sys

UNITS = {"ms": 1e-3, "s": 1, "min": 60}
MPIRUN = ["mpirun.openmpi", "--allow-run-as-root", "--oversubscribe", "-n"]


def doctor(build):
    found = subprocess.run([build / "tools/piracema", "ckpt", "doctor", "--json"], capture_output=True,
                           text=True, check=False)
    return json.loads(found.stdout)


def want_ckpt(build):
    """Ends the program with a reason unless this machine can save and restart jobs."""
    missing = [one for one in doctor(build) if one["needed"] and not one["ok"]]
    if missing or os.geteuid() != 0:
        print("SKIPPED:", missing[0]["text"] if missing else "want root, for mounts and namespaces of networks")
        sys.exit(77)


def criu_of(build):
    """The file of the criu that is used."""
    text = next(one["text"] for one in doctor(build) if one["what"] == "criu")
    return text[text.index("(") + 1:-1]


def seconds(text):
    """Of "84 ms", "12.3 s", "3 min 20 s"."""
    return sum(float(number) * UNITS[unit] for number, unit in re.findall(r"([\d.]+) (ms|s|min)", text))


class Job:
    """A program in a capsule. Its output is read where that is asked for."""

    def __init__(self, build, where, *program, word="run", window=None, more=(), **options):
        self.piracema = build / "tools/piracema"
        self.where = where
        words = [*more, *(["--", *map(str, program)] if program else [])]
        if window:
            words = ["--for", window, *words]
        self.process = subprocess.Popen(
            [self.piracema, "ckpt", word, "--dir", where, *words], text=True, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, **options)

    def wait_until_it_goes_on(self):
        """From an image."""
        while "goes on from image" not in self.process.stderr.readline():
            if self.process.poll() is not None:
                sys.exit("the job does not go on")

    def read_lines(self, count):
        for _ in range(count):
            if not self.process.stdout.readline():
                sys.exit(self.process.stderr.read())

    def ask(self, word, *options):
        done = subprocess.run([self.piracema, "ckpt", word, "--dir", self.where, *options],
                              capture_output=True, text=True, check=False)
        if done.returncode != 0:
            sys.exit(f"ckpt {word}: exit code {done.returncode}\n{done.stderr}")
        return done.stdout

    def try_to_ask(self, word, *options):
        """Nothing if it cannot answer yet, or any more."""
        done = subprocess.run([self.piracema, "ckpt", word, "--dir", self.where, *options],
                              capture_output=True, text=True, check=False)
        return done.stdout if done.returncode == 0 else None

    def begin(self, word):
        """Asks, and leaves waiting to the caller."""
        return subprocess.Popen([self.piracema, "ckpt", word, "--dir", self.where],
                                stdout=subprocess.PIPE, text=True)

    def end(self, code):
        self.process.communicate()
        if self.process.returncode != code:
            sys.exit(f"want exit code {code} of the job, found {self.process.returncode}")

    def image(self):
        """(bytes, directory of the parts) of the newest one."""
        newest = json.loads(self.ask("list", "--json"))[-1]
        return newest["bytes"], self.where / f"images/{newest['image']:012d}"


def told(text):
    """(safe, frozen): seconds, of what `save` answers."""
    took, frozen = re.search(r"in ([\d.]+ .+), frozen for ([\d.]+ .+)", text).groups()
    return seconds(took), seconds(frozen)


def wait_until_gone(pid):
    """Of any process."""
    with contextlib.suppress(ProcessLookupError):
        handle = os.pidfd_open(pid)
        select.select([handle], [], [])
        os.close(handle)


@contextlib.contextmanager
def slow_store(megabytes_per_second, folder, gigabytes=8):
    """A file system that is slow for all who write to it, by the kernel's own throttle."""
    image = folder / "disk"
    with open(image, "wb") as file:
        file.truncate(gigabytes << 30)
    place = folder / "slow"
    place.mkdir()
    subprocess.run(["mkfs.ext4", "-q", "-F", image], check=True)
    loop = subprocess.run(["losetup", "--find", "--show", image], check=True, capture_output=True,
                          text=True).stdout.strip()
    throttle = pathlib.Path("/sys/fs/cgroup/blkio/blkio.throttle.write_bps_device")
    number = pathlib.Path(f"/sys/block/{pathlib.Path(loop).name}/dev").read_text().strip()
    try:
        subprocess.run(["mount", loop, place], check=True)
        throttle.write_text(f"{number} {int(megabytes_per_second * 1e6)}")
        yield place
    finally:
        throttle.write_text(f"{number} 0")
        # Somebody may still look at it who has not heard that his job has ended.
        subprocess.run(["umount", "--lazy", place], check=False)
        subprocess.run(["losetup", "-d", loop], check=False)
