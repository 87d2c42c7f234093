#include "tools/coll/mpi.h"

#include <algorithm>
#include <fstream>

#include "base/text.h"
#include "os/helper.h"
#include "os/process.h"

namespace piracema::tools {

namespace fs = std::filesystem;

namespace {

constexpr const char* library_name = "libpiracema_coll.so";

fs::path real(const fs::path& path) {
  std::error_code ignored;
  const fs::path found = fs::canonical(path, ignored);
  return found.empty() ? path : found;
}

/// "openmpi in /usr/bin, mpich in /usr/bin".
std::string list(const std::vector<CollLibrary>& libraries) {
  std::string text;
  for (const CollLibrary& one : libraries) {
    text += concat(text.empty() ? "" : ", ", one.mpi, " in ", one.bin.string());
  }
  return text.empty() ? "no MPI" : text;
}

}  // namespace

std::string mpi_of(const std::string& launcher) {
  const auto end = ckpt::run_helper({launcher, "--version"});
  const std::string words = end ? end->output : "";
  if (words.find("Open MPI") != std::string::npos || words.find("OpenRTE") != std::string::npos) {
    return "openmpi";
  }
  if (words.find("HYDRA") != std::string::npos || words.find("mpich") != std::string::npos) {
    return "mpich";
  }
  return "";
}

std::vector<CollLibrary> coll_libraries() {
  std::error_code ignored;
  const fs::path top = fs::read_symlink("/proc/self/exe", ignored).parent_path().parent_path();
  std::vector<CollLibrary> found;
  for (const fs::path& folder : {top / PIRACEMA_LIBDIR / "piracema", top / "src/coll/mpi"}) {
    for (const auto& entry : fs::directory_iterator(folder, ignored)) {
      std::ifstream file(entry.path() / "bin");
      std::string bin;
      if (!std::getline(file, bin) || !fs::exists(entry.path() / library_name, ignored)) continue;
      found.push_back({entry.path().filename().string(), entry.path() / library_name, bin});
    }
    if (!found.empty()) break;
  }
  std::ranges::sort(found, {}, &CollLibrary::mpi);
  return found;
}

Result<CollLibrary> library_called(const std::string& mpi) {
  const auto all = coll_libraries();
  const auto found = std::ranges::find(all, mpi, &CollLibrary::mpi);
  if (found != all.end()) return *found;
  return Error{Errc::config, concat("no ", library_name, " for ", mpi,
                                    " beside this command: it was built where that MPI was not "
                                    "installed (scripts/setup --with-mpi); it has those for ",
                                    list(all))};
}

Result<CollLibrary> library_for(const std::string& launcher, const std::string& family) {
  const auto program = cluster::find_program(launcher);
  const fs::path file = program ? *program : launcher;
  const auto all = coll_libraries();
  // In a view of Spack's or beside Debian's alternatives it is a link; either end will do.
  for (const fs::path& bin : {real(file.parent_path()), real(file).parent_path()}) {
    for (const CollLibrary& one : all) {
      if (one.family() == family && real(one.bin) == bin) return one;
    }
  }
  const auto beside = file.parent_path() / "mpicc";
  return Error{Errc::config, concat("no ", library_name, " for the MPI of ", file.string(),
                                    ": this build has those for ", list(all),
                                    ". Build it with -DPIRACEMA_MPICC=", beside.string(),
                                    ", or insist on another by --mpi NAME or --library FILE")};
}

}  // namespace piracema::tools
