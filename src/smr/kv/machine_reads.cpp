#include <algorithm>
#include <tuple>

#include "smr/kv/machine.h"

/// Operations that change nothing.
namespace piracema::smr::kv {

namespace {

constexpr std::size_t reply_bytes_max = std::size_t{1} << 20;

}  // namespace

Reply Machine::execute(const Get& o, Moment at) const {
  const Shard::Slot* slot = alive(o.key, at);
  if (slot == nullptr) return {.status = Status::not_found, .index = at.index};
  return {.index = at.index, .entries = {entry_of(o.key, *slot, true)}};
}

Reply Machine::execute(const List& o, Moment at) const {
  std::vector<std::pair<const std::string*, const Shard::Slot*>> found;
  for (const auto& part : shards_) {
    const auto& slots = part->slots();
    auto next = o.after < o.prefix ? slots.lower_bound(o.prefix) : slots.upper_bound(o.after);
    // One more than is shown tells whether there is more.
    for (std::size_t count = 0; count <= list_max && next != slots.end(); ++next) {
      if (!next->first.starts_with(o.prefix)) break;
      if (next->second.lease != 0 && !leases_.alive(next->second.lease, at.time)) continue;
      found.emplace_back(&next->first, &next->second);
      count += 1;
    }
  }
  std::sort(found.begin(), found.end(),
            [](const auto& a, const auto& b) { return *a.first < *b.first; });
  Reply reply{.index = at.index};
  std::size_t bytes = 0;
  for (const auto& [key, slot] : found) {
    reply.more = reply.entries.size() == list_max || bytes > reply_bytes_max;
    if (reply.more) break;
    bytes += key->size() + slot->value->size();
    reply.entries.push_back(entry_of(*key, *slot, true));
  }
  return reply;
}

// Of a Watch alone it may be nothing.
bool Machine::has_news(Bytes bytes) const {
  const auto reply = decode_reply(bytes);
  return !reply || reply->status != Status::ok || !reply->events.empty();
}

Reply Machine::execute(const Watch& o, Moment at) const {
  std::vector<const Shard::Happened*> found;
  Index known_from = 0;
  const auto look_at = [&](const Shard& part) {
    known_from = std::max(known_from, part.forgotten());
    for (const Shard::Happened& happened : part.history()) {
      const bool wanted = o.is_prefix ? happened.key.starts_with(o.key) : happened.key == o.key;
      if (wanted && happened.index > o.from) found.push_back(&happened);
    }
  };
  if (o.is_prefix) {
    for (const auto& part : shards_) look_at(*part);
  } else {
    look_at(shard(shard_of(o.key)));
  }
  if (o.from < known_from) return {.status = Status::compacted, .index = known_from};
  // Stable: events of one operation on one key stay in their order.
  std::stable_sort(found.begin(), found.end(), [](const auto* a, const auto* b) {
    return std::tie(a->index, a->key) < std::tie(b->index, b->key);
  });
  Reply reply{.index = at.index};
  std::size_t bytes = 0;
  for (const Shard::Happened* happened : found) {
    // Cut between two operations alone: one asks again by index.
    const bool new_index = reply.events.empty() || reply.events.back().index != happened->index;
    reply.more = new_index && (reply.events.size() >= list_max || bytes > reply_bytes_max);
    if (reply.more) break;
    const std::string value = happened->value ? *happened->value : std::string();
    bytes += happened->key.size() + value.size();
    reply.events.push_back({happened->index, happened->change, happened->key, value});
  }
  if (reply.more) reply.index = reply.events.back().index;
  return reply;
}

}  // namespace piracema::smr::kv
