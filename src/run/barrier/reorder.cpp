#include "run/barrier/reorder.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/ensure.h"

namespace piracema::runtime {

namespace {

struct Item {
  std::uint32_t position = 0;
  std::uint64_t id = 0;
  Bytes bytes;
};

void add_raw(Batch& batch, const Item& item, std::uint32_t item_bytes) {
  batch.add_id(item.id);
  batch.item_bytes = item_bytes;
  if (item_bytes == 0) {
    const auto length = static_cast<std::uint32_t>(item.bytes.size());
    batch.data.append(&length, sizeof length);
  }
  batch.data.append(item.bytes.data(), item.bytes.size());
  batch.count += 1;
}

// Of all items; 0 where they differ, as those do that were handed over.
std::uint32_t common_size(const std::vector<Batch>& parts) {
  std::optional<std::uint32_t> size;
  for (const Batch& part : parts) {
    if (part.count == 0) continue;
    if (size && *size != part.item_bytes) return 0;
    size = part.item_bytes;
  }
  return size.value_or(0);
}

}  // namespace

Batch merge(std::vector<Batch> parts) {
  ENSURE(!parts.empty());
  std::vector<Item> items;
  for (const Batch& part : parts) {
    BatchReader reader(part);
    for (std::uint32_t i = 0; i < part.count; ++i) {
      const std::uint32_t position = part.positions.empty() ? i : part.positions[i];
      items.push_back({position, part.id(i), reader.next()});
    }
  }
  std::stable_sort(items.begin(), items.end(),
                   [](const Item& a, const Item& b) { return a.position < b.position; });
  Batch merged;
  merged.order = parts.front().order;
  merged.order.share = Order::whole;
  const std::uint32_t item_bytes = common_size(parts);
  for (const Item& item : items) add_raw(merged, item, item_bytes);
  return merged;
}

std::vector<Batch> Reorder::add(Batch part) {
  Origin& origin = origins_[part.order.origin];
  ENSURE(part.order.sequence >= origin.next);
  Parts& parts = origin.early[part.order.sequence];
  parts.share += part.order.share;
  ENSURE(parts.share <= Order::whole);
  parts.parts.push_back(std::move(part));
  waiting_ += 1;

  std::vector<Batch> ready;
  while (!origin.early.empty()) {
    const auto first = origin.early.begin();
    if (first->first != origin.next || first->second.share != Order::whole) break;
    waiting_ -= first->second.parts.size();
    const bool cut = first->second.parts.size() > 1;
    ready.push_back(cut ? merge(std::move(first->second.parts))
                        : std::move(first->second.parts.front()));
    ready.back().positions.clear();
    origin.early.erase(first);
    origin.next += 1;
  }
  return ready;
}

}  // namespace piracema::runtime
