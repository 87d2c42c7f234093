#!/usr/bin/env python3
"""The experiments of paper 001, section 5, on emulated links: our trees beside its tables and figures.

    bench/coll/paper.py BUILD_DIRECTORY [--repeats N] [--only before,after,...] [--json FILE]
                        [--out FOLDER] [--quick]
    bench/coll/paper.py --from FILE [--out FOLDER]     prints and draws what was measured before

24 ranks in 6 sites on one machine; latencies of the paper's Table 1, 1 ms within a site. Messages
carry the time from which they may be seen, so latencies overlap as on links; noise of the machine
makes figures larger, never smaller. The paper's figures hold delays that seem to be slept one after
the other: its 5.86 s are 16 times the 364.1 ms of S1 to S2, and the 34.5 ms before that link.

The paper's program waits until its tree is made and adapted. Ours does not: broadcasts go on along a
binomial tree, or the old one, meanwhile. So how long that takes is no part of an application's time.
`adap` looks for changes before each broadcast, `adap II` before each fourth, as there.

--quick is to see that all works, a minute: each once, and nothing whose broadcasts take ten seconds.
"""

import argparse
import json
import os
import pathlib
import statistics
import sys
import tempfile

import launch
import paper_pictures
import paper_values as paper

COUNTS = [1, 4, 8, 16]
# What is measured: engines of an experiment. `before` has links as in Table 1, `after` those that the
# paper has changed (Figs. 5, 6), `between` has the changes one by one (Fig. 7), `application` nothing
# but broadcasts.
PLAN = {"before": ["binomial", "two-level", "mst adap II", "tree"],
        "application": ["binomial", "two-level", "mst adap II", "tree"],
        "after": ["binomial", "two-level", "mst static", "mst adap", "mst adap II", "mst adap, 70 %", "mst adap II, 70 %", "tree"],
        "between": ["two-level", "mst static", "mst adap, 0 %", "mst adap II, 0 %", "tree"]}
QUICK = {"before": ["binomial", "two-level", "mst adap II", "tree"], "application": ["two-level", "tree"],
         "after": ["tree"]}
STATIC = ["binomial", "two-level", "mst static"]
# For the rounds of the distributed tree, and for measuring links; and at most, for adapting.
MAKING_S, MAKING_FAST_S, ADAPTING_S = 30, 5, 120


def known_at(report):
    """Seconds from MPI_Init at which trees came into use, or rounds of the distributed one were over."""
    if report["engine"] == "mst":
        return [one["over_s"] for one in report.get("mst_rounds", [])]
    return [tree["at_s"] for tree in report["trees"] if tree["bytes"] == 24]


def adapting(result, report):
    """For each change how long it was until the last tree was there that a fast broadcast went along;
    where none was fast, None."""
    seconds = []
    for changed, fast in zip(result["adapting_changed_at_s"], result["adapting_fast_at_s"]):
        found = [at for at in known_at(report) if changed < at <= fast]
        # The first broadcast after a change may be as fast on the tree of before.
        seconds.append(None if fast < 0 else max(found, default=changed) - changed)
    return seconds


class Runs:
    def __init__(self, build, repeats):
        self.build, self.repeats = build, repeats

    def run(self, program, engine, experiment, words):
        """What the program prints, with its report."""
        with tempfile.TemporaryDirectory() as folder:
            report = pathlib.Path(folder) / "report.json"
            result = launch.run(self.build, program, engine, 24, words, {"PIRACEMA_COLL_REPORT": report},
                                links=launch.links_of(self.build, "bench_coll_broadcast", experiment))
            return result, json.loads(report.read_text())

    def application(self, engine):
        counts = {count: [self.run("bench_coll_application", engine, "before", [count])[0]["application_s"]
                          for _ in range(self.repeats)] for count in COUNTS}
        return {f"application_{count}_s": seconds for count, seconds in counts.items()}

    def experiment(self, name, engine):
        if name == "application":
            return self.application(engine)
        tree = engine.split(" ")[0]
        making = MAKING_S if tree == "mst" else MAKING_FAST_S
        result, report = self.run("bench_coll_broadcast", engine, name,
                                  [name, tree, self.repeats, making, 0 if engine in STATIC else ADAPTING_S])
        if report["engine"] == "mst" and report["mst_rounds"]:
            result["first_round_s"] = report["mst_rounds"][0]["over_s"]
        if "adapting_changed_at_s" in result:
            result["adapting_s"] = adapting(result, report)
        if name == "before" and "latency_ms" in report:
            result["latency_ms"] = report["latency_ms"]
        return result


def between_sites(rows, of=statistics.median):
    """Milliseconds from site to site, of ranks' rows."""
    def cell(a, b):
        return of([rows[i][j] for i in range(4 * a, 4 * a + 4) for j in range(4 * b, 4 * b + 4) if i != j])
    return [[0 if a == b else cell(a, b) for b in range(6)] for a in range(6)]


def print_table_1(results):
    rows = results["before"]["tree"]["latency_ms"]
    print("Table 1: milliseconds between sites, as the paper gives them, and as the library has measured them")
    measured, worst = between_sites(rows), 0
    for a in range(6):
        cells = []
        for b in range(6):
            cells.append(f"{paper.TABLE_1[a][b]:6.1f} {measured[a][b]:6.1f}")
            if a != b:
                worst = max(worst, abs(measured[a][b] / paper.TABLE_1[a][b] - 1))
        print(f"  S{a}  " + "   ".join(cells))
    print(f"  the median of a pair of sites is off by {worst:.1%} at most; within a site all links have 1 ms\n")


def print_table_2(results):
    print("Table 2: the whole application of so many broadcasts, a binomial tree and two levels")
    applications = results["application"]
    for count, (slow, fast) in paper.TABLE_2.items():
        said = f"(paper: {slow:.2f} s, {fast:.2f} s: {1 - fast / slow:.1%} better)"
        if not {"binomial", "two-level"} <= set(applications):
            print(f"  {count:2}: not measured {said}")
            continue
        one, other = (statistics.median(applications[engine][f"application_{count}_s"])
                      for engine in ["binomial", "two-level"])
        print(f"  {count:2}: {one:.2f} s, {other:.2f} s: {1 - other / one:.1%} better {said}")
    one, other = (statistics.median(results["before"][engine]["before_16_s"]) for engine in ["binomial", "two-level"])
    print(f"  the 16 broadcasts alone, the links known: {one:.2f} s, {other:.2f} s: {1 - other / one:.1%} better\n")


def print_model(results):
    """How far the emulator is from the model."""
    for engine, result in results["before"].items():
        name = engine.split(" ")[0]
        modelled = result["model_before"][paper_pictures.MODELLED.index(name)]
        print(f"one broadcast, {engine}: {min(result['before_1_s']) * 1e3:.1f} ms, "
              f"{min(result['before_1_s']) / modelled - 1:+.1%} from the model")


def print_bars(title, names, measured, papers):
    print(f"\n{title}, seconds\n" + " " * 28 + "".join(f"{name:>23}" for name in names))
    for whose, rows in [("here", measured), ("paper", papers)]:
        for engine, row in rows.items():
            cells = "".join(f"{'-' if value is None else f'{value:.2f}':>23}" for value in row)
            print(f"  {whose:5} {engine:20}{cells}")


def print_all(results):
    if "tree" in results.get("before", {}):
        print_table_1(results)
        print_model(results)
        print()
    if {"before", "application"} <= set(results):
        print_table_2(results)
    for title, names, measured, papers in paper_pictures.bars_of(results):
        print_bars(title, names, measured, papers)
    for engine, result in results.get("after", {}).items():
        if result.get("adapting_meanwhile_s"):
            print(f"{engine}: the longest broadcast until the tree was adapted took "
                  f"{max(result['adapting_meanwhile_s']):.2f} s, on the old tree")
    after = results.get("after", {})
    if {"tree", "two-level"} <= set(after):
        slow, fast = (statistics.median(after[engine]["after_16_s"]) for engine in ["two-level", "tree"])
        print(f"16 broadcasts, adapted against static two levels: {slow / fast:.1f} times (the paper's 29)")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path, nargs="?")
    parser.add_argument("--repeats", type=int, default=3, help="the paper's")
    parser.add_argument("--only", default=",".join(PLAN), help="of: %(default)s")
    parser.add_argument("--quick", action="store_true", help="to see that it works")
    parser.add_argument("--json", type=pathlib.Path,
                        help="what was measured; what is there already is not run again")
    parser.add_argument("--from", dest="source", type=pathlib.Path, help="measured before")
    parser.add_argument("--out", type=pathlib.Path, help="folder for pictures")
    arguments = parser.parse_args()
    if arguments.build is None and not arguments.source:
        parser.error("want the build directory, or --from")
    if not set(arguments.only.split(",")) <= set(PLAN):
        parser.error(f"want --only with some of {', '.join(PLAN)}, found {arguments.only}")
    results, kept = {}, arguments.source or arguments.json
    if kept and kept.exists():
        results = json.loads(kept.read_text())
    if not arguments.source:
        print(f"load {os.getloadavg()[0]:.1f} at the start, {os.cpu_count()} cores")
        runs = Runs(arguments.build.resolve(), 1 if arguments.quick else arguments.repeats)
        for name, engines in (QUICK if arguments.quick else PLAN).items():
            for engine in engines if name in arguments.only.split(",") else []:
                if engine in results.setdefault(name, {}):
                    continue
                results[name][engine] = runs.experiment(name, engine)
                print(f"measured {name}, {engine}", file=sys.stderr, flush=True)
                if arguments.json:
                    arguments.json.write_text(json.dumps(results, indent=1))
    print_all(results)
    if arguments.out:
        paper_pictures.draw(results, arguments.out)


if __name__ == "__main__":
    main()
