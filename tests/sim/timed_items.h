#pragma once

#include <piracema/operator.h>

#include <chrono>
#include <cstdint>

/// Items of two sources that happened at some time, for simulations of event time.
namespace piracema::sim {

constexpr std::uint64_t timed_items = 400, timed_sources = 2, of_a_source = 1'000'000;

/// Item n of a source is of about second n: most are a little out of order, some come much too
/// late.
inline std::int64_t second_of(std::uint64_t item) {
  const auto number = static_cast<std::int64_t>(item % of_a_source);
  const std::int64_t mixed = number * 7'919 % 13;
  return mixed == 5 ? number - 40 : number - mixed % 7;
}
inline EventTime time_of(const std::uint64_t& item) {
  return EventTime(std::chrono::seconds(second_of(item)));
}

/// Calls `in_time(item, second)` or `late(item)` for all items, one source after the other.
template <class InTime, class Late>
void for_each_timed(std::chrono::seconds wait, const InTime& in_time, const Late& late) {
  for (std::uint64_t source = 0; source < timed_sources; ++source) {
    std::int64_t latest = -1'000;
    for (std::uint64_t n = 0; n < timed_items; ++n) {
      const std::uint64_t item = source * of_a_source + n;
      const std::int64_t second = second_of(item);
      if (second < latest - wait / std::chrono::seconds(1)) {
        late(item);
        continue;
      }
      latest = second > latest ? second : latest;
      in_time(item, second);
    }
  }
}

}  // namespace piracema::sim
