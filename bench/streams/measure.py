"""Runs programs under `piracema run`, in turns, for as long as there is time."""

import json
import statistics
import subprocess
import tempfile
import time

# Open MPI over TCP, as the paper has it; by itself it would take shared memory.
MPIRUN_TCP = "mpirun.openmpi --allow-run-as-root --oversubscribe --bind-to none --mca btl tcp,self"
RUN_SECONDS_MAX = 600


def spread(values):
    """(lowest, median, highest)"""
    return min(values), statistics.median(values), max(values)


class Bench:
    """`minutes` are for `points` together: each has an equal share of what is left."""

    def __init__(self, build, runs, minutes, points):
        self.build = build
        self.runs = runs
        self.points_left = points
        self.end = time.monotonic() + 60 * minutes

    def call(self, program, *words):
        done = subprocess.run([str(self.build / program), *map(str, words)], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=RUN_SECONDS_MAX, text=True)
        if done.returncode != 0:
            raise SystemExit(f"{program} {' '.join(map(str, words))}: {done.stderr}")
        return done.stdout

    def run(self, options, program, *words):
        """The numbers that a program prints."""
        out = self.call("tools/piracema", "run", "--quiet", *options, self.build / "bench" / program,
                        *words)
        return [float(word) for word in out.split()]

    def in_groups(self, names, program, *words, protocol="tcp", **settings):
        """The same with a file of groups, which have these settings: all of them one, or each of them
        one of a list."""
        groups = [{"name": name, "endpoint": "localhost",
                   **{key: value[i] if isinstance(value, list) else value
                      for key, value in settings.items()}} for i, name in enumerate(names)]
        options = ["--mpirun", MPIRUN_TCP] if protocol == "mpi" else []
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            json.dump({"protocol": protocol, "groups": groups}, file)
            file.flush()
            return self.run(["--groups", file.name, *options], program, *words)

    def plain_socket(self, size, megabytes, congestion=None):
        """MB/s of 32 items a write, as netcat's in the paper: what there is to reach. `congestion` as
        tcp(7) has it, in place of the system's choice."""
        return float(self.call("bench/bench_p2p", "--only-plain", "--sizes", size, "--megabytes", megabytes,
                               *(["--congestion", congestion] if congestion else [])))

    def in_turns(self, sides):
        """One point: name -> what its calls gave, all sides in turns, each at least once."""
        begin = time.monotonic()
        share = (self.end - begin) / max(self.points_left, 1)
        self.points_left -= 1
        values = {name: [] for name in sides}
        for number in range(self.runs):
            took = time.monotonic() - begin
            if number > 0 and took + took / number > share:
                break
            for name, side in sides.items():
                values[name].append(side())
        return values
