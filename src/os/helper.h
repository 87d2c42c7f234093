#pragma once

#include <piracema/error.h>

#include <string>
#include <vector>

/// Programs of others that do a part of the work: criu, tar.
namespace piracema::ckpt {

struct HelperEnd {
  /// Exit status; 128 and the signal's number when it was a signal.
  int status = 0;
  /// What it wrote to standard output and error, at most 64 KiB of it.
  std::string output;
};

/// Runs a program to its end, with nothing on standard input. `command[0]` is looked for in PATH.
/// Errc::config if it cannot be run. Not for a process that has other children to wait for at the
/// same time by "any child".
Result<HelperEnd> run_helper(const std::vector<std::string>& command);

/// What exec(3) takes, with a null behind; as long as the texts are there.
std::vector<char*> pointers(const std::vector<std::string>& texts);

/// The last line of `text` that has a word in it, for an error of one line.
std::string last_line(const std::string& text);

}  // namespace piracema::ckpt
