#!/usr/bin/env python3
"""Runs a program beside a real server of S3, which its environment names: with_server.py PROGRAM
ARGUMENTS. The exit code is the program's; 77 where there can be no server, or 1 if $CI is set."""

import os
import subprocess
import sys

import server


def main():
    why = server.missing()
    if why:
        return server.skip(why)
    running = server.Server()
    try:
        running.start()
        return subprocess.run(sys.argv[1:], env={**os.environ, **running.environment()}).returncode
    finally:
        running.end()


if __name__ == "__main__":
    sys.exit(main())
