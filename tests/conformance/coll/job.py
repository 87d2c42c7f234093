"""Starts MPI programs for tests, with an end in every case, and says where their ranks stand."""

import os
import pathlib
import re
import signal
import subprocess
import tempfile
import time

# What Debian's MPICH 4.0 does without us is no matter of these tests: it crashes in a reduction in
# place by shared memory, and over TCP it stands still in MPI_Finalize now and then.
MPICH = {"MPIR_CVAR_REDUCE_DEVICE_COLLECTIVE": "0", "UCX_TLS": "self,posix", "UCX_NET_DEVICES": "lo"}
# The library that has ranks sleep while they wait (patient.cpp); nothing: they spin.
patient = ""
OPEN_MPI = ["--allow-run-as-root", "--oversubscribe", "--mca", "pml", "ob1", "--mca", "btl", "vader,self"]


def tool(mpi, name):
    """mpirun, mpiexec or mpicc of this MPI: Debian's, or what is in bin of the prefix that
    PIRACEMA_OPENMPI or PIRACEMA_MPICH names."""
    prefix = os.environ.get(f"PIRACEMA_{mpi.upper()}")
    return f"{prefix}/bin/{name}" if prefix else f"{name}.{mpi}"


def launcher(mpi):
    return tool(mpi, "mpirun" if mpi == "openmpi" else "mpiexec")


def command(mpi, ranks, variables, program):
    """How so many ranks of a program are started with these variables."""
    if patient:
        before = variables.get("LD_PRELOAD")
        variables = {**variables, "LD_PRELOAD": f"{before}:{patient}" if before else patient}
    if mpi == "openmpi":
        words = [launcher(mpi), *OPEN_MPI, "-n", str(ranks)]
        for name, value in variables.items():
            words += ["-x", f"{name}={value}"]
    else:
        words = [launcher(mpi), "-n", str(ranks)]
        for name, value in {**MPICH, **variables}.items():
            words += ["-genv", name, value]
    return [*words, *([program] if isinstance(program, str) else program)]


def below(pid):
    """All processes that come from this one, itself first."""
    parents = {}
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            parents[int(stat.parent.name)] = int(stat.read_text().rpartition(")")[2].split()[1])
        except OSError:
            pass  # It has ended.
    family = [pid]
    for one in family:
        family += [child for child, parent in parents.items() if parent == one]
    return family


def send(pids, number):
    for pid in pids:
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            pass


def standing(pid):
    """A line about a process: what it runs, its state, where it waits in the kernel."""
    folder = pathlib.Path(f"/proc/{pid}")
    try:
        name = folder.joinpath("comm").read_text().strip()
        fields = folder.joinpath("stat").read_text().rpartition(")")[2].split()
        wait = folder.joinpath("wchan").read_text()
    except OSError:
        return f"{pid}: has ended"
    ticks = int(fields[11]) + int(fields[12])
    return f"{pid} {name}: state {fields[0]}, {ticks / os.sysconf('SC_CLK_TCK'):.1f} s of CPU, in {wait}"


class Outcome:
    """How a job ended: its exit code or "hangs", what it printed, how long it took in seconds."""

    def __init__(self, code, output, took):
        self.code, self.output, self.took = code, output, took


def run(mpi, ranks, variables, program, within):
    """A job that takes longer than `within` seconds is a hang. Its ranks are asked where they stand
    (SIGUSR2, which the conformance programs answer), then all of it is killed."""
    began = time.monotonic()
    # A file, not a pipe: whoever outlives the job does not keep us waiting.
    with tempfile.TemporaryFile() as printed:
        job = subprocess.Popen(command(mpi, ranks, variables, program), stdin=subprocess.DEVNULL,
                               stdout=printed, stderr=subprocess.STDOUT, start_new_session=True)
        lines = []
        try:
            code = job.wait(within)
        except subprocess.TimeoutExpired:
            code = "hangs"
            lines = end(job)
        printed.seek(0)
        output = printed.read().decode(errors="replace")
    return Outcome(code, "\n".join([shortly(output), *lines]), time.monotonic() - began)


def shortly(output):
    """Frames of a stack by the names of their files alone."""
    return re.sub(r"(?m)^/\S*/(\S+\))\[0x\w+\]$", r"  \1", output)


def end(job):
    """Kills all of a job; lines about where its processes stood."""
    family = below(job.pid)
    lines = [standing(pid) for pid in family]
    send([pid for pid, line in zip(family, lines) if " coll_" in line], signal.SIGUSR2)
    try:
        job.wait(3)
    except subprocess.TimeoutExpired:
        pass
    send(below(job.pid), signal.SIGKILL)
    send(family, signal.SIGKILL)
    job.wait()
    return lines
