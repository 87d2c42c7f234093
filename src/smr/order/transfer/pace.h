#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "base/clock.h"
#include "smr/ids.h"

namespace piracema::smr {

/// Pieces of a checkpoint that are asked for at a time, of all sources together, at most.
constexpr std::size_t chunks_in_flight = 32;

/// When something was asked for, of one after the other.
struct Question {
  Time first{}, last{};
  ReplicaId whom = 0;

  static Question asked(Time now, ReplicaId whom) { return {now, now, whom}; }
  void again(Time now, ReplicaId of) {
    last = now;
    whom = of;
  }
  /// Who was asked earlier has taken since then: what was lost and what is slow differ by that.
  Time took(Time now, ReplicaId from) const { return now - (from == whom ? last : first); }
};

/// How much a replica that catches up asks for at once, and how long it waits for it, by how long
/// the last answers took. So much is open that an answer takes about as long as something is waited
/// for before it is said again: enough to fill the way there, and never a long queue in front of
/// what the group orders. Who waits for as long as ever on a way that has become slow asks for
/// everything twice, which makes it slower: so it begins with little, and is patient, until the
/// first answers have told how fast the way is. Pure.
class Pace {
 public:
  explicit Pace(Time resend_interval) : aim_(resend_interval) {}

  /// Bytes that may be asked for and not be here.
  std::size_t bytes() const { return bytes_; }
  /// As that, in pieces of a checkpoint: two at least, so that one that is lost stops nothing.
  std::size_t pieces(std::uint32_t piece_bytes) const {
    return std::clamp<std::size_t>(bytes() / std::max(piece_bytes, 1u), 2, chunks_in_flight);
  }

  /// `fruitless`: times in a row that were waited for in vain.
  Time patience(unsigned fruitless) const {
    const Time one = std::max(2 * aim_, 4 * slowest_);
    return std::min<Time>(one * (std::int64_t{1} << std::min(fruitless, 6u)), longest);
  }

  /// `was_full`: as much was open as may be.
  void answered(Time took, bool was_full) {
    slowest_ = std::max(took, slowest_ - slowest_ / 4);
    if (took > aim_) {
      bytes_ = std::max(bytes_ - bytes_ / 4, least);
    } else if (was_full && took < aim_ / 2) {
      bytes_ = std::min(bytes_ * 2, most);
    }
  }

 private:
  static constexpr std::size_t least = 4 << 10, most = 8 << 20;
  /// Less than checkpoints are kept for who is silent (fetch_silence_max).
  static constexpr Time longest = std::chrono::seconds(15);

  const Time aim_;
  /// Until something is known: what comes in a second even on a slow way.
  std::size_t bytes_ = 16 << 10;
  Time slowest_ = std::chrono::milliseconds(250);
};

}  // namespace piracema::smr
