#include "tools/coll/mpi.h"

#include <filesystem>

#include "base/text.h"
#include "os/helper.h"

namespace piracema::tools {

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

Result<std::string> library_of(const std::string& mpi) {
  std::error_code ignored;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", ignored);
  const auto top = self.parent_path().parent_path();
  const std::string name = "libpiracema_coll.so";
  for (const auto& folder :
       {top / PIRACEMA_LIBDIR / "piracema" / mpi, top / "src/coll/mpi" / mpi}) {
    if (std::filesystem::exists(folder / name)) return (folder / name).string();
  }
  return Error{Errc::config, concat("no ", name, " for ", mpi,
                                    " beside this command: it was built where that MPI was not "
                                    "installed (scripts/setup --with-mpi)")};
}

}  // namespace piracema::tools
