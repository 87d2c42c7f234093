"""Who opens a file waits until a test lets him: the kernel asks it (fanotify(7))."""

import ctypes
import os
import select
import struct
import threading

from watch import libc

CLASS_CONTENT, CLOSE_ON_EXEC, ADD, OPEN_PERMISSION, HERE, ALLOW = 0x4, 0x1, 0x1, 0x10000, -100, 1
EVENT = struct.Struct("=IBBHQii")  # Length, version, -, -, what, descriptor, process.


def space_of(pid):
    return os.readlink(f"/proc/{pid}/ns/pid")


class Openers:
    """Of one file: those outside of any capsule wait until this is closed; others never do."""

    def __init__(self, path):
        """OSError where the kernel cannot, or nobody may."""
        self.handle = libc.fanotify_init(CLASS_CONTENT | CLOSE_ON_EXEC, os.O_RDONLY)
        if self.handle < 0 or libc.fanotify_mark(self.handle, ADD, ctypes.c_uint64(OPEN_PERMISSION), HERE,
                                                 os.fsencode(path)) != 0:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
        self.waits = threading.Event()
        self.held = []
        self.over, self.end = os.pipe()
        self.thread = threading.Thread(target=self.serve)
        self.thread.start()

    def serve(self):
        while True:
            ready, _, _ = select.select([self.handle, self.over], [], [])
            if self.over in ready:
                return
            events = os.read(self.handle, 4096)
            for at in range(0, len(events), EVENT.size):
                *_, descriptor, pid = EVENT.unpack_from(events, at)
                if pid != os.getpid() and space_of(pid) == space_of("self"):
                    self.held.append(descriptor)
                    self.waits.set()
                else:
                    os.write(self.handle, struct.pack("=iI", descriptor, ALLOW))
                    os.close(descriptor)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.close(self.end)
        self.thread.join()
        # Whoever still waits is let go by this.
        os.close(self.handle)
        for descriptor in [self.over, *self.held]:
            os.close(descriptor)
