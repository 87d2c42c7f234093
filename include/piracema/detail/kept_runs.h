#pragma once

#include <piracema/bytes.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <new>
#include <vector>

namespace piracema::detail {

/// Many short runs of bytes that are given back all at once: in memory of its own, as a hundred
/// thousand small blocks would make the next large one wait until they are sorted.
class KeptRuns {
 public:
  /// A run, and those that were kept before it for the same purpose.
  struct Run {
    const Run* before;
    std::size_t size;
    Bytes bytes() const { return {reinterpret_cast<const std::byte*>(this + 1), size}; }
  };

  /// Copies `bytes`. What is returned stays where it is until `clear`.
  const Run* add(Bytes bytes, const Run* before) {
    const std::size_t room = round_up(sizeof(Run) + bytes.size());
    if (chunks_.empty() || chunks_.back().capacity() - chunks_.back().size() < room) {
      Buffer chunk;
      chunk.reserve(std::max(room, chunk_bytes));
      chunks_.push_back(std::move(chunk));
    }
    auto* const run = new (chunks_.back().extend(room)) Run{before, bytes.size()};
    if (!bytes.empty()) std::memcpy(run + 1, bytes.data(), bytes.size());
    return run;
  }

  /// All that was added is gone.
  void clear() { chunks_.clear(); }

 private:
  static constexpr std::size_t chunk_bytes = kept_bytes_min * 4;

  static std::size_t round_up(std::size_t bytes) {
    return (bytes + alignof(Run) - 1) / alignof(Run) * alignof(Run);
  }

  std::vector<Buffer> chunks_;
};

}  // namespace piracema::detail
