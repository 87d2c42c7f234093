#pragma once

#include <piracema/bytes.h>

#include <mutex>
#include <string>

#include "base/fd.h"

namespace piracema::runtime {

/// A file of items that were passed by, one JSON object a line:
/// {"node":"compress","replica":2,"item":4711,"bytes":"6869"}, the bytes in hexadecimal digits.
/// Several processes may append to it. Any thread.
class DeadLetters {
 public:
  /// An empty path: letters are dropped.
  explicit DeadLetters(std::string path) : path_(std::move(path)) {}

  void add(const std::string& node, std::uint32_t replica, std::uint64_t item, Bytes bytes);

 private:
  const std::string path_;
  std::mutex mutex_;
  Fd file_;
};

}  // namespace piracema::runtime
