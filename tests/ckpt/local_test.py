#!/usr/bin/env python3
"""Images on a disk of the node first, copied to the store while the job runs: what is in the store is whole, and
what is on the node alone is found by the next run there, and by nobody who has gone on elsewhere."""

import os
import re
import signal
import subprocess

from support import COUNTER, CkptTest, main, only_root
from watch import Watch, descendants, wait_for_end, words_of

STATUS = 7
MEGABYTES = 64
PROGRAM = [COUNTER, 60, MEGABYTES, 4_000_000, STATUS, "file"]
TRIED_AGAIN = "is not in the store yet, and is tried again"


def copiers(keeper):
    return [pid for pid in descendants(keeper.process.pid) if words_of(pid)[1:3] == ["ckpt", "copy"]]


class OnNode(CkptTest):
    """A job with a directory of a node's own."""

    def setUp(self):
        super().setUp()
        self.local = self.path / "local"
        self.wanted, _ = self.plain(*PROGRAM)
        (self.path / "file").unlink()

    def begin(self, *options, **environment):
        job = self.run_job(*PROGRAM, options=("--local", self.local, *options), **environment)
        job.read(5)
        return job

    def save(self):
        return self.ckpt("save", "--dir", self.dir).stdout

    def in_store(self):
        return [image["image"] for image in self.images() if image["in_store"]]

    def here(self):
        return [image["image"] for image in self.images() if image["on_this_node"]]

    def place(self):
        """The job's own on the node."""
        [place] = [place for place in self.local.iterdir() if place.is_dir()]
        return place

    def pages(self, directory, image):
        return max(directory.glob(f"images/{image:012}*/pages-*.img"), key=lambda file: file.stat().st_size)

    def comes_to_an_end(self, job):
        self.assertEqual(STATUS, job.end(), job.errors())
        self.assertEqual(self.wanted, (self.dir / "stdout").read_text())
        self.assertEqual([], list(self.dir.glob("images/*.copy")))

    def small(self, place, megabytes):
        place.mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs", place], check=True)
        self.addCleanup(subprocess.run, ["umount", "-l", place], check=True)

    def fill(self, directory):
        """All but what the job's own output may need; gives the file that takes it."""
        room = os.statvfs(directory)
        ballast = directory / "images/ballast"
        ballast.write_bytes(bytes(room.f_bavail * room.f_bsize - (20 << 20)))
        return ballast


class Local(OnNode):
    def saved_here_alone(self):
        """Image 1 is in the store as well, image 2 is not, and its keeper is killed: what fills the store."""
        self.small(self.dir, 3 * MEGABYTES)
        job = self.begin()
        self.save()
        job.wait_for("image 1 is in the store as well")
        ballast = self.fill(self.dir)
        job.read(5)
        self.assertIn("not yet in the store", self.save())
        job.wait_for(f"image 2 {TRIED_AGAIN}")
        job.kill()
        self.assertEqual(([1], [2]), (self.in_store(), self.here()))
        return ballast

    def test_an_image_is_on_the_node_first_and_soon_in_the_store(self):
        job = self.begin()
        self.assertIn("on this node's disk and not yet in the store", self.save())
        job.wait_for("image 1 is in the store as well")
        self.assertEqual(([1], [1]), (self.in_store(), self.here()))
        self.assertEqual("image 1  intact\n", self.ckpt("verify", "--dir", self.dir).stdout)
        for _ in range(4):
            job.read(2)
            self.save()
        # At most the newest, the one that is being copied, and nothing else.
        self.assertLessEqual(len(list(self.place().glob("images/*.json"))), 2)
        job.wait_for("image 5 is in the store as well")
        self.assertEqual([5], self.here())
        job.kill()
        second = self.resume()
        second.wait_for("goes on from image 5, on this node's disk")
        self.comes_to_an_end(second)

    def test_a_job_that_is_stopped_is_in_the_store_and_leaves_nothing_on_the_node(self):
        job = self.begin()
        self.save()
        self.assertNotIn("node", self.ckpt("stop", "--dir", self.dir).stdout)
        self.assertEqual(75, job.end(let=False), job.errors())
        self.assertEqual([2], self.in_store()[-1:])
        self.assertEqual([], list(self.local.iterdir()))
        second = self.resume()
        second.wait_for("goes on from image 2\n")
        self.save()
        self.comes_to_an_end(second)

    def test_a_job_that_has_ended_well_leaves_nothing_on_the_node(self):
        job = self.run_job(COUNTER, 10, 1, 1000, 0, options=("--local", self.local))
        job.read(5)
        self.save()
        self.assertEqual(0, job.end(), job.errors())
        self.assertEqual([], list(self.local.iterdir()))

    def test_what_a_killed_keeper_was_copying_is_no_image_and_the_next_one_copies_it_again(self):
        job = self.begin()
        self.save()
        job.wait_for("image 1 is in the store as well")
        # Until it is caught in the middle.
        for image in range(2, 100):
            job.read(1) if image < 40 else self.fail("it was never caught")
            with Watch(self.dir / "images") as watch:
                watch.drain()
                self.save()
                watch.until(lambda: copiers(job) or image in self.in_store(), job.process, job.errors)
            found = copiers(job)
            if not found:
                continue
            os.kill(found[0], signal.SIGSTOP)
            if list(self.dir.glob(f"images/{image:012}.copy")) and image not in self.in_store():
                break
            os.kill(found[0], signal.SIGCONT)
        job.kill()
        wait_for_end(found[0])
        self.assertNotIn(image, self.in_store())
        self.assertEqual([image], self.here())
        for line in self.ckpt("verify", "--dir", self.dir).stdout.splitlines():
            self.assertTrue(line.endswith("intact"), line)
        second = self.resume()
        second.wait_for(f"goes on from image {image}, on this node's disk")
        second.wait_for(f"image {image} is in the store as well")
        self.comes_to_an_end(second)

    def test_a_copier_that_is_killed_costs_the_job_nothing_and_is_begun_again(self):
        job = self.begin()
        for image in range(1, 40):
            with Watch(self.dir / "images") as watch:
                self.save()
                watch.until(lambda: copiers(job) or image in self.in_store(), job.process, job.errors)
            for pid in copiers(job):
                os.kill(pid, signal.SIGKILL)
            job.wait_for(f"image {image} is in the store as well")
            if f"image {image} {TRIED_AGAIN}" in job.errors():
                break
            job.read(1)
        else:
            self.fail("it was never caught")
        self.comes_to_an_end(job)

    @only_root
    def test_a_store_that_is_full_costs_no_image_and_gets_it_when_there_is_room(self):
        ballast = self.saved_here_alone()
        second = self.resume()
        second.wait_for("goes on from image 2, on this node's disk")
        second.wait_for(f"image 2 {TRIED_AGAIN}")
        ballast.unlink()
        second.wait_for("image 2 is in the store as well")
        self.comes_to_an_end(second)

    @only_root
    def test_a_torn_image_of_the_node_is_neither_copied_nor_gone_on_from(self):
        ballast = self.saved_here_alone()
        pages = self.pages(self.place(), 2)
        os.truncate(pages, pages.stat().st_size // 2)
        ballast.unlink()
        second = self.resume()
        second.wait_for("goes on from image 1\n")
        self.assertIn("going back to the image before it", second.errors())
        second.wait_for(f"image 2 {TRIED_AGAIN}")
        self.assertRegex(second.errors(), rf"{TRIED_AGAIN}.*pages-\d+.img: want \d+ bytes, found \d+")
        self.assertEqual([1], self.in_store())
        self.save()
        second.wait_for("image 3 is in the store as well")
        self.comes_to_an_end(second)

    @only_root
    def test_images_of_a_node_that_the_job_has_left_are_not_gone_on_from(self):
        ballast = self.saved_here_alone()
        ballast.unlink()
        # The node's disk is another one there.
        away = self.local.rename(self.path / "away")
        elsewhere = self.resume()
        elsewhere.wait_for("goes on from image 1\n")
        elsewhere.read(1)
        elsewhere.kill()
        subprocess.run(["rm", "-r", self.local], check=True)
        away.rename(self.local)
        back = self.resume()
        back.wait_for("goes on from image 1\n")
        self.assertEqual([], self.here())
        self.comes_to_an_end(back)

    @only_root
    def test_who_does_not_use_the_node_any_more_brings_its_image_to_the_store_first(self):
        ballast = self.saved_here_alone()
        refused = self.ckpt("resume", "--dir", self.dir, "--local", "none", code=3)
        self.assertIn("No space left", refused.stderr)
        ballast.unlink()
        second = self.resume("--local", "none")
        second.wait_for("goes on from image 2\n")
        self.assertIn("image 2 was on this node's disk alone, and is in the store now", second.errors())
        self.assertEqual([], list(self.local.iterdir()))
        self.assertNotIn("node", self.save())
        self.comes_to_an_end(second)

    @only_root
    def test_a_full_disk_of_the_node_is_said_and_the_store_is_written(self):
        self.small(self.local, MEGABYTES // 2)
        job = self.begin()
        self.assertNotIn("node", self.save())
        self.assertRegex(job.errors(), "no space for an image.*straight to the store")
        self.assertEqual(([1], []), (self.in_store(), self.here()))
        self.comes_to_an_end(job)

    @only_root
    def test_a_disk_of_the_node_that_fills_up_during_a_save_is_said_and_the_store_is_written(self):
        self.small(self.local, 2 * MEGABYTES)
        flag = self.path / "flag"
        flag.touch()
        options = self.criu_that_does(
            f'[ "$CRTOOLS_SCRIPT_ACTION" = pre-dump ] && rm {flag} 2>/dev/null && '
            f'cat /dev/zero > {self.local}/ballast 2>/dev/null')
        job = self.begin(*options)
        self.assertNotIn("node", self.save())
        self.assertRegex(job.errors(), "not saved on this node's disk: .*; it goes to the store")
        self.assertEqual(([1], []), (self.in_store(), self.here()))
        # What was begun there took room.
        self.assertEqual([], list(self.place().glob("images/*")))
        (self.local / "ballast").unlink()
        job.read(2)
        self.assertIn("node", self.save())
        self.comes_to_an_end(job)

    def test_a_directory_that_cannot_be_had_is_said_and_the_store_is_written(self):
        (self.path / "taken").write_text("")
        self.local = self.path / "taken"
        job = self.begin()
        self.assertIn("images are written straight to the store", job.errors())
        self.assertNotIn("node", self.save())
        self.comes_to_an_end(job)
        refused = self.ckpt("run", "--dir", self.path / "other", "--local", "here", "--", "true", code=2)
        self.assertTrue(re.search("--local: want a directory that begins with /", refused.stderr), refused.stderr)

    def test_images_of_the_node_count_where_a_new_job_would_take_their_place(self):
        job = self.begin()
        self.save()
        job.kill()
        refused = self.ckpt("run", "--dir", self.dir, "--", "true", code=3)
        self.assertIn("holds images of a job that has not ended", refused.stderr)


if __name__ == "__main__":
    main()
