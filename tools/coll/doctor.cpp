#include "tools/coll/doctor.h"

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "base/text.h"
#include "os/process.h"
#include "tools/coll/mpi.h"
#include "tools/finding.h"

namespace piracema::tools {

namespace {

struct Family {
  const char *name, *mpi, *package;
};
constexpr Family families[] = {{"openmpi", "Open MPI", "openmpi-bin"}, {"mpich", "MPICH", "mpich"}};

/// The first of the family among its own name and those that the families share: "mpirun.mpich".
std::string launcher_of(const std::string& family) {
  for (const std::string& name :
       {"mpirun." + family, std::string("mpirun"), std::string("mpiexec")}) {
    const auto path = cluster::find_program(name);
    if (path && mpi_of(*path) == family) return *path;
  }
  return "";
}

std::string compiler_of(const std::string& family, const std::string& launcher) {
  if (const auto own = cluster::find_program("mpicc." + family)) return *own;
  // Where several MPIs are installed, the mpicc beside the launcher is of the same one.
  const auto beside = std::filesystem::path(launcher).parent_path() / "mpicc";
  std::error_code ignored;
  return std::filesystem::exists(beside, ignored) ? beside.string() : "";
}

Finding finding_of(const Family& family) {
  Finding finding{.part = "coll", .what = family.mpi};
  const std::string launcher = launcher_of(family.name);
  if (launcher.empty()) {
    finding.text = "no launcher";
    finding.fix = concat("sudo apt install ", std::string_view(family.package));
    return finding;
  }
  const std::string compiler = compiler_of(family.name, launcher);
  finding.text = concat(launcher, ", ", compiler.empty() ? "no mpicc" : compiler);
  const auto library = library_for(launcher, family.name);
  finding.ok = library.ok();
  if (!library) {
    finding.text += concat("; ", library.error().message);
    finding.fix = "sudo apt install piracema-mpi";
  }
  return finding;
}

/// An MPI in a place of its own, for which this build has a library.
Finding finding_of(const CollLibrary& library) {
  const auto launcher = library.bin / "mpirun";
  std::error_code ignored;
  Finding finding{.part = "coll", .what = library.mpi};
  finding.ok = std::filesystem::exists(launcher, ignored);
  finding.text = finding.ok ? launcher.string() : concat("no ", launcher.string());
  if (!finding.ok) finding.fix = "install that MPI there again, or build Piracema without it";
  return finding;
}

}  // namespace

int coll_doctor(bool as_json) {
  std::vector<Finding> findings;
  for (const Family& family : families) findings.push_back(finding_of(family));
  for (const CollLibrary& library : coll_libraries()) {
    if (library.mpi != library.family()) findings.push_back(finding_of(library));
  }
  if (std::ranges::none_of(findings, &Finding::ok)) {
    // One will do, so neither is needed by itself.
    findings.push_back({.part = "coll",
                        .what = "an MPI",
                        .needed = true,
                        .text = "want Open MPI or MPICH, and the library for it",
                        .fix = "sudo apt install openmpi-bin piracema-mpi"});
  }
  return print_findings(findings, as_json);
}

}  // namespace piracema::tools
