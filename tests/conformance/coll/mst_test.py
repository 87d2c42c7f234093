#!/usr/bin/env python3
"""Engine mst in a job: rounds are over, the tree is Kruskal's, nothing falls back after the first one;
and the same after a link has changed.

    mst_test.py MPI PROGRAM LIBRARY PATIENT
"""

import json
import pathlib
import shutil
import sys
import tempfile
import threading
import time

import job

SKIPPED = 77
RANKS = 5
WITHIN_S = 120
# Far enough from each other that a busy machine does not make one the other.
DELAYS = {(0, 1): 3, (0, 2): 40, (0, 3): 12, (0, 4): 55, (1, 2): 6, (1, 3): 48, (1, 4): 70, (2, 3): 24,
          (2, 4): 33, (3, 4): 18}


def write(links, delays):
    new = links.with_suffix(".new")
    new.write_text("".join(f"{a} {b} {ms}ms\n" for (a, b), ms in delays.items()))
    new.rename(links)


def kruskal(costs):
    """Edges of the one minimum spanning tree: equal costs are told apart by their ends."""
    group = list(range(len(costs)))
    tree = set()
    for _, a, b in sorted((costs[a][b], a, b) for a in range(len(costs)) for b in range(a + 1, len(costs))):
        if group[a] != group[b]:
            tree.add((a, b))
            group = [group[a] if one == group[b] else one for one in group]
    return tree


def run(mpi, program, library, folder, changes):
    """The report of a job that goes on until its links were as wanted for a while; `changes` are pairs of
    seconds after the start and delays."""
    links, enough, report = folder / "links", folder / "enough", folder / "report"
    for file in (enough, report):
        file.unlink(missing_ok=True)
    write(links, DELAYS)

    def change():
        for after, delays in changes:
            time.sleep(after)
            write(links, delays) if delays else enough.touch()

    changer = threading.Thread(target=change)
    changer.start()
    variables = {"LD_PRELOAD": library, "PIRACEMA_COLL_ENGINE": "mst", "PIRACEMA_COLL_EMULATE": links,
                 "PIRACEMA_COLL_REPORT": report, "PIRACEMA_COLL_ADAPT_EVERY": "1"}
    outcome = job.run(mpi, RANKS, variables, [program, str(enough)], WITHIN_S)
    changer.join()
    assert outcome.code == 0 and outcome.output.count("as wanted") == RANKS, outcome.output
    return json.loads(report.read_text())


class TooSoon(Exception):
    """A busy machine had no time for it."""


def check(report, rounds):
    if report["rounds"] < rounds:
        raise TooSoon(f"want {rounds} rounds, found {report['rounds']}")
    assert "mst" in report, "the tree of the last round is not in the report"
    costs, parents = report["mst"]["costs_ms"], report["mst"]["parents"]
    for a in range(RANKS):
        for b in range(RANKS):
            assert costs[a][b] == costs[b][a], f"the ends of {a} and {b} see another cost"
    tree = {(min(a, parent), max(a, parent)) for a, parent in enumerate(parents) if parent >= 0}
    assert tree == kruskal(costs), f"{tree} is not Kruskal's {kruskal(costs)} of {costs}"
    roots = {line["root"]: line for line in report["mst_broadcasts"]}
    assert set(roots) == {0, RANKS - 1}, f"want broadcasts of both roots, found {roots}"
    for line in roots.values():
        assert line["fallen_back"] == 0, f"{line}: fell back after a round"
        assert sum(count for _, count in line["rounds"]) > 0, f"{line}: none along a round's tree"
    times = report["mst_rounds"]
    assert [one["round"] for one in times] == list(range(report["rounds"])), times
    ends = [time for one in times for time in (one["began_s"], one["over_s"])]
    assert ends[0] > 0 and ends == sorted(ends), f"rounds of one communicator come one after the other: {times}"
    # The latest round's tree carried broadcasts, too, unless the job ended with it.
    if max(number for number, _ in roots[0]["rounds"]) != report["mst"]["round"]:
        raise TooSoon(f"no broadcast went along the tree of round {report['mst']['round']}: {roots}")
    return tree


def patiently(test):
    """Each tree is that of what was measured, and what is measured while all processors are busy for
    seconds is not what was emulated, nor is a round over soon: then more time is given."""
    for seconds in (10, 15):
        try:
            return test(seconds)
        except TooSoon as error:
            print(f"after {seconds} s: {error}", flush=True)
    return test(25)


mpi, program, library, job.patient = sys.argv[1:]
if not shutil.which(job.launcher(mpi)) or not pathlib.Path(library).exists():
    print(f"SKIPPED: {mpi} is not installed (scripts/setup --with-mpi)")
    sys.exit(SKIPPED)
with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    wanted = kruskal([[DELAYS.get((min(a, b), max(a, b)), 0) for b in range(RANKS)] for a in range(RANKS)])

    def first_tree(seconds):
        tree = check(run(mpi, program, library, folder, [(seconds, None)]), 1)
        if tree != wanted:
            raise TooSoon(f"{tree}: not of the links that were emulated")
        return tree

    def later_tree(seconds):
        # A link of the tree gets far worse.
        worse = {**DELAYS, (1, 2): 300}
        tree = check(run(mpi, program, library, folder, [(seconds, worse), (2 * seconds, None)]), 2)
        assert (1, 2) in first and (1, 2) not in tree, f"{first} became {tree}"
        return tree

    first = patiently(first_tree)
    second = patiently(later_tree)
print(f"{mpi}: {sorted(first)}, then {sorted(second)}")
