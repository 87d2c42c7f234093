#!/usr/bin/env python3
"""How often is a job saved in time, and how much of its window does it get? Real jobs, real images.

    bench/ckpt/windows.py BUILD_DIRECTORY [--windows 200] [--lanes local,slow:100] [--results FILE]

Each window lends a machine for --length seconds (300) to a job of 20 to 1200 MB. Of its first part,
in which the job would only run, some steps are made and the rest is left out: what is measured is
the end, from the moment at which `piracema ckpt plan` says that the last dump has to begin. It is
missed if the job is not saved, and the machine free, by the close. With --whole nothing is left out:
`piracema ckpt window` runs each from begin to end, which takes --length seconds.

A lane is a store, and windows on it follow each other; lanes run at the same time. `local` is the disk,
`slow:N` a file system of its own on a loop device that takes N megabytes a second from all who write to
it, `gluster:N` a GlusterFS of two bricks over a link of as many. In some windows, a few in a row, one program more or --writers of them write to the store and sync.

Rows are added to --results, a line of JSON each. With a file that has rows it goes on where it was, with
what the stores were known by: so 200 windows may be run in several sittings. --windows 0 prints the table.

Beside it, from the same dumps: a regression on the size alone with the worst ratio so far as its
margin, and with the fixed margins of 2 and 3. The first four dumps of a lane train all and are not
counted for these.
"""

import argparse
import contextlib
import json
import os
import pathlib
import statistics
import sys
import tempfile
import threading

from jobs import want_ckpt
from lane import LEARNING, Lane, gluster

AIM = 0.9  # Of a window, to be used.
WAYS = ["plan", "size only, worst ratio", "size only x2", "size only x3"]


def kept_by(row, way):
    return row["kept"] if way == "plan" else row[way]


def missed_by(row, way):
    return row["missed"] if way == "plan" else row["took"] > row[way]


def part(count, of):
    return f"{count} of {of}"


def print_ways(title, rows):
    print(f"\n{title}: {len(rows)} windows")
    print(f"  {'':24}{'missed':>12}{'used, median':>14}{'least':>8}{'90 % used':>14}")
    for way in WAYS:
        counted = [row for row in rows if way == "plan" or way in row]
        if not counted:
            continue
        used = [max(0, 1 - kept_by(row, way) / row["length"]) for row in counted]
        print(f"  {way:24}{part(sum(missed_by(row, way) for row in counted), len(counted)):>12}"
              f"{100 * statistics.median(used):>12.1f} %{100 * min(used):>6.1f} %"
              f"{part(sum(u >= AIM for u in used), len(used)):>14}")


def report(rows):
    print(f"\n{len(rows)} windows of {', '.join(sorted({str(row['length']) for row in rows}))} s")
    print_ways("all", rows)
    for lane in sorted({row["lane"] for row in rows}):
        for name, busy in [("calm", False), ("with other writers", True)]:
            some = [row for row in rows if row["lane"] == lane and bool(row["writers"]) == busy]
            if some:
                print_ways(f"{lane}, {name}", some)
    # A store that is not known yet, and dumps that nothing could make short enough, are counted apart.
    possible = [row for row in rows if row["took"] <= (1 - AIM) * row["length"]]
    for name, some in [("unknown", [row for row in possible if row["learnt"] < 4 * LEARNING]),
                       ("known", [row for row in possible if row["learnt"] >= 4 * LEARNING])]:
        used = sum(kept_by(row, "plan") <= (1 - AIM) * row["length"] for row in some)
        print(f"\n{name} store: {part(used, len(some))} windows used to 90 %", end="")
    print()
    # Before that a store is not known.
    known = [row for row in rows if row["learnt"] >= 4 * LEARNING]
    if known:
        held = [f"{name} in {100 * sum(row['took'] <= row[name] for row in known) / len(known):.1f} %"
                for name in ["p50", "p95", "p99"]]
        print(f"\nwhere {4 * LEARNING} dumps or more were known ({len(known)} windows) these held: {', '.join(held)}")
    slow = sum(row["took"] > (1 - AIM) * row["length"] for row in rows)
    if slow:
        print(f"{slow} dumps took more than a tenth of their window themselves")


class Bench:
    def __init__(self, arguments, rows):
        self.arguments = arguments
        self.rows = rows
        self.lock = threading.Lock()
        self.left = arguments.windows - len(rows)
        self.broken = None

    def take(self):
        with self.lock:
            self.left -= 1
            return self.left >= 0 and not self.broken

    def note(self, row):
        with self.lock:
            self.rows.append(row)
            with open(self.arguments.results, "a", encoding="utf-8") as file:
                file.write(json.dumps(row) + "\n")
            print(f"window {len(self.rows)}, {row['lane']}: {row['megabytes']} MB, {row['writers']} other writers: "
                  f"kept {row['kept']:.2f} s (p50 {row['p50']:.2f}, p95 {row['p95']:.2f}), took "
                  f"{row['took']:.2f} s{' MISSED' if row['missed'] else ''}", flush=True)

    def run_lane(self, lane):
        try:
            with lane.open():
                while self.take():
                    self.note(lane.next())
        except BaseException as error:  # Whatever it is, the others have to end as well.
            self.broken = error

    def run(self, lanes):
        threads = [threading.Thread(target=self.run_lane, args=(lane,)) for lane in lanes]
        for thread in threads:
            thread.start()
        try:
            for thread in threads:
                thread.join()
        except BaseException as error:  # Ctrl-C: each lane ends with its window.
            self.broken = self.broken or error
            for thread in threads:
                thread.join()
        if self.broken:
            raise self.broken


def lane_rates(text):
    """{name: MB/s or None}; lanes of the same kind are told apart."""
    rates = {}
    for kind in text.split(","):
        name, number = kind, 1
        while name in rates:
            number += 1
            name = f"{kind}.{number}"
        rates[name] = float(kind.partition(":")[2]) if ":" in kind else None
    return rates


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--windows", type=int, default=200, help="in all, those of --results included")
    parser.add_argument("--lanes", default="local,slow:100")
    parser.add_argument("--length", type=int, default=300, help="of a window, in seconds")
    parser.add_argument("--whole", action="store_true", help="windows are lived through")
    parser.add_argument("--low", type=int, default=20, help="megabytes of the smallest job")
    parser.add_argument("--high", type=int, default=1200)
    parser.add_argument("--steps", type=int, default=2, help="of a job before it has to leave")
    parser.add_argument("--writers", type=int, default=2, help="others, at most")
    parser.add_argument("--writer-mb", type=int, default=200, help="that each of them writes at a time")
    parser.add_argument("--store", type=pathlib.Path, default=pathlib.Path("/var/tmp"))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--most-missed", type=int, help="exit code 1 if there are more")
    parser.add_argument("--results", type=pathlib.Path)
    arguments = parser.parse_args()
    arguments.build = arguments.build.resolve()
    want_ckpt(arguments.build)
    if "gluster" in arguments.lanes and gluster.missing():
        print("SKIPPED:", gluster.missing())
        sys.exit(77)
    with contextlib.ExitStack() as stack:
        folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory(
            dir=arguments.store, prefix="piracema-windows-", ignore_cleanup_errors=True)))
        arguments.results = arguments.results or folder / "results"
        rows = [json.loads(line) for line in arguments.results.read_text().splitlines()] \
            if arguments.results.exists() else []
        if arguments.windows > len(rows):
            print(f"load {os.getloadavg()[0]:.1f} at the start, {os.cpu_count()} cores", flush=True)
            Bench(arguments, rows).run([Lane(name, rate, arguments, folder, rows)
                                        for name, rate in lane_rates(arguments.lanes).items()])
        report(rows)
    missed = sum(row["missed"] for row in rows)
    if arguments.most_missed is not None and missed > arguments.most_missed:
        sys.exit(f"want at most {arguments.most_missed} windows missed, found {missed}")


if __name__ == "__main__":
    main()
