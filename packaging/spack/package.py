# Piracema by Spack 1.0 or later; docs/install.md says how. Not tried with Spack.
#
# SPDX-License-Identifier: Apache-2.0

from spack_repo.builtin.build_systems.cmake import CMakePackage

from spack.package import *


class Piracema(CMakePackage):
    """Stream processing that survives the loss of its processes, replicated state machines, and
    checkpoints and collectives of MPI programs, on machines that fail, slow down and leave."""

    homepage = "https://piracema.invalid"

    license("Apache-2.0")

    # There is no place to fetch it from: the source is a clone, by spack develop.
    version("0.1.0")

    variant("mpi", default=True, description="Collectives of MPI programs, and streams over MPI")
    variant("http", default=True, description="Serve running jobs by HTTP")
    variant("objects", default=True, description="Snapshots in buckets of S3 and in HDFS")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.22:", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("python@3.8:", type="build")  # Makes manual pages and completion.
    # The public headers include cereal's.
    depends_on("cereal@1.3:", type=("build", "link"))
    depends_on("cli11@2:", type="build")
    depends_on("libsodium")
    depends_on("nlohmann-json@3.10:", type="build")
    depends_on("xxhash@0.8:")
    depends_on("mpi", when="+mpi")
    # Loaded when they are wanted, by the names of their files.
    depends_on("libmicrohttpd", when="+http")
    depends_on("curl", when="+objects")

    conflicts("%gcc@:10", msg="Piracema is C++20")
    conflicts("platform=darwin", msg="Piracema is for Linux")
    conflicts("platform=windows", msg="Piracema is for Linux")

    def cmake_args(self):
        args = [
            self.define("PIRACEMA_ONLY_INSTALLED", True),
            self.define("CMAKE_CXX_FLAGS_RELWITHDEBINFO", "-O3 -g1"),
        ]
        # An MPI of the system is not seen: it would be found by the names of Debian's wrappers.
        wrappers = {"openmpi": "OFF", "mpich": "OFF"}
        if self.spec.satisfies("+mpi"):
            family = "openmpi" if self.spec["mpi"].name == "openmpi" else "mpich"
            wrappers[family] = self.spec["mpi"].mpicc
        for family, wrapper in wrappers.items():
            args.append(self.define(f"MPICC_{family}", wrapper))  # Collectives.
            args.append(self.define(f"PIRACEMA_MPICC_{family}", wrapper))  # Streams.
        args.append(self.define("PIRACEMA_MPICC_IN_PATH", "OFF"))
        return args

    def setup_run_environment(self, env):
        # Programs of users load them, too, and are linked by whom we do not know.
        for name, when in (("libmicrohttpd", "+http"), ("curl", "+objects")):
            if self.spec.satisfies(when):
                env.prepend_path("LD_LIBRARY_PATH", self.spec[name].prefix.lib)
