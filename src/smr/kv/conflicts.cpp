#include "smr/kv/conflicts.h"

#include <algorithm>
#include <cstdint>
#include <variant>
#include <vector>

#include "smr/kv/shards.h"

namespace piracema::smr::kv {

namespace {

/// The number of the leases in Keys; shards have those below.
constexpr std::uint64_t leases_key = Shards::count;

void make_unique(std::vector<std::uint64_t>& numbers) {
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
}

}  // namespace

// Leases are read by whoever has to know whether an entry is still there.
Keys conflicts_of(const Operation& operation) {
  Keys keys;
  const auto everything = [&keys] {
    for (std::uint64_t i = 0; i <= leases_key; ++i) keys.reads.push_back(i);
  };
  const auto changes = [&keys](const auto& change) {
    keys.writes.push_back(Shards::of(change.key));
    if (change.fence) keys.reads.push_back(Shards::of(change.fence->key));
  };
  if (const auto* put = std::get_if<Put>(&operation)) {
    keys.reads = {leases_key};
    changes(*put);
  } else if (const auto* remove = std::get_if<Remove>(&operation)) {
    keys.reads = {leases_key};
    changes(*remove);
  } else if (const auto* transaction = std::get_if<Transaction>(&operation)) {
    keys.reads = {leases_key};
    for (const auto& one : transaction->conditions) keys.reads.push_back(Shards::of(one.key));
    for (const auto& one : transaction->fences) keys.reads.push_back(Shards::of(one.key));
    for (const Put& one : transaction->puts) changes(one);
    for (const Remove& one : transaction->removes) changes(one);
    make_unique(keys.reads);
    make_unique(keys.writes);
  } else if (const auto* get = std::get_if<Get>(&operation)) {
    keys.reads = {Shards::of(get->key), leases_key};
  } else if (std::holds_alternative<List>(operation)) {
    everything();
  } else if (const auto* watch = std::get_if<Watch>(&operation)) {
    if (watch->is_prefix) {
      everything();
    } else {
      keys.reads = {Shards::of(watch->key)};
    }
  } else if (std::holds_alternative<Grant>(operation) ||
             std::holds_alternative<KeepAlive>(operation)) {
    keys.writes = {leases_key};
  } else {
    keys.all = true;
  }
  return keys;
}

}  // namespace piracema::smr::kv
