#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include <piracema/detail/own_fd.h>

namespace piracema::detail {

/// A file for what comes from where it cannot be read again, such as a pipe: what was taken is
/// here before it becomes an item, so that a recovery and `--resume` read it from here once more.
///
/// It survives the process at any moment, and the machine up to the last `sync`. It belongs to one
/// job at a time, by a lock, and is never made of a file that is something else. Everything that
/// fails throws std::runtime_error naming the file. docs/formats/journal.md
class Journal {
 public:
  /// An empty path: there is none.
  explicit Journal(std::string path) : path_(std::move(path)) {}

  bool is_wanted() const { return !path_.empty(); }
  const std::string& path() const { return path_; }

  /// `anew`: what an earlier job left is forgotten. Else it has at least `needed` bytes.
  void open(bool anew, std::uint64_t needed);

  /// Bytes that were taken so far.
  std::uint64_t length() const { return length_; }
  /// Nothing follows `length()`.
  bool has_ended() const { return ended_; }

  void append(const char* from, std::size_t count);
  /// The same from a pipe, at most `count` bytes, by the kernel alone: a process that dies loses
  /// none of them. As splice(2): 0 at the end; below 0 with errno, EAGAIN if nothing is there,
  /// EINVAL if that is no pipe.
  std::ptrdiff_t take(int pipe, std::size_t count);
  /// Says for good that nothing follows.
  void end();
  void sync();

  /// Bytes from `offset` on, at most `count`; how many there were.
  std::size_t read(std::uint64_t offset, char* into, std::size_t count) const;

 private:
  void begin();
  void write(std::uint64_t at, const char* from, std::size_t count) const;

  std::string path_;
  OwnFd fd_;
  std::uint64_t length_ = 0;
  bool ended_ = false;
};

}  // namespace piracema::detail
