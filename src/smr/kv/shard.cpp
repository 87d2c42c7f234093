#include "smr/kv/shard.h"

#include <utility>

#include "base/ensure.h"

namespace piracema::smr::kv {

namespace {

// Of an entry in an image, beside its key and its value.
constexpr std::uint64_t slot_bytes = 40;

}  // namespace

const Shard::Slot* Shard::find(std::string_view key) const {
  const auto found = slots_.find(key);
  return found == slots_.end() ? nullptr : &found->second;
}

void Shard::put(const std::string& key, Slot slot) {
  Slot& mine = slots_[key];
  bytes_ += (mine.value ? 0 : key.size() + slot_bytes) + slot.value->size();
  if (mine.value) bytes_ -= mine.value->size();
  if (mine.lease != slot.lease) {
    detach(mine.lease, key);
    if (slot.lease != 0) leased_[slot.lease].insert(key);
  }
  note({slot.changed, Change::put, key, slot.value});
  mine = std::move(slot);
}

void Shard::remove(std::string_view key, Change change, Index index) {
  const auto found = slots_.find(key);
  ENSURE(found != slots_.end());
  detach(found->second.lease, key);
  note({index, change, found->first, nullptr});
  bytes_ -= found->first.size() + slot_bytes + found->second.value->size();
  slots_.erase(found);
}

void Shard::detach(Index lease, std::string_view key) {
  const auto found = leased_.find(lease);
  if (found == leased_.end()) return;
  const auto place = found->second.find(key);
  if (place != found->second.end()) found->second.erase(place);
  if (found->second.empty()) leased_.erase(found);
}

std::vector<std::string> Shard::keys_of(Index lease, std::size_t count) const {
  std::vector<std::string> keys;
  const auto found = leased_.find(lease);
  if (found == leased_.end()) return keys;
  for (const std::string& key : found->second) {
    if (keys.size() == count) break;
    keys.push_back(key);
  }
  return keys;
}

void Shard::note(Happened happened) {
  history_bytes_ += happened.bytes();
  history_.push_back(std::move(happened));
  while (history_.size() > 1 &&
         (history_.size() > history_max || history_bytes_ > history_bytes_max)) {
    history_bytes_ -= history_.front().bytes();
    forgotten_ = history_.front().index;
    history_.pop_front();
  }
}

void Shard::write(wire::Writer& out) const {
  out.number(static_cast<std::uint64_t>(slots_.size()));
  for (const auto& [key, slot] : slots_) {
    out.text(key);
    out.text(*slot.value);
    out.number(slot.created);
    out.number(slot.changed);
    out.number(slot.lease);
  }
  out.number(forgotten_);
  out.number(static_cast<std::uint64_t>(history_.size()));
  for (const Happened& happened : history_) {
    out.number(happened.index);
    out.number(static_cast<std::uint8_t>(happened.change));
    out.text(happened.key);
    out.text(happened.value ? *happened.value : std::string());
  }
}

void Shard::read(wire::Reader& in) {
  const std::size_t slots = in.count(slot_bytes);
  for (std::size_t i = 0; i < slots && in.ok(); ++i) {
    std::string key = in.text();
    Slot slot;
    slot.value = std::make_shared<const std::string>(in.text());
    slot.created = in.number<std::uint64_t>();
    slot.changed = in.number<std::uint64_t>();
    slot.lease = in.number<std::uint64_t>();
    if (slot.lease != 0) leased_[slot.lease].insert(key);
    bytes_ += key.size() + slot_bytes + slot.value->size();
    if (!slots_.try_emplace(std::move(key), std::move(slot)).second) in.fail("a key twice");
  }
  forgotten_ = in.number<std::uint64_t>();
  const std::size_t events = in.count(25);
  if (events > history_max) in.fail("a longer history than is kept");
  for (std::size_t i = 0; i < events && in.ok(); ++i) {
    Happened happened;
    happened.index = in.number<std::uint64_t>();
    happened.change = static_cast<Change>(in.number<std::uint8_t>());
    if (happened.change > Change::expired) in.fail("an unknown event");
    happened.key = in.text();
    std::string value = in.text();
    if (happened.change == Change::put) {
      happened.value = std::make_shared<const std::string>(std::move(value));
    }
    // Images of former versions may have more bytes of them.
    note(std::move(happened));
  }
}

}  // namespace piracema::smr::kv
