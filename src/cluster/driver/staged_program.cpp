#include "cluster/driver/staged_program.h"

#include <filesystem>
#include <system_error>
#include <utility>

namespace piracema::cluster {

// Their checksums take a tenth of a second: whoever takes a job over has agents already, which
// wait.
Result<Staging> StagedProgram::staging() {
  if (files_.empty()) {
    std::vector<StagedFile> files;
    for (const std::string& path : paths_) {
      auto file = describe_file(path);
      if (!file) return file.error();
      files.push_back(*std::move(file));
    }
    files_ = std::move(files);
    std::error_code ignored;
    directory_ = std::filesystem::current_path(ignored).string();
  }
  return Staging(files_, directory_);
}

}  // namespace piracema::cluster
