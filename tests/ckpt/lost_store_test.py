#!/usr/bin/env python3
"""The store goes away while a job is saved to it: it fails at once (as one that is pulled out), or it answers
nobody (as one whose link is down)."""

import fcntl
import os
import pathlib
import shutil
import subprocess
import sys
import threading

from support import COUNTER, PATIENCE, PIRACEMA, CkptTest, main, skip
from watch import Watch, wait_for_end

STATUS = 7
# Both have more than is written in no time.
COUNTING = [COUNTER, 50, 100, 4_000_000, STATUS]
HOLDING = [sys.executable, "-c", "import signal; held = b'x' * (100 << 20); print('up', flush=True); signal.pause()"]
# ioctl(2) of file systems: ext4 shuts down without writing what it has; all stand still, and go on.
SHUTDOWN, SHUTDOWN_AT_ONCE = 0x8004587D, b"\2\0\0\0"
FREEZE, THAW = 0xC0045877, 0xC0045878


class Store:
    """A file system of its own, which can be taken away."""

    def __init__(self, folder):
        self.image, self.place = folder / "disk", folder / "store"
        with open(self.image, "wb") as file:
            file.truncate(1 << 30)
        self.place.mkdir()
        subprocess.run(["mkfs.ext4", "-q", "-F", self.image], check=True)
        if subprocess.run(["mount", "-o", "loop", self.image, self.place], check=False).returncode != 0:
            skip("no file system can be mounted here by a loop device")
        self.handle = os.open(self.place, os.O_RDONLY)

    def pull_out(self):
        fcntl.ioctl(self.handle, SHUTDOWN, SHUTDOWN_AT_ONCE)

    def hang(self):
        fcntl.ioctl(self.handle, FREEZE, 0)

    def answer(self):
        try:
            fcntl.ioctl(self.handle, THAW, 0)
        except OSError:
            pass  # It does.

    def come_back(self):
        """With what was on the disk by then; the old one is there until nobody looks at it any more."""
        self.drop()
        before, self.image = self.image, self.image.with_name(self.image.name + "-again")
        subprocess.run(["cp", "--sparse=always", before, self.image], check=True)
        before.unlink()
        subprocess.run(["mount", "-o", "loop", self.image, self.place], check=True)
        self.handle = os.open(self.place, os.O_RDONLY)

    def drop(self):
        self.answer()
        os.close(self.handle)
        subprocess.run(["umount", "--lazy", self.place], check=False)


def descendants(pid):
    for child in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
        yield int(child)
        yield from descendants(int(child))


def words_of(pid):
    return pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().decode().split("\0")


class LostStore(CkptTest):
    def setUp(self):
        super().setUp()
        if shutil.which("mkfs.ext4") is None:
            skip("no mkfs.ext4")
        self.store = Store(self.path)
        self.addCleanup(self.store.drop)
        self.dir = self.store.place / "job"

    def when_memory_is_written(self, act, image, job):
        """In the middle of a dump: the image's memory is being written, and is larger than what may be
        written in no time."""
        def watch_and_act():
            parts = self.dir / f"images/{image:012d}"
            with Watch(self.dir / "images") as watch:
                watch.until(lambda: any(parts.glob("pages-*.img")), job.process, job.errors)
            act()
        thread = threading.Thread(target=watch_and_act)
        thread.start()
        self.addCleanup(thread.join, PATIENCE)
        return thread

    def test_one_that_is_pulled_out_costs_the_image_and_the_job_goes_on_from_the_one_before(self):
        wanted, _ = self.plain(*COUNTING)
        for word in ["save", "stop"]:
            job = self.run_job(*COUNTING)
            job.read(5)
            self.ckpt("save", "--dir", self.dir)
            pulled = self.when_memory_is_written(self.store.pull_out, 2, job)
            refused = self.ckpt(word, "--dir", self.dir, code=None)
            pulled.join()
            self.assertNotEqual(0, refused.returncode, refused.stdout)
            job.kill()
            self.store.come_back()
            self.assertEqual([1], [image["image"] for image in self.images()])
            second = self.resume()
            self.assertEqual(STATUS, second.end(), second.errors())
            self.assertEqual(wanted, (self.dir / "stdout").read_text())
            shutil.rmtree(self.dir)

    def window_that_is_used(self):
        """One that a busy machine, on which a dump may take longer, does not find too short."""
        for seconds in [4, 8, 16, 32, 64, 128]:
            window = self.start("window", "--for", f"{seconds}s", "--dir", self.dir, "--", *HOLDING)
            window.wait_for("goes on from image", "shorter than one checkpoint")
            if "goes on from image" in window.errors():
                return window
            window.end(let=False)
        self.fail(window.errors())

    def test_one_that_hangs_does_not_keep_the_machine_beyond_the_window(self):
        job = self.run_job(*HOLDING)
        job.read(1)
        self.ckpt("stop", "--dir", self.dir)
        self.assertEqual(75, job.end(let=False), job.errors())
        window = self.window_that_is_used()
        holding = next(pid for pid in descendants(window.process.pid) if words_of(pid)[0] == HOLDING[0])
        hung = self.when_memory_is_written(self.store.hang, 2, window)
        with subprocess.Popen([PIRACEMA, "ckpt", "save", "--dir", self.dir], stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL):
            hung.join()
            # The keeper is caught by the store as well, and the guard is what ends the job.
            wait_for_end(holding)
            self.store.answer()
            self.assertEqual(75, window.end(let=False), window.errors())
        self.assertEqual([1], [image["image"] for image in self.images()])
        self.resume().wait_for("goes on from image 1")


if __name__ == "__main__":
    main()
