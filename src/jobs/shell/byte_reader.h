#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "base/fd.h"

namespace piracema::jobs {

/// Reads a descriptor to its end, on a thread of its own: it may be a file, a pipe or a terminal,
/// and not all of them can be polled. No further ahead of what was taken than a bound.
class ByteReader {
 public:
  static constexpr std::size_t ahead_max = std::size_t{1} << 20;

  /// `read` is called on that thread with what comes, and at the end, or where nothing can be read,
  /// with nothing. The descriptor stays the caller's, and outlives this.
  ByteReader(int fd, std::function<void(std::string bytes)> read);
  /// Nothing is read any more.
  ~ByteReader();
  ByteReader(const ByteReader&) = delete;
  ByteReader& operator=(const ByteReader&) = delete;

  /// So many more of the bytes have come to where they go. Any thread.
  void taken(std::uint64_t bytes);

 private:
  void run();
  bool may_read();

  const int fd_;
  const std::function<void(std::string)> read_;
  /// Readable once there is something to look at.
  Fd news_;
  std::mutex mutex_;
  std::uint64_t ahead_ = 0;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace piracema::jobs
