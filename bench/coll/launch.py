"""Starts a benchmark of collectives on emulated links, under one engine."""

import json
import pathlib
import subprocess
import sys
import tempfile


def run(build, program, engine, ranks, words, variables=None):
    """What the program prints, one JSON object. Its first word is the file of links, an empty one;
    `engine` is one of the library's, or "mst static": a tree that is never adapted."""
    library = build / "src/coll/mpi/openmpi/libpiracema_coll.so"
    with tempfile.TemporaryDirectory() as folder:
        links = pathlib.Path(folder) / "links"
        links.write_text("")
        variables = {
            "LD_PRELOAD": library,
            "PIRACEMA_COLL_ENGINE": engine.split()[0],
            "PIRACEMA_COLL_EMULATE": links,
            **(variables or {}),
        }
        if engine == "mst static":
            variables["PIRACEMA_COLL_ADAPT_EVERY"] = "1000000"
        command = ["mpirun.openmpi", "--allow-run-as-root", "--oversubscribe", "--mca", "pml", "ob1"]
        command += ["--mca", "btl", "vader,self", "-n", str(ranks)]
        for name, value in variables.items():
            command += ["-x", f"{name}={value}"]
        command += [build / "bench" / program, links, *map(str, words)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{engine}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    return json.loads(done.stdout)
