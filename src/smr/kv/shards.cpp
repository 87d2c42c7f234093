#include "smr/kv/shards.h"

#include <algorithm>
#include <utility>

#include "wire/checksum.h"

namespace piracema::smr::kv {

Shards::Shards() {
  for (std::size_t i = 0; i < count; ++i) shards_.push_back(std::make_shared<Shard>());
}

std::size_t Shards::of(std::string_view key) { return wire::checksum(as_bytes(key)) % count; }

Shard& Shards::writable(std::size_t number) {
  if (std::exchange(shared_[number], false)) {
    shards_[number] = std::make_shared<Shard>(*shards_[number]);
  }
  return *shards_[number];
}

bool Shards::is_empty() const {
  return std::all_of(shards_.begin(), shards_.end(), [](const auto& one) {
    return one->slots().empty() && one->history().empty();
  });
}

std::uint64_t Shards::bytes() const {
  std::uint64_t bytes = 0;
  for (const auto& one : shards_) bytes += one->bytes();
  return bytes;
}

std::size_t Shards::remove_leased(Index lease, std::size_t most, Index index) {
  std::size_t removed = 0;
  for (std::size_t i = 0; i < count && removed < most; ++i) {
    for (const std::string& key : shards_[i]->keys_of(lease, most - removed)) {
      writable(i).remove(key, Change::expired, index);
      removed += 1;
    }
  }
  return removed;
}

std::function<void(const Shards::Sink&)> Shards::snapshot() {
  shared_.fill(true);
  return [shards = std::vector<std::shared_ptr<const Shard>>(shards_.begin(), shards_.end())](
             const Sink& sink) {
    for (const auto& one : shards) {
      Buffer part;
      wire::Writer writer(part);
      one->write(writer);
      sink(part);
    }
  };
}

void Shards::read(wire::Reader& in) {
  for (std::size_t i = 0; i < count; ++i) {
    shards_[i] = std::make_shared<Shard>();
    shards_[i]->read(in);
    for (const auto& [key, slot] : shards_[i]->slots()) {
      if (of(key) != i) in.fail("a key of another shard");
    }
  }
  shared_.fill(false);
}

}  // namespace piracema::smr::kv
