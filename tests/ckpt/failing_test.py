#!/usr/bin/env python3
"""An image may be of a job that is just failing: who goes on from it fails, and goes back by one image."""

from support import CkptTest, main

# It finds trouble as mpirun finds that a rank is gone: some time after it is there, and for good. Until it may hurry
# it takes its time then: whoever saves it comes before its end on any machine.
PROGRAM = """
i=0; end=
while [ $i -lt 60 ]; do
  i=$((i + 1)); echo line $i
  [ -e trouble ] && [ -z "$end" ] && { end=$((i + 20)); echo trouble; }
  [ "$i" = "$end" ] && exit 9
  if [ -n "$end" ] && [ ! -e hurry ]; then sleep 0.2; else sleep 0.02; fi
done
"""
ALL = "".join(f"line {i}\n" for i in range(1, 61))


class Failing(CkptTest):
    def fails(self, job):
        self.assertEqual(9, job.end(), job.errors())

    def passed_by(self):
        return [image["image"] for image in self.images() if image["passed_by"]]

    def comes_to_an_end(self, *options):
        job = self.resume(*options)
        self.assertEqual(0, job.end(), job.errors())
        self.assertEqual(ALL, (self.dir / "stdout").read_text())
        return job

    def saved_while_it_fails(self, *before, options=()):
        """The job has ended, and its newest image is of when that was sure to come."""
        trouble = self.path / "trouble"
        job = self.run_job("/bin/sh", "-c", PROGRAM, options=options)
        for lines in before:
            job.read(lines)
            self.ckpt("save", "--dir", self.dir)
        trouble.touch()
        while "trouble\n" not in job.lines:
            job.read(1)
        self.ckpt("save", "--dir", self.dir)
        (self.path / "hurry").touch()
        trouble.unlink()
        self.fails(job)

    def test_it_goes_back_by_one_image_and_comes_to_its_end(self):
        self.saved_while_it_fails(5)
        self.fails(self.resume("--failed"))
        self.assertEqual([2], self.passed_by())
        job = self.comes_to_an_end("--failed")
        self.assertIn("image 2 is passed by", job.errors())
        self.assertIn("goes on from image 1", job.errors())

    def test_it_does_so_where_images_are_on_a_disk_of_the_node_first(self):
        self.saved_while_it_fails(5, options=("--local", self.path / "disk"))
        self.fails(self.resume("--failed"))
        self.assertEqual([2], self.passed_by())
        self.assertIn("goes on from image 1", self.comes_to_an_end("--failed").errors())

    def test_where_its_first_image_is_such_a_one_it_begins_again(self):
        self.saved_while_it_fails()
        self.fails(self.resume("--failed"))
        self.comes_to_an_end("--failed")

    def test_an_image_that_was_passed_by_goes_first_when_there_is_another(self):
        self.saved_while_it_fails(5)
        self.fails(self.resume("--failed"))
        job = self.resume("--failed")
        job.read(5)
        self.ckpt("save", "--dir", self.dir)
        self.assertEqual([1, 3], [image["image"] for image in self.images()])
        self.assertEqual(0, job.end(), job.errors())

    def test_a_keeper_that_is_killed_does_not_make_it_forget(self):
        self.saved_while_it_fails(5)
        self.fails(self.resume("--failed"))
        job = self.resume("--failed")
        job.read(5)
        job.kill()
        self.assertIn("goes on from image 1", self.comes_to_an_end().errors())

    def test_a_user_chooses_the_image(self):
        self.saved_while_it_fails(5, 5)
        refused = self.ckpt("resume", "--image", 7, "--dir", self.dir, code=3)
        self.assertIn("want image 7: there is none that is complete", refused.stderr)
        # Of three the newest two are kept.
        self.assertIn("goes on from image 2", self.comes_to_an_end("--image", 2).errors())
        # Also from one that is known to fail, and of a job that has come to its end.
        self.fails(self.resume("--image", 3))


if __name__ == "__main__":
    main()
