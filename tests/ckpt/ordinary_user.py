"""Somebody who has no rights, and what root gives him to read."""

import json
import os
import pathlib
import shutil
import subprocess
import sys

PROGRAMS = ["PIRACEMA_COMMAND", "COUNTER_APP", "TRANSIENT_APP", "STREAM_APP", "HEAT2D_APP", "HEAT2D_MPICH_APP", "BREATHING_APP",
            "BREATHING_MPI_APP"]


def as_user(user):
    """Words before a command of his. He is deaf to whatever would give rights: programs of setuid,
    capabilities of files. The shell is there because setpriv has rights until it has become something else,
    which is not to be a file that only they open."""
    return ["setpriv", "--reuid", str(user), "--regid", str(user), "--clear-groups", "--inh-caps=-all",
            "--bounding-set=-all", "--no-new-privs", "/bin/sh", "-c", 'exec "$0" "$@"']


def may_run(user, *words):
    return subprocess.run([*as_user(user), *words], capture_output=True).returncode == 0


def python_for(user):
    """Root's own may lie where nobody else gets to."""
    return next(python for python in [sys.executable, "/usr/bin/python3", "/usr/local/bin/python3"]
                if may_run(user, python, "-c", "import unittest"))


def criu_for(user, place):
    """The one that root has, if need be a copy of it."""
    found = json.loads(subprocess.run([os.environ["PIRACEMA_COMMAND"], "ckpt", "doctor", "--json"],
                                      capture_output=True, text=True).stdout)
    text = next(finding["text"] for finding in found if finding["what"] == "criu")
    criu = shutil.which(text[text.index("(") + 1:-1])
    if may_run(user, criu, "--version"):
        return criu
    # That of scripts/get-criu is a script beside what it starts.
    was = pathlib.Path(criu).parent
    shutil.copytree(was, place, symlinks=True)
    script = place / "criu"
    script.write_text(script.read_text().replace(str(was), str(place)))
    return str(script)


def environment_for(user, place):
    """His environment: a home in a new directory, the programs and a criu there."""
    place.mkdir()
    for name in ["home", "bin"]:
        (place / name).mkdir()
    for path in [place, place / "home", place / "bin"]:
        path.chmod(0o755)
    os.chown(place / "home", user, user)
    environment = {key: value for key, value in os.environ.items() if not key.startswith("XDG_")}
    criu = criu_for(user, place / "criu")
    # Nodes of a cluster have it from the path.
    environment |= {"HOME": str(place / "home"), "PIRACEMA_CRIU": criu,
                    "PATH": f"{pathlib.Path(criu).parent}:{environment['PATH']}"}
    for name in PROGRAMS:
        if name in os.environ and os.path.exists(os.environ[name]):
            environment[name] = shutil.copy(os.environ[name], place / "bin")
    for part in ["-ckpt", "-cluster", "-kv"]:
        shutil.copy(os.environ["PIRACEMA_COMMAND"] + part, place / "bin")
    return environment
