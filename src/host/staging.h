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
/// Reads all of the file that is there behind all links. Errc::config with the system's reason.
Result<StagedFile> describe_file(const std::string& name);

/// What the piracema command does on another host, once it is there.
struct StagedCommand {
  /// Its words but for the first, which is its place there.
  std::vector<std::string> words;
  /// Which of them names the program: its place there is put for it.
  std::size_t program = 0;
  /// "NAME=value", put over the environment there.
  std::vector<std::string> environment = {};
  /// The words mean something in the directory that they are from alone: a host without it is of no
  /// use. Else the command runs in one that is made for it.
  bool wants_directory = false;
};

/// How an agent, or a coordinator, gets onto another host that may have nothing of ours: what is
/// said to a shell there, and what it answers. Pure; one for each attempt.
///
/// A remote shell runs "sh" there, whose standard input is all that goes to the host: no name, key
/// or path is in an argument that others could see. First comes a script; it makes a directory for
/// the job (mktemp, for its owner alone), and asks for each file that the host does not have at the
/// same path with the same digest. What comes is checked before it is renamed. Then the command is
/// started, and says so. When it ends, whyever, the directory is removed.
///
/// Nothing is sent before it is asked for, so that it does not matter how far a shell reads ahead.
class Staging {
 public:
  /// `files`: the piracema command, then the program. `directory` is where they are to run.
  Staging(std::vector<StagedFile> files, std::string directory, StagedCommand command = agent())
      : files_(std::move(files)), directory_(std::move(directory)), command_(std::move(command)) {}

  std::string script() const;

  /// What a line from there asks for; nothing for a line that others have printed.
  struct Next {
    enum What { here, file, started } what;
    std::size_t file_number = 0;
  };
  /// Errc::config with what the host says that it cannot do.
  Result<std::optional<Next>> line(std::string_view line) const;

  const StagedFile& file(std::size_t number) const { return files_[number]; }

  /// What the command prints when it wants its first line.
  static constexpr std::string_view started_says = "piracema: started";

 private:
  static StagedCommand agent() { return {.words = {"agent", ""}, .program = 1}; }

  std::vector<StagedFile> files_;
  std::string directory_;
  StagedCommand command_;
};

/// One word for a shell, whatever is in it.
std::string shell_quoted(std::string_view text);

}  // namespace piracema::cluster
