#!/usr/bin/env python3
"""How much memory replicas of `piracema kv` need for so many bytes of values: the most that each has
had once it is filled, and after it was rewritten for a while, beside the bytes of the values.

    bench/smr/memory.py build/release                                  100 MB of values of 4 kB
    bench/smr/memory.py build/release --state 500MB --value-bytes 1000

Three replicas on this machine's loopback, with their directories in --directory."""

import argparse
import json
import pathlib
import re
import statistics
import sys
import tempfile
import time

from group import Group, bytes_of, loopback_addresses


def memory(process, name):
    """VmHWM: the most there was; VmRSS: what is there now. In bytes."""
    text = pathlib.Path(f"/proc/{process.pid}/status").read_text()
    return int(re.search(name + r":\s+(\d+) kB", text)[1]) * 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path, help="build/release")
    parser.add_argument("--state", default="100MB", help="KB, MB or GB; default: 100MB")
    parser.add_argument("--value-bytes", type=int, default=4000)
    parser.add_argument("--outstanding", type=int, default=64, help="operations under way")
    parser.add_argument("--seconds", type=float, default=20, help="of rewriting")
    parser.add_argument("--directory", type=pathlib.Path, help="for what replicas keep; default: a new one")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=arguments.directory) as folder:
        group = Group(arguments.build.resolve(), pathlib.Path(folder), loopback_addresses(3))
        try:
            load, lines = group.begin_load(arguments.state, arguments.outstanding,
                                           arguments.value_bytes)
            filled = [memory(one, "VmHWM") for one in group.processes.values()]
            load.stdin.write("go\n")
            load.stdin.flush()
            time.sleep(arguments.seconds)  # The work of the program.
            most = [memory(one, "VmHWM") for one in group.processes.values()]
            now = [memory(one, "VmRSS") for one in group.processes.values()]
        finally:
            group.end()
    state = bytes_of(arguments.state)
    result = {"state_bytes": state, "value_bytes": arguments.value_bytes, "most_filled": filled,
              "most_rewritten": most, "now": now,
              "operations_a_second": round(statistics.mean(line["answered"] for line in lines)),
              "failed": sum(line["failed"] for line in lines)}
    if arguments.json:
        print(json.dumps(result))
    else:
        def told(sizes):
            return (f"{min(sizes) / 1e6:.0f} to {max(sizes) / 1e6:.0f} MB "
                    f"({max(sizes) / state:.1f} times the values)")
        print(f"{arguments.state} in values of {arguments.value_bytes} bytes: at most {told(filled)} to "
              f"fill it, {told(most)} with {arguments.seconds:.0f} s of rewriting "
              f"({result['operations_a_second']} operations a second), {told(now)} at the end")
    return 1 if result["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
