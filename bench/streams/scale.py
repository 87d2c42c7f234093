#!/usr/bin/env python3
"""A keyed stream goes from 2 to 3 and back to 2 workers under load: how long until it is done, how long
sources stood still, and when the first item was out again.

    bench/streams/scale.py BUILD [--keys N] [--ballast BYTES] [--rounds N]

BUILD is a release build. Each key has so many bytes of state: 1,000,000 keys of 1000 make 1 GB. All have some before
the first change; from then on some thousand items a second change a key each.
Prints a line for each change, and medians. On a busy machine the figures say so little.
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
import threading


def measure(build, keys, ballast, rounds):
    found = {"2 -> 3": [], "3 -> 2": []}
    with tempfile.TemporaryDirectory(prefix="piracema-scale-") as folder:
        job = subprocess.Popen(
            [build / "tools/piracema", "run", "--json", "-n", "2", "--http", "--snapshots", "s",
             "--every", "1s", build / "tests/cluster/tally_app", "out", "replicas=2", "items=100000000",
             "pause_us=50", f"keys={keys}", f"quick={keys}",
             f"ballast={ballast}"],
            cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
        events, changed = [], threading.Condition()

        def read():
            for line in job.stdout:
                with changed:
                    events.append(json.loads(line))
                    changed.notify_all()
        threading.Thread(target=read, daemon=True).start()

        def wait_for(name, count=1):
            with changed:
                def seen():
                    return [event for event in events if event["event"] == name]
                if not changed.wait_for(lambda: len(seen()) >= count, 300):
                    sys.exit(f"no event '{name}' came")
                return seen()[count - 1]
        try:
            entrance = wait_for("http")["entrance"]
            seen = written = 0
            while written < keys * ballast:
                seen += 1
                written += wait_for("snapshot", seen)["bytes"]
            each = wait_for("snapshot", seen + 2)["bytes"]
            for i in range(2 * rounds):
                workers = 3 - i % 2
                subprocess.run([build / "tools/piracema", "scale", entrance, f"tally={workers}", "-n",
                                str(workers)], check=True, stdout=subprocess.DEVNULL)
                done, out = wait_for("scaled", i + 1), wait_for("first_item_out", i + 2)
                gap = out["at"] - done["at"] + done["paused"]
                change = "2 -> 3" if workers == 3 else "3 -> 2"
                found[change].append((done["seconds"], done["paused"], gap))
                print(f"{change}: done in {done['seconds'] * 1e3:.0f} ms, sources stood still "
                      f"{done['paused'] * 1e3:.0f} ms, first item {gap * 1e3:.0f} ms after they stopped")
                wait_for("snapshot", 2 + sum(event["event"] == "snapshot" for event in events))
        finally:
            job.kill()
            job.wait()
    print(f"{written / 1e6:.0f} MB were saved before, and {each / 1e6:.0f} MB in the snapshot after that; medians:")
    for change, all in found.items():
        done, paused, gap = (statistics.median(column) * 1e3 for column in zip(*all))
        print(f"  {change}: done {done:.0f} ms, paused {paused:.0f} ms, first item {gap:.0f} ms")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=lambda text: pathlib.Path(text).resolve())
    parser.add_argument("--keys", type=int, default=1_000_000)
    parser.add_argument("--ballast", type=int, default=1_000)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    measure(options.build, options.keys, options.ballast, options.rounds)
