"""Starts a benchmark of collectives on emulated links, under one engine."""

import json
import pathlib
import subprocess
import sys
import tempfile

# What the paper calls its variants, beside the library's own engines.
VARIANTS = {
    "mst static": ("mst", {"PIRACEMA_COLL_ADAPT_EVERY": "1000000"}),
    "mst 70 %": ("mst", {"PIRACEMA_COLL_THRESHOLD": "70"}),
    "mst each": ("mst", {"PIRACEMA_COLL_ADAPT_EVERY": "1"}),
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


def run(build, program, engine, ranks, words, variables=None):
    """What the program prints, one JSON object. Its first word is the file of links, an empty one;
    `engine` is one of the library's, or a variant."""
    with tempfile.TemporaryDirectory() as folder:
        links = pathlib.Path(folder) / "links"
        links.write_text("")
        name, more = VARIANTS.get(engine, (engine, {}))
        variables = {"LD_PRELOAD": ":".join(map(str, preloads(build))), "PIRACEMA_COLL_ENGINE": name,
                     "PIRACEMA_COLL_EMULATE": links, **more, **(variables or {})}
        command = [*mpirun(ranks, variables), build / "bench" / program, links, *map(str, words)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{engine}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    return json.loads(done.stdout)
