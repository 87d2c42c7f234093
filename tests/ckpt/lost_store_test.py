#!/usr/bin/env python3
"""The store goes away while a job is saved to it: it fails at once (as one that is pulled out), or it answers
nobody (as one whose link is down)."""

import fcntl
import json
import os
import re
import select
import shutil
import subprocess
import sys
import urllib.request

from support import COUNTER, CkptTest, main, skip
from watch import descendants, wait_for_end, words_of

STATUS = 7
COUNTING = [COUNTER, 50, 4, 4_000_000, STATUS]
HOLDING = [sys.executable, "-c", "import signal; held = b'x' * (4 << 20); print('up', flush=True); signal.pause()"]
# ioctl(2) of file systems: ext4 shuts down without writing what it has; all stand still, and go on.
SHUTDOWN, SHUTDOWN_AT_ONCE = 0x8004587D, b"\2\0\0\0"
FREEZE, THAW = 0xC0045877, 0xC0045878
# Once the images are written and the job stands still.
HOOK = """if [ "$CRTOOLS_SCRIPT_ACTION" = post-dump ] && rm {flag} 2>/dev/null; then
  {python} -c "import fcntl, os; fcntl.ioctl(os.open('{store}', os.O_RDONLY), {request}, {argument})"
fi
"""


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


def ask(base):
    with urllib.request.urlopen(base + "/api/v1/job", timeout=30) as response:
        return json.load(response)


class LostStore(CkptTest):
    def setUp(self):
        super().setUp()
        if shutil.which("mkfs.ext4") is None:
            skip("no mkfs.ext4")
        self.store = Store(self.path)
        self.addCleanup(self.store.drop)
        self.dir = self.store.place / "job"

    def criu_that_loses_it(self, request, argument):
        """Gives options. The store is lost in the middle of the next dump each time that the flag is set."""
        self.flag = self.path / "flag"
        return self.criu_that_does(HOOK.format(flag=self.flag, python=sys.executable, store=self.store.place,
                                               request=request, argument=argument))

    def test_one_that_is_pulled_out_costs_the_image_and_the_job_goes_on_from_the_one_before(self):
        wanted, _ = self.plain(*COUNTING)
        options = self.criu_that_loses_it(SHUTDOWN, SHUTDOWN_AT_ONCE)
        for word in ["save", "stop"]:
            job = self.run_job(*COUNTING, options=options)
            job.read(5)
            self.ckpt("save", "--dir", self.dir)
            self.flag.touch()
            refused = self.ckpt(word, "--dir", self.dir, code=None)
            self.assertNotEqual(0, refused.returncode, refused.stdout)
            self.assertFalse(self.flag.exists())
            job.kill()
            self.store.come_back()
            self.assertEqual([1], [image["image"] for image in self.images()])
            second = self.resume()
            self.assertEqual(STATUS, second.end(), second.errors())
            self.assertEqual(wanted, (self.dir / "stdout").read_text())
            shutil.rmtree(self.dir)

    def window_that_is_used(self, *options):
        """One that a busy machine, on which a dump may take longer, does not find too short."""
        for seconds in [4, 8, 16, 32, 64, 128]:
            window = self.start("window", "--for", f"{seconds}s", *options, "--dir", self.dir, "--", *HOLDING)
            window.wait_for("goes on from image", "shorter than one checkpoint")
            if "goes on from image" in window.errors():
                return window
            window.end(let=False)
        self.fail(window.errors())

    def test_one_that_hangs_does_not_keep_the_machine_beyond_the_window(self):
        options = self.criu_that_loses_it(FREEZE, 0)
        job = self.run_job(*HOLDING)
        job.read(1)
        self.ckpt("stop", "--dir", self.dir)
        self.assertEqual(75, job.end(let=False), job.errors())
        self.flag.touch()
        window = self.window_that_is_used(*options, "--http")
        # It stays until the window closes, as its last dump hangs; by now that may have been.
        for pid in descendants(window.process.pid):
            if words_of(pid)[0] == HOLDING[0]:
                wait_for_end(pid)
        # The keeper is caught by the store as well: it was its guard that ended the job. What it has shown
        # is there still.
        base = re.search(r"shown at (http://\S+)/\?", window.errors()).group(1)
        while (seen := ask(base))["seen_ago"] < 3:
            select.select([], [], [], 0.1)  # Nobody tells that it says nothing.
        self.assertEqual("--for", seen["window"]["closes_why"].split()[0])
        self.assertLess(seen["window"]["closes_in"], 0)
        self.assertEqual("under_way", seen["checkpoints"]["past"][0]["outcome"])
        self.store.answer()
        self.assertEqual(75, window.end(let=False), window.errors())
        self.assertEqual([1], [image["image"] for image in self.images()])
        self.assertFalse(self.flag.exists())
        self.resume().wait_for("goes on from image 1")


if __name__ == "__main__":
    main()
