#!/usr/bin/env python3
"""How long a bare `criu restore` of an image takes: without us, but for the place that it wants.

    bench/ckpt/speed_bare.py CRIU PARTS        the first process of a new PID namespace, in a capsule

`seconds_of_bare_restore` makes that place within a capsule of another job. What is restored is left
stopped, so that it changes none of its files, and ends with the namespace.
"""

import pathlib
import shutil
import subprocess
import sys
import time


def seconds_of_bare_restore(piracema, criu, parts, where):
    inside = ["unshare", "--pid", "--fork", "--mount", "--mount-proc", sys.executable, __file__, criu, parts]
    done = subprocess.run([piracema, "ckpt", "run", "--quiet", "--dir", where, "--", *inside], text=True,
                          capture_output=True, check=False)
    shutil.rmtree(where)
    if done.returncode != 0:
        sys.exit(f"a bare restore: {done.stdout}{done.stderr}")
    return float(done.stdout)


def main():
    criu, parts = sys.argv[1], pathlib.Path(sys.argv[2])
    subprocess.run(["mount", "-t", "tmpfs", "tmpfs", "/dev/shm"], check=True)
    subprocess.run(["tar", "-S", "--numeric-owner", "-p", "-C", "/dev/shm", "-xf", parts / "shm.tar"], check=True)
    log = pathlib.Path("/dev/shm/bare-restore")
    log.mkdir()
    begin = time.monotonic()
    done = subprocess.run([criu, "restore", "--leave-stopped", "-d", "-D", parts, "-W", log, "-o", "log", "-v2",
                           "--tcp-established", "--file-locks", "--network-lock", "skip"], check=False)
    took = time.monotonic() - begin
    if done.returncode != 0:
        sys.exit((log / "log").read_text())
    print(took, flush=True)


if __name__ == "__main__":
    main()
