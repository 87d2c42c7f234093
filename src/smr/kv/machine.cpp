#include "smr/kv/machine.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/ensure.h"
#include "smr/kv/conflicts.h"
#include "wire/checksum.h"

namespace piracema::smr::kv {

namespace {

constexpr std::uint32_t index_bits = 20;
constexpr std::size_t reply_bytes_max = std::size_t{1} << 20;

template <class Number>
void raise(std::atomic<Number>& to, Number value) {
  Number seen = to.load(std::memory_order_relaxed);
  while (seen < value && !to.compare_exchange_weak(seen, value, std::memory_order_relaxed)) {
  }
}

}  // namespace

Buffer Machine::apply(Bytes bytes, const Context& context) {
  ENSURE(context.index < std::uint32_t{1} << index_bits);  // Batches are smaller.
  const Moment at{base_ + (context.instance << index_bits | context.index), context.time,
                  context.left_behind};
  note(at);
  const auto operation = decode_operation(bytes);
  if (!operation) return encode_reply({.status = Status::bad_request, .index = at.index});
  return encode_reply(std::visit([&](const auto& o) { return execute(o, at); }, *operation));
}

// As somebody's Expire would be.
void Machine::on_time(const Context& context) {
  const Moment at{context.instance << index_bits, context.time};
  note(at);
  execute(Expire{}, at);
}

Buffer Machine::query(Bytes bytes) const {
  const Moment at{.index = index_, .time = time_};
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

// The rest of an entry is in the reply. An operation may leave several.
void Machine::leave(const std::string& key, Moment at) const {
  if (at.left_behind == nullptr) return;
  const Shard::Slot* slot = shards_.find(key);
  const std::uint64_t left =
      slot == nullptr ? 0 : wire::checksum(as_bytes(*slot->value)) + slot->lease;
  *at.left_behind = *at.left_behind * 31 + left;
}

Keys Machine::keys(Bytes bytes) const {
  const auto operation = decode_operation(bytes);
  return operation ? conflicts_of(*operation) : Keys{};
}

const Shard::Slot* Machine::alive(const std::string& key, Moment at) const {
  const Shard::Slot* slot = shards_.find(key);
  if (slot == nullptr || (slot->lease != 0 && !leases_.alive(slot->lease, at.time))) return nullptr;
  return slot;
}

Machine::Image Machine::snapshot() {
  return [write_shards = shards_.snapshot(), leases = leases_, base = base_, index = index_.load(),
          time = time_.load()](const Sink& sink) {
    Buffer head;
    wire::Writer out(head);
    out.number(index);
    out.number(time);
    out.number(base);
    leases.write(out);
    sink(head);
    write_shards(sink);
  };
}

std::uint64_t Machine::state_bytes() const { return shards_.bytes(); }

bool Machine::restore(Bytes image) {
  wire::Reader in(image);
  const auto index = in.number<Index>();
  const auto time = in.number<std::uint64_t>();
  const auto base = in.number<Index>();
  Leases leases;
  leases.read(in);
  Shards shards;
  shards.read(in);
  if (!in.finish()) return false;
  shards_ = std::move(shards);
  leases_ = std::move(leases);
  base_ = base;
  index_ = index;
  time_ = time;
  return true;
}

// Of a Watch alone it may be nothing.
bool Machine::has_news(Bytes bytes) const {
  const auto reply = decode_reply(bytes);
  return !reply || reply->status != Status::ok || !reply->events.empty();
}

// ---- operations that change nothing

Reply Machine::execute(const Get& o, Moment at) const {
  const Shard::Slot* slot = alive(o.key, at);
  if (slot == nullptr) return {.status = Status::not_found, .index = at.index};
  return {.index = at.index, .entries = {entry_of(o.key, *slot, true)}};
}

Reply Machine::execute(const List& o, Moment at) const {
  std::vector<std::pair<const std::string*, const Shard::Slot*>> found;
  for (std::size_t i = 0; i < Shards::count; ++i) {
    const auto& slots = shards_[i].slots();
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
    for (std::size_t i = 0; i < Shards::count; ++i) look_at(shards_[i]);
  } else {
    look_at(shards_[Shards::of(o.key)]);
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

// ---- operations that change something

bool Machine::holds(const Fence& fence, Moment at) const {
  const Shard::Slot* guard = alive(fence.key, at);
  return guard != nullptr && guard->created == fence.token;
}

bool Machine::lives(Index lease, Moment at) const {
  return lease == 0 || leases_.alive(lease, at.time);
}

Reply Machine::check(const std::string& key, const std::optional<Index>& expected,
                     const std::optional<Fence>& fence, Moment at) const {
  Reply reply{.index = at.index};
  if (fence && !holds(*fence, at)) reply.status = Status::fenced;
  const Shard::Slot* slot = alive(key, at);
  const Index version = slot == nullptr ? 0 : slot->changed;
  if (reply.status == Status::ok && expected && *expected != version) {
    reply.status = Status::conflict;
    if (slot != nullptr) reply.entries.push_back(entry_of(key, *slot, true));
  }
  return reply;
}

Entry Machine::change(const Put& o, Moment at) {
  const Shard::Slot* before = alive(o.key, at);
  const Index created = before == nullptr ? at.index : before->created;
  Shard& mine = shards_.writable(o.key);
  // Watches learn that the old one is gone before they see the new one.
  if (before == nullptr && mine.find(o.key) != nullptr) {
    mine.remove(o.key, Change::expired, at.index);
  }
  mine.put(o.key, {std::make_shared<const std::string>(o.value), created, at.index, o.lease});
  leave(o.key, at);
  return entry_of(o.key, *mine.find(o.key), false);
}

Entry Machine::change(const Remove& o, Moment at) {
  Entry gone = entry_of(o.key, *alive(o.key, at), false);
  shards_.writable(o.key).remove(o.key, Change::removed, at.index);
  leave(o.key, at);
  return gone;
}

Reply Machine::execute(const Put& o, Moment at) {
  Reply reply = check(o.key, o.expected, o.fence, at);
  if (reply.status != Status::ok) return reply;
  if (!lives(o.lease, at)) {
    reply.status = Status::no_lease;
    return reply;
  }
  reply.entries.push_back(change(o, at));
  return reply;
}

Reply Machine::execute(const Remove& o, Moment at) {
  Reply reply = check(o.key, o.expected, o.fence, at);
  if (reply.status != Status::ok) return reply;
  if (alive(o.key, at) == nullptr) {
    reply.status = Status::not_found;
    return reply;
  }
  reply.entries.push_back(change(o, at));
  return reply;
}

// Everything is looked at before anything is changed.
Reply Machine::check(const Transaction& o, Moment at) const {
  Reply reply{.index = at.index};
  const auto refuse = [&](Status status, const std::string& key) {
    // The first thing that does not hold says what the reply is about.
    if (reply.status == Status::ok) reply.status = status;
    if (reply.status != status || key.empty()) return;
    const Shard::Slot* slot = alive(key, at);
    reply.entries.push_back(slot == nullptr ? Entry{.key = key} : entry_of(key, *slot, false));
  };
  const auto look_at_fence = [&](const Fence& fence) {
    if (!holds(fence, at)) refuse(Status::fenced, fence.key);
  };
  for (const Fence& fence : o.fences) look_at_fence(fence);
  for (const Put& put : o.puts) {
    if (put.fence) look_at_fence(*put.fence);
  }
  for (const Remove& remove : o.removes) {
    if (remove.fence) look_at_fence(*remove.fence);
  }
  const auto look_at_version = [&](const std::string& key, const std::optional<Index>& expected) {
    const Shard::Slot* slot = alive(key, at);
    const Index version = slot == nullptr ? 0 : slot->changed;
    if (expected && *expected != version) refuse(Status::conflict, key);
  };
  for (const Condition& one : o.conditions) look_at_version(one.key, one.expected);
  for (const Put& put : o.puts) look_at_version(put.key, put.expected);
  for (const Remove& remove : o.removes) look_at_version(remove.key, remove.expected);
  for (const Put& put : o.puts) {
    if (!lives(put.lease, at)) refuse(Status::no_lease, "");
  }
  for (const Remove& remove : o.removes) {
    if (alive(remove.key, at) == nullptr) refuse(Status::not_found, remove.key);
  }
  return reply;
}

Reply Machine::execute(const Transaction& o, Moment at) {
  Reply reply = check(o, at);
  if (reply.status != Status::ok) return reply;
  for (const Put& put : o.puts) reply.entries.push_back(change(put, at));
  for (const Remove& remove : o.removes) reply.entries.push_back(change(remove, at));
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
  const bool more = shards_.remove_leased(o.lease, expired_max, at.index) == expired_max;
  if (!more) leases_.forget(o.lease);
  return {.index = at.index, .more = more};
}

Reply Machine::execute(const Expire&, Moment at) {
  std::size_t left = expired_max;
  for (const Index lease : leases_.ended(at.time)) {
    left -= shards_.remove_leased(lease, left, at.index);
    if (left == 0) return {.index = at.index, .more = true};
    leases_.forget(lease);
  }
  return {.index = at.index};
}

Reply Machine::execute(const Load& o, Moment at) {
  const bool begins = base_ == 0;
  if (o.index == 0 || (begins ? !shards_.is_empty() : base_ != o.index)) {
    return {.status = Status::conflict, .index = at.index};
  }
  base_ = o.index;
  for (const Entry& entry : o.entries) {
    // It says so again, or somebody has changed it.
    if (shards_.find(entry.key) != nullptr) continue;
    shards_.writable(entry.key).put(entry.key, {std::make_shared<const std::string>(entry.value),
                                                entry.created, entry.changed, 0});
    leave(entry.key, at);
  }
  if (begins) at.index += base_;
  note(at);
  return {.index = at.index};
}

std::unique_ptr<StateMachine> make_machine() { return std::make_unique<Machine>(); }

}  // namespace piracema::smr::kv
