#pragma once

#include <piracema/smr/key_value.h>

#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "wire/reader.h"
#include "wire/writer.h"

namespace piracema::smr::kv {

/// A part of the map, with what happened to it lately. A copy shares the values.
class Shard {
 public:
  /// Events that are kept for watches: so many, and so many bytes of keys and values, but always
  /// the latest.
  static constexpr std::size_t history_max = 512;
  static constexpr std::size_t history_bytes_max = std::size_t{128} << 10;

  struct Slot {
    std::shared_ptr<const std::string> value;
    Index created = 0, changed = 0, lease = 0;
  };

  const Slot* find(std::string_view key) const;
  /// Of keys and values, what happened lately not counted.
  std::uint64_t bytes() const { return bytes_; }
  /// By key.
  const std::map<std::string, Slot, std::less<>>& slots() const { return slots_; }

  void put(const std::string& key, Slot slot);
  /// It is there. `index` is where that happens.
  void remove(std::string_view key, Change change, Index index);
  /// Up to `count` keys that were put with this lease.
  std::vector<std::string> keys_of(Index lease, std::size_t count) const;

  struct Happened {
    Index index = 0;
    Change change = Change::put;
    std::string key;
    std::shared_ptr<const std::string> value;

    std::size_t bytes() const { return key.size() + (value ? value->size() : 0); }
  };
  /// Oldest first. What is not after `forgotten` may be missing.
  const std::deque<Happened>& history() const { return history_; }
  Index forgotten() const { return forgotten_; }

  void write(wire::Writer& out) const;
  void read(wire::Reader& in);

 private:
  void detach(Index lease, std::string_view key);
  void note(Happened happened);

  std::map<std::string, Slot, std::less<>> slots_;
  std::uint64_t bytes_ = 0;
  /// The keys of each lease.
  std::map<Index, std::set<std::string, std::less<>>> leased_;
  std::deque<Happened> history_;
  std::size_t history_bytes_ = 0;
  Index forgotten_ = 0;
};

}  // namespace piracema::smr::kv
