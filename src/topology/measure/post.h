#pragma once

#include <optional>
#include <span>
#include <string>

#include "topology/trees/costs.h"

namespace piracema::coll {

/// Packets that may go over other ranks on their way: docs/formats/coll.md. Pure.
class Post {
 public:
  /// `token` keeps packets of other jobs out.
  Post(Rank me, Rank size, std::uint64_t token) : me_(me), size_(size), token_(token) {}

  /// A packet of this rank for `to`, and there for the guest with this number.
  std::string wrap(Rank to, std::uint64_t guest, std::string_view bytes) const;

  struct Opened {
    Rank from = 0, to = 0;
    std::uint64_t guest = 0;
    /// Part of what was opened.
    std::span<const char> bytes;
  };
  /// nullopt for what is no packet of this job's post; it may come from anybody.
  std::optional<Opened> open(std::span<const char> packet) const;
  /// One that was opened and is for another rank, as it goes on; nullopt if it went over too many.
  std::optional<std::string> pass_on(std::span<const char> packet) const;

  /// Ranks that disagree about the links could send it around forever.
  static constexpr std::uint16_t relays_max = 16;

 private:
  const Rank me_, size_;
  const std::uint64_t token_;
};

}  // namespace piracema::coll
