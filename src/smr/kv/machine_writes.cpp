#include "smr/kv/machine.h"

/// Operations that change something.
namespace piracema::smr::kv {

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
  const std::size_t number = shard_of(o.key);
  const Shard::Slot* before = alive(o.key, at);
  const Index created = before == nullptr ? at.index : before->created;
  Shard& mine = writable(number);
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
  writable(shard_of(o.key)).remove(o.key, Change::removed, at.index);
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

bool Machine::is_empty() const {
  for (const auto& part : shards_) {
    if (!part->slots().empty() || !part->history().empty()) return false;
  }
  return true;
}

Reply Machine::execute(const Load& o, Moment at) {
  const bool begins = base_ == 0;
  if (o.index == 0 || (begins ? !is_empty() : base_ != o.index)) {
    return {.status = Status::conflict, .index = at.index};
  }
  base_ = o.index;
  for (const Entry& entry : o.entries) {
    const std::size_t number = shard_of(entry.key);
    // It says so again, or somebody has changed it.
    if (shard(number).find(entry.key) != nullptr) continue;
    writable(number).put(entry.key, {std::make_shared<const std::string>(entry.value),
                                     entry.created, entry.changed, 0});
    leave(entry.key, at);
  }
  if (begins) at.index += base_;
  note(at);
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

}  // namespace piracema::smr::kv
