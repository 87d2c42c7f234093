"""Processes whose wall clock is another one than the machine's, and jumps (apps/wall_clock.cpp)."""

import os
import struct


class WallClock:
    LIBRARY = os.environ.get("WALL_CLOCK", "")

    def __init__(self, file, ahead=0):
        self.file = file
        file.write_bytes(struct.pack("=q", ahead))

    def environment(self):
        """Of processes that have it."""
        return {"LD_PRELOAD": self.LIBRARY, "PIRACEMA_TEST_CLOCK": str(self.file)}

    def set(self, ahead):
        """So many seconds ahead of the machine's from now on, or behind it: at once, and for those that run too."""
        with open(self.file, "r+b") as file:
            file.write(struct.pack("=q", ahead))
