#!/usr/bin/env python3
"""What a node has alone its partner has as well: the node is lost before the store has its image, and nothing is
lost with it. The partner is reached by what stands in for ssh, and its disk is another directory; once it is a host
with a network of its own."""

import os
import sys

import hosts
import local_test
from local_test import TRIED_AGAIN, MEGABYTES
from support import COUNTER, main, only_root
from watch import Watch, descendants, wait_for_end

CUT = """
import os
left = 20_000_000
while left > 0 and (some := os.read(0, min(left, 1 << 16))):
    left -= os.write(1, some)
"""
NOT_THERE = "is not with the partner other"
THERE = "is with the partner other as well"


class Partner(local_test.OnNode):
    def setUp(self):
        super().setUp()
        self.there = self.path / "there"
        # Seen there by the partner alone, where we may arrange that.
        self.disk = self.path / "disk-of-the-partner" if os.geteuid() == 0 else self.there
        for place in {self.there, self.disk}:
            place.mkdir()
        self.rsh = self.path / "rsh"
        self.reach()

    def reach(self, before=""):
        """A remote shell, which gets the host's name and a command."""
        command = 'exec "$@"'
        if self.disk != self.there:
            command = f"exec unshare -m /bin/sh -c 'mount --bind {self.disk} {self.there} && exec \"$@\"' sh \"$@\""
        self.rsh.write_text(f"#!/bin/sh\nshift\n{before}\n{command}\n")
        self.rsh.chmod(0o755)

    def with_partner(self):
        return ("--partner", f"other:{self.there}", "--rsh", self.rsh)

    def begin(self, *options, **environment):
        return super().begin(*self.with_partner(), *options, **environment)

    def resume_elsewhere(self, *options):
        """The node is lost, and its disk with it."""
        self.local.rename(self.path / "lost")
        return self.resume("--rsh", self.rsh, *options)

    def with_the_partner(self):
        """Images that are whole there."""
        return sorted(int(file.stem) for file in self.disk.glob("*-partner/images/*.json"))

    def saved_here_and_there(self):
        """Image 1 is in the store, image 2 is not, and its keeper is killed: what fills the store."""
        self.small(self.dir, 4 * MEGABYTES)
        job = self.begin()
        self.save()
        job.wait_for("image 1 is in the store as well")
        ballast = self.fill(self.dir)
        job.read(5)
        self.assertIn("not yet in the store", self.save())
        job.wait_for(f"image 2 {THERE}")
        job.wait_for(f"image 2 {TRIED_AGAIN}")
        job.kill()
        self.assertEqual(([1], [2], [2]), (self.in_store(), self.here(), self.with_the_partner()))
        return ballast

    @only_root
    def test_a_node_that_is_lost_before_the_store_has_its_image_costs_nothing(self):
        ballast = self.saved_here_and_there()
        ballast.unlink()
        second = self.resume_elsewhere()
        second.wait_for("image 2 was with the partner, and is in the store now")
        second.wait_for("goes on from image 2\n")
        self.save()
        self.comes_to_an_end(second)

    @only_root
    def test_what_the_partner_has_is_not_given_up_for_a_full_store(self):
        ballast = self.saved_here_and_there()
        self.local.rename(self.path / "lost")
        refused = self.ckpt("resume", "--dir", self.dir, "--rsh", self.rsh, code=3)
        self.assertRegex(refused.stderr, "is with the partner other alone, and cannot be brought.*No space left")
        self.assertEqual([2], self.with_the_partner())
        ballast.unlink()
        second = self.resume("--rsh", self.rsh)
        second.wait_for("goes on from image 2\n")
        self.comes_to_an_end(second)

    @only_root
    def test_a_torn_copy_of_the_partner_is_not_gone_on_from(self):
        self.saved_here_and_there().unlink()
        pages = self.pages(next(self.disk.iterdir()), 2)
        with open(pages, "r+b") as file:
            file.seek(pages.stat().st_size // 2)
            file.write(b"torn")
        second = self.resume_elsewhere()
        second.wait_for("goes on from image 1\n")
        self.assertEqual([1], self.in_store())
        self.comes_to_an_end(second)

    @only_root
    def test_an_image_that_is_torn_on_the_node_is_taken_from_the_partner(self):
        self.saved_here_and_there().unlink()
        pages = self.pages(self.place(), 2)
        os.truncate(pages, pages.stat().st_size // 2)
        second = self.resume("--rsh", self.rsh)
        second.wait_for("image 2 was with the partner, and is in the store now")
        second.wait_for("goes on from image 2")
        self.comes_to_an_end(second)

    @only_root
    def test_what_is_right_on_the_node_is_gone_on_from_there(self):
        self.saved_here_and_there().unlink()
        self.reach("exit 255")
        second = self.resume("--rsh", self.rsh)
        second.wait_for("goes on from image 2, on this node's disk")
        second.wait_for("image 2 is in the store as well")
        self.assertNotIn("cannot be asked", second.errors())
        self.comes_to_an_end(second)

    @only_root
    def test_a_partner_that_is_gone_is_passed_by_and_its_image_is_void_from_then_on(self):
        self.saved_here_and_there().unlink()
        self.reach("echo no such road >&2; exit 255")
        second = self.resume_elsewhere()
        second.wait_for("goes on from image 1\n")
        self.assertIn("the partner other cannot be asked for a newer image: the remote shell ended with status 255",
                      second.errors())
        second.read(1)
        second.kill()
        self.assertEqual([2], self.with_the_partner())
        self.reach()
        third = self.resume("--rsh", self.rsh)
        third.wait_for("goes on from image 1\n")
        third.read(1)
        self.save()
        third.wait_for("image 2 is with the partner other as well")
        self.comes_to_an_end(third)

    @only_root
    def test_a_connection_that_is_cut_leaves_no_image_there_and_is_tried_again(self):
        self.small(self.dir, 4 * MEGABYTES)
        job = self.begin()
        self.save()
        job.wait_for("image 1 is in the store as well")
        self.fill(self.dir)
        # The first time no more than this comes through.
        once = self.path / "once"
        once.touch()
        (self.path / "cut").write_text(CUT)
        self.reach(f'rm {once} 2>/dev/null && {{ {sys.executable} {self.path}/cut | "$0" other "$@"; exit; }}')
        self.save()
        job.wait_for(f"image 2 {NOT_THERE}, and is tried again: the connection has ended")
        job.wait_for(f"image 2 {THERE}")
        self.assertEqual([2], self.with_the_partner())
        self.assertEqual([], list(self.disk.glob("*-partner/images/*.copy")))
        job.kill()

    def test_a_partner_without_room_costs_the_job_nothing(self):
        self.there = self.disk = self.path / "taken"
        self.there.write_text("")
        self.reach()
        job = self.begin()
        self.save()
        job.wait_for(NOT_THERE)
        self.assertRegex(job.errors(), f"{NOT_THERE}, and is tried again: {self.there}: cannot make: ")
        job.wait_for("image 1 is in the store as well")
        self.comes_to_an_end(job)

    def test_the_newest_stays_there_and_a_job_that_has_ended_well_leaves_nothing(self):
        job = self.run_job(COUNTER, 10, 1, 1000, 0, options=("--local", self.local, *self.with_partner()))
        job.read(5)
        for image in [1, 2, 3]:
            self.save()
            job.wait_for(f"image {image} is in the store as well")
        # Where the store is faster than the partner, that gets none.
        self.assertLessEqual(len(self.with_the_partner()), 1)
        self.assertEqual(0, job.end(), job.errors())
        self.assertEqual([], [*self.local.iterdir(), *self.disk.iterdir()])

    def test_it_is_told_where_it_cannot_be(self):
        for option in ["other", "other:there", "-o:/there", "other:/a b"]:
            refused = self.ckpt("run", "--dir", self.path / "a", "--local", self.local, "--partner", option, "--", "true",
                                code=2)
            self.assertIn("--partner: want", refused.stderr)
        refused = self.ckpt("run", "--dir", self.path / "b", "--partner", "other:/there", "--", "true", code=2)
        self.assertIn("--partner: want --local as well", refused.stderr)

    def test_who_wants_no_partner_any_more_has_none(self):
        job = self.begin()
        self.save()
        job.wait_for("image 1 is in the store as well")
        job.kill()
        second = self.resume("--partner", "none")
        second.read(1)
        self.save()
        second.wait_for("image 2 is in the store as well")
        self.assertNotIn("partner", second.errors())
        self.comes_to_an_end(second)


@only_root
class Nodes(local_test.OnNode):
    """A node and its partner with networks of their own."""

    def setUp(self):
        if why := hosts.can_be_made():
            self.skipTest(why)
        super().setUp()
        self.hosts = hosts.Hosts(2, self.path)
        self.addCleanup(self.hosts.close)
        self.there = self.path / "there"
        self.options = ("--partner", f"{self.hosts.names(2)}:{self.there}", "--rsh", self.hosts.rsh)

    def move_to(self, host):
        self.before = ["ip", "netns", "exec", f"{self.hosts.prefix}{host}"]

    def test_the_partner_goes_on_by_itself_when_the_node_is_killed_and_its_disk_is_gone(self):
        self.small(self.dir, 4 * MEGABYTES)
        self.move_to(1)
        job = self.begin(*self.options)
        self.save()
        job.wait_for("image 1 is in the store as well")
        ballast = self.fill(self.dir)
        job.read(5)
        self.save()
        job.wait_for(f"image 2 is with the partner {self.hosts.names(2)} as well")
        all_there = descendants(job.process.pid)
        self.hosts.kill(1)
        self.hosts.cut(1)
        for pid in [job.process.pid, *all_there]:
            wait_for_end(pid)
        self.local.rename(self.path / "lost")
        ballast.unlink()
        self.move_to(2)
        second = self.resume("--rsh", "false")
        second.wait_for("image 2 was with the partner, and is in the store now")
        second.wait_for("goes on from image 2\n")
        self.comes_to_an_end(second)

    def test_a_partner_that_is_killed_in_the_middle_costs_the_job_nothing(self):
        self.move_to(1)
        job = self.begin(*self.options)
        for image in range(1, 40):
            with Watch(self.path) as watch:
                self.save()
                watch.until(lambda: self.hosts.pids(2) or f"image {image} is in the store as well" in job.errors(),
                            job.process, job.errors)
            self.hosts.kill(2)
            job.wait_for(f"image {image} is in the store as well")
            if "is not with the partner" in job.errors():
                break
            job.read(1)
        else:
            self.fail("it was never caught")
        self.comes_to_an_end(job)


if __name__ == "__main__":
    main()
