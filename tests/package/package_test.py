#!/usr/bin/env python3
"""Installs the packages on a bare Debian or Ubuntu, builds the ten lines there, and removes them.

    tests/package/package_test.py BUILD_DIRECTORY

It wants root, and the mirrors of the machine's own apt. Where it cannot run it says why and exits
with 77; with $CI set that is a failure. The bare system is kept in ~/.cache/piracema.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
from bare_system import BareSystem, CannotRun

HERE = pathlib.Path(__file__).resolve().parent
SQUARES = "1\n4\n9\n16\n25\n"
NAMES = ["piracema", "libpiracema-dev", "piracema-mpi"]
PRIMES = "04_file_to_file"

# The version of the shared library that programs want, and its package.
MINOR = re.search(r"VERSION (\d+\.\d+)\.", (HERE.parents[1] / "CMakeLists.txt").read_text())[1]
SHARED = f"libpiracema{MINOR}"
INSTALLED = [*NAMES[:2], SHARED]

system = None
debs = {}


def make_packages(build, work):
    """The .debs of a build directory, by name of the package."""
    made = subprocess.run(
        ["cpack", "-G", "DEB", "-B", work / "debs"], cwd=build, capture_output=True, text=True
    )
    if made.returncode != 0:
        raise AssertionError(f"cpack: {made.stdout}{made.stderr}")
    return {file.name.split("_")[0]: file for file in (work / "debs").glob("*.deb")}


class Packages(unittest.TestCase):
    """The tests run in the order of their names: installed, used, removed."""

    def test_1_apt_installs_them_with_what_they_depend_on(self):
        self.assertEqual(sorted([*NAMES, SHARED]), sorted(debs))
        type(self).before = system.files()
        self.assertNotEqual(0, system.run("dpkg", "-s", "libsodium23", check=False).returncode)
        system.apt_get(
            "--no-install-recommends", "install",
            *(f"/root/{debs[name].name}" for name in INSTALLED),
        )
        version = system.run("piracema", "--version").stdout.split()[-1]
        for name in INSTALLED:
            found = system.run("dpkg-query", "-W", "-f", "${Version}", name).stdout
            self.assertEqual(version, found.split("-")[0])
            system.run("test", "-s", f"/usr/share/doc/{name}/copyright")
        wanted = system.run("cat", f"/var/lib/dpkg/info/{SHARED}.shlibs").stdout
        self.assertEqual(f"libpiracema {MINOR} {SHARED} (>= {version}-1)\n", wanted)
        self.assertEqual("", system.run("dpkg", "--verify", *INSTALLED).stdout)

    def test_2_ten_lines_are_built_by_pkg_config_and_run_alone_and_as_four_processes(self):
        system.run(
            "sh", "-c",
            "g++ -O1 ten_lines.cpp $(pkg-config --cflags --libs piracema) -o with_pkg_config",
        )
        self.assertEqual(SQUARES, system.run("./with_pkg_config").stdout)
        run = system.run("piracema", "run", "-n", "4", "./with_pkg_config")
        self.assertEqual(SQUARES, run.stdout)

    def test_2_ten_lines_are_built_by_cmake_with_either_library(self):
        system.run("cmake", "-S", ".", "-B", "built")
        system.run("cmake", "--build", "built")
        self.assertEqual(SQUARES, system.run("built/ten_lines").stdout)
        self.assertEqual(SQUARES, system.run("built/ten_lines_shared").stdout)
        run = system.run("piracema", "run", "-n", "2", "built/ten_lines_shared")
        self.assertEqual(SQUARES, run.stdout)
        self.assertIn(f"libpiracema.so.{MINOR} =>", system.run("ldd", "built/ten_lines_shared").stdout)
        self.assertNotIn("libpiracema", system.run("ldd", "built/ten_lines").stdout)

    def test_2_a_program_of_the_shared_library_loses_a_process_and_its_output_is_the_same(self):
        system.run(
            "sh", "-c", f"g++ -O1 {PRIMES}.cpp $(pkg-config --cflags --libs piracema-shared) -o {PRIMES}",
        )
        system.run("sh", "-c", "seq 3000 5000 > numbers.txt")
        system.run(f"./{PRIMES}", "numbers.txt", "alone.txt")
        run = system.run(
            "piracema", "run", "-n", "2", "--snapshots", "snapshots", "--every", "50ms",
            "--kill", "primes.1@50", f"./{PRIMES}", "numbers.txt", "killed.txt",
        )
        self.assertIn("killing worker", run.stderr)
        system.run("cmp", "alone.txt", "killed.txt")
        self.assertEqual("2001", system.run("wc", "-l", "killed.txt").stdout.split()[0])

    def test_2_a_new_project_is_built_and_its_test_loses_a_process(self):
        system.run("piracema", "new", "words")
        system.run("cmake", "-S", "words", "-B", "words/build")
        system.run("cmake", "--build", "words/build")
        test = system.run("ctest", "--test-dir", "words/build", "--verbose")
        self.assertIn("killing worker", test.stdout)
        self.assertIn("100% tests passed, 0 tests failed out of 1", test.stdout)

    def test_2_the_package_of_another_version_is_refused(self):
        lines = (HERE.parent / "install/CMakeLists.txt").read_text()
        other = system.root / "root/other"
        other.mkdir()
        (other / "CMakeLists.txt").write_text(lines.replace("piracema 0.1", "piracema 99.0"))
        refused = system.run("cmake", "-S", "other", "-B", "other/built", check=False)
        self.assertNotEqual(0, refused.returncode)
        self.assertIn('requested version "99.0"', refused.stderr)

    def test_2_manual_completion_and_units_are_there(self):
        for page in ("", "-run", "-cluster", "-kv", "-coll", "-ckpt"):
            text = system.run("zcat", f"/usr/share/man/man1/piracema{page}.1.gz").stdout
            self.assertIn(".SH SYNOPSIS", text)
        offered = system.run(
            "bash", "-c",
            ". /usr/share/bash-completion/completions/piracema; COMP_WORDS=(piracema sn);"
            "COMP_CWORD=1; _piracema; echo ${COMPREPLY[@]}",
        )
        self.assertEqual("snapshots\n", offered.stdout)
        for path in (
            "share/zsh/vendor-completions/_piracema",
            "lib/systemd/system/piracema-ckpt.service",
            "lib/systemd/system/piracema-kv@.service",
            "lib/systemd/system/piracema-node@.service",
        ):
            system.run("test", "-s", f"/usr/{path}")

    def test_3_the_mpi_package_wants_no_mpi_and_is_found_by_coll(self):
        # "true" stands for a launcher: the library is looked for before it is started.
        words = ["piracema", "coll", "--mpi", "mpich", "--", "true"]
        self.assertEqual(3, system.run(*words, check=False).returncode)
        system.apt_get("--no-install-recommends", "install", f"/root/{debs['piracema-mpi'].name}")
        self.assertEqual(0, system.run(*words).returncode)
        self.assertNotEqual(0, system.run("dpkg", "-s", "libmpich12", check=False).returncode)

    def test_3_the_doctor_names_who_misses_what_on_a_bare_system(self):
        told = system.run("piracema", "doctor", "--json", check=False)
        report = json.loads(told.stdout)
        self.assertEqual((1, ["coll", "ckpt"]), (told.returncode, report["missing_for"]))
        fixes = {one["what"]: one["fix"] for one in report["findings"] if not one["ok"]}
        self.assertEqual("sudo apt install mpich", fixes["MPICH"])
        system.run(fixes["criu"], "--help")

    def test_4_nothing_is_left_when_they_are_removed(self):
        system.apt_get("purge", *NAMES, SHARED)
        system.apt_get("--purge", "autoremove")
        self.assertEqual(set(), system.files() - self.before)


def check_machine():
    if os.geteuid() != 0:
        raise CannotRun("it wants root, to mount and to chroot")
    for tool in ("apt-get", "dpkg-shlibdeps", "unshare"):
        if not shutil.which(tool):
            raise CannotRun(f"there is no {tool}: scripts/setup --with-packages")


def test_in(work, build):
    """What runs in a mount namespace of its own; the exit code."""
    global system
    system = BareSystem(work)
    try:
        system.apt_get("update")
    except AssertionError as why:
        raise CannotRun(f"apt cannot reach its mirrors from the bare system: {why}") from None
    debs.update(make_packages(build, work))
    example = HERE.parents[1] / f"examples/{PRIMES}.cpp"
    for file in [*debs.values(), *(HERE.parent / "install").glob("*.*"), example]:
        shutil.copy(file, system.root / "root")
    program = unittest.main(argv=sys.argv[:1], exit=False, verbosity=2, failfast=True)
    return 0 if program.result.wasSuccessful() else 1


def main(build):
    """Makes the place to work in and removes it, out of sight of what is mounted there."""
    check_machine()
    with tempfile.TemporaryDirectory(prefix="piracema_package_") as work:
        words = [sys.executable, __file__, build, work]
        return subprocess.run(["unshare", "--mount", "--propagation", "private", *words]).returncode


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit("usage: tests/package/package_test.py BUILD_DIRECTORY")
    build = pathlib.Path(sys.argv[1]).resolve()
    try:
        sys.exit(test_in(pathlib.Path(sys.argv[2]), build) if len(sys.argv) == 3 else main(build))
    except CannotRun as why:
        print(f"package_test cannot run: {why}", flush=True)
        sys.exit(1 if os.environ.get("CI") else 77)
