#include <stdexcept>

#include <piracema/operator.h>

#include "base/text.h"

namespace piracema {

std::size_t Output::route(const void* item) const {
  const std::uint64_t value = router_(item);
  const std::size_t replicas = any_lane();
  if (delivery_ == Delivery::by_key) return mix(value) % replicas;
  if (value >= replicas) {
    throw std::out_of_range(concat("the routing function named replica ", value,
                                   ", the next node has ", replicas));
  }
  return value;
}

}  // namespace piracema
