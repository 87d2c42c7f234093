"""What figures of paper 002 need besides hosts: a memory as small as its machines have."""

import contextlib
import os
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests/servers"), str(ROOT / "tests/ckpt")]
from gluster import run  # noqa: E402
from watch import descendants, wait_for_end  # noqa: E402

CGROUP = pathlib.Path("/sys/fs/cgroup/memory")


def no_swap(folder):
    """Why memory cannot be as small as wanted, and swapped to a file of this folder; nothing if it can."""
    if not (CGROUP / "memory.memsw.limit_in_bytes").exists():
        return "want the memory controller of cgroups, version 1, with swap (swapaccount=1)"
    try:
        with swap_file(1 << 20, folder):
            return None
    except RuntimeError as error:
        return f"want swap: {error}"


@contextlib.contextmanager
def swap_file(size, folder):
    """A file of so many bytes that the machine swaps to."""
    file = folder / f"swap-{os.getpid()}"
    try:
        with open(file, "wb") as made:
            os.posix_fallocate(made.fileno(), 0, size)
        file.chmod(0o600)
        run("mkswap", file)
        run("swapon", file)
        try:
            yield
        finally:
            run("swapoff", file)
    finally:
        file.unlink(missing_ok=True)


class SmallMemory:
    """A part of this machine with so many bytes of memory, and a swap of its own for what is more. Whoever starts in
    it takes its page cache from there, too."""

    def __init__(self, memory, swap, folder):
        self.group = CGROUP / f"piracema-{os.getpid()}"
        with contextlib.ExitStack() as stack:
            stack.enter_context(swap_file(swap, folder))
            self.group.mkdir()
            stack.callback(self.group.rmdir)
            stack.callback(self.wait_until_empty)
            (self.group / "memory.limit_in_bytes").write_text(str(memory))
            (self.group / "memory.memsw.limit_in_bytes").write_text(str(memory + swap))
            self.stack = stack.pop_all()

    def enter(self):
        """In a child, before it becomes a program."""
        (self.group / "cgroup.procs").write_text(str(os.getpid()))

    def swapped(self):
        """Bytes of whoever is in it."""
        rows = (self.group / "memory.stat").read_text().splitlines()
        return next(int(row.split()[1]) for row in rows if row.startswith("total_swap "))

    def wait_until_empty(self):
        while pids := (self.group / "cgroup.procs").read_text().split():
            for pid in pids:
                wait_for_end(int(pid))

    def close(self):
        self.stack.close()


def process_named(name, pid):
    """The one of this name among the descendants of `pid`."""
    return next(one for one in descendants(pid) if pathlib.Path(f"/proc/{one}/comm").read_text().strip() == name)


def address_space(pid):
    """Bytes that a process has mapped, touched or not."""
    rows = pathlib.Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(1024 * int(row.split()[1]) for row in rows if row.startswith("VmSize:"))
