#include "smr/kv/machine.h"

#include <algorithm>
#include <utility>

#include "base/ensure.h"
#include "wire/checksum.h"

namespace piracema::smr::kv {

namespace {

constexpr std::uint32_t index_bits = 20;
/// The number of the leases in Keys; shards have those below.
constexpr std::uint64_t leases_key = Machine::shard_count;

template <class Number>
void raise(std::atomic<Number>& to, Number value) {
  Number seen = to.load(std::memory_order_relaxed);
  while (seen < value && !to.compare_exchange_weak(seen, value, std::memory_order_relaxed)) {
  }
}

void make_unique(std::vector<std::uint64_t>& numbers) {
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
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
  const Shard::Slot* slot = shard(shard_of(key)).find(key);
  const std::uint64_t left =
      slot == nullptr ? 0 : wire::checksum(as_bytes(*slot->value)) + slot->lease;
  *at.left_behind = *at.left_behind * 31 + left;
}

// Leases are read by whoever has to know whether an entry is still there.
Keys Machine::keys(Bytes bytes) const {
  const auto operation = decode_operation(bytes);
  Keys keys;
  if (!operation) return keys;
  const auto everything = [&keys] {
    for (std::uint64_t i = 0; i <= leases_key; ++i) keys.reads.push_back(i);
  };
  const auto changes = [&keys](const auto& change) {
    keys.writes.push_back(shard_of(change.key));
    if (change.fence) keys.reads.push_back(shard_of(change.fence->key));
  };
  if (const auto* put = std::get_if<Put>(&*operation)) {
    keys.reads = {leases_key};
    changes(*put);
  } else if (const auto* remove = std::get_if<Remove>(&*operation)) {
    keys.reads = {leases_key};
    changes(*remove);
  } else if (const auto* transaction = std::get_if<Transaction>(&*operation)) {
    keys.reads = {leases_key};
    for (const auto& one : transaction->conditions) keys.reads.push_back(shard_of(one.key));
    for (const auto& one : transaction->fences) keys.reads.push_back(shard_of(one.key));
    for (const Put& one : transaction->puts) changes(one);
    for (const Remove& one : transaction->removes) changes(one);
    make_unique(keys.reads);
    make_unique(keys.writes);
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

Machine::Image Machine::snapshot() {
  shared_.fill(true);
  return [shards = std::vector<std::shared_ptr<const Shard>>(shards_.begin(), shards_.end()),
          leases = leases_, base = base_, index = index_.load(),
          time = time_.load()](const Sink& sink) {
    Buffer head;
    wire::Writer out(head);
    out.number(index);
    out.number(time);
    out.number(base);
    leases.write(out);
    sink(head);
    for (const auto& shard : shards) {
      Buffer part;
      wire::Writer writer(part);
      shard->write(writer);
      sink(part);
    }
  };
}

std::uint64_t Machine::state_bytes() const {
  std::uint64_t bytes = 0;
  for (const auto& shard : shards_) bytes += shard->bytes();
  return bytes;
}

bool Machine::restore(Bytes image) {
  wire::Reader in(image);
  const auto index = in.number<Index>();
  const auto time = in.number<std::uint64_t>();
  const auto base = in.number<Index>();
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
  leases_ = std::move(leases);
  base_ = base;
  index_ = index;
  time_ = time;
  return true;
}

std::unique_ptr<StateMachine> make_machine() { return std::make_unique<Machine>(); }

}  // namespace piracema::smr::kv
