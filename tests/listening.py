"""Who listens where, for tests that call on every port of a process."""

import pathlib


def ports_of(pid):
    """The TCP ports of IPv4 that a process listens on."""
    inodes = set()
    for link in pathlib.Path(f"/proc/{pid}/fd").iterdir():
        try:
            inodes.add(str(link.readlink()))
        except OSError:
            pass  # Closed meanwhile.
    rows = [row.split() for row in pathlib.Path("/proc/net/tcp").read_text().splitlines()[1:]]
    listening = "0A"
    return [int(row[1].split(":")[1], 16) for row in rows
            if row[3] == listening and f"socket:[{row[9]}]" in inodes]
