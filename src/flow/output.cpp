#include <piracema/output.h>

#include <stdexcept>
#include <utility>

#include "base/text.h"

namespace piracema::engine {

std::size_t Output::route(const Way& way, const void* item) {
  const std::uint64_t value = way.router(item);
  if (way.delivery == Delivery::by_key) return way.groups.receiver_of(mix(value), way.receivers);
  if (value >= way.receivers) no_receiver(value, way.receivers);
  return value;
}

void Output::add_handed(const Way& way, std::size_t to, Buffer bytes) {
  const bool alone = bytes.size() >= handed_over_bytes_min && way.bytes_limit != Way::no_limit;
  if (alone && lanes_[to].count != 0) lane_full(to);
  lanes_[to].add_handed(id_, std::move(bytes));
  if (is_full_with_it(way, lanes_[to]) || alone) lane_full(to);
}

void Output::no_receiver(std::uint64_t wanted, std::size_t receivers) {
  throw std::out_of_range(
      concat("the routing function named replica ", wanted, ", the next node has ", receivers));
}

}  // namespace piracema::engine
