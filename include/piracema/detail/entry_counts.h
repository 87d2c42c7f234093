#pragma once

#include <piracema/detail/keyed_states.h>

#include <array>
#include <cstdint>

namespace piracema::detail {

using namespace engine;

/// How many entries of each file still count: those that a table has beside its keys, or of keys
/// that are gone, as where they were saved last.
class EntryCounts {
 public:
  std::uint64_t of(std::uint8_t number) const { return counts_[number]; }

  /// The entry is in the file `number` from now on, or in none.
  void enter(std::uint8_t& file, std::uint8_t number) {
    file = number;
    if (saved_in::is_file(number)) counts_[number] += 1;
  }
  /// What a file has does not count any more, if one has it.
  void leave(std::uint8_t& file) {
    if (!saved_in::is_file(file)) return;
    counts_[file] -= 1;
    file = saved_in::none;
  }
  /// The same, but the entry goes and need not know.
  void gone(std::uint8_t file) {
    if (saved_in::is_file(file)) counts_[file] -= 1;
  }
  void clear() { counts_ = {}; }
  /// Of a table whose entries have become this one's.
  void take_over(EntryCounts& from) {
    counts_ = from.counts_;
    from.clear();
  }

 private:
  std::array<std::uint64_t, 256> counts_{};
};

}  // namespace piracema::detail
