#!/usr/bin/env python3
"""Runs a program beside a real server, which its environment names: with_server.py s3|hdfs|gluster PROGRAM
ARGUMENTS. The exit code is the program's; 77 where there can be no server, or 1 if $CI is set."""

import importlib
import os
import subprocess
import sys


def skip(why):
    """The exit code of a test that cannot run here; in CI that is a failure."""
    print("SKIPPED:", why, flush=True)
    return 1 if os.environ.get("CI") else 77


def main():
    server = importlib.import_module(sys.argv[1])
    why = server.missing()
    if why:
        return skip(why)
    running = server.Server()
    try:
        running.start()
        return subprocess.run(sys.argv[2:], env={**os.environ, **running.environment()}).returncode
    finally:
        running.end()


if __name__ == "__main__":
    sys.exit(main())
