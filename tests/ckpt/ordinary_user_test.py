#!/usr/bin/env python3
"""All of it as somebody who has no rights: whoever runs this as root runs it as a user that nobody else is.

Where root can save jobs and an ordinary user cannot, this fails: it is not skipped."""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

from cluster_test import Saved
from daemon_test import Daemon
from moments_test import Moments, Ranks
from mpi_test import Mpi
from ordinary_user import as_user, environment_for, python_for
from run_test import Run
from support import CkptTest, want_ckpt
from transient_test import Transient
from window_test import Window

USER = 64321  # Without a name, a home or a group of others.
FROM_OTHERS = [
    (Run, ["test_it_goes_on_after_save_and_ends_with_stop_and_goes_on_after_resume",
           "test_a_killed_keeper_takes_the_job_with_it_and_what_came_after_the_image_is_taken_back",
           "test_every_so_often_an_image_is_made_and_the_last_two_are_kept",
           "test_a_compressed_image_takes_less_room_and_is_as_good"]),
    (Daemon, ["test_jobs_leave_when_the_user_comes_back_and_survive_the_daemon"]),
    (Window, ["test_a_job_goes_on_from_window_to_window_by_the_same_words"]),
    (Saved, ["test_a_program_goes_on_where_it_was_when_its_node_is_to_be_empty",
             "test_a_program_whose_node_is_lost_goes_on_from_its_last_image"]),
    (Moments, ["test_images_of_good_moments_are_small_and_the_program_goes_on_from_them",
               "test_one_who_is_told_before_an_image_makes_himself_small",
               "test_a_command_is_run_after_each_restart_beside_the_program"]),
    (Ranks, ["test_open_mpi"]),
    (Transient, [name for name in dir(Transient) if name.startswith("test_")])]
if "HEAT2D_APP" in os.environ:
    FROM_OTHERS.append((Mpi, ["test_open_mpi_over_shared_memory", "test_open_mpi_over_tcp",
                              "test_mpich_over_shared_memory", "test_mpich_over_tcp"]))

# What a process may do, and as whom; then its children by pipes, until its end.
IDENTITY = "id -u; id -g; grep -E '^(Cap(Prm|Eff|Amb)|NoNewPrivs)' /proc/self/status"
PIPES = f"""
{IDENTITY}
for i in 1 2 3 4 5 6 7 8 9 10; do echo $i; sleep 0.1; done | sed -u s/^/a/ | while read word; do echo b$word; done
{IDENTITY}
"""
# Connections of TCP whose buffers are as full as they get when nobody reads; then all is read. Some have
# asked for larger ones.
FULL = """
import socket, sys, zlib
listener = socket.create_server(("127.0.0.1", 0))

def connect(size):
    one = socket.socket()
    if size:
        one.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, size)
    one.connect(listener.getsockname())
    other, _ = listener.accept()
    if size:
        other.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, size)
    # Read for a while, so that the kernel lets the buffers grow.
    for _ in range(200):
        one.sendall(bytes(50_000))
        left = 50_000
        while left:
            left -= len(other.recv(left))
    return one, other

def fill(one):
    one.setblocking(False)
    check, bytes_sent = 0, 0
    try:
        while True:
            part = bytes([bytes_sent % 251]) * 9973
            count = one.send(part)
            check, bytes_sent = zlib.crc32(part[:count], check), bytes_sent + count
    except BlockingIOError:
        return check, bytes_sent

def read(other, bytes_sent):
    check, left = 0, bytes_sent
    while left:
        part = other.recv(min(left, 70_000))
        check, left = zlib.crc32(part, check), left - len(part)
    return check, bytes_sent

pairs = [connect(size) for size in [0, 0, 100_000, 1 << 30]]
sent = [fill(one) for one, _ in pairs]
pairs[0][0].shutdown(socket.SHUT_WR)
print("full", flush=True)
open(sys.argv[1]).close()
for (_, other), (check, bytes_sent) in zip(pairs, sent):
    print(read(other, bytes_sent) == (check, bytes_sent), bytes_sent > 50_000, flush=True)
    print(bytes_sent, file=sys.stderr)
"""
# Semaphores and memory in files that are deleted at once, some open and some not.
SHARED_BY_DELETED_FILES = """
import multiprocessing, os, time

def work(queue, lock, value):
    for i in range(40):
        with lock:
            value.value += 1
        queue.put(i)
        time.sleep(0.02 if os.path.exists("hurry") else 0.2)

queue, lock, value = multiprocessing.Queue(), multiprocessing.Lock(), multiprocessing.Value("i", 0)
children = [multiprocessing.Process(target=work, args=(queue, lock, value)) for _ in range(2)]
for child in children:
    child.start()
total = 0
for i in range(80):
    total += queue.get()
    print(i, flush=True)
for child in children:
    child.join()
print(total, value.value, flush=True)
"""
# Semaphores that two programs open by name: who has made one has it by a name that is gone.
SEMAPHORES = """
import ctypes, os, subprocess, sys, time
libc = ctypes.CDLL(None, use_errno=True)
libc.sem_open.restype = ctypes.c_void_p
ping, pong = [ctypes.c_void_p(libc.sem_open(name, os.O_CREAT, 0o600, 0)) for name in [b"/ping", b"/pong"]]
if len(sys.argv) == 1:
    child = subprocess.Popen([sys.executable, __file__, "child"])
    for i in range(40):
        libc.sem_post(ping)
        libc.sem_wait(pong)
        print(i, flush=True)
        time.sleep(0.02 if os.path.exists("hurry") else 0.2)
    print(child.wait(), flush=True)
else:
    for i in range(40):
        libc.sem_wait(ping)
        libc.sem_post(pong)
"""
# A file without a name, and what maps it: of one thing criu would make two.
FILE_AND_MEMORY = """
import mmap, os, time
file = os.memfd_create("memory")
os.ftruncate(file, 4096)
memory = mmap.mmap(file, 4096)
print("up", flush=True)
time.sleep(1000)
"""


# Shared memory whose beginning was given back; behind it is other memory.
PART = """
import ctypes, mmap, time
call = ctypes.CDLL(None)
call.mmap.restype = ctypes.c_void_p
size = ctypes.c_size_t(1 << 20)
both = mmap.PROT_READ | mmap.PROT_WRITE
place = call.mmap(None, ctypes.c_size_t(4 << 20), both, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, -1, ctypes.c_long(0))
call.mmap(ctypes.c_void_p(place), size, both, mmap.MAP_SHARED | mmap.MAP_ANONYMOUS | 0x10, -1, ctypes.c_long(0))
call.munmap(ctypes.c_void_p(place), ctypes.c_size_t(1 << 19))
print("up", flush=True)
time.sleep(1000)
"""


class OrdinaryUser(CkptTest):
    def test_it_is_who_it_is_outside_and_may_nothing_more_before_and_after_a_resume(self):
        # Each of the two says it again: what it says is what it says without us.
        wanted, code = self.plain("/bin/sh", "-c", PIPES)
        self.assertEqual(0, code)
        self.assertIn(f"{os.getuid()}\n{os.getgid()}\n", wanted)
        self.assertIn("CapEff:\t0000000000000000\n", wanted)
        job = self.run_job("/bin/sh", "-c", PIPES)
        job.read(len(IDENTITY.split("\n")) + 8)
        self.ckpt("stop", "--dir", self.dir)
        self.assertEqual(75, job.end(let=False), job.errors())
        second = self.resume()
        self.assertEqual(0, second.end(let=False), second.errors())
        self.assertEqual(wanted, "".join(job.lines + second.lines))

    def test_a_job_of_mpi_whose_ranks_were_killed_goes_on_from_before_that(self):
        if "HEAT2D_APP" not in os.environ:
            self.skipTest("no Open MPI")
        command = ["mpirun.openmpi", "--oversubscribe", "-n", "2", os.environ["HEAT2D_APP"], 1000, 800, 4]
        wanted, code = self.plain(*command)
        self.assertEqual(0, code)
        job = self.run_job(*command)
        job.read(20)
        self.ckpt("save", "--dir", self.dir)
        job.read(20)
        ranks = [int(entry.name) for entry in pathlib.Path("/proc").iterdir() if entry.name.isdigit()
                 and self.runs(entry, os.environ["HEAT2D_APP"], self.path)]
        self.assertEqual(2, len(ranks))
        for rank in ranks:
            os.kill(rank, signal.SIGKILL)
        self.assertNotEqual(0, job.end(let=False), job.errors())
        again = self.resume("--failed")
        self.assertEqual(0, again.end(let=False), again.errors())
        self.assertEqual(wanted, (self.dir / "stdout").read_text())

    def runs(self, process, program, where):
        try:
            return (os.path.samefile(process / "exe", program) and
                    pathlib.Path(os.readlink(process / "cwd")) == where)
        except OSError:  # It has ended, or is somebody else's.
            return False

    def stop_and_go_on(self, program):
        file = self.path / "program.py"
        file.write_text(program)
        job = self.run_job(sys.executable, file)
        job.read(10)
        self.ckpt("stop", "--dir", self.dir)
        self.assertEqual(75, job.end(let=False), job.errors())
        second = self.resume()
        second.read(10)
        self.ckpt("save", "--dir", self.dir)
        second.read(5)
        second.kill()
        # What is done to it came before its end, on any machine.
        (self.path / "hurry").touch()
        third = self.resume()
        self.assertEqual(0, third.end(let=False), third.errors())
        return (self.dir / "stdout").read_text().splitlines()

    def test_memory_of_deleted_files(self):
        lines = self.stop_and_go_on(SHARED_BY_DELETED_FILES)
        self.assertEqual([*map(str, range(80)), "1560 80"], lines)

    def test_semaphores_with_names(self):
        self.assertEqual([*map(str, range(40)), "0"], self.stop_and_go_on(SEMAPHORES))

    def test_connections_whose_buffers_are_full(self):
        job = self.run_job(sys.executable, "-c", FULL, self.hold)
        job.read(1)
        self.ckpt("stop", "--dir", self.dir)
        self.assertEqual(75, job.end(let=False), job.errors())
        second = self.resume()
        self.assertEqual(0, second.end(), second.errors())
        self.assertEqual(["True True\n"] * 4, second.lines)

    def test_what_only_root_can_save_is_named_and_runs_on(self):
        for program, why in [(FILE_AND_MEMORY, "/memfd:memory (deleted) mapped, which is open as well"),
                             (PART, "a part of /dev/zero (deleted)")]:
            job = self.run_job(sys.executable, "-c", program)
            job.read(1)
            refused = self.ckpt("save", "--dir", self.dir, code=None)
            self.assertNotEqual(0, refused.returncode)
            self.assertIn(why + ", which only root can save", refused.stderr)
            self.assertEqual([], self.images())
            self.assertIsNone(job.process.poll())
            job.kill()

    def test_a_machine_without_user_namespaces_is_told_what_mends_it(self):
        # In a user namespace of its own a user may forbid itself more of them.
        def there(*words):
            none = 'echo 0 >/proc/sys/user/max_user_namespaces && exec "$0" "$@"'
            return subprocess.run(["unshare", "--user", "--map-current-user", "--keep-caps", "/bin/sh", "-c", none,
                                   os.environ["PIRACEMA_COMMAND"], "ckpt", *words], cwd=self.path,
                                  capture_output=True, text=True)

        how = "sysctl -w user.max_user_namespaces="
        refused = there("run", "--dir", "job", "--", "true")
        self.assertEqual(3, refused.returncode, refused.stderr)
        self.assertIn(how, refused.stderr)
        self.assertFalse(self.dir.exists())
        found = there("doctor", "--json")
        self.assertEqual(1, found.returncode, found.stderr)
        privilege = next(one for one in json.loads(found.stdout) if one["what"] == "privilege")
        self.assertFalse(privilege["ok"])
        self.assertIn(how, privilege["text"])

    def test_doctor_says_as_whom(self):
        found = {one["what"]: one for one in json.loads(self.ckpt("doctor", "--json").stdout)}
        self.assertIn("an ordinary user", found["privilege"]["text"])
        self.assertTrue(found["capsule"]["ok"], found)


def run_as_this_user():
    suite = unittest.TestLoader().loadTestsFromTestCase(OrdinaryUser)
    suite.addTests(test(name) for test, names in FROM_OTHERS for name in names)
    if len(sys.argv) > 1:
        suite = unittest.TestSuite(test for test in suite if test.id().rpartition(".")[2] in sys.argv[1:])
    return 0 if unittest.TextTestRunner(verbosity=2).run(suite).wasSuccessful() else 1


def run_as_somebody_else():
    """What it needs is copied to where anybody may read it."""
    want_ckpt()
    with tempfile.TemporaryDirectory(dir="/var/tmp", prefix="piracema-ordinary-") as text:
        os.chmod(text, 0o755)
        place = pathlib.Path(text) / "user"
        environment = environment_for(USER, place)
        for tests, name in (pathlib.Path(__file__).parent, "tests"), (pathlib.Path(__file__).parents[1] / "cluster", "cluster"):
            shutil.copytree(tests, place / name, ignore=shutil.ignore_patterns("__pycache__"))
        return subprocess.run([*as_user(USER), python_for(USER), "-B", place / "tests" / "ordinary_user_test.py",
                               *sys.argv[1:]], cwd=place / "home", env=environment).returncode


if __name__ == "__main__":
    sys.exit(run_as_somebody_else() if os.geteuid() == 0 else run_as_this_user())
