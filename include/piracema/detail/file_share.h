#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <piracema/detail/own_fd.h>
#include <piracema/operator.h>

namespace piracema::detail {

/// One replica's share of a regular file, and how far it has been read.
///
/// The shares of all replicas cover the file once, as it was when they began; a share goes on
/// from its saved position. A file that becomes shorter is an error, never a signal: it is read,
/// not mapped. Everything that fails throws std::runtime_error naming the file.
class FileShare {
 public:
  explicit FileShare(std::string path) : path_(std::move(path)) {}

  /// Opens the file, after `serialize` has restored a position or for the first time; shares
  /// begin at multiples of `unit` bytes.
  void open(const Context&, std::uint64_t unit);

  const std::string& path() const { return path_; }
  /// Of the whole file.
  std::uint64_t size() const { return size_; }
  std::uint64_t begin() const { return begin_; }
  std::uint64_t end() const { return end_; }
  std::uint64_t position() const { return position_; }
  void set_position(std::uint64_t position) { position_ = position; }

  /// Whether the share ends at `position()`; says so only if the file still allows it.
  bool at_end() const;

  /// Fills `count` bytes from `offset` on; they are within `size()`.
  void read(std::uint64_t offset, char* into, std::size_t count) const;

  /// Some bytes from `offset` on, valid until the next call; none only at the end of the file.
  std::string_view some(std::uint64_t offset);

  double progress() const;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(begun_, size_, begin_, end_, position_);
  }

 private:
  std::uint64_t size_now() const;

  std::string path_;
  OwnFd fd_;
  std::uint32_t replicas_ = 1;
  bool begun_ = false;
  std::uint64_t size_ = 0, begin_ = 0, end_ = 0, position_ = 0;
  std::string window_;
  std::uint64_t window_offset_ = 0;
};

}  // namespace piracema::detail
