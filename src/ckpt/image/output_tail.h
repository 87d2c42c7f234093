#pragma once

#include <piracema/error.h>

#include <cstdint>
#include <string>

#include "base/fd.h"

namespace piracema::ckpt {

/// Passes on what a job writes to its output file, as it is written. A job does not write to our
/// own output itself: an image could not hold that.
class OutputTail {
 public:
  /// Of the file, which is made if need be, from `from` on, to `to`, which stays the caller's.
  /// Errc::io.
  static Result<OutputTail> open(const std::string& path, std::uint64_t from, int to);

  /// Readable when something was written: call `drain`.
  int watched() const { return watch_.get(); }

  /// Copies what is there now. False if our own output takes no more at the moment: then wait until
  /// `to()` is writable and call again. With `wait` it waits itself. What can never be written, as
  /// nobody reads it any more, is dropped; it is in the file.
  bool drain(bool wait = false);
  int to() const { return to_; }

  /// The file was cut, as it goes on from an older image: what follows that size is new. Gives
  /// the bytes that had been passed on beyond it.
  std::uint64_t cut_to(std::uint64_t bytes);

 private:
  OutputTail(Fd file, Fd watch, std::uint64_t at, int to)
      : file_(std::move(file)), watch_(std::move(watch)), at_(at), to_(to) {}

  Fd file_, watch_;
  std::uint64_t at_;
  int to_;
};

}  // namespace piracema::ckpt
