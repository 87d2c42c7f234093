"""The last lines of ./demo: what its three runs have shown.

    demo_summary.py INPUT PLAIN.json SAVED.json KILLED.json
"""

import json
import math
import os
import sys

BLOCK_BYTES = 900_000

size = os.path.getsize(sys.argv[1])
plain, saved, killed = (json.load(open(name)) for name in sys.argv[2:])
blocks = math.ceil(size / BLOCK_BYTES)
kill = killed["kills"][0]
redone = sum(recovery["items_redone"] for recovery in killed["recoveries"])


def ms(value):
    return "never" if value is None else f"{value:.0f} ms"


print(f"  {blocks} blocks, {size / 1e6:.1f} MB: identical. 0 lost, 0 doubled, in order.")
print()
if kill["injected"]:
    print(f"  the loss        noticed after {ms(kill['kill_to_noticed_ms'])}, first new item out"
          f" after {ms(kill['kill_to_first_out_ms'])}, {redone} items redone")
else:
    print("  the loss        never happened: the input is too short to be killed at 40 %")
print(f"  time            {killed['seconds']:.2f} s with the loss, {saved['seconds']:.2f} s without"
      f" it, {plain['seconds']:.2f} s also without snapshots")
print(f"  throughput      {size / 1e6 / killed['seconds']:.1f} MB/s with the loss,"
      f" {size / 1e6 / saved['seconds']:.1f} MB/s without it")
print(f"  CPU efficiency  {100 * saved['cpu_efficiency']:.0f} % of {saved['cores']} cores"
      f" without the loss, {100 * killed['cpu_efficiency']:.0f} % with it")
print(f"  snapshots       {saved['snapshots']['taken']} taken;"
      f" {100 * (saved['seconds'] / plain['seconds'] - 1):+.1f} % time, "
      f"{100 * (saved['cpu_seconds'] / plain['cpu_seconds'] - 1):+.1f} % CPU (one run of each)")
