#pragma once

#include <piracema/error.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace piracema::cluster {

/// A file that another host is to have.
struct StagedFile {
  std::string path;
  std::uint64_t bytes = 0;
  /// SHA-256, in hexadecimal digits.
  std::string digest;
};
/// Reads all of it. Errc::config with the system's reason.
Result<StagedFile> describe_file(const std::string& path);

/// How an agent gets onto another host that may have nothing of ours: what is said to a shell
/// there, and what it answers. Pure; one for each attempt.
///
/// A remote shell runs "sh" there, whose standard input is all that goes to the host: no name, key
/// or path is in an argument that others could see. First comes a script; it makes a directory for
/// the job (mktemp, for its owner alone), and asks for each file that the host does not have at the
/// same path with the same digest. What comes is checked before it is renamed. Then the agent is
/// started, and says so. When it ends, whyever, the directory is removed.
///
/// Nothing is sent before it is asked for, so that it does not matter how far a shell reads ahead.
class Staging {
 public:
  /// `files`: the piracema command, then the program. `directory` is where they are to run, if it
  /// is there.
  Staging(std::vector<StagedFile> files, std::string directory)
      : files_(std::move(files)), directory_(std::move(directory)) {}

  std::string script() const;

  /// What a line from there asks for; nothing for a line that others have printed.
  struct Next {
    enum What { here, file, agent } what;
    std::size_t file_number = 0;
  };
  /// Errc::config with what the host says that it cannot do.
  Result<std::optional<Next>> line(std::string_view line) const;

  const StagedFile& file(std::size_t number) const { return files_[number]; }

  /// What an agent prints when it wants its first line.
  static constexpr std::string_view agent_says = "piracema: agent";

 private:
  std::vector<StagedFile> files_;
  std::string directory_;
};

/// One word for a shell, whatever is in it.
std::string shell_quoted(std::string_view text);

}  // namespace piracema::cluster
