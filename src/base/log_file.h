#pragma once

#include <piracema/error.h>
#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "base/fd.h"

namespace piracema {

/// A file that lines are appended to, and that is bounded. Several processes may append to the same
/// one. Not safe for two threads.
class LogFile {
 public:
  /// Appends to what is there; it is made if need be. Errc::config if it cannot be written.
  static Result<LogFile> open(std::string path);

  /// Where the file would have more than `bytes_max` with it, PATH becomes PATH.1, in place of the
  /// one before, and the line begins another one; 0: no bound. So does a file that somebody has
  /// moved away. What several append while one of them moves it may be beyond the bound. All of the
  /// line is in the file or nothing: Errc::io, and the next one is tried anew.
  Result<Done> append(std::string_view line, std::uint64_t bytes_max);

 private:
  explicit LogFile(std::string path) : path_(std::move(path)) {}

  Result<Done> open_again();
  bool is_open() const;
  bool is_there() const;
  bool has_room(std::size_t bytes, std::uint64_t bytes_max) const;
  void move_away() const;
  Error failed() const;

  std::string path_;
  Fd file_;
  dev_t device_ = 0;
  ino_t inode_ = 0;
};

}  // namespace piracema
