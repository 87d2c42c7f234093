#!/usr/bin/env python3
"""How long does a snapshot take while every queue is full, with barriers that wait and barriers that overtake?

    bench/streams/barrier.py BUILD [--us 10000 100000] [--rounds 3] [--seconds 20] [--patience 100ms]

Runs bench/streams/barrier_app.cpp in two processes, in turns with --overtake-after never and with
--patience: two workers for each of three stages, of which the last takes so many microseconds for an item
and the others half and a quarter of it. A round takes so many seconds, with a snapshot every 200 ms
or as soon as the one before is complete. Printed are, from the trigger to the manifest: median, longest,
how many there were, and the largest; and items a second.
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import tempfile


def run(build, us, overtake_after, duration):
    """Of each snapshot how long it took and its bytes, and items a second."""
    took, most, done = [], 0, 0
    with tempfile.TemporaryDirectory(prefix="piracema-barrier-") as folder:
        job = subprocess.Popen(
            [build / "tools/piracema", "run", "--json", "-n", "2", "--snapshots", "s", "--every", "200ms",
             "--overtake-after", overtake_after, build / "bench/barrier_app", "100000000", str(us)],
            cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
        for line in job.stdout:
            event = json.loads(line)
            if event["event"] == "snapshot" and event.get("at", 0) < duration:
                took.append(event["took"])
                most = max(most, event["bytes"])
            if event.get("at", 0) > duration:
                job.terminate()
                break
        summary = [json.loads(line) for line in job.stdout][-1]
        job.wait()
    for node in summary["nodes"]:
        if node["name"] == "sum":
            done = node["items_in"] / summary["seconds"]
    return took, most, done


def measure(options):
    for us in options.us:
        found = {way: ([], [], []) for way in ("never", options.patience)}
        for _ in range(options.rounds):
            for way, (took, most, rate) in found.items():
                times, largest, items = run(options.build, us, way, options.seconds)
                took += times
                most.append(largest)
                rate.append(items)
        for way, (took, most, rate) in found.items():
            print(f"{us / 1000:.0f} ms an item, --overtake-after {way}: median {statistics.median(took) * 1e3:.0f} ms, "
                  f"longest {max(took) * 1e3:.0f} ms of {len(took)} snapshots; largest {max(most) / 1e3:.1f} kB; "
                  f"{statistics.median(rate):.1f} items/s ({min(rate):.1f} to {max(rate):.1f})", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=lambda text: pathlib.Path(text).resolve())
    parser.add_argument("--us", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--patience", default="100ms")
    measure(parser.parse_args())
