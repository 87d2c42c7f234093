"""Starts a benchmark of collectives on emulated links, under one engine."""

import json
import pathlib
import subprocess
import sys
import tempfile

# What the paper calls the variants of its engine. Without a number a link that changes by 10 % counts.
EACH, EACH_FOURTH = {"PIRACEMA_COLL_ADAPT_EVERY": "1"}, {"PIRACEMA_COLL_ADAPT_EVERY": "4"}
VARIANTS = {
    "mst static": {"PIRACEMA_COLL_ADAPT_EVERY": "1000000"},
    "mst adap": EACH,
    "mst adap II": EACH_FOURTH,
    "mst adap, 0 %": {**EACH, "PIRACEMA_COLL_THRESHOLD": "0"},
    "mst adap II, 0 %": {**EACH_FOURTH, "PIRACEMA_COLL_THRESHOLD": "0"},
    "mst adap, 70 %": {**EACH, "PIRACEMA_COLL_THRESHOLD": "70"},
    "mst adap II, 70 %": {**EACH_FOURTH, "PIRACEMA_COLL_THRESHOLD": "70"},
}


def mpirun(ranks, variables):
    """The launcher's words, for so many ranks with these variables."""
    words = ["mpirun.openmpi", "--allow-run-as-root", "--oversubscribe", "--mca", "pml", "ob1"]
    words += ["--mca", "btl", "vader,self", "-n", str(ranks)]
    for name, value in variables.items():
        words += ["-x", f"{name}={value}"]
    return words


def library(build):
    return build / "src/coll/mpi/openmpi/libpiracema_coll.so"


def preloads(build):
    """Behind it, for more ranks than cores, what has ranks that wait sleep 50 us at a time, and leave
    the machine to the others."""
    patient = build / "tests/conformance/coll/libcoll_patient.so"
    return [library(build), *([patient] if patient.exists() else [])]


def links_of(build, program, experiment):
    """The links that it begins with, as the emulator's file says them."""
    return subprocess.run([build / "bench" / program, "links", experiment], capture_output=True, text=True,
                          check=True).stdout


def run(build, program, engine, ranks, words, variables=None, links=""):
    """What the program prints, one JSON object. Its first word is the file of `links`; `engine` is one
    of the library's, or a variant."""
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "links"
        file.write_text(links)
        name, more = ("mst", VARIANTS[engine]) if engine in VARIANTS else (engine, {})
        variables = {"LD_PRELOAD": ":".join(map(str, preloads(build))), "PIRACEMA_COLL_ENGINE": name,
                     "PIRACEMA_COLL_EMULATE": file, **more, **(variables or {})}
        command = [*mpirun(ranks, variables), build / "bench" / program, file, *map(str, words)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{engine}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    return json.loads(done.stdout)
