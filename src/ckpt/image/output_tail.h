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
  /// `elsewhere`: another host writes it, so nothing tells of that, and no room is kept. Errc::io.
  static Result<OutputTail> open(const std::string& path, std::uint64_t from, int to,
                                 bool elsewhere);

  /// Readable when something was written: call `drain`.
  int watched() const { return watch_.get(); }

  enum class Drained : std::uint8_t {
    all,
    later,    ///< Our own output takes no more at the moment: wait until `to()` is writable.
    no_room,  ///< It is a file whose store is full: wait until it is not.
  };
  /// Copies what is there now. What can never be written, as nobody reads it any more, is dropped;
  /// it is in the file.
  Drained drain();
  int to() const { return to_; }

  /// Sees to it that the job can write some megabytes more (room_kept) to its file however full the
  /// store gets meanwhile. False if there is no room for that, and too little is left of what was
  /// kept before. True where a store cannot keep room for a file.
  bool keep_room();
  static constexpr std::uint64_t room_kept = std::uint64_t{8} << 20;
  /// The job writes no more: what was kept is given back.
  void give_room_back();

  /// The file was cut, as it goes on from an older image: what follows that size is new. Gives
  /// the bytes that had been passed on beyond it.
  std::uint64_t cut_to(std::uint64_t bytes);

 private:
  OutputTail(Fd file, Fd watch, std::uint64_t at, int to, bool elsewhere)
      : file_(std::move(file)),
        watch_(std::move(watch)),
        at_(at),
        to_(to),
        elsewhere_(elsewhere),
        can_keep_(!elsewhere) {}
  void learn_size();

  Fd file_, watch_;
  std::uint64_t at_;
  int to_;
  /// Up to there the file has its blocks.
  std::uint64_t kept_until_ = 0;
  bool elsewhere_, can_keep_;
};

}  // namespace piracema::ckpt
