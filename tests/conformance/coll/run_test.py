#!/usr/bin/env python3
"""Runs the conformance program under one MPI, bare and with the library preloaded.

    run_test.py MPI PROGRAM MISUSE LIBRARY --ahead PROGRAM [--patient LIBRARY] [--only REGEX]

A case that fails is run again with nothing preloaded: where the MPI library itself fails, ours may.
What failed comes last, in short. Exit code 77, with the reason, where this MPI is not installed, or
does not work here at all.

PIRACEMA_COLL_RANKS="2 3 4 5 6 7 8 9" runs with so many ranks.
"""

import argparse
import contextlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from random import Random

import job

SKIPPED = 77
# MPICH's ranks spin: on two cores three are many.
RANKS = {"openmpi": "3 2 5", "mpich": "3 2"}
# A machine that is busy may be ten times as slow as one that is not. What is not begun by then is left
# out, for the sake of ctest's limit: ENOUGH_S and three runs are less than that. It is named, and counts as
# a failure: nobody has seen it pass.
WITHIN_S = 120
ENOUGH_S = 400

# Before a program: it sees a host of its own name.
OWN_HOST = ["unshare", "-u", "sh", "-c",
            'hostname "rank${OMPI_COMM_WORLD_RANK:-$PMI_RANK}"; exec "$0" "$@"']


def can_name_hosts():
    return shutil.which("unshare") and shutil.which("hostname") and subprocess.run(
        ["unshare", "-u", "true"], capture_output=True, check=False).returncode == 0


@contextlib.contextmanager
def changing(links):
    """Writes other delays into the file of links, some times a second."""
    over = threading.Event()
    random = Random(1)

    def change():
        while not over.wait(0.2):
            new = links.with_suffix(".new")
            new.write_text("".join(f"{a} {b} {random.choice([0.1, 1, 5, 20])}ms 2ms\n"
                                   for a, b in [(0, 1), (0, 2), (1, 2)]))
            new.rename(links)

    changer = threading.Thread(target=change)
    changer.start()
    try:
        yield
    finally:
        over.set()
        changer.join()


@contextlib.contextmanager
def stopping(pid_file):
    """Stops whoever writes its number there, for a second."""
    over = threading.Event()
    pid_file.unlink(missing_ok=True)

    def stop():
        while not pid_file.exists():
            if over.wait(0.05):
                return
        pid = int(pid_file.read_text())
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, job.signal.SIGSTOP)
            over.wait(1)
            os.kill(pid, job.signal.SIGCONT)

    stopper = threading.Thread(target=stop)
    stopper.start()
    try:
        yield
    finally:
        over.set()
        stopper.join()


def all_right(outcome):
    return outcome.code == 0 and " 0 wrong" in outcome.output


def job_ended(outcome):
    return outcome.code not in (0, "hangs")


def ends_with(line):
    """The job is ended, not by us, and says so."""
    return lambda outcome: job_ended(outcome) and line in outcome.output


class Suite:
    """Runs cases one after the other, and keeps what failed."""

    def __init__(self, mpi, only):
        self.mpi, self.only = mpi, re.compile(only)
        self.began = time.monotonic()
        self.failed, self.left_out = [], []

    def case(self, name, ranks, variables, program, good=all_right, meanwhile=contextlib.nullcontext,
             compare=True):
        """True unless it fails. `meanwhile` makes what happens beside it; `compare` says that the MPI
        library promises the same by itself."""
        if not self.only.search(name):
            return True
        if time.monotonic() - self.began > ENOUGH_S:
            self.left_out.append(name)
            return True
        with meanwhile():
            outcome = job.run(self.mpi, ranks, variables, program, WITHIN_S)
        right = good(outcome)
        result = "right" if right else f"FAILS ({outcome.code})"
        print(f"{self.mpi}, {name}: {result}, {outcome.took:.1f} s", flush=True)
        if right:
            return True
        about = f"{name}: exit code {outcome.code} after {outcome.took:.1f} s: {variables} {program}\n"
        about += outcome.output.strip()[-(4000 if outcome.code == "hangs" else 1500):]
        ours = [variable for variable in variables if variable.startswith(("LD_", "PIRACEMA_COLL_E"))]
        if ours and compare and self.fails_bare(ranks, variables, ours, program, good, meanwhile):
            print(f"{about}\n{self.mpi}, {name}: not counted: it fails with nothing preloaded, too", flush=True)
            return True
        self.failed.append(about)
        return False

    def fails_bare(self, ranks, variables, ours, program, good, meanwhile):
        bare = {name: value for name, value in variables.items() if name not in ours}
        for _ in range(2):
            with meanwhile():
                outcome = job.run(self.mpi, ranks, bare, program, WITHIN_S)
            if not good(outcome):
                return True
        return False

    def end(self):
        if self.left_out:
            print(f"{self.mpi}: this machine is too busy; left out: {', '.join(self.left_out)}")
        for about in self.failed:
            print(f"== {self.mpi}, {about}")
        return 1 if self.failed or self.left_out else 0


def run_cases(suite, arguments, folder):
    """False if the MPI library itself does not work here."""
    program, mpi = arguments.program, arguments.mpi
    links = folder / "links"
    # Near neighbours and far ones; some milliseconds are enough to mix things up.
    links.write_text("all all 1ms\n0 1 0.1ms\n0-1 2 3ms 5ms\n")

    def preload(engine, **others):
        return {"LD_PRELOAD": arguments.library, "PIRACEMA_COLL_ENGINE": engine, **others}

    def every_engine(ranks):
        works = suite.case(f"{ranks} ranks, bare", ranks, {}, program)
        for engine in ["tree", "mst", "auto"] if works else []:
            suite.case(f"{ranks} ranks, {engine}", ranks, preload(engine), program)
        if works:
            suite.case(f"{ranks} ranks, fixed order", ranks,
                       preload("two-level", PIRACEMA_COLL_FIXED_ORDER="1"), program)
        return works

    first, *others = map(int, os.environ.get("PIRACEMA_COLL_RANKS", RANKS[mpi]).split())
    if not every_engine(first):
        return False
    # Links change all the time, and somebody looks on; every byte is checked. The paper's engine broadcasts alone.
    figures = folder / "figures"
    for engine, part in [("tree", []), ("mst", ["broadcasts"])]:
        figures.unlink(missing_ok=True)
        emulated = preload(engine, PIRACEMA_COLL_ADAPT_EVERY="1", PIRACEMA_COLL_EMULATE=str(links),
                           PIRACEMA_COLL_FIGURES=str(figures))
        name = f"{engine}, links that change"
        if suite.case(name, 3, emulated, [program, *part], meanwhile=lambda: changing(links)):
            if suite.only.search(name) and name not in suite.left_out and not figures.exists():
                suite.failed.append(f"{name}: rank 0 has not shown itself")
    # Each rank on a host of its own, as far as it can see: what is faster is measured.
    if can_name_hosts():
        suite.case("hosts", 3, preload("auto"), [*OWN_HOST, program])
    else:
        print(f"{mpi}: several hosts are left out, since this user may not name one (unshare -u)")
    # A rank that dies in the middle ends the job, as it does without the library.
    suite.case("a rank that dies", 3, preload("tree", PIRACEMA_COLL_TEST_DIE="1"), program, good=job_ended)
    # One that is stopped for a while is waited for.
    pid_file = folder / "pid"
    suite.case("a rank that is stopped", 3, preload("tree", PIRACEMA_COLL_TEST_PID=str(pid_file)), program,
               meanwhile=lambda: stopping(pid_file))
    # What MPI forbids has an end. MPICH by itself does not end where many messages are not awaited.
    more = ["more"] if mpi == "mpich" else ["more", "many-more", "root-more"]
    for what in ["counts", *more, "order", "freed"]:
        suite.case(what, 3, preload("tree"), [arguments.misuse, what], compare=False,
                   good=lambda outcome: outcome.code == 0 and outcome.output.count("as wanted") == 3)
    # A root that is far ahead of somebody who is busy is none of the program's mistakes.
    for engine in ["mst", "tree"]:
        suite.case(f"a root far ahead, {engine}", 3, preload(engine), [arguments.ahead, "20000"],
                   good=lambda outcome: outcome.code == 0 and outcome.output.count("as wanted") == 3)
    # Names of MPI 4, which Open MPI does not have yet; the line at the end says that all were seen.
    if mpi == "mpich":
        suite.case("large counts", 3, preload("tree", PIRACEMA_COLL_SUMMARY="1"), arguments.large, compare=False,
                   good=lambda outcome: outcome.output.count("as wanted") == 3
                   and "intercepted 280 of 280 collective calls of rank 0" in outcome.output)
    # With auto sums have bare's bits; in fixed order they have the same along whatever trees.
    far = folder / "far"
    far.write_text("all all 8ms\n0 3 0.1ms\n1 2 0.1ms\n")
    bare = {}
    for name, variables, like in [("bare", {}, None), ("auto", preload("auto", PIRACEMA_COLL_EMULATE=str(far)), "bare"),
                                  ("fixed order", preload("tree", PIRACEMA_COLL_FIXED_ORDER="1"), None),
                                  ("fixed order elsewhere",
                                   preload("auto", PIRACEMA_COLL_FIXED_ORDER="1", PIRACEMA_COLL_EMULATE=str(far)),
                                   "fixed order")]:
        def good(outcome, name=name, like=like):
            bare[name] = re.findall("bits [0-9a-f]+", outcome.output)
            return outcome.code == 0 and len(bare[name]) == 1 and (like is None or bare[name] == bare.get(like))
        suite.case(f"bits, {name}", 4, variables, arguments.bits, compare=False, good=good)
    # What MPI says of a lost link goes to the program's handler; the default one ends the job.
    suite.case("lost-link", 3, preload("tree"), [arguments.misuse, "lost-link"], compare=False,
               good=ends_with("rank 0: as wanted"))
    # Settings that make no sense end the job with a line that names them, and so does another MPI.
    suite.case("an unknown engine", 2, preload("fastest"), program, compare=False,
               good=ends_with("PIRACEMA_COLL_ENGINE: want auto"))
    suite.case("an unknown threshold", 2, preload("mst", PIRACEMA_COLL_THRESHOLD="much"), program,
               compare=False, good=ends_with("PIRACEMA_COLL_THRESHOLD: want percent"))
    if pathlib.Path(arguments.other).exists():
        suite.case("the library of another MPI", 2, {"LD_PRELOAD": arguments.other}, program, compare=False,
                   good=ends_with("preload the other one"))
    # A program without MPI is none the worse.
    suite.case("a program without MPI", 2, preload("tree"), ["sh", "-c", "echo no MPI, 0 wrong"],
               compare=False)
    return all(every_engine(ranks) for ranks in others)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("mpi", choices=["openmpi", "mpich"])
    parser.add_argument("program")
    parser.add_argument("misuse")
    parser.add_argument("library")
    parser.add_argument("--ahead", default="none", help="the program whose root runs ahead")
    parser.add_argument("--large", default="none", help="the program that calls MPI 4's large counts")
    parser.add_argument("--bits", default="none", help="the program whose sums depend on their order")
    parser.add_argument("--other", default="none", help="the same of another MPI")
    parser.add_argument("--patient", default="", help="libcoll_patient.so: ranks sleep while they wait")
    parser.add_argument("--only", default="")
    arguments = parser.parse_args()
    if not shutil.which(job.launcher(arguments.mpi)) or not pathlib.Path(arguments.library).exists():
        print(f"SKIPPED: {arguments.mpi} is not installed (scripts/setup --with-mpi)")
        return SKIPPED
    job.patient = arguments.patient
    suite = Suite(arguments.mpi, arguments.only)
    with tempfile.TemporaryDirectory() as folder:
        works = run_cases(suite, arguments, pathlib.Path(folder))
    code = suite.end()
    # One that comes to its end and finds mistakes is a mistake of the program, or worse.
    if not works and len(suite.failed) == 1 and " wrong\n" not in suite.failed[0] + "\n":
        print(f"SKIPPED: {arguments.mpi} itself does not work here, with nothing preloaded")
        return SKIPPED
    return code


if __name__ == "__main__":
    sys.exit(main())
