#!/usr/bin/env python3
"""`piracema coll`: what it refuses, and a job from its start to its report.

    command_test.py PIRACEMA PROGRAM OTHER [MPI PLACE]...

PROGRAM and OTHER are the conformance programs of Open MPI and MPICH, or "none"; an MPI in another place by its name
and the prefix.
"""

import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

SKIPPED = 77
piracema, program, other, *places = sys.argv[1:]
failed = 0


def run(*words):
    done = subprocess.run(
        [piracema, "coll", *map(str, words)], capture_output=True, text=True, timeout=280, check=False
    )
    return done.returncode, done.stdout + done.stderr


def expect(code, text, *words):
    global failed
    found, output = run(*words)
    if found != code or text not in output:
        failed += 1
        print(f"{words}: want {code} and {text!r}, found {found}:\n{output}")


with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    expect(2, "want the launcher")
    expect(2, "unknown option '--fast'", "--fast", "--", "mpirun")
    expect(2, "--engine: want auto", "--engine", "fast", "--", "mpirun")
    expect(3, "does not say which MPI", "--", "true")
    expect(3, "no libpiracema_coll.so for openmpi-1.2 beside this command", "--mpi", "openmpi-1.2", "--", "mpirun")
    # Another Open MPI than ours would have the program run with ours.
    elsewhere = folder / "bin" / "mpirun"
    elsewhere.parent.mkdir()
    elsewhere.write_text('#!/bin/sh\necho "mpirun (Open MPI) 4.1.4"\n')
    elsewhere.chmod(0o755)
    expect(3, f"no libpiracema_coll.so for the MPI of {elsewhere}: this build has those for ", "--", elsewhere, "a")
    expect(3, f"-DPIRACEMA_MPICC={elsewhere.parent}/mpicc", "--", elsewhere, "a")
    expect(2, "want piracema coll report", "report")
    expect(3, "nothing: No such file or directory", "report", folder / "nothing")
    tree = {"at_s": 1, "root": 0, "bytes": 4, "expected_ms": 1, "binomial_ms": 2}
    good = {"engine": "tree", "ranks": 3, "latency_ms": [[0, 1, 9], [1, 0, 9], [9, 9, 0]]}
    for number, (parents, code) in enumerate(
        [([-1, 0, 1], 0), ([-1, 2, 1], 3), ([-1, 0], 3), ([-1, 0, 7], 3)]
    ):
        file = folder / f"{number}.json"
        file.write_text(json.dumps({**good, "trees": [{**tree, "parents": parents}]}))
        expect(code, "site 1: ranks 2" if code == 0 else "is no report", "report", file)
    both = {"call": "broadcast", "bytes_max": 1024, "ours": 100, "ours_ms": 50, "native": 4, "native_ms": 8}
    link = {"to": 2, "forecast_ms": 9, "error_ms": 0.5, "by": "median"}
    file = folder / "calls.json"
    file.write_text(json.dumps({**good, "trees": [], "calls": [both], "forecasts_of_rank_0": [link]}))
    expect(0, "broadcast, up to 1024 bytes: 100 ours of 0.500 ms, 4 native of 2.000 ms: 150.0 ms gained",
           "report", file)
    expect(0, "to 2: 9.00 ms (usually off by 0.50 ms; by median)", "report", file)
    rounds = [{"round": 0, "began_s": 1, "over_s": 4}, {"round": 1, "began_s": 9, "over_s": 9.5}]
    file = folder / "rounds.json"
    file.write_text(json.dumps({**good, "engine": "mst", "trees": [], "rounds": 2, "mst_rounds": rounds}))
    expect(0, "the newest round began 9.00 s after MPI_Init and took 0.50 s; the slowest 3.00 s", "report", file)
    for number, text in enumerate(["", "{", "[]", '{"engine": 1}', '{"engine": "a", "ranks": -1}']):
        file = folder / f"bad{number}.json"
        file.write_text(text)
        expect(3, "is no report: want what --report has written, found ", "report", file)

    file = folder / "loses.json"
    file.write_text(json.dumps({**good, "trees": [], "calls": [{**both, "ours_ms": 5000}]}))
    expect(0, "warning: trees took 4800.0 ms longer than the MPI library's own", "report", file)
    file = folder / "alone.json"
    file.write_text(json.dumps({"engine": "auto", "ranks": 1, "left_alone": "a single rank"}))
    expect(0, "a single rank: left alone", "report", file)
    expect(0, "left alone", "report", "--dot", file)

    if program == "none" or not shutil.which("mpirun.openmpi"):
        print("SKIPPED in part: Open MPI is not installed (scripts/setup --with-mpi)")
        sys.exit(1 if failed else SKIPPED)
    links = folder / "links"
    links.write_text("all all 1ms\n0 1 0.1ms\n0-1 2 3ms\n")
    job = ["mpirun.openmpi", "--allow-run-as-root", "--oversubscribe", "--mca", "pml", "ob1"]
    job += ["--mca", "btl", "vader,self", "-n", "3", program]
    report = folder / "job.json"
    # Nothing is done on one host, and both the line at the end and the report say so.
    expect(0, "collective calls of rank 0, 0 along trees: one host, left alone", "--report", report, "--", *job)
    expect(0, "one host: left alone", "report", report)
    expect(0, "warning: intercepted nothing", "--", *job[:-1], "true")
    expect(5, "", "--", *job[:-1], "sh", "-c", "exit 5")
    expect(3, "--library: there is no /nowhere.so", "--library", "/nowhere.so", "--", *job)
    if other != "none":
        expect(3, "is linked with mpich, and 'mpirun.openmpi' starts programs of openmpi", "--", *job[:-1], other)
    expect(0, " 0 wrong", "--engine", "tree", "--emulate", links, "--report", report, "--", *job)
    expect(0, "trees came into use", "report", report)
    expect(0, "broadcast, up to 1024 bytes", "report", report)
    expect(0, "links of rank 0", "report", report)
    expect(0, "digraph tree", "report", "--dot", report)
    expect(0, "collective calls of rank 0, ", "report", report)

    for mpi, place in zip(places[::2], places[1::2]):
        launcher = [f"{place}/bin/mpirun", *(["--allow-run-as-root"] if mpi.startswith("openmpi") else [])]
        python = [f"{place}/bin/python3", "-c", "from mpi4py import MPI; print(MPI.COMM_WORLD.allreduce(20))"]
        expect(0, "40", "--engine", "tree", "--", *launcher, "-n", "2", *python)
        expect(0, "intercepted 2 of 2 collective", "--engine", "tree", "--", *launcher, "-n", "2", *python)
        standard = pathlib.Path(place, "bin", "mpicc_abi")
        if standard.exists():
            (folder / "abi.c").write_text("#include <mpi.h>\nint main(int c, char **v) { return MPI_Init(&c, &v); }\n")
            subprocess.run([standard, folder / "abi.c", "-o", folder / "abi"], check=True)
            expect(3, "is linked with the standard ABI of MPI 5 (libmpi_abi.so.1), and ", "--", *launcher, folder / "abi")

sys.exit(1 if failed else 0)
