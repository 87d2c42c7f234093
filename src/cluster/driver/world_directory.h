#pragma once

#include <piracema/error.h>

#include <memory>
#include <string>

#include "base/fd.h"

namespace piracema::cluster {

/// A directory in the memory of this host for what the ranks of a world share. Open MPI gives its
/// segments names there, and a rank that is killed leaves them behind, of some megabytes each: so
/// whoever started the world removes them all. Gone with this object; one whose owner was killed
/// goes when the next is made.
class WorldDirectory {
 public:
  /// In `parent`, where each name of ours that nobody has locked is removed first. Errc::io.
  static Result<std::unique_ptr<WorldDirectory>> make(const std::string& parent = "/dev/shm");
  ~WorldDirectory();
  WorldDirectory(const WorldDirectory&) = delete;
  WorldDirectory& operator=(const WorldDirectory&) = delete;

  const std::string& path() const { return path_; }
  /// Removes what is in it: the world has ended.
  void clear();

 private:
  WorldDirectory(std::string path, Fd lock) : path_(std::move(path)), lock_(std::move(lock)) {}

  std::string path_;
  Fd lock_;
};

}  // namespace piracema::cluster
