#include <doctest/doctest.h>
#include <piracema/blocks.h>

#include <map>
#include <string>

#include "base/engine.h"
#include "base/random.h"

using namespace piracema;
using detail::KeyedTable;

namespace {

struct Record final : KeyedCut {
  struct Unit {
    HashRange range;
    std::string bytes;
    StatePlace place;
  };
  explicit Record(std::uint64_t number, std::uint64_t newest = 0)
      : snapshot(number), base(newest) {}

  bool keep(const HashRange& range, const StatePlace& place) override {
    if (place.snapshot > base) return false;
    kept.push_back({range, "", place});
    return true;
  }
  Buffer& bytes() override { return out; }
  StatePlace saved(const HashRange& range, std::size_t from) override {
    const StatePlace place{snapshot, 0, from, out.size() - from, 1};
    units.push_back({range, std::string(as_text(Bytes(out).subspan(from))), place});
    return place;
  }

  std::uint64_t snapshot, base;
  Buffer out;
  std::vector<Unit> units, kept;
};

template <class Key, class V>
void save_all(KeyedTable<Key, V>& table, Record& cut) {
  table.begin_cut(cut);
  while (table.save_next()) {
  }
  table.end_cut();
}

constexpr KeyGroups sixteen(16);

template <class Key>
std::uint64_t mixed(const Key& key) {
  return mix(KeyHash<Key>::of(key));
}
template <class Key, class V>
V& at(KeyedTable<Key, V>& table, const Key& key) {
  return table.edit(key, mixed(key));
}
template <class Key, class V>
std::map<Key, V> content(KeyedTable<Key, V>& table) {
  std::map<Key, V> all;
  table.for_each([&](const Key& key, const V& value) { all[key] = value; });
  return all;
}

template <class Key, class V>
struct Whole : KeyedTable<Key, V> {
  explicit Whole(KeyGroups groups = sixteen) { this->own(groups, {0, groups.count()}); }
};

}  // namespace

TEST_CASE("a table holds what is put into it, however many keys come and go") {
  Whole<std::int64_t, std::int64_t> table;
  std::map<std::int64_t, std::int64_t> model;
  Random random(1);
  for (int i = 0; i < 200'000; ++i) {
    const auto key = static_cast<std::int64_t>(random.below(20'000)) - 10'000;
    if (random.chance(0.3)) {
      table.erase(key, mixed(key));
      model.erase(key);
    } else {
      at(table, key) += i;
      model[key] += i;
    }
  }
  CHECK(table.size() == model.size());
  CHECK(content(table) == model);
  for (const auto& [key, value] : model) {
    const std::int64_t* const found = table.find(key, mixed(key));
    REQUIRE(found != nullptr);
    CHECK(*found == value);
  }
  CHECK(table.find(std::int64_t{77'777}, mixed(std::int64_t{77'777})) == nullptr);
}

TEST_CASE("keys are visited in one order, whatever order they came in") {
  std::vector<std::string> orders[2];
  for (const int way : {0, 1}) {
    Whole<std::string, int> table;
    for (int i = 0; i < 5'000; ++i) at(table, std::to_string(way == 0 ? i : 4'999 - i)) = i;
    for (int i = 0; i < 5'000; i += 7) {
      if (way == 0) table.erase(std::to_string(i), mixed(std::to_string(i)));
    }
    for (int i = 0; i < 5'000; i += 7) at(table, std::to_string(i)) = 1;
    table.for_each([&](const std::string& key, int) { orders[way].push_back(key); });
  }
  CHECK(orders[0].size() == 5'000);
  CHECK(orders[0] == orders[1]);
}

TEST_CASE("a cut has what was there when it began, whatever is written and erased meanwhile") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Random random(seed);
    Whole<std::int64_t, std::string> table;
    std::map<std::int64_t, std::string> model;
    const auto change = [&](std::uint64_t count) {
      for (std::uint64_t i = 0; i < count; ++i) {
        const auto key = static_cast<std::int64_t>(random.below(3'000));
        if (random.chance(0.2)) {
          table.erase(key, mixed(key));
          model.erase(key);
        } else {
          model[key] = at(table, key) = std::string(random.below(200), 'x') + std::to_string(key);
        }
      }
    };
    change(random.below(8'000));
    // A chain: what was saved once is kept, as long as its snapshot is complete.
    std::map<std::uint64_t, Record> cuts;
    std::uint64_t newest = 0;
    for (std::uint64_t snapshot = 1; snapshot <= 4; ++snapshot) {
      const auto frozen = model;
      Record& cut = cuts.emplace(snapshot, Record(snapshot, newest)).first->second;
      table.begin_cut(cut);
      do {
        change(random.below(20));
      } while (table.save_next());
      table.end_cut();
      if (random.chance(0.7)) newest = snapshot;  // Else it was given up.

      Whole<std::int64_t, std::string> other;
      for (const auto& unit : cut.units) other.load(unit.range, as_bytes(unit.bytes), unit.place);
      for (const auto& unit : cut.kept) {
        const auto& from = cuts.at(unit.place.snapshot).units;
        const auto saved = std::find_if(from.begin(), from.end(),
                                        [&](const auto& u) { return u.place == unit.place; });
        REQUIRE(saved != from.end());
        other.load(unit.range, as_bytes(saved->bytes), unit.place);
      }
      CHECK(content(other) == frozen);
      change(random.below(300));
    }
  }
}

TEST_CASE("what has not changed since it was saved, or loaded, is not saved again") {
  Whole<std::int64_t, std::int64_t> table;
  for (std::int64_t i = 0; i < 50'000; ++i) at(table, i) = i;
  Record first(1);
  save_all(table, first);
  CHECK(first.units.size() > 50);

  Whole<std::int64_t, std::int64_t> other;
  for (const auto& unit : first.units) other.load(unit.range, as_bytes(unit.bytes), unit.place);
  for (KeyedTable<std::int64_t, std::int64_t>* each :
       {static_cast<KeyedTable<std::int64_t, std::int64_t>*>(&table),
        static_cast<KeyedTable<std::int64_t, std::int64_t>*>(&other)}) {
    CHECK(*each->find(std::int64_t{7}, mixed(std::int64_t{7})) == 7);
    Record none(2, 1);
    save_all(*each, none);
    CHECK(none.units.empty());
    CHECK(none.kept.size() == first.units.size());
    at(*each, std::int64_t{7}) = 8;
    Record one(3, 1);
    save_all(*each, one);
    CHECK(one.units.size() == 1);
    CHECK(one.kept.size() == first.units.size() - 1);
  }
}

TEST_CASE("groups without keys have no memory, and a replica refuses keys of others") {
  KeyedTable<std::int64_t, std::int64_t> table;
  table.own(sixteen, {4, 8});
  Record none(1);
  save_all(table, none);
  CHECK(none.units.empty());
  std::int64_t kept = 0, refused = 0;
  for (std::int64_t i = 0; i < 1'000; ++i) {
    const bool owned = GroupRange{4, 8}.has(sixteen.group_of(mixed(i)));
    if (owned) {
      at(table, i) = i;
      kept += 1;
    } else {
      CHECK_THROWS_AS(at(table, i), std::logic_error);
      refused += 1;
    }
  }
  CHECK(kept > 100);
  CHECK(refused > 100);
}

TEST_CASE("keys with hashes that were sought out make a segment larger, not the directory") {
  KeyedTable<std::int64_t, std::int64_t> table;
  table.own(sixteen, {0, 16});
  for (std::int64_t i = 0; i < 30'000; ++i) table.edit(i, static_cast<std::uint64_t>(i) * 2) = i;
  for (std::int64_t i = 0; i < 30'000; ++i) {
    CHECK(*table.find(i, static_cast<std::uint64_t>(i) * 2) == i);
  }
}

TEST_CASE("bytes that are no range of a table are refused") {
  Whole<std::string, std::string> table;
  for (int i = 0; i < 40; ++i) at(table, std::to_string(i)) = std::string(20, 'v');
  Record cut(1);
  save_all(table, cut);
  Random random(1);
  std::uint64_t refused = 0;
  for (int i = 0; i < 20'000; ++i) {
    auto unit = cut.units[random.below(cut.units.size())];
    for (std::uint64_t n = 1 + random.below(3); n != 0 && !unit.bytes.empty(); --n) {
      const std::size_t where = random.below(unit.bytes.size());
      if (random.chance(0.3)) {
        unit.bytes.resize(where);
      } else {
        unit.bytes[where] = static_cast<char>(random.next());
      }
    }
    if (random.chance(0.2)) unit.range.depth = static_cast<std::uint32_t>(random.below(17));
    Whole<std::string, std::string> other;
    try {
      other.load(unit.range, as_bytes(unit.bytes), unit.place);
    } catch (const DecodeError&) {
      refused += 1;
    }
  }
  CHECK(refused > 10'000);
}

TEST_CASE("values that are larger than they look divide their segment") {
  Whole<std::int64_t, std::vector<std::int64_t>> table;
  for (std::int64_t i = 0; i < 64; ++i) at(table, i).assign(10'000, i);
  std::size_t largest = 0;
  for (std::uint64_t snapshot = 1; snapshot < 10; ++snapshot) {
    Record cut(snapshot);
    save_all(table, cut);
    largest = 0;
    for (const auto& unit : cut.units) largest = std::max(largest, unit.bytes.size());
    for (std::int64_t i = 0; i < 64; ++i) at(table, i)[0] += 1;
  }
  CHECK(largest <= 400'000);
  CHECK(content(table).at(5).size() == 10'000);
}
