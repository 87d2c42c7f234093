#!/usr/bin/env python3
"""A restart reads and checks its image at the same time: whatever comes first, nothing runs that is not right."""

import json
import os
import pathlib
import re

from openers import Openers
from support import COUNTER, PATIENCE, CkptTest, main
from watch import Watch, descendants, wait_for_end, words_of

STATUS = 7
PROGRAM = [COUNTER, 50, 4, 4_000_000, STATUS, "file"]
# All memory is filled, and nothing runs yet.
HOOK = '[ "$CRTOOLS_SCRIPT_ACTION" = post-restore ] && touch {filled}'


class Restart(CkptTest):
    def setUp(self):
        super().setUp()
        self.filled = self.path / "filled"

    def stopped_job(self):
        """What it prints in the end, and has printed by now."""
        wanted, _ = self.plain(*PROGRAM)
        (self.path / "file").unlink()
        job = self.run_job(*PROGRAM)
        job.read(5)
        self.ckpt("stop", "--dir", self.dir)
        self.assertEqual(75, job.end(), job.errors())
        return wanted, self.said()

    def said(self):
        return (self.dir / "stdout").read_text(), (self.path / "file").read_text()

    def pages(self):
        return max(self.dir.glob("images/000000000001/pages-*.img"), key=lambda file: file.stat().st_size)

    def damage(self):
        """Of the largest part of memory, the last byte: what the part says then."""
        pages = self.pages()
        right = pages.read_bytes()
        pages.write_bytes(right[:-1] + bytes([right[-1] ^ 1]))
        return rf"image 1: {re.escape(pages.name)}: the checksum differs: want [0-9a-f]{{16}}, found [0-9a-f]{{16}}"

    def deleted(self):
        record = json.loads((self.dir / "images/000000000001/record.json").read_text())["content"]
        deleted = [pathlib.Path(file["path"]) for file in record["deleted"]]
        self.assertTrue(deleted)
        return deleted

    def names_for_a_while(self):
        """Those that criu gives to a deleted file of the job while it restarts it."""
        return [name for file in self.deleted() for name in file.parent.glob(f"{file.name}.cr.*")]

    def leave_names_for_a_while(self):
        """As a criu does that is killed once it has made them."""
        for file in self.deleted():
            for number in range(1, 9):
                file.with_name(f"{file.name}.cr.{number:x}.ghost").touch()

    def resume_unchecked(self):
        """One whose memory criu has filled, while we wait to read what it was filled with."""
        job = self.resume(*self.criu_that_does(HOOK.format(filled=self.filled)))
        with Watch(self.path) as watch:
            watch.until(self.filled.exists, job.process, job.errors)
        self.assertTrue(self.openers.waits.wait(PATIENCE))
        made = list(descendants(job.process.pid))
        self.assertTrue(any(words_of(pid)[0] == COUNTER for pid in made))
        return job, made

    def hold_keeper(self):
        try:
            self.openers = Openers(self.pages())
        except OSError as why:
            self.skipTest(f"the kernel does not ask who opens a file: {why}")
        return self.openers

    def test_a_keeper_killed_before_all_is_checked_leaves_nothing_that_runs(self):
        wanted, said = self.stopped_job()
        with self.hold_keeper():
            job, made = self.resume_unchecked()
            job.kill()
            for pid in made:
                wait_for_end(pid)
        self.assertEqual(said, self.said())
        # criu may have been killed with or without them, and does not go over them itself.
        self.leave_names_for_a_while()
        again = self.resume()
        self.assertEqual(STATUS, again.end(), again.errors())
        self.assertEqual(wanted, self.said()[0])
        self.assertEqual([], self.names_for_a_while())

    def test_an_image_that_is_right_runs_when_it_is_known_to_be(self):
        wanted, said = self.stopped_job()
        with self.hold_keeper():
            job, _ = self.resume_unchecked()
            self.assertEqual(said, self.said())
        self.assertEqual(STATUS, job.end(), job.errors())
        self.assertEqual(wanted, self.said()[0])

    def test_damage_that_is_found_after_criu_has_read_it_ends_what_was_made(self):
        _, said = self.stopped_job()
        says = self.damage()
        with self.hold_keeper():
            job, made = self.resume_unchecked()
        self.assertEqual(3, job.end(let=False), job.errors())
        for pid in made:
            wait_for_end(pid)
        self.assertRegex(job.errors(), says)
        self.assertEqual(said, self.said())
        self.assertEqual([], self.names_for_a_while())

    def test_memory_that_is_cut_is_named_whatever_criu_says_of_it(self):
        _, said = self.stopped_job()
        pages = self.pages()
        bytes_right = pages.stat().st_size
        for bytes_left in [0, 4096, bytes_right - 1]:
            os.truncate(pages, bytes_left)
            refused = self.ckpt("resume", "--dir", self.dir, code=3)
            self.assertIn(f"image 1: {pages.name}: want {bytes_right} bytes, found {bytes_left}", refused.stderr)
        self.assertEqual(said, self.said())

    def test_files_are_not_rolled_back_to_an_image_that_is_damaged(self):
        job = self.run_job(*PROGRAM)
        job.read(5)
        self.ckpt("save", "--dir", self.dir)
        job.read(20)
        job.kill()
        said, says = self.said(), self.damage()
        refused = self.ckpt("resume", "--dir", self.dir, code=3)
        self.assertRegex(refused.stderr, says)
        self.assertEqual(said, self.said())


if __name__ == "__main__":
    main()
