#!/usr/bin/env python3
"""Programs that know nothing of it are saved, stopped and go on; with whatever goes wrong."""

import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import threading

from support import COUNTER, CkptTest, main, only_root
from watch import Watch

# About a second of work, in steps of 10 ms.
STEPS, STATUS = 100, 7  # Not 3, which is what we end with where nothing could be run.
PROGRAM = [COUNTER, STEPS, 4, 4_000_000, STATUS, "file"]


class Run(CkptTest):
    def wanted(self):
        """What the program prints, and leaves in its file, without us."""
        out, code = self.plain(*PROGRAM)
        self.assertEqual(STATUS, code)
        file = (self.path / "file").read_text()
        (self.path / "file").unlink()
        return out, file

    def check(self, wanted, *jobs):
        out, file = wanted
        self.assertEqual(out, "".join(line for job in jobs for line in job.lines))
        self.assertEqual(out, (self.dir / "stdout").read_text())
        self.assertEqual(file, (self.path / "file").read_text())

    def test_output_exit_code_and_files_are_as_without_us(self):
        wanted = self.wanted()
        job = self.run_job(*PROGRAM)
        self.assertEqual(STATUS, job.end(), job.errors())
        self.check(wanted, job)
        self.assertIn(f"error line {STEPS}\n", job.errors())
        again = self.ckpt("resume", "--dir", self.dir, code=STATUS)
        self.assertIn("has ended already", again.stderr)

    def test_a_program_that_a_signal_ends_says_so(self):
        job = self.run_job("/bin/sh", "-c", "echo one; kill -SEGV $$")
        self.assertEqual(128 + signal.SIGSEGV, job.end())
        self.assertEqual(["one\n"], job.lines)

    def test_it_goes_on_after_save_and_ends_with_stop_and_goes_on_after_resume(self):
        wanted = self.wanted()
        job = self.run_job(*PROGRAM)
        job.read(20)
        self.assertIn("frozen for", self.ckpt("save", "--dir", self.dir).stdout)
        job.read(20)
        self.ckpt("stop", "--dir", self.dir)
        self.assertEqual(75, job.end(), job.errors())
        self.assertEqual([1, 2], [image["image"] for image in self.images()])
        self.ckpt("verify", "--dir", self.dir)
        second = self.resume()
        second.read(10)
        second.process.send_signal(signal.SIGTERM)
        self.assertEqual(75, second.end(let=False), second.errors())
        third = self.resume()
        self.assertEqual(STATUS, third.end(), third.errors())
        self.check(wanted, job, second, third)

    def test_a_killed_keeper_takes_the_job_with_it_and_what_came_after_the_image_is_taken_back(self):
        wanted = self.wanted()
        job = self.run_job(*PROGRAM)
        job.read(10)
        self.ckpt("save", "--dir", self.dir)
        job.read(20)
        job.kill()
        said = (self.path / "file").read_text()
        self.assertGreater(len(said.splitlines()), 28)
        second = self.resume()
        self.assertEqual(STATUS, second.end(), second.errors())
        out, file = wanted
        self.assertEqual(out, (self.dir / "stdout").read_text())
        self.assertEqual(file, (self.path / "file").read_text())
        # What is new since the image is what it prints: it held the ten lines that had been read, and
        # not more than was said by the end.
        self.assertTrue(out.endswith("".join(second.lines)))
        self.assertLessEqual(len(second.lines), STEPS + 1 - 10)
        self.assertGreaterEqual(len(second.lines), STEPS + 1 - len(said.splitlines()))

    def test_a_program_that_has_failed_goes_on_from_before_that_where_it_is_told_to(self):
        out, file = self.wanted()
        job = self.run_job(*PROGRAM)
        job.read(10)
        self.ckpt("save", "--dir", self.dir)
        self.assertEqual(STATUS, job.end(), job.errors())
        again = self.resume()
        self.assertEqual(STATUS, again.end(), again.errors())
        self.assertIn(f"ended already, with status {STATUS}; --failed goes on", again.errors())
        self.assertEqual([], again.lines)
        failed = self.resume("--failed")
        self.assertEqual(STATUS, failed.end(), failed.errors())
        self.assertNotEqual([], failed.lines)
        self.assertEqual(out, (self.dir / "stdout").read_text())
        self.assertEqual(file, (self.path / "file").read_text())

    def test_a_keeper_killed_at_any_moment_of_a_save_leaves_a_good_image(self):
        wanted = self.wanted()
        draw = self.random()
        job = self.run_job(*PROGRAM)
        job.read(5)
        self.ckpt("save", "--dir", self.dir)
        for _ in range(int(os.environ.get("PIRACEMA_KILLS", 3))):
            with subprocess.Popen([os.environ["PIRACEMA_COMMAND"], "ckpt", draw.choice(["save", "stop"]),
                                   "--dir", str(self.dir)], stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL) as asking:
                # The moment is drawn, not waited for: any is right.
                try:
                    asking.wait(draw.random() * 0.5)
                except subprocess.TimeoutExpired:
                    pass
                job.kill()
            job = self.resume()
            job.read(1)
        self.assertEqual(STATUS, job.end(), job.errors())
        self.assertEqual(wanted[0], (self.dir / "stdout").read_text())
        self.assertEqual(wanted[1], (self.path / "file").read_text())

    def test_a_compressed_image_takes_less_room_and_is_as_good(self):
        if shutil.which("zstd") is None:
            self.skipTest("no zstd; scripts/setup installs one")
        wanted = self.wanted()
        job = self.run_job(*PROGRAM, options=("--compress",))
        job.read(10)
        self.ckpt("save", "--dir", self.dir)
        job.read(10)
        self.ckpt("stop", "--dir", self.dir)
        self.assertEqual(75, job.end(), job.errors())
        self.ckpt("verify", "--dir", self.dir)

        def pages(ending):
            return [sorted((self.dir / f"images/{number:012d}").glob(f"pages-*{ending}")) for number in [1, 2]]

        self.assertEqual([[], []], pages(".img"))
        self.assertTrue(all(pages(".img.zst")))
        # Expanded while it is restarted, and no longer.
        second = self.resume()
        second.read(5)
        self.assertEqual([[], []], pages(".img"))
        self.ckpt("stop", "--dir", self.dir)
        self.assertEqual(75, second.end(), second.errors())
        # Without the option an image is a plain one again.
        self.assertTrue(list(self.dir.glob("images/000000000003/pages-*.img")))
        third = self.resume()
        self.assertEqual(STATUS, third.end(), third.errors())
        self.check(wanted, job, second, third)

    def test_memory_that_was_never_written_takes_no_room_in_an_image(self):
        program = "import mmap, signal; m = mmap.mmap(-1, 1 << 30, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS); " \
                  "m[::1 << 26] = b'x' * 16; print('up', flush=True); signal.pause()"
        job = self.run_job(sys.executable, "-c", program)
        job.read(1)
        self.ckpt("stop", "--dir", self.dir)
        self.assertEqual(75, job.end(), job.errors())
        self.assertLess(self.images()[0]["bytes"], 64 << 20)

    def test_a_damaged_image_is_passed_by(self):
        wanted = self.wanted()
        job = self.run_job(*PROGRAM)
        job.read(10)
        self.ckpt("save", "--dir", self.dir)
        job.read(10)
        self.ckpt("stop", "--dir", self.dir)
        job.end()
        pages = self.dir / "images/000000000002/pages-1.img"
        data = bytearray(pages.read_bytes())
        data[len(data) // 2] ^= 1
        pages.write_bytes(data)
        self.assertIn("image 2  damaged", self.ckpt("verify", "--dir", self.dir, code=1).stdout)
        second = self.resume()
        self.assertEqual(STATUS, second.end(), second.errors())
        self.assertIn("checksum differs", second.errors())
        self.assertEqual(wanted[0], (self.dir / "stdout").read_text())
        self.assertEqual(wanted[1], (self.path / "file").read_text())

    def test_a_job_whose_own_file_is_damaged_is_not_gone_on_with(self):
        self.job_with_two_images()
        file = self.dir / "job.json"
        file.write_text(file.read_text().replace("counter", "bounter", 1))
        self.assertRegex(self.ckpt("verify", "--dir", self.dir, code=1).stdout,
                         "image 2  intact\njob  damaged: .*the checksum differs")
        self.assertIn("the checksum differs", self.ckpt("resume", "--dir", self.dir, code=3).stderr)

    def job_with_two_images(self):
        job = self.run_job(*PROGRAM)
        job.read(10)
        self.ckpt("save", "--dir", self.dir)
        job.read(10)
        self.ckpt("stop", "--dir", self.dir)
        self.assertEqual(75, job.end(), job.errors())
        return job

    def test_images_whose_job_file_is_gone_are_not_removed_by_a_new_job(self):
        wanted = self.wanted()
        job = self.job_with_two_images()
        file = self.dir / "job.json"
        kept = file.rename(self.path / "kept")
        refused = self.ckpt("run", "--dir", self.dir, "--", "true", code=3)
        self.assertIn("holds images of a job whose job.json is not there", refused.stderr)
        kept.rename(file)
        second = self.resume()
        self.assertEqual(STATUS, second.end(), second.errors())
        self.check(wanted, job, second)

    def test_a_restart_that_fails_once_is_tried_again_from_the_same_image(self):
        wanted = self.wanted()
        job = self.job_with_two_images()
        flag = self.path / "flag"
        flag.touch()
        second = self.resume(*self.criu_that_does(
            f'[ "$CRTOOLS_SCRIPT_ACTION" = post-restore ] && rm {flag} 2>/dev/null && exit 1'))
        self.assertEqual(STATUS, second.end(), second.errors())
        self.assertFalse(flag.exists())
        self.assertIn("trying the same image again", second.errors())
        self.check(wanted, job, second)

    def test_going_back_to_an_older_image_is_said_and_what_is_taken_back(self):
        wanted = self.wanted()
        self.job_with_two_images()
        second = self.resume("--quiet", *self.criu_that_does(
            'case "$CRTOOLS_SCRIPT_ACTION $PIRACEMA_CKPT_HOOK" in post-restore*/000000000002*) exit 1;; esac'))
        self.assertEqual(STATUS, second.end(), second.errors())
        self.assertIn("going back to the image before it", second.errors())
        self.assertRegex(second.errors(), "goes back to image 1 of [-0-9 :]+: [1-9][0-9]* bytes of its output are "
                                          "taken back and will be written again")
        self.assertEqual(wanted[0], (self.dir / "stdout").read_text())
        self.assertEqual(wanted[1], (self.path / "file").read_text())

    def test_a_job_whose_image_is_complete_runs_no_further_though_criu_lets_go_of_it(self):
        wanted = self.wanted()
        flag, criu = self.path / "flag", self.path / "criu"
        options = self.criu_that_does(
            f'[ "$CRTOOLS_SCRIPT_ACTION" = post-dump ] && [ -e {flag} ] && {{ "$HOOK"; exit 1; }}')
        # It does not end before the job has written on, or is seen to stand still.
        criu.rename(self.path / "criu-that-fails")
        criu.write_text(f"""#!/bin/sh
{criu}-that-fails "$@"
code=$?
if [ "$1" = dump ] && [ -e {flag} ]; then
  size=$(stat -c %s {self.dir}/stdout)
  while [ "$(stat -c %s {self.dir}/stdout)" = "$size" ] && grep -q '^State:.[RSD]' "/proc/$3/status"; do :; done
fi
exit $code
""")
        criu.chmod(0o755)
        job = self.run_job(*PROGRAM, options=options)
        job.read(10)
        flag.touch()
        self.ckpt("stop", "--dir", self.dir)
        self.assertEqual(75, job.end(), job.errors())
        flag.unlink()
        second = self.resume()
        self.assertEqual(STATUS, second.end(), second.errors())
        self.check(wanted, job, second)

    def test_images_that_are_all_torn_or_foreign_are_refused(self):
        job = self.run_job(*PROGRAM)
        job.read(5)
        self.ckpt("stop", "--dir", self.dir)
        job.end()
        manifest = self.dir / "images/000000000001.json"
        kept = manifest.read_text()
        for text in ["", "{}", kept[:len(kept) // 2], kept.replace('"image": 1', '"image": 2'), "[" * 10000]:
            manifest.write_text(text)
            refused = self.ckpt("resume", "--dir", self.dir, code=3)
            self.assertIn("no image is left", refused.stderr)
        # Another job's image under this one's name.
        manifest.write_text(kept)
        shutil.move(self.dir, self.path / "other")
        job = self.run_job(*PROGRAM)
        job.read(5)
        self.ckpt("stop", "--dir", self.dir)
        job.end()
        shutil.copy(self.path / "other/images/000000000001.json", manifest)
        refused = self.ckpt("resume", "--dir", self.dir, code=3)
        self.assertIn("another job's", refused.stderr)

    def test_a_file_that_is_gone_is_named(self):
        job = self.run_job(*PROGRAM)
        job.read(5)
        self.ckpt("stop", "--dir", self.dir)
        job.end()
        (self.path / "file").write_text("short\n")
        refused = self.ckpt("resume", "--dir", self.dir, code=3)
        self.assertIn(f"{self.path}/file: the job had it open", refused.stderr)

    def test_an_executable_or_a_library_that_has_changed_is_refused_until_it_is_back(self):
        app, library = self.path / "app", self.path / "libstdc++.so.6"
        shutil.copy(COUNTER, app)
        shutil.copy(next(line.split()[2] for line in subprocess.run(
            ["ldd", COUNTER], capture_output=True, text=True, check=True).stdout.splitlines()
            if library.name in line), library)
        program, environment = [app, *PROGRAM[1:-1]], {"LD_LIBRARY_PATH": str(self.path)}
        wanted, _ = self.plain(*program)
        job = self.run_job(*program, **environment)
        job.read(5)
        self.ckpt("stop", "--dir", self.dir)
        self.assertEqual(75, job.end(), job.errors())
        said = (self.dir / "stdout").read_text()
        for file in [app, library]:
            right = file.read_bytes()
            # Another build of the same size, by its build ID; then one of another size.
            identity = right.index(b"GNU\0", right.index(b"\x03\0\0\0GNU\0")) + 4
            for wrong in [right[:identity] + bytes([right[identity] ^ 1]) + right[identity + 1:], right + b"x"]:
                file.write_bytes(wrong)
                refused = self.ckpt("resume", "--dir", self.dir, code=3)
                self.assertRegex(refused.stderr, f"another {re.escape(str(file))}: then {len(right)} bytes, build "
                                                 f"[0-9a-f]+, now {len(wrong)} bytes, build [0-9a-f]+;")
            file.write_bytes(right)
            file.rename(self.path / "aside")
            refused = self.ckpt("resume", "--dir", self.dir, code=3)
            self.assertIn(f"{file}: no such file, and the job was saved with it", refused.stderr)
            (self.path / "aside").rename(file)
        self.assertEqual(said, (self.dir / "stdout").read_text())
        second = self.resume()
        self.assertEqual(STATUS, second.end(), second.errors())
        self.assertEqual(wanted, (self.dir / "stdout").read_text())

    def test_a_job_that_runs_already_is_refused_to_anybody_else(self):
        wanted = self.wanted()
        job = self.run_job(*PROGRAM)
        job.read(5)
        self.ckpt("save", "--dir", self.dir)
        for words in [["run", "--dir", self.dir, "--", "true"], ["resume", "--dir", self.dir],
                      ["window", "--for", "1h", "--dir", self.dir, "--", *PROGRAM]]:
            refused = self.ckpt(*words, code=3)
            self.assertIn(f"in use by process {job.process.pid}", refused.stderr)
        self.assertEqual(STATUS, job.end(), job.errors())
        self.check(wanted, job)

    def test_every_so_often_an_image_is_made_and_the_last_two_are_kept(self):
        wanted = self.wanted()
        job = self.run_job(*PROGRAM, options=("--every", "50ms"))
        fourth = f"{4:012d}.json"
        with Watch(self.path) as watch:
            watch.until(lambda: any(image.name >= fourth for image in self.dir.glob("images/*.json")),
                        job.process, job.errors)
        self.assertEqual(STATUS, job.end(), job.errors())
        self.check(wanted, job)
        self.assertEqual(2, len(self.images()))
        self.ckpt("verify", "--dir", self.dir)

    @only_root
    def test_a_full_store_costs_the_image_and_nothing_else(self):
        wanted = self.wanted()
        self.dir.mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=40m", "tmpfs", self.dir], check=True)
        self.addCleanup(subprocess.run, ["umount", "-l", self.dir], check=True)
        job = self.run_job(*PROGRAM)
        job.read(5)
        self.ckpt("save", "--dir", self.dir)
        ballast = self.dir / "log/ballast"
        room = os.statvfs(self.dir)
        with open(ballast, "wb") as file:
            file.write(bytes(room.f_bavail * room.f_bsize - (1 << 20)))
        job.read(5)
        for word in ["save", "stop"]:
            refused = self.ckpt(word, "--dir", self.dir, code=1)
            self.assertRegex(refused.stderr, "no space for an image: want [0-9.]+ MB at least, found [0-9.]+ [kM]B")
            self.assertEqual(["000000000001", "000000000001.json"], self.parts())
        self.assertEqual([1], [image["image"] for image in self.images()])
        self.assertEqual(STATUS, job.end(), job.errors())
        self.check(wanted, job)

    def parts(self):
        return sorted(path.name for path in (self.dir / "images").iterdir())

    def small_store(self, megabytes):
        self.dir.mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs", self.dir], check=True)
        self.addCleanup(subprocess.run, ["umount", "-l", self.dir], check=True)

    @only_root
    def test_a_store_that_fills_up_during_a_save_costs_the_job_nothing_and_the_parts_go_at_once(self):
        wanted = self.wanted()
        self.small_store(60)
        flag = self.path / "flag"
        # Whatever was free is taken when the memory is written, and the image has no room to end.
        options = self.criu_that_does(
            f'[ "$CRTOOLS_SCRIPT_ACTION" = pre-dump ] && [ -e {flag} ] && '
            f'dd if=/dev/zero of={self.dir}/log/ballast bs=64k 2>/dev/null')
        job = self.run_job(*PROGRAM, options=options)
        job.read(5)
        flag.touch()
        refused = self.ckpt("save", "--dir", self.dir, code=1)
        self.assertIn("No space left on device", refused.stderr)
        self.assertEqual([], self.parts())
        # All else is taken still, and the job writes on.
        self.assertEqual(STATUS, job.end(), job.errors())
        self.check(wanted, job)

    @only_root
    def test_an_older_image_goes_where_a_new_one_has_no_room_beside_it(self):
        program = [COUNTER, STEPS, 30, 4_000_000, STATUS]
        wanted, _ = self.plain(*program)
        self.small_store(110)
        job = self.run_job(*program)
        for _ in range(4):
            job.read(5)
            self.ckpt("save", "--dir", self.dir)
        self.assertIn("only the newest one is kept", job.errors())
        self.assertIn(4, [image["image"] for image in self.images()])
        self.ckpt("verify", "--dir", self.dir)
        self.assertEqual(STATUS, job.end(), job.errors())
        self.assertEqual(wanted, (self.dir / "stdout").read_text())

    @only_root
    def test_a_job_whose_output_has_no_room_stands_still_until_it_has(self):
        self.small_store(40)
        program = [sys.executable, "-c", "for i in range(3_000_000): print(i, 'x' * 10)"]
        ballast = self.dir / "log/ballast"
        job = self.run_job("/bin/sh", "-c", 'echo up; read go < "$COUNTER_HOLD"; exec "$@"', "sh", *program)
        job.read(1)
        with open(ballast, "wb") as file:
            room = os.statvfs(self.dir)
            file.write(bytes(room.f_bavail * room.f_bsize - (4 << 20)))
        self.hold.write_text("go\n")
        reader = threading.Thread(target=lambda: job.lines.extend(job.process.stdout.readlines()))
        reader.start()
        job.wait_for("no space is left for the job's output: want 8.39 MB for each of stdout and stderr")
        self.assertIsNone(job.process.poll())
        subprocess.run(["mount", "-o", "remount,size=100m", self.dir], check=True)
        job.wait_for("there is room again")
        reader.join()
        self.assertEqual(0, job.process.wait(), job.errors())
        wanted, _ = self.plain(*program)
        self.assertEqual("up\n" + wanted, (self.dir / "stdout").read_text())
        self.assertEqual("up\n" + wanted, "".join(job.lines))

    @only_root
    def test_output_that_cannot_be_passed_on_for_lack_of_room_waits(self):
        wanted = self.wanted()
        place = self.path / "elsewhere"
        place.mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8k", "tmpfs", place], check=True)
        self.addCleanup(subprocess.run, ["umount", "-l", place], check=True)
        # A hundred lines are less than two pages, of which this takes one and a line the other.
        (place / "ballast").write_text("x")
        (place / "more").write_text("x")
        with open(place / "output", "w") as output, open(self.path / "log-of-it", "w") as log:
            job = subprocess.Popen(
                [os.environ["PIRACEMA_COMMAND"], "ckpt", "run", "--dir", str(self.dir), "--", *map(str, PROGRAM[:-2]),
                 str(STATUS), str(self.path / "file")], cwd=self.path, stdin=subprocess.DEVNULL, stdout=output, stderr=log)
        self.addCleanup(job.wait)
        self.addCleanup(job.kill)
        said = self.path / "log-of-it"
        with Watch(said) as watch:
            watch.until(lambda: "cannot be passed on" in said.read_text(), job, said.read_text)
        subprocess.run(["mount", "-o", "remount,size=1m", place], check=True)
        self.assertEqual(STATUS, job.wait(), said.read_text())
        self.assertEqual(wanted[0], (place / "output").read_text())

    def test_a_program_that_ends_while_it_is_saved_has_ended(self):
        for steps in [1, 2, 3]:
            shutil.rmtree(self.dir, ignore_errors=True)
            out, _ = self.plain(COUNTER, steps, 1, 1_000_000, 7)
            job = self.run_job(COUNTER, steps, 1, 1_000_000, 7, COUNTER_HOLD="")
            job.read(1)
            stopped = self.ckpt("stop", "--dir", self.dir, code=None)
            code = job.end()
            self.assertEqual(75 if stopped.returncode == 0 else 7, code, job.errors())
            if code == 75:
                second = self.resume()
                self.assertEqual(7, second.end(), second.errors())
            self.assertEqual(out, (self.dir / "stdout").read_text())

    def test_what_cannot_be_run_is_told_in_one_line(self):
        def refused(code, says, *words, **environment):
            done = self.ckpt(*words, code=code, **environment)
            self.assertIn(says, done.stderr)
            self.assertEqual(1, done.stderr.count("\n"), done.stderr)

        refused(2, "want -- and the program", "run", "--dir", "d")
        refused(2, "--dir", "run", "--", "true")
        refused(2, "--every", "run", "--dir", "d", "--every", "soon", "--", "true")
        refused(3, "cannot be run", "run", "--dir", "d", "--", "./nothing")
        refused(3, "no job has been run here", "resume", "--dir", ".")
        refused(3, "no job has been run here", "list", "--dir", self.path)
        refused(3, "/dev/shm", "run", "--dir", "/dev/shm/piracema-ckpt-test", "--", "true")
        self.addCleanup(shutil.rmtree, "/dev/shm/piracema-ckpt-test")
        refused(3, "holds something else", "run", "--dir", self.path, "--", "true")
        refused(1, "does not run", "save", "--dir", "d")

    def test_a_criu_that_is_missing_or_old_is_told_before_anything_runs(self):
        old = self.path / "criu"
        old.write_text("#!/bin/sh\necho Version: 3.17.1\n")
        old.chmod(0o755)
        for environment, says in [({"PIRACEMA_CRIU": str(old)}, "found 3.17"),
                                  ({"PIRACEMA_CRIU": "/nowhere/criu"}, "No such file")]:
            refused = self.ckpt("run", "--dir", self.dir, "--", "touch", self.path / "ran", code=3, **environment)
            self.assertIn(says, refused.stderr)
            self.ckpt("doctor", code=1, **environment)
        self.assertFalse((self.path / "ran").exists())

    def test_memory_that_no_image_holds_is_named_and_ucx_is_told_not_to_use_it(self):
        job = self.run_job("/bin/sh", "-c", "echo $UCX_TLS")
        self.assertEqual((0, ["self,posix\n"]), (job.end(), job.lines))
        shutil.rmtree(self.dir)
        job = self.run_job("/bin/sh", "-c", "echo $UCX_TLS", UCX_TLS="self,tcp")
        self.assertEqual((0, ["self,tcp\n"]), (job.end(), job.lines))
        shutil.rmtree(self.dir)
        program = "import ctypes, signal; c = ctypes.CDLL(None); c.shmat.restype = ctypes.c_void_p; " \
                  "c.shmat(c.shmget(0, 4096, 0o1600), None, 0); print('up', flush=True); signal.pause()"
        job = self.run_job(sys.executable, "-c", program)
        job.read(1)
        refused = self.ckpt("save", "--dir", self.dir, code=1)
        self.assertIn("the job shares memory by System V segments", refused.stderr)

    def test_a_daemon_is_named_and_what_a_program_leaves_behind(self):
        job = self.run_job("/bin/sh", "-c", 'sh -c "sleep 4247 &"; echo up; read go < "$COUNTER_HOLD"')
        job.read(1)
        refused = self.ckpt("save", "--dir", self.dir, code=1)
        self.assertRegex(refused.stderr, r"process [0-9]+ \(sleep\) has left the job: .* in the foreground")
        self.hold.write_text("go\n")
        self.assertEqual(0, job.end(let=False), job.errors())
        self.assertRegex(job.errors(), r"process [0-9]+ \(sleep\) is left by the program, and ends with it")

    @only_root
    def test_a_device_that_no_image_holds_is_named_before_the_dump(self):
        if not pathlib.Path("/dev/net/tun").exists():
            self.skipTest("no /dev/net/tun")
        job = self.run_job("/bin/sh", "-c", "exec 5<>/dev/net/tun; echo up; exec sleep 100")
        job.read(1)
        refused = self.ckpt("save", "--dir", self.dir, code=1)
        self.assertIn("has /dev/net/tun open", refused.stderr)
        job.process.send_signal(signal.SIGINT)
        job.wait_for("not stopped")
        job.process.send_signal(signal.SIGINT)
        self.assertEqual(130, job.end(), job.errors())


if __name__ == "__main__":
    main()
