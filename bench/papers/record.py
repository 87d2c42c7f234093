"""What a result says of where it was measured."""

import datetime
import os
import pathlib
import platform
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]


def processor():
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(": ", 1)[1]
    return platform.machine()


def version():
    """Of the source tree; empty without a git."""
    try:
        done = subprocess.run(["git", "-C", str(ROOT), "describe", "--always", "--dirty"],
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        return done.stdout.strip()
    except OSError:
        return ""


def surroundings():
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGESIZE")
    return {"date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
            "version": version(),
            "machine": {"cores": len(os.sched_getaffinity(0)), "processor": processor(),
                        "memory_gb": round(memory / 1e9, 1),
                        "kernel": f"{platform.system()} {platform.release().split('-')[0]}"},
            "load": os.getloadavg()[0]}
