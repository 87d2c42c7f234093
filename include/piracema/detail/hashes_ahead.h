#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace piracema::detail {

/// The mixed hashes of the keys of some items of a batch, which were looked at before they come.
class HashesAhead {
 public:
  /// So many that the processor is busy with them while what the first of them want is on its way,
  /// and not so many that they drive each other out of its first cache.
  static constexpr std::size_t most = 32;

  /// Of items from the one that has this number in its batch on.
  void begin(std::uint32_t item) {
    from_ = item;
    count_ = 0;
  }
  /// At most `most` times.
  void add(std::uint64_t mixed) { mixed_[count_++] = mixed; }
  std::span<const std::uint64_t> all() const { return {mixed_.data(), count_}; }
  /// nullptr: it was not looked at.
  const std::uint64_t* of(std::uint32_t item) const {
    const std::uint32_t number = item - from_;
    return number < count_ ? &mixed_[number] : nullptr;
  }

 private:
  std::array<std::uint64_t, most> mixed_;
  std::uint32_t from_ = 0, count_ = 0;
};

}  // namespace piracema::detail
