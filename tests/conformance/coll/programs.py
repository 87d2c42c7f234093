#!/usr/bin/env python3
"""Runs programs that nobody here wrote, bare and with the library preloaded, under every MPI of a build:
mpi4py's tests of collectives, HPCC, and LAMMPS. What is right bare has to be right preloaded.

    programs.py BUILD_DIRECTORY [--only REGEX] [--engines tree,mst,auto] [--ranks 3] [--work DIRECTORY] [--list]

--only chooses among lines such as "mpich-5.0.2 hpcc tree". mpi4py comes from PyPI; HPCC and LAMMPS are Debian's (apt
install hpcc lammps libblas-dev). They are linked with Open MPI, and run under any of its versions; HPCC is built from
Debian's source for MPICH, LAMMPS is left out there. What is fetched and built stays in --work.

Exit code 1 if a program is wrong preloaded that is right bare, or one could not be had; 0 otherwise.
"""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import job
from run_test import OWN_HOST, can_name_hosts

WITHIN_S = 900
SUITE = r"test_cco"
MELT = """
units lj
atom_style atomic
lattice fcc 0.85
region box block 0 8 0 8 0 8
create_box 1 box
create_atoms 1 box
mass 1 1.0
velocity all create 1.4 4711
pair_style lj/cut 2.5
pair_coeff 1 1 1.0 1.0 2.5
neighbor 0.3 bin
fix 1 all nve
thermo 20
thermo_modify format float %20.15g
run 200
"""


class Missing(Exception):
    """A program that cannot be had here, and why."""


def must(words, folder, **variables):
    """Runs it in a folder. Missing, with its last line, if it fails."""
    done = subprocess.run([str(word) for word in words], cwd=folder, capture_output=True, text=True, check=False,
                          env={**os.environ, **variables})
    if done.returncode:
        lines = (done.stdout + done.stderr).strip().splitlines()
        raise Missing(f"{words[0]} ends with {done.returncode}: {lines[-1] if lines else ''}")
    return done.stdout


class Mpi:
    """An MPI that the build has a library for."""

    def __init__(self, folder):
        self.name, self.library = folder.name, folder / "libpiracema_coll.so"
        self.family = self.name.partition("-")[0]
        self.prefix = pathlib.Path(folder.joinpath("bin").read_text().strip()).parent
        self.is_debians = self.name == self.family

    def choose(self):
        """From now on jobs are this MPI's."""
        variable = f"PIRACEMA_{self.family.upper()}"
        os.environ.pop(variable, None)
        if not self.is_debians:
            os.environ[variable] = str(self.prefix)


class Mpi4py:
    """Its own tests of collectives: all ranks say how many they ran, and OK."""

    name = "mpi4py"

    def __init__(self, mpi, work):
        self.mpi = mpi
        sources = work / "mpi4py"
        if not sources.exists():
            with tempfile.TemporaryDirectory(dir=work) as name:
                must([sys.executable, "-m", "venv", "venv"], name)
                must(["venv/bin/pip", "download", "--no-deps", "--no-binary", "mpi4py", "mpi4py>=4,<5"], name)
                archive = next(pathlib.Path(name).glob("mpi4py-*.tar.gz"))
                must(["tar", "xf", archive.name], name)
                pathlib.Path(name, archive.name.removesuffix(".tar.gz")).rename(sources)
        self.tests = sources / "test" / "main.py"
        self.python = self.find_python(sources, work)

    def find_python(self, sources, work):
        """One whose mpi4py is this MPI's. Wheels of MPI have it beside them (scripts/get-mpi)."""
        if not self.mpi.is_debians:
            return self.mpi.prefix / "bin" / "python3"
        place = work / f"python-{self.mpi.name}"
        if not (place / "complete").exists():
            shutil.rmtree(place, ignore_errors=True)
            must([sys.executable, "-m", "venv", place], work)
            must([place / "bin" / "pip", "install", "numpy"], work)
            must([place / "bin" / "pip", "install", sources], work, MPICC=job.tool(self.mpi.family, "mpicc"))
            (place / "complete").touch()
        return place / "bin" / "python3"

    def command(self, _):
        return [str(self.python), str(self.tests), "--no-builddir", "-i", SUITE]

    def result(self, outcome, _):
        ran = re.findall(r"Ran (\d+) tests", outcome.output)
        if outcome.code != 0 or not any(map(int, ran)) or len(re.findall(r"^OK", outcome.output, re.M)) != len(ran):
            return None
        return f"{len(ran)} ranks ran {ran[0]} tests"


class Hpcc:
    """Its input file as Debian has it, smaller. It says how each of its parts ended."""

    name = "hpcc"

    def __init__(self, mpi, work):
        self.mpi = mpi
        self.program = shutil.which("hpcc") if mpi.family == "openmpi" else self.build(work)
        if not self.program:
            raise Missing("apt install hpcc")

    def build(self, work):
        place = work / f"hpcc-{self.mpi.name}"
        if not (place / "hpcc").exists():
            shutil.rmtree(place, ignore_errors=True)
            self.fetch(work)
            must(["cp", "-r", work / "hpcc-source", place], work)
            must(["cp", "hpl/setup/Make.Linux_PII_FBLAS", "hpl/Make.piracema"], place)
            compiler = job.tool(self.mpi.family, "mpicc")
            must(["make", "arch=piracema", f"CC={compiler}", f"LINKER={compiler}", "MPdir=", "MPinc=", "MPlib=",
                  "LAdir=", "LAinc=", "LAlib=-lblas -lm", "TOPdir=../../..", "CCFLAGS=$(HPL_DEFS) -O2 -w",
                  "CCNOOPT=$(HPL_DEFS) -w", "LINKFLAGS="], place)
        return str(place / "hpcc")

    def fetch(self, work):
        if (work / "hpcc-source").exists():
            return
        # Sources are often not among what apt looks for, so it is told to, for this once.
        lines = must(["apt-get", "indextargets", "--format", "$(REPO_URI) $(RELEASE)", "Created-By: Packages"], work)
        mirror, release = next(line for line in lines.splitlines() if "security" not in line).split()
        with tempfile.TemporaryDirectory(dir=work) as name:
            folder = pathlib.Path(name)
            (folder / "lists/partial").mkdir(parents=True)
            (folder / "sources.list").write_text(f"deb-src {mirror} {release} main\n")
            apt = ["apt-get", "-o", f"Dir::Etc::SourceList={folder}/sources.list", "-o",
                   "Dir::Etc::SourceParts=/dev/null", "-o", f"Dir::State::Lists={folder}/lists", "-qq"]
            must([*apt, "update"], folder)
            # Debian's own changes, of which a mirror may have none, are not needed.
            subprocess.run([*apt, "source", "--download-only", "hpcc"], cwd=folder, capture_output=True, check=False)
            archives = [*folder.glob("hpcc_*.orig.tar.*")]
            if not archives:
                raise Missing("apt has no source of hpcc")
            must(["tar", "xf", archives[0].name], folder)
            next(folder.glob("hpcc-*")).rename(work / "hpcc-source")

    def command(self, folder):
        example = pathlib.Path("/usr/share/doc/hpcc/examples/_hpccinf.txt")
        if not example.exists():
            raise Missing("apt install hpcc")
        lines = example.read_text().splitlines(keepends=True)
        lines[5] = "400 Ns\n"
        lines[10], lines[11] = "1 Ps\n", "3 Qs\n"
        (folder / "hpccinf.txt").write_text("".join(lines))
        return [self.program]

    def result(self, outcome, folder):
        report = folder / "hpccoutf.txt"
        text = report.read_text(errors="replace") if report.exists() else ""
        passed = len(re.findall(r"PASSED", text))
        if outcome.code != 0 or "Success=1" not in text or "FAILED" in text or not passed:
            return None
        errors = re.findall(r"^(?:MPI)?RandomAccess.*Errors=(.*)$", text, re.M)
        return f"success, {passed} checks passed, errors of RandomAccess: {' '.join(errors)}"


class Lammps:
    """Atoms of a melt: the same digits in each line, to the last one."""

    name = "lammps"

    def __init__(self, mpi, _):
        if mpi.family != "openmpi":
            raise Missing(None)  # Debian's is linked with Open MPI.
        self.program = shutil.which("lmp")
        if not self.program:
            raise Missing("apt install lammps")

    def command(self, folder):
        (folder / "melt.in").write_text(MELT)
        return [self.program, "-in", "melt.in", "-log", "none"]

    def result(self, outcome, _):
        lines = re.findall(r"^ *(\d+(?: +-?[\d.e+-]+){5}) *$", outcome.output, re.M)
        return None if outcome.code != 0 or len(lines) < 11 else "\n".join(lines)


PROGRAMS = [Mpi4py, Hpcc, Lammps]


def run(mpi, program, engine, arguments):
    """What the program says when all of it is right, else None; and how it ended."""
    variables = {}
    if not mpi.is_debians:
        variables["LD_LIBRARY_PATH"] = str(mpi.prefix / "lib")
    if engine != "bare":
        variables |= {"LD_PRELOAD": str(mpi.library), "PIRACEMA_COLL_ENGINE": engine}
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        words = program.command(folder)
        if engine == "auto" and can_name_hosts():
            words = [*OWN_HOST, *words]
        before = os.getcwd()
        os.chdir(folder)
        try:
            outcome = job.run(mpi.family, arguments.ranks, variables, words, WITHIN_S)
        finally:
            os.chdir(before)
        return program.result(outcome, folder), outcome


def check(mpi, kind, arguments):
    """How many lines of one program under one MPI are wrong."""
    engines = [engine for engine in arguments.engines.split(",")
               if re.search(arguments.only, f"{mpi.name} {kind.name} {engine}")]
    if not engines:
        return 0
    if arguments.list:
        print("\n".join(f"{mpi.name} {kind.name} {engine}" for engine in engines))
        return 0
    try:
        program = kind(mpi, arguments.work)
        wanted, outcome = run(mpi, program, "bare", arguments)
    except Missing as missing:
        print(f"{mpi.name} {kind.name}: left out{f': {missing}' if missing.args[0] else ', Debian has it for Open MPI'}",
              flush=True)
        return 1 if missing.args[0] else 0
    if wanted is None:
        print(f"{mpi.name} {kind.name} bare: wrong, exit code {outcome.code}: not compared\n{outcome.output[-2000:]}",
              flush=True)
        return 1
    print(f"{mpi.name} {kind.name} bare: {wanted.splitlines()[-1]}, {outcome.took:.0f} s", flush=True)
    wrong = 0
    for engine in engines:
        found, outcome = run(mpi, program, engine, arguments)
        right = found == wanted
        print(f"{mpi.name} {kind.name} {engine}: {'the same' if right else 'WRONG'}, exit code {outcome.code}, "
              f"{outcome.took:.0f} s", flush=True)
        if not right:
            wrong += 1
            print(f"want {wanted}\nfound {found}\n{outcome.output[-2000:]}", flush=True)
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--engines", default="tree,mst,auto")
    parser.add_argument("--ranks", type=int, default=3)
    cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache")
    parser.add_argument("--work", type=pathlib.Path, default=cache / "piracema" / "programs")
    parser.add_argument("--list", action="store_true")
    arguments = parser.parse_args()
    folders = sorted(arguments.build.resolve().glob("src/coll/mpi/*/bin"))
    if not folders:
        sys.exit(f"programs.py: want a build directory with collectives, found none in {arguments.build}")
    arguments.work.mkdir(parents=True, exist_ok=True)
    patient = arguments.build.resolve() / "tests/conformance/coll/libcoll_patient.so"
    if patient.exists():
        job.patient = str(patient)
    wrong = 0
    for folder in folders:
        mpi = Mpi(folder.parent)
        mpi.choose()
        for kind in PROGRAMS:
            wrong += check(mpi, kind, arguments)
    print(f"{wrong} wrong or left out" if wrong else "all right")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
