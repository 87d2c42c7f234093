"""Waiting for what files say: the kernel tells of changes (inotify), and of the ends of processes."""

import contextlib
import ctypes
import os
import pathlib
import select

MODIFIED, MOVED, CREATED, DELETED = 0x2, 0x80, 0x100, 0x200
PATIENCE_MS = 280_000  # Nothing that is waited for takes so long.
libc = ctypes.CDLL(None, use_errno=True)


class Watch:
    """Of one file, or of all below a directory."""

    def __init__(self, path):
        self.path = pathlib.Path(path)
        self.handle = libc.inotify_init1(os.O_CLOEXEC | os.O_NONBLOCK)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.close(self.handle)

    def add_new(self):
        """A directory that comes later is told of by the one above."""
        places = [self.path]
        if self.path.is_dir():
            places += [pathlib.Path(top) for top, _, _ in os.walk(self.path)]
        for place in places:
            # One that is gone again is none.
            libc.inotify_add_watch(self.handle, os.fsencode(place), MODIFIED | MOVED | CREATED | DELETED)

    def drain(self):
        try:
            while os.read(self.handle, 1 << 16):
                pass
        except BlockingIOError:
            pass

    def until(self, condition, process, explain):
        """Fails with `explain()` if the process ends before."""
        end = os.pidfd_open(process.pid)
        waiting = select.poll()
        waiting.register(self.handle, select.POLLIN)
        waiting.register(end, select.POLLIN)
        try:
            while True:
                self.drain()
                self.add_new()
                if condition():
                    return
                ready = waiting.poll(PATIENCE_MS)
                if not ready or (any(fd == end for fd, _ in ready) and not condition()):
                    raise AssertionError(explain())
        finally:
            os.close(end)


def descendants(pid):
    """Those that are there; one may end meanwhile."""
    with contextlib.suppress(FileNotFoundError):
        for child in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
            yield int(child)
            yield from descendants(int(child))


def words_of(pid):
    with contextlib.suppress(FileNotFoundError):
        return pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().decode().split("\0")
    return [""]


def wait_for_end(pid):
    """Of any process; none if it is gone already."""
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    waiting = select.poll()
    waiting.register(handle, select.POLLIN)
    ready = waiting.poll(PATIENCE_MS)
    os.close(handle)
    if not ready:
        raise AssertionError(f"process {pid} does not end")
