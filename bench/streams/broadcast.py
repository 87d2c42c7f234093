#!/usr/bin/env python3
"""Items of a megabyte to viewers on six hosts, straight to each process and by trees over measured links.

    bench/streams/broadcast.py BUILD [--seconds 40] [--rounds 3] [--viewers 4]

Hosts are network namespaces; a program between them (bench/coll/wan.cpp) holds packets back for as long as
their link takes. Links have the latencies of paper 001, Table 1, a tenth of them, and 5 MB/s each. After half
of the time the link from the sender's host, which is the last one, to the second takes ten times as long for
a megabyte.
Runs bench/streams/broadcast_app.cpp with so many viewers on each host, one a process, in turns with
--direct-broadcasts and without. Printed is how many items a second every viewer got, in the second half of
the time before the change and of the time after it; the longest time in which some viewer got none; and
what no tree of whole items could be faster than. Wants root, /dev/net/tun and network namespaces.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "bench/coll"))
import wan

MIB = 1 << 20
# Paper 001, Table 1: the means of six sites, in ms.
BETWEEN = [[0, 485.4, 698.9, 14.9, 332.8, 61.4], [485.4, 0, 364.1, 583.8, 13.5, 490.5],
           [698.9, 364.1, 0, 701.2, 371.7, 722.9], [14.9, 583.8, 701.2, 0, 331.0, 35.1],
           [332.8, 13.5, 371.7, 331.0, 0, 355.9], [61.4, 490.5, 722.9, 35.1, 355.9, 0]]
HOSTS = len(BETWEEN)
# Where the sender is put: its host has one place more.
SENDER = HOSTS - 1


def links(megabyte_ms, slow):
    """The file of the program in between: `slow`, from pairs of hosts to what a megabyte takes."""
    lines = []
    for a in range(HOSTS):
        for b in range(a):
            takes = slow.get((b, a), megabyte_ms)
            lines.append(f"{a} {b} {BETWEEN[a][b] / 10:.2f}ms {takes}ms")
    return "\n".join(lines) + "\n"


def bound(megabyte_ms, slow):
    """Items a second that no tree can exceed: of all ways to a host the one whose slowest link is fastest."""
    speed = lambda a, b: 1e9 / slow.get((min(a, b), max(a, b)), megabyte_ms) / MIB
    best = {SENDER: float("inf")}
    while len(best) < HOSTS:
        rate, host = max((min(best[a], speed(a, b)), b) for a in best for b in range(HOSTS) if b not in best)
        best[host] = rate
    return min(best.values())


def rate(viewers, begin, end):
    """Of the viewer who got fewest."""
    return min(sum(begin <= at < end for at in came) for came in viewers) / (end - begin)


def run(options, network, folder, words, slow):
    network.links.write_text(links(options.megabyte_ms, {}))
    for old in folder.glob("viewer-*"):
        old.unlink()
    hosts = ",".join(f"{address}:{options.viewers + (i == SENDER)}" for i, address in enumerate(network.addresses))
    count = options.viewers * HOSTS
    command = ["ip", "netns", "exec", network.names[0], options.build / "tools/piracema", "run", "--json", "--rsh",
               network.rsh, "--hosts", hosts, "-n", str(count + 1), *words, options.build / "bench/broadcast_app",
               folder, str(count), str(MIB)]
    with open(folder / "errors", "w+") as errors:
        job = subprocess.Popen([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=errors, text=True)
        events, began = [], None
        for line in job.stdout:
            events.append(json.loads(line))
            if events[-1]["event"] == "planned" and events[-1]["replicas"][0]["worker"] < options.viewers * SENDER:
                sys.exit("the sender is on another host than the last one")
            if events[-1]["event"] == "running":
                began = time.monotonic()
                break
        if began is None:
            errors.seek(0)
            sys.exit(f"the job did not begin: {errors.read()}")
        changed, end = began + options.seconds / 2, began + options.seconds
        time.sleep(max(0, changed - time.monotonic()))
        network.links.write_text(links(options.megabyte_ms, slow))
        time.sleep(max(0, end - time.monotonic()))
        job.terminate()
        events += [json.loads(line) for line in job.stdout]
        if job.wait() != 143:
            errors.seek(0)
            sys.exit(f"the job ended with {job.returncode}: {errors.read()}")
    viewers = [[int(line) / 1e9 for line in path.read_text().split()] for path in folder.glob("viewer-*")]
    quarter = options.seconds / 4
    gap = max(b - a for came in viewers for a, b in zip([began + quarter, *came], [*came, end])
              if a >= began + quarter and b <= end)
    trees = [event["tree"] for event in events if event["event"] == "broadcast_routed"]
    if options.verbose:
        print(words, trees, [round(rate(viewers, began + t, began + t + 2), 2)
                             for t in range(0, int(options.seconds) - 1, 2)])
    return rate(viewers, began + quarter, changed), rate(viewers, changed + quarter, end), gap


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=lambda text: pathlib.Path(text).resolve())
    parser.add_argument("--seconds", type=float, default=40)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--viewers", type=int, default=4)
    parser.add_argument("--megabyte-ms", type=float, default=200)
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    if why := wan.why_not():
        print(f"SKIPPED: {why}")
        return wan.SKIPPED
    slow = {(1, SENDER): 10 * options.megabyte_ms}
    found = {"direct": [], "trees": []}
    with tempfile.TemporaryDirectory(prefix="piracema-broadcast-") as name:
        network = wan.Wan(options.build, HOSTS, pathlib.Path(name))
        try:
            for _ in range(options.rounds):
                for way, runs in found.items():
                    words = ["--direct-broadcasts"] if way == "direct" else []
                    runs.append(run(options, network, pathlib.Path(name), words, slow))
        finally:
            network.close()
    print(f"{HOSTS * options.viewers} viewers on {HOSTS} hosts, items of 1 MiB; load {os.getloadavg()[0]:.1f}")
    for at, label, changes in [(0, "before", {}), (1, "after a link is ten times slower", slow)]:
        most = bound(options.megabyte_ms, changes)
        for way, runs in found.items():
            rates = [one[at] for one in runs]
            middle = statistics.median(rates)
            print(f"{label}, {way}: {middle:.2f} items/s ({min(rates):.2f} to {max(rates):.2f}), "
                  f"bound {most:.2f}, bound by rate {most / middle if middle else float('inf'):.2f}")
    for way, runs in found.items():
        gaps = [one[2] for one in runs]
        print(f"longest time without an item, {way}: {statistics.median(gaps):.2f} s ({min(gaps):.2f} to {max(gaps):.2f})")
    return 0


if __name__ == "__main__":
    sys.exit(main())
