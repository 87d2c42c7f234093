#include <piracema/batch.h>

#include <utility>

#include "base/engine.h"

namespace piracema::engine {

void Batch::add_other_id(std::uint64_t id) {
  if (count == 0) {
    first_id = id;
    ids.clear();
    return;
  }
  if (ids.empty()) {
    for (std::uint32_t i = 0; i < count; ++i) ids.push_back(first_id + i);
  }
  ids.push_back(id);
}

void Batch::add_handed(std::uint64_t id, Buffer bytes) {
  const std::uint32_t length = length_of(bytes.size());
  add_id(id);
  if (count == 0 && length >= handed_over_bytes_min) {
    item_bytes = length;
    data = std::move(bytes);
  } else {
    say_lengths();
    data.append(&length, sizeof length);
    data.append(bytes.data(), bytes.size());
  }
  count += 1;
}

void Batch::say_lengths() {
  if (item_bytes == 0) return;
  Buffer with_lengths;
  BatchReader items(*this);
  for (std::uint32_t i = 0; i < count; ++i) {
    with_lengths.append(&item_bytes, sizeof item_bytes);
    with_lengths.append(items.next().data(), item_bytes);
  }
  data = std::move(with_lengths);
  item_bytes = 0;
}

}  // namespace piracema::engine
