#pragma once

#include <piracema/smr/key_value.h>

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "smr/kv/shard.h"

namespace piracema::smr::kv {

/// All parts of the map. A key has its own by its checksum. What an image is being written of stays
/// as it is: whoever changes such a part changes a copy. Different parts may be changed at once.
class Shards {
 public:
  static constexpr std::size_t count = 256;

  Shards();

  static std::size_t of(std::string_view key);
  const Shard& operator[](std::size_t number) const { return *shards_[number]; }
  /// The part of this key, to be changed.
  Shard& writable(std::string_view key) { return writable(of(key)); }

  const Shard::Slot* find(std::string_view key) const { return shards_[of(key)]->find(key); }
  /// Nothing is there, and nothing has happened.
  bool is_empty() const;
  /// Of keys and values.
  std::uint64_t bytes() const;
  /// Removes up to `most` entries of a lease that has ended, at `index`; how many.
  std::size_t remove_leased(Index lease, std::size_t most, Index index);

  /// Writes all of them as they are now, one at a time; from any thread.
  using Sink = std::function<void(Bytes)>;
  std::function<void(const Sink&)> snapshot();
  /// In place of what was there.
  void read(wire::Reader& in);

 private:
  Shard& writable(std::size_t number);

  std::vector<std::shared_ptr<Shard>> shards_;
  /// The shard belongs to an image.
  std::array<bool, count> shared_{};
};

}  // namespace piracema::smr::kv
