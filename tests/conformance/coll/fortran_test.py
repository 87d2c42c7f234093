#!/usr/bin/env python3
"""Fortran programs under one MPI, by both interfaces: right results, and all of their calls by way of the
library.

    fortran_test.py MPI LIBRARY
"""

import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

import job

SKIPPED = 77
WITHIN_S = 120
mpi, library = sys.argv[1:]
source = pathlib.Path(__file__).with_name("program.f90")
compiler = shutil.which(job.tool(mpi, "mpifort"))

if not compiler or not pathlib.Path(library).exists() or not shutil.which("gfortran"):
    print(f"SKIPPED: no Fortran compiler of {mpi} (scripts/setup --with-mpi)")
    sys.exit(SKIPPED)

failed = 0
with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    for interface, options in [("use mpi", ["-DFIRST"]), ("use mpi_f08", [])]:
        program = folder / "program"
        report = folder / "report"
        report.unlink(missing_ok=True)
        subprocess.run(
            [compiler, "-cpp", "-w", *options, "-J", str(folder), "-o", program, source], check=True
        )
        outcome = job.run(mpi, 3, {"LD_PRELOAD": library, "PIRACEMA_COLL_ENGINE": "tree",
                                   "PIRACEMA_COLL_REPORT": report}, str(program), WITHIN_S)
        right = outcome.code == 0 and "\n0 wrong" in "\n" + outcome.output
        found = json.loads(report.read_text()) if report.exists() else {}
        # Broadcasts, twice two reductions, gathers and barriers of 40 turns, and the last sum.
        calls = (found.get("intercepted"), found.get("calls_of_rank_0"))
        print(f"{mpi}, {interface}: {'right' if right else outcome.output}, "
              f"intercepted {calls[0]} of {calls[1]}")
        failed += not (right and calls == (241, 241) and found.get("trees"))
sys.exit(1 if failed else 0)
