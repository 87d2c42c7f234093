#!/usr/bin/env python3
"""Runs the conformance program under one MPI, bare and with the library preloaded.

    run_test.py MPI PROGRAM MISUSE LIBRARY

Exit code 77, with the reason, where this MPI is not installed.
"""

import contextlib
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from random import Random

SKIPPED = 77
# PIRACEMA_COLL_RANKS="2 3 4 5 6 7 8 9" for more. MPICH's ranks spin: on two cores three are many.
RANKS = {"openmpi": "2 3 5", "mpich": "2 3"}
WITHIN_S = 240


# Before a program: it sees a host of its own name.
OWN_HOST = ["unshare", "-u", "sh", "-c",
            'hostname "rank${OMPI_COMM_WORLD_RANK:-$PMI_RANK}"; exec "$0" "$@"']


def can_name_hosts():
    return shutil.which("unshare") and subprocess.run(
        ["unshare", "-u", "true"], capture_output=True, check=False).returncode == 0


def command(mpi, ranks, variables, program):
    """How so many ranks of a program are started with these variables."""
    words = []
    if mpi == "openmpi":
        words = ["mpirun.openmpi", "--allow-run-as-root", "--oversubscribe"]
        words += ["--mca", "pml", "ob1", "--mca", "btl", "vader,self", "-n", str(ranks)]
        for name, value in variables.items():
            words += ["-x", f"{name}={value}"]
    else:
        words = ["mpiexec.mpich", "-n", str(ranks)]
        # Debian's MPICH 4.0.2 crashes in a reduction in place by shared memory.
        variables = {"MPIR_CVAR_REDUCE_DEVICE_COLLECTIVE": "0", **variables}
        for name, value in variables.items():
            words += ["-genv", name, value]
    return [*words, *([program] if isinstance(program, str) else program)]


def run(mpi, ranks, variables, program):
    """Exit code and output; a job that takes too long is a hang."""
    job = subprocess.Popen(
        command(mpi, ranks, variables, program),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        output, _ = job.communicate(timeout=WITHIN_S)
        return job.returncode, output
    except subprocess.TimeoutExpired:
        os.killpg(job.pid, 9)
        output, _ = job.communicate()
        return "hangs", output


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


def stop_for_a_while(mpi, variables, program):
    """Exit code and output of a job one of whose ranks is stopped for a second."""
    with tempfile.TemporaryDirectory() as folder:
        pid_file = pathlib.Path(folder) / "pid"
        variables = {**variables, "PIRACEMA_COLL_TEST_PID": str(pid_file)}

        def stop():
            while not pid_file.exists() and not over.wait(0.05):
                pass
            if over.is_set():
                return
            pid = int(pid_file.read_text())
            os.kill(pid, signal.SIGSTOP)
            over.wait(1)
            os.kill(pid, signal.SIGCONT)

        over = threading.Event()
        stopper = threading.Thread(target=stop)
        stopper.start()
        outcome = run(mpi, 3, variables, program)
        over.set()
        stopper.join()
        return outcome


def main():
    mpi, program, misuse, library = sys.argv[1:]
    launcher = "mpirun.openmpi" if mpi == "openmpi" else "mpiexec.mpich"
    if not shutil.which(launcher) or not pathlib.Path(library).exists():
        print(f"SKIPPED: {mpi} is not installed (scripts/setup --with-mpi)")
        return SKIPPED
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        links = pathlib.Path(folder) / "links"
        # Near neighbours and far ones; some milliseconds are enough to mix things up.
        links.write_text("all all 1ms\n0 1 0.1ms\n0-1 2 3ms 5ms\n")
        preload = {"LD_PRELOAD": library}
        cases = [("bare", {})]
        for engine in ["tree", "mst", "auto"]:
            cases.append((engine, {**preload, "PIRACEMA_COLL_ENGINE": engine}))
        cases.append(
            ("fixed order", {**preload, "PIRACEMA_COLL_ENGINE": "two-level",
                             "PIRACEMA_COLL_FIXED_ORDER": "1"})
        )
        ranks_of_all = os.environ.get("PIRACEMA_COLL_RANKS", RANKS[mpi])
        for ranks in map(int, ranks_of_all.split()):
            for name, variables in cases:
                code, output = run(mpi, ranks, variables, program)
                last = output.strip().splitlines()[-1] if output.strip() else ""
                good = code == 0 and last.endswith(" 0 wrong")
                print(f"{mpi}, {ranks} ranks, {name}: {last if good else f'{code}'}", flush=True)
                if not good:
                    failed += 1
                    print(output[-2000:])
        # Links change all the time; every byte is checked. The paper's engine broadcasts alone.
        for engine, part in [("tree", []), ("mst", ["broadcasts"])]:
            emulated = {**preload, "PIRACEMA_COLL_ENGINE": engine, "PIRACEMA_COLL_ADAPT_EVERY": "1",
                        "PIRACEMA_COLL_EMULATE": str(links)}
            with changing(links):
                code, output = run(mpi, 3, emulated, [program, *part])
            good = code == 0 and " 0 wrong" in output
            print(f"{mpi}, 3 ranks, {engine}, links that change: "
                  + ("right" if good else f"{code}: {output[-2000:]}"))
            failed += not good
        # Each rank on a host of its own, as far as it can see: what is faster is measured.
        if can_name_hosts():
            several = {**preload, "PIRACEMA_COLL_ENGINE": "auto"}
            code, output = run(mpi, 3, several, [*OWN_HOST, program])
            good = code == 0 and " 0 wrong" in output
            print(f"{mpi}, 3 ranks, hosts: {'right' if good else f'{code}: {output[-2000:]}'}")
            failed += not good
        else:
            print(f"{mpi}: several hosts are left out, since this user may not name one (unshare -u)")
        # A rank that dies in the middle ends the job, as it does without the library.
        lost = {**preload, "PIRACEMA_COLL_ENGINE": "tree", "PIRACEMA_COLL_TEST_DIE": "1"}
        code, output = run(mpi, 3, lost, program)
        good = code not in (0, "hangs")
        print(f"{mpi}, a rank that dies: {'the job ends' if good else f'{code}: {output}'}")
        failed += not good
        # One that is stopped for a while is waited for.
        code, output = stop_for_a_while(mpi, {**preload, "PIRACEMA_COLL_ENGINE": "tree"}, program)
        good = code == 0 and " 0 wrong" in output
        print(f"{mpi}, a rank that is stopped: {'right' if good else f'{code}: {output[-2000:]}'}")
        failed += not good
        # What MPI forbids has an end.
        for what in ["counts", "more"]:
            misused = {**preload, "PIRACEMA_COLL_ENGINE": "tree"}
            code, output = run(mpi, 3, misused, [misuse, what])
            good = code == 0 and output.count("as wanted") == 3
            print(f"{mpi}, {what}: {'as wanted' if good else f'{code}: {output[-2000:]}'}")
            failed += not good
        # Settings that make no sense end the job with a line that names them.
        wrong = {**preload, "PIRACEMA_COLL_ENGINE": "fastest"}
        code, output = run(mpi, 2, wrong, program)
        good = code not in (0, "hangs") and "PIRACEMA_COLL_ENGINE: want auto" in output
        print(f"{mpi}, an unknown engine: {'named' if good else f'{code}: {output}'}")
        failed += not good
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
