#pragma once

#include <piracema/detail/keyed_table.h>
#include <piracema/key.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/engine.h"

/// What tests of tables of states by key share.
namespace piracema::flow::testing {

using detail::KeyedTable;

/// A file of a snapshot, whose number is that of the snapshot. `read` are the earlier ones that are
/// read before it.
struct Record final : KeyedCut {
  struct Unit {
    std::uint32_t group;
    std::string bytes;
  };
  explicit Record(std::uint8_t snapshot, const std::vector<std::uint8_t>& read = {}) {
    of.number = snapshot;
    of.again.fill(true);
    for (const std::uint8_t number : read) of.again[number] = false;
    of.only_changes = false;
    of.older.fill(!read.empty());
  }

  const CutPlan& plan(std::uint32_t) override { return of; }
  Buffer& bytes() override { return out; }
  void saved(std::uint32_t group, std::size_t from, std::uint64_t count) override {
    units.push_back({group, std::string(as_text(Bytes(out).subspan(from)))});
    entries += count;
  }

  CutPlan of;
  Buffer out;
  std::vector<Unit> units;
  std::uint64_t entries = 0;
};

template <class Key, class V>
void save_all(KeyedTable<Key, V>& table, Record& cut) {
  table.begin_cut(cut);
  while (table.save_next()) {
  }
  table.end_cut();
}

inline constexpr KeyGroups sixteen(16);

template <class Key>
std::uint64_t mixed(const Key& key) {
  return mix(KeyHash<Key>::of(key));
}
template <class Key, class V>
void replay(KeyedTable<Key, V>& table, const Record& file) {
  for (const auto& unit : file.units) {
    table.replay(unit.group, as_bytes(unit.bytes), file.of.number);
  }
}

}  // namespace piracema::flow::testing
