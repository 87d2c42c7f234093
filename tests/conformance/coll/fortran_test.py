#!/usr/bin/env python3
"""Fortran programs under Open MPI, by both interfaces: right results, and by way of the library.

    fortran_test.py LIBRARY
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

SKIPPED = 77
library = sys.argv[1]
source = pathlib.Path(__file__).with_name("program.f90")
compiler = shutil.which("mpifort.openmpi")

if not compiler or not pathlib.Path(library).exists() or not shutil.which("gfortran"):
    print("SKIPPED: no Fortran compiler of Open MPI (scripts/setup --with-mpi)")
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
        command = ["mpirun.openmpi", "--allow-run-as-root", "--oversubscribe", "--mca", "pml", "ob1"]
        command += ["--mca", "btl", "vader,self", "-n", "3"]
        for variable, value in [
            ("LD_PRELOAD", library),
            ("PIRACEMA_COLL_ENGINE", "tree"),
            ("PIRACEMA_COLL_REPORT", report),
        ]:
            command += ["-x", f"{variable}={value}"]
        done = subprocess.run(
            [*command, program], capture_output=True, text=True, timeout=120, check=False,
            env={**os.environ},
        )
        right = done.returncode == 0 and done.stdout.strip() == "0 wrong"
        used = report.exists() and len(json.loads(report.read_text())["trees"]) > 0
        print(f"{interface}: {'right' if right else done.stdout + done.stderr}, "
              f"{'by the library' if used else 'not by the library'}")
        failed += not (right and used)
sys.exit(1 if failed else 0)
