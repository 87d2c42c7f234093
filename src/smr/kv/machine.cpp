#include "smr/kv/machine.h"

#include <algorithm>
#include <utility>

#include "base/ensure.h"
#include "smr/mutant.h"
#include "wire/checksum.h"

namespace piracema::smr::kv {

namespace {

constexpr std::uint32_t index_bits = 20;
constexpr std::size_t reply_bytes_max = std::size_t{1} << 20;
/// The number of the leases in Keys; shards have those below.
constexpr std::uint64_t leases_key = Machine::shard_count;

Entry entry_of(const std::string& key, const Shard::Slot& slot, bool with_value) {
  return {key, with_value ? *slot.value : std::string(), slot.created, slot.changed, slot.lease};
}

template <class Number>
void raise(std::atomic<Number>& to, Number value) {
  Number seen = to.load(std::memory_order_relaxed);
  while (seen < value && !to.compare_exchange_weak(seen, value, std::memory_order_relaxed)) {
  }
}

}  // namespace

Machine::Machine() {
  for (std::size_t i = 0; i < shard_count; ++i) shards_.push_back(std::make_shared<Shard>());
}

std::size_t Machine::shard_of(std::string_view key) {
  return wire::checksum(as_bytes(key)) % shard_count;
}

Shard& Machine::writable(std::size_t number) {
  if (std::exchange(shared_[number], false)) {
    shards_[number] = std::make_shared<Shard>(*shards_[number]);
  }
  return *shards_[number];
}

Buffer Machine::apply(Bytes bytes, const Context& context) {
  ENSURE(context.index < std::uint32_t{1} << index_bits);  // Batches are smaller.
  const Moment at{context.instance << index_bits | context.index, context.time};
  note(at);
  const auto operation = decode_operation(bytes);
  if (!operation) return encode_reply({.status = Status::bad_request, .index = at.index});
  return encode_reply(std::visit([&](const auto& o) { return execute(o, at); }, *operation));
}

Buffer Machine::query(Bytes bytes) const {
  const Moment at{index_, time_};
  const auto operation = decode_operation(bytes);
  const auto reply = [&](const auto& o) -> Reply {
    if constexpr (requires { std::as_const(*this).execute(o, at); }) {
      return execute(o, at);
    } else {
      return {.status = Status::bad_request, .index = at.index};
    }
  };
  if (!operation) return encode_reply({.status = Status::bad_request, .index = at.index});
  return encode_reply(std::visit(reply, *operation));
}

void Machine::note(Moment at) {
  raise(index_, at.index);
  raise(time_, at.time);
}

// Leases are read by whoever has to know whether an entry is still there.
Keys Machine::keys(Bytes bytes) const {
  const auto operation = decode_operation(bytes);
  Keys keys;
  if (!operation) return keys;
  const auto everything = [&keys] {
    for (std::uint64_t i = 0; i <= leases_key; ++i) keys.reads.push_back(i);
  };
  if (const auto* put = std::get_if<Put>(&*operation)) {
    keys.writes = {shard_of(put->key)};
    keys.reads = {leases_key};
    if (put->fence) keys.reads.push_back(shard_of(put->fence->key));
  } else if (const auto* remove = std::get_if<Remove>(&*operation)) {
    keys.writes = {shard_of(remove->key)};
    keys.reads = {leases_key};
    if (remove->fence) keys.reads.push_back(shard_of(remove->fence->key));
  } else if (const auto* get = std::get_if<Get>(&*operation)) {
    keys.reads = {shard_of(get->key), leases_key};
  } else if (std::holds_alternative<List>(*operation)) {
    everything();
  } else if (const auto* watch = std::get_if<Watch>(&*operation)) {
    if (watch->is_prefix) {
      everything();
    } else {
      keys.reads = {shard_of(watch->key)};
    }
  } else if (std::holds_alternative<Grant>(*operation) ||
             std::holds_alternative<KeepAlive>(*operation)) {
    keys.writes = {leases_key};
  } else {
    keys.all = true;
  }
  return keys;
}

const Shard::Slot* Machine::alive(const std::string& key, Moment at) const {
  const Shard::Slot* slot = shard(shard_of(key)).find(key);
  if (slot == nullptr || (slot->lease != 0 && !leases_.alive(slot->lease, at.time))) return nullptr;
  return slot;
}

Reply Machine::check(const std::string& key, const std::optional<Index>& expected,
                     const std::optional<Fence>& fence, Moment at) const {
  Reply reply{.index = at.index};
  if (fence && !SMR_MUTANT("fence_ignored")) {
    const Shard::Slot* guard = alive(fence->key, at);
    if (guard == nullptr || guard->created != fence->token) reply.status = Status::fenced;
  }
  const Shard::Slot* slot = alive(key, at);
  const Index version = slot == nullptr ? 0 : slot->changed;
  if (reply.status == Status::ok && expected && *expected != version) {
    reply.status = Status::conflict;
    if (slot != nullptr) reply.entries.push_back(entry_of(key, *slot, true));
  }
  return reply;
}

Reply Machine::execute(const Put& o, Moment at) {
  Reply reply = check(o.key, o.expected, o.fence, at);
  if (reply.status != Status::ok) return reply;
  if (o.lease != 0 && !leases_.alive(o.lease, at.time)) {
    reply.status = Status::no_lease;
    return reply;
  }
  const std::size_t number = shard_of(o.key);
  const Shard::Slot* before = alive(o.key, at);
  const Index created = before == nullptr ? at.index : before->created;
  Shard& mine = writable(number);
  // Watches learn that the old one is gone before they see the new one.
  if (before == nullptr && mine.find(o.key) != nullptr) {
    mine.remove(o.key, Change::expired, at.index);
  }
  mine.put(o.key, {std::make_shared<const std::string>(o.value), created, at.index, o.lease});
  reply.entries.push_back(entry_of(o.key, *mine.find(o.key), false));
  return reply;
}

Reply Machine::execute(const Remove& o, Moment at) {
  Reply reply = check(o.key, o.expected, o.fence, at);
  if (reply.status != Status::ok) return reply;
  const Shard::Slot* slot = alive(o.key, at);
  if (slot == nullptr) {
    reply.status = Status::not_found;
    return reply;
  }
  reply.entries.push_back(entry_of(o.key, *slot, false));
  writable(shard_of(o.key)).remove(o.key, Change::removed, at.index);
  return reply;
}

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

Reply Machine::execute(const Grant& o, Moment at) {
  if (!leases_.grant(at.index, o.ttl, at.time)) return {.status = Status::full, .index = at.index};
  return {.index = at.index, .lease = at.index};
}

Reply Machine::execute(const KeepAlive& o, Moment at) {
  const bool kept = leases_.keep_alive(o.lease, at.time);
  return {.status = kept ? Status::ok : Status::no_lease, .index = at.index};
}

Reply Machine::execute(const Revoke& o, Moment at) {
  if (!leases_.end(o.lease)) return {.status = Status::no_lease, .index = at.index};
  const bool more = remove_entries_of(o.lease, expired_max, at.index) == expired_max;
  if (!more) leases_.forget(o.lease);
  return {.index = at.index, .more = more};
}

Reply Machine::execute(const Expire&, Moment at) {
  std::size_t left = expired_max;
  for (const Index lease : leases_.ended(at.time)) {
    left -= remove_entries_of(lease, left, at.index);
    if (left == 0) return {.index = at.index, .more = true};
    leases_.forget(lease);
  }
  return {.index = at.index};
}

std::size_t Machine::remove_entries_of(Index lease, std::size_t count, Index index) {
  std::size_t removed = 0;
  for (std::size_t i = 0; i < shard_count && removed < count; ++i) {
    for (const std::string& key : shard(i).keys_of(lease, count - removed)) {
      writable(i).remove(key, Change::expired, index);
      removed += 1;
    }
  }
  return removed;
}

Machine::Image Machine::snapshot() {
  shared_.fill(true);
  return [shards = std::vector<std::shared_ptr<const Shard>>(shards_.begin(), shards_.end()),
          leases = leases_, index = index_.load(), time = time_.load()] {
    Buffer image;
    wire::Writer out(image);
    out.number(index);
    out.number(time);
    leases.write(out);
    for (const auto& part : shards) part->write(out);
    return image;
  };
}

bool Machine::restore(Bytes image) {
  wire::Reader in(image);
  const auto index = in.number<Index>();
  const auto time = in.number<std::uint64_t>();
  Leases leases;
  leases.read(in);
  std::vector<std::shared_ptr<Shard>> shards;
  for (std::size_t i = 0; i < shard_count; ++i) {
    shards.push_back(std::make_shared<Shard>());
    shards.back()->read(in);
    for (const auto& [key, slot] : shards.back()->slots()) {
      if (shard_of(key) != i) in.fail("a key of another shard");
    }
  }
  if (!in.finish()) return false;
  shards_ = std::move(shards);
  shared_.fill(false);
  if (!SMR_MUTANT("leases_not_restored")) leases_ = std::move(leases);
  index_ = index;
  time_ = time;
  return true;
}

std::unique_ptr<StateMachine> make_machine() { return std::make_unique<Machine>(); }

}  // namespace piracema::smr::kv
