#pragma once

#include <piracema/error.h>

#include <memory>
#include <string>

namespace piracema::cluster {

/// A file in a directory, by whose name other hosts tell whether they see the same directory or
/// one of their own that has the same name. Gone with this object; one that is left behind by a
/// process that was killed goes when the next is made.
class DirectoryMark {
 public:
  /// Its name is one that nobody has seen before, so that no file system has an old answer about
  /// it. The caller is the only one who makes marks there. Errc::config with the system's reason.
  static Result<std::unique_ptr<DirectoryMark>> leave(const std::string& directory);
  ~DirectoryMark();
  DirectoryMark(const DirectoryMark&) = delete;
  DirectoryMark& operator=(const DirectoryMark&) = delete;

  const std::string& path() const { return path_; }

 private:
  explicit DirectoryMark(std::string path) : path_(std::move(path)) {}

  std::string path_;
};

/// On another host: that the mark is there, and that files can be made beside it. `who` tells those
/// apart who look at the same time. Errc::config says what is not so.
Result<Done> look_for_mark(const std::string& path, const std::string& who);

}  // namespace piracema::cluster
