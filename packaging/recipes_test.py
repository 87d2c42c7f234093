#!/usr/bin/env python3
"""Holds the recipes for EasyBuild, Spack and containers to the project and to what it installs.

    packaging/recipes_test.py BUILD_DIRECTORY

They are read as these tools read them, with little in place of the tools: nothing is built or fetched.
"""

import pathlib
import re
import subprocess
import sys
import tempfile
import types
import unittest

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
BUILD = pathlib.Path(sys.argv[1]).resolve()

PROJECT = (ROOT / "CMakeLists.txt").read_text()
VERSION = re.search(r"project\(piracema VERSION ([\d.]+)", PROJECT)[1]
SETUP = (ROOT / "scripts/setup").read_text()
LISTS = [ROOT / "CMakeLists.txt", *ROOT.glob("cmake/*.cmake"), *ROOT.glob("src/**/CMakeLists.txt")]
CMAKE = "\n".join(file.read_text() for file in LISTS)


def unknown(definitions):
    """Which -DNAME of ours no CMakeLists.txt reads."""
    # Of a loop over the families of MPI only the stem is written there.
    stems = {name: re.sub(r"_(openmpi|mpich)$", "_${family}", name) for name in definitions}
    return [name for name, stem in stems.items()
            if not name.startswith("CMAKE_") and not re.search(rf"(?<!\w){re.escape(stem)}(?!\w)", CMAKE)]


def wanted_by_the_library():
    """The packages without which there is no library and no command, as scripts/setup says it."""
    first = SETUP.split("packages=(\n", 1)[1].split("\n)\n", 1)[0]
    only_for_developers = {"doctest-dev", "libbz2-dev", "bzip2", "python3-pygments", "zstd"}
    return set(re.findall(r'"([^|"]+)\|', first)) - only_for_developers


def spack(with_mpi):
    """The class of the recipe, what its directives said, and its arguments for CMake."""
    said = []

    def directive(name):
        return lambda *words, **options: said.append((name, words, options))

    class CMakePackage:
        def define(self, name, value):
            return f"-D{name}={value}"

    package = types.ModuleType("spack.package")
    for name in ("license", "version", "variant", "depends_on", "conflicts"):
        setattr(package, name, directive(name))
    cmake = types.ModuleType("spack_repo.builtin.build_systems.cmake")
    cmake.CMakePackage = CMakePackage
    places = ("spack", "spack.package", "spack_repo", "spack_repo.builtin", "spack_repo.builtin.build_systems")
    stand_ins = {name: types.ModuleType(name) for name in places} | {package.__name__: package, cmake.__name__: cmake}
    sys.modules.update(stand_ins)
    try:
        scope = {}
        exec(compile((HERE / "spack/package.py").read_text(), "package.py", "exec"), scope)
    finally:
        for name in stand_ins:
            del sys.modules[name]
    recipe = scope["Piracema"]()

    class Spec(dict):
        def satisfies(self, text):
            return with_mpi if text == "+mpi" else True

    recipe.spec = Spec(mpi=types.SimpleNamespace(mpicc="/spack/bin/mpicc", name="openmpi"))
    return said, recipe.cmake_args()


class Recipes(unittest.TestCase):
    def setUp(self):
        self.easyconfig = {"SYSTEM": "system"}
        (file,) = (HERE / "easybuild").glob("*.eb")
        self.assertEqual(f"Piracema-{VERSION}.eb", file.name)
        exec(compile(file.read_text(), file.name, "exec"), self.easyconfig)

    def test_they_are_for_this_version(self):
        self.assertEqual(VERSION, self.easyconfig["version"])
        said, _ = spack(with_mpi=True)
        self.assertEqual([(VERSION,)], [words for name, words, _ in said if name == "version"])
        minor = VERSION.rpartition(".")[0]
        containerfile = (HERE / "container/Containerfile").read_text()
        self.assertEqual({f"libpiracema{minor}_"}, set(re.findall(r"libpiracema[\d.]+_", containerfile)))

    def test_easybuild_asks_for_what_the_build_wants(self):
        asked = {names[0] for names in self.easyconfig["osdependencies"]}
        self.assertEqual(wanted_by_the_library(), asked)

    def test_easybuild_finds_what_it_looks_for_when_it_has_installed(self):
        with tempfile.TemporaryDirectory() as prefix:
            subprocess.run(["cmake", "--install", BUILD, "--prefix", prefix], check=True, capture_output=True)
            looked_for = self.easyconfig["sanity_check_paths"]
            missing = [path for path in looked_for["files"] if not (pathlib.Path(prefix) / path).is_file()]
            missing += [path for path in looked_for["dirs"] if not (pathlib.Path(prefix) / path).is_dir()]
        self.assertEqual([], missing)

    def test_they_set_what_the_build_reads(self):
        of_easybuild = re.findall(r"-D(\w+)=", self.easyconfig["configopts"])
        self.assertIn("PIRACEMA_ONLY_INSTALLED", of_easybuild)
        self.assertEqual([], unknown(of_easybuild))
        for with_mpi in (False, True):
            of_spack = [re.match(r"-D(\w+)=", word)[1] for word in spack(with_mpi)[1]]
            self.assertIn("PIRACEMA_ONLY_INSTALLED", of_spack)
            self.assertEqual([], unknown(of_spack))

    def test_spack_asks_for_the_cmake_and_the_packages_that_the_build_wants(self):
        said, _ = spack(with_mpi=True)
        asked = [words[0] for name, words, _ in said if name == "depends_on"]
        minimum = re.search(r"cmake_minimum_required\(VERSION ([\d.]+)\)", PROJECT)[1]
        self.assertIn(f"cmake@{minimum}:", asked)
        of_debian = {"cereal": "libcereal-dev", "cli11": "libcli11-dev", "libsodium": "libsodium-dev",
                     "nlohmann-json": "nlohmann-json3-dev", "xxhash": "libxxhash-dev"}
        self.assertEqual({name for name in wanted_by_the_library() if name.endswith("-dev")}, set(of_debian.values()))
        self.assertLessEqual(set(of_debian), {name.partition("@")[0] for name in asked})

    def test_an_mpi_that_spack_does_not_give_is_not_taken_from_the_system(self):
        for with_mpi, given in ((False, set()), (True, {"/spack/bin/mpicc"})):
            _, arguments = spack(with_mpi)
            values = {word.partition("=")[2] for word in arguments if "MPICC" in word}
            self.assertEqual(given, values - {"OFF", ""})

    def test_the_container_has_what_the_packages_suggest_for_a_job(self):
        containerfile = (HERE / "container/Containerfile").read_text()
        suggested = (ROOT / "cmake/packages.cmake").read_text()
        for package in ("openssh-client", "libmicrohttpd12", "libcurl4"):
            self.assertIn(package, containerfile)
            self.assertIn(package, suggested)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
