#include "tools/coll/mpi.h"

#include <array>
#include <cstdio>
#include <filesystem>
#include <memory>

#include "base/text.h"

namespace piracema::tools {

std::string first_words_of(const std::string& program) {
  // The name comes from the command line of the same user who runs this.
  std::string quoted = "'";
  for (const char c : program) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  const auto close = [](std::FILE* file) { ::pclose(file); };
  const std::unique_ptr<std::FILE, decltype(close)> pipe(
      ::popen((quoted + "' --version 2>&1").c_str(), "re"), close);
  std::array<char, 4'096> text;
  const std::size_t length = pipe ? std::fread(text.data(), 1, text.size(), pipe.get()) : 0;
  return std::string(text.data(), length);
}

std::string mpi_of(const std::string& launcher) {
  const std::string words = first_words_of(launcher);
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
