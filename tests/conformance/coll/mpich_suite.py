#!/usr/bin/env python3
"""Runs MPICH's own tests of collectives, bare and preloaded: it may fail only where bare MPI does.

    mpich_suite.py SOURCES MPI LIBRARY [--only REGEX] [--folders coll,errors/coll,comm,datatype,topo] [--log FILE]
                   [--patient LIBRARY]

SOURCES is test/mpi of MPICH's sources, which are not part of this project. Tests are compiled one by
one, without its configure; what does not compile so (other MPI versions, generated types) is left
out and counted. With --log a later call goes on where an earlier one was ended.
"""

import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

import job

# As their own runtests has it, where a line has no timeLimit.
WITHIN_S = 180
CONFIG = """
#define STDC_HEADERS 1
#define HAVE_STDLIB_H 1
#define HAVE_STRING_H 1
#define HAVE_STDARG_H 1
#define HAVE_UNISTD_H 1
#define HAVE_SYS_TIME_H 1
#define HAVE_LONG_DOUBLE 1
#define HAVE_LONG_LONG 1
#define HAVE_MPI_INIT_THREAD 1
#define HAVE_MPI_WIN_CREATE 1
#define THREAD_PACKAGE_NAME THREAD_PACKAGE_POSIX
#define USE_STRICT_MPI 1
"""


WORSE = "FAILS PRELOADED ONLY"

# In place of what their build generates: runs the one function of a test.
MAIN = """
#include "mpitest.h"
int run(const char *words);
int main(int argc, char **argv) {
    char all[4096] = "";
    for (int i = 1; i < argc; i++) { strcat(all, argv[i]); strcat(all, " "); }
    MTest_Init(&argc, &argv);
    int errs = run(all);
    MTest_Finalize(errs);
    return MTestReturnValue(errs);
}
"""


def compiler(arguments, work):
    sources = arguments.sources
    return [job.tool(arguments.mpi, "mpicc"), "-w", "-DHAVE_CONFIG_H", f"-I{work}", f"-I{work}/below",
            f"-I{sources}/include", f"-I{sources}/dtpools/include"]


def build_library(arguments, work):
    """What all tests share, as libmtest.a."""
    (work / "below").mkdir()
    (work / "mpitestconf.h").write_text(CONFIG)
    (work / "dtpoolsconf.h").write_text(CONFIG)
    (work / "mtest_mpix.h").write_text("")
    (work / "main.c").write_text(MAIN)
    util = arguments.sources / "util"
    units = [util / f"{name}.c" for name in ["mtest", "mtest_common", "mtest_thread", "mtest_single"]]
    for unit in [*units, work / "main.c", *(arguments.sources / "dtpools/src").glob("*.c")]:
        # Without its types some tests are left out.
        optional = "dtpools" in str(unit)
        subprocess.run([*compiler(arguments, work), "-c", "-o", work / f"{unit.stem}.o", unit],
                       check=not optional, capture_output=optional)
    subprocess.run(["ar", "rcs", work / "libmtest.a", *work.glob("*.o")], check=True)


def compiled(arguments, name, folder, work):
    """The program of one test; None if it cannot be compiled here."""
    program = work / name
    if program.exists():
        return program
    done = subprocess.run(
        [*compiler(arguments, work), "-o", program, arguments.sources / folder / f"{name}.c",
         work / "libmtest.a", "-lm"],
        capture_output=True, check=False,
    )
    return program if done.returncode == 0 else None


def passes(arguments, ranks, words, variables, within):
    outcome = job.run(arguments.mpi, ranks, variables, list(map(str, words)), within)
    return outcome.code == 0 and "No Errors" in outcome.output


def lines_of(arguments):
    """Folder and words of each line that is to be run."""
    for folder in arguments.folders.split(","):
        lists = [arguments.sources / folder / name for name in ["testlist.in", "testlist"]]
        listed = next(one for one in lists if one.exists())
        for line in listed.read_text().splitlines():
            words = line.split()
            if len(words) < 2 or line.startswith("#") or not words[1].isdigit():
                continue
            if "@" in words[0] or not re.search(arguments.only, words[0]):
                continue
            if any(word.startswith(("strict=false", "mpiversion=4", "xfail")) for word in words):
                continue
            yield folder, words


def outcome_of(arguments, folder, words, work):
    program = compiled(arguments, words[0], folder, work)
    if program is None:
        return "left out"
    options = [word[4:] for word in words[2:] if word.startswith("arg=")]
    limits = [int(word[10:]) for word in words if word.startswith("timeLimit=")]
    within = max([WITHIN_S, *limits])
    preload = {"LD_PRELOAD": arguments.library, "PIRACEMA_COLL_ENGINE": arguments.engine}
    bare = passes(arguments, int(words[1]), [program, *options], {}, within)
    ours = passes(arguments, int(words[1]), [program, *options], preload, within)
    # On a busy machine the limit may be what it failed by.
    if bare and not ours:
        ours = passes(arguments, int(words[1]), [program, *options], preload, 2 * within)
    return {(True, True): "pass both", (False, False): "fail both",
            (False, True): "fail bare only"}.get((bare, ours), WORSE)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sources", type=pathlib.Path)
    parser.add_argument("mpi", choices=["openmpi", "mpich"])
    parser.add_argument("library")
    parser.add_argument("--only", default="")
    parser.add_argument("--folders", default="coll,errors/coll,comm,datatype,topo")
    parser.add_argument("--engine", default="tree")
    parser.add_argument("--log", type=pathlib.Path, help="outcomes are added to it; what is there is not run")
    parser.add_argument("--patient", default="", help="libcoll_patient.so: ranks sleep while they wait")
    arguments = parser.parse_args()
    job.patient = arguments.patient
    known = {}
    if arguments.log and arguments.log.exists():
        for line in arguments.log.read_text().splitlines():
            outcome, _, test = line.partition(": ")
            known[test] = outcome
    outcomes = []
    with tempfile.TemporaryDirectory() as name:
        work = pathlib.Path(name)
        build_library(arguments, work)
        for folder, words in lines_of(arguments):
            test = f"{folder}: {' '.join(words)}"
            outcome = known.get(test)
            if outcome is None:
                outcome = outcome_of(arguments, folder, words, work)
                print(f"{outcome}: {test}", flush=True)
                if arguments.log:
                    with arguments.log.open("a") as log:
                        log.write(f"{outcome}: {test}\n")
            outcomes.append(outcome)
    print(f"{len(outcomes)} lines:", ", ".join(f"{outcomes.count(one)} {one}" for one in sorted(set(outcomes))))
    return 1 if WORSE in outcomes else 0


if __name__ == "__main__":
    sys.exit(main())
