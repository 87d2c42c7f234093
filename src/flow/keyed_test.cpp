#include <doctest/doctest.h>
#include <piracema/blocks.h>

#include <map>
#include <memory>
#include <string>
#include <type_traits>

#include "base/engine.h"
#include "base/random.h"
#include "flow/keyed_testing.h"

using namespace piracema;
using detail::KeyedTable;
using namespace piracema::flow::testing;

namespace {

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

/// What a cut got, as a map.
template <class V>
std::map<std::int64_t, V> content(const Record& cut) {
  Whole<std::int64_t, V> table;
  replay(table, cut);
  return content(table);
}

using Numbers = std::map<std::int64_t, std::int64_t>;

/// A table whose cut has begun and has nothing yet.
struct CutNumbers {
  explicit CutNumbers(std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) table_at_cut[i] = at(table, i) = i;
    table.begin_cut(cut);
  }
  void erase(std::int64_t key) { table.erase(key, mixed(key)); }
  Numbers saved() {
    while (table.save_next()) {
    }
    table.end_cut();
    return content<std::int64_t>(cut);
  }

  Whole<std::int64_t, std::int64_t> table;
  Numbers table_at_cut;
  Record cut{1};
};

/// The test says what its hash is.
struct SoughtKey {
  std::int64_t number = 0;
  bool operator==(const SoughtKey&) const = default;
};

/// Counts how often one of them is encoded, and cannot be copied.
struct Counted {
  Counted() = default;
  Counted(Counted&&) = default;
  Counted& operator=(Counted&&) = default;
  template <class Archive>
  void serialize(Archive& archive) {
    encoded += 1;
    archive(*value);
  }
  std::unique_ptr<std::int64_t> value = std::make_unique<std::int64_t>(0);
  inline static std::uint64_t encoded = 0;
};
static_assert(!std::is_copy_constructible_v<Counted>);

// A count by a number takes no more than these two.
static_assert(sizeof(detail::KeyedSegment<std::uint64_t, std::uint64_t>::Slot) == 16);

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
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
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
    // A chain: what was saved once is read, as long as its snapshot is complete.
    std::map<std::uint8_t, Record> cuts;
    std::vector<std::uint8_t> read;
    for (std::uint8_t snapshot = 1; snapshot <= 12; ++snapshot) {
      const auto frozen = model;
      // One file or the other is not read any more: what it has is saved anew.
      if (!read.empty() && random.chance(0.3)) {
        read.erase(read.begin() + static_cast<std::ptrdiff_t>(random.below(read.size())));
      }
      Record& cut = cuts.emplace(snapshot, Record(snapshot, read)).first->second;
      table.begin_cut(cut);
      if (random.chance(0.2)) {  // Given up on the way.
        for (std::uint64_t slices = random.below(50); slices != 0; --slices) {
          change(random.below(20));
          table.save_next();
        }
        if (random.chance(0.5)) table.end_cut();
        change(random.below(300));
        continue;
      }
      do {
        change(random.below(20));
      } while (table.save_next());
      table.end_cut();

      Whole<std::int64_t, std::string> other;
      for (const std::uint8_t number : read) replay(other, cuts.at(number));
      replay(other, cut);
      CHECK(content(other) == frozen);
      if (random.chance(0.3)) {  // The job goes on from it.
        table.~Whole();
        new (&table) Whole<std::int64_t, std::string>();
        for (const std::uint8_t number : read) replay(table, cuts.at(number));
        replay(table, cut);
        model = frozen;
        read.push_back(snapshot);
      } else if (random.chance(0.7)) {
        read.push_back(snapshot);  // Else it was given up.
      }
      change(random.below(300));
    }
  }
}

TEST_CASE("a value that is changed during a cut is saved as it was, however often it is changed") {
  CutNumbers of(1'000);
  for (int times = 0; times < 3; ++times) {
    for (std::int64_t i = 0; i < 1'000; i += 3) at(of.table, i) += 7;
  }
  CHECK(of.saved() == of.table_at_cut);
  CHECK(content(of.table).at(3) == 24);
}

TEST_CASE("a key that is erased during a cut is saved as it was, also if it comes again") {
  CutNumbers of(1'000);
  for (std::int64_t i = 0; i < 1'000; i += 2) of.erase(i);
  for (std::int64_t i = 0; i < 1'000; i += 4) at(of.table, i) = -1;  // Comes again,
  for (std::int64_t i = 0; i < 1'000; i += 8) of.erase(i);           // and goes.
  for (std::int64_t i = 1; i < 1'000; i += 4) {
    at(of.table, i) = -1;
    of.erase(i);
  }
  CHECK(of.saved() == of.table_at_cut);
  CHECK(of.table.find(std::int64_t{4}, mixed(std::int64_t{4})) != nullptr);
  CHECK(of.table.find(std::int64_t{8}, mixed(std::int64_t{8})) == nullptr);
}

TEST_CASE("a key that comes during a cut is not in it, whether it stays, changes or goes") {
  CutNumbers of(1'000);
  for (std::int64_t i = 1'000; i < 1'300; ++i) at(of.table, i) = i;
  for (std::int64_t i = 1'000; i < 1'100; ++i) at(of.table, i) += 1;
  for (std::int64_t i = 1'100; i < 1'200; ++i) of.erase(i);
  CHECK(of.saved() == of.table_at_cut);
  CHECK(of.table.size() == 1'200);
}

TEST_CASE("a cut of a table without keys has none, whatever comes meanwhile") {
  CutNumbers of(0);
  for (std::int64_t i = 0; i < 5'000; ++i) at(of.table, i) = i;
  CHECK(of.saved().empty());
  CHECK(of.cut.units.empty());
}

TEST_CASE("what is erased to the last key during a cut is in it, and not in the next one") {
  CutNumbers of(1'000);
  for (std::int64_t i = 0; i < 1'000; ++i) of.erase(i);
  CHECK(of.saved() == of.table_at_cut);
  Record next(2, {1});
  save_all(of.table, next);
  CHECK(next.entries == 1'000);
  Whole<std::int64_t, std::int64_t> other;
  replay(other, of.cut);
  CHECK(other.size() == 1'000);
  replay(other, next);
  CHECK(other.size() == 0);
  // With no older file nobody has to be told.
  Record alone(3);
  save_all(of.table, alone);
  CHECK(alone.units.empty());
}

TEST_CASE("a segment that grows or is divided during a cut is saved as it was") {
  for (const std::int64_t before : {1, 3, 10, 40, 100, 1'000, 4'000}) {
    CutNumbers of(before);
    for (std::int64_t i = 0; i < before; i += 2) at(of.table, i) = -i;
    for (std::int64_t i = before; i < 10 * before + 10; ++i) at(of.table, i) = i;
    for (std::int64_t i = 0; i < before; i += 3) of.erase(i);
    CHECK(of.saved() == of.table_at_cut);
  }
}

TEST_CASE("what changed during a cut is saved by the next one, and what did not is not") {
  CutNumbers of(20'000);
  at(of.table, std::int64_t{7}) = 8;
  CHECK(of.saved() == of.table_at_cut);
  Record next(2, {1});
  save_all(of.table, next);
  CHECK(next.entries == 1);
  CHECK(content<std::int64_t>(next).at(7) == 8);
}

TEST_CASE("what was kept for a cut that was given up is not in the next one") {
  for (const bool ended : {false, true}) {
    for (const int slices : {0, 1, 5}) {
      CutNumbers of(5'000);
      for (int i = 0; i < slices; ++i) of.table.save_next();
      for (std::int64_t i = 0; i < 5'000; i += 2) at(of.table, i) = -i;
      for (std::int64_t i = 5'000; i < 6'000; ++i) at(of.table, i) = i;
      if (ended) of.table.end_cut();
      for (std::int64_t i = 0; i < 5'000; i += 5) of.erase(i);
      for (std::int64_t i = 1; i < 5'000; i += 10) at(of.table, i) = 1;

      Record next(2);
      const Numbers frozen = content(of.table);
      of.table.begin_cut(next);
      for (std::int64_t i = 0; i < 5'500; i += 3) at(of.table, i) = 3;
      for (std::int64_t i = 5'500; i < 6'000; ++i) of.erase(i);
      while (of.table.save_next()) {
      }
      of.table.end_cut();
      CHECK(content<std::int64_t>(next) == frozen);
    }
  }
}

TEST_CASE("what was kept for a cut that was given up does not stand for what is there now") {
  CutNumbers of(5'000);
  for (std::int64_t i = 0; i < 5'000; i += 2) at(of.table, i) = -i;
  for (std::int64_t i = 5'000; i < 5'100; ++i) at(of.table, i) = i;
  Record next(2);
  Numbers frozen = of.table_at_cut;
  for (std::int64_t i = 0; i < 5'000; i += 2) frozen[i] = -i;
  for (std::int64_t i = 5'000; i < 5'100; ++i) frozen[i] = i;
  save_all(of.table, next);
  CHECK(content<std::int64_t>(next) == frozen);
}

TEST_CASE("where no cut is under way nothing is kept, though the last one was given up") {
  Whole<std::int64_t, Counted> table;
  for (std::int64_t i = 0; i < 1'000; ++i) *at(table, i).value = i;
  Record cut(1);
  table.begin_cut(cut);
  *at(table, std::int64_t{1}).value = -1;
  table.end_cut();
  Counted::encoded = 0;
  for (std::int64_t i = 0; i < 1'000; ++i) *at(table, i).value = -1;
  CHECK(Counted::encoded == 0);
}

TEST_CASE("a write to what was not saved yet saves that key alone, once, without a copy") {
  Whole<std::int64_t, Counted> table;
  for (std::int64_t i = 0; i < 10'000; ++i) *at(table, i).value = i;
  Record cut(1);
  table.begin_cut(cut);
  Counted::encoded = 0;
  for (std::int64_t i = 0; i < 10'000; i += 100) {
    *at(table, i).value = -1;
    *at(table, i).value = -2;
  }
  CHECK(Counted::encoded == 100);
  CHECK(cut.out.empty());
  for (std::int64_t i = 1; i < 10'000; i += 100) table.erase(i, mixed(i));
  CHECK(Counted::encoded == 200);
  while (table.save_next()) {
  }
  table.end_cut();
  CHECK(Counted::encoded == 10'000);

  Whole<std::int64_t, Counted> other;
  replay(other, cut);
  CHECK(other.size() == 10'000);
  other.for_each([](std::int64_t key, const Counted& value) { CHECK(*value.value == key); });
}

TEST_CASE("to write what has not changed since the last cut saves nothing at all") {
  Whole<std::int64_t, Counted> table;
  for (std::int64_t i = 0; i < 10'000; ++i) *at(table, i).value = i;
  Record first(1);
  save_all(table, first);
  Record second(2, {1});
  table.begin_cut(second);
  Counted::encoded = 0;
  for (std::int64_t i = 0; i < 10'000; i += 10) *at(table, i).value = -1;
  while (table.save_next()) {
  }
  CHECK(Counted::encoded == 0);
  CHECK(second.entries == 0);
}

TEST_CASE("during a cut all keys can be visited and changed") {
  CutNumbers of(5'000);
  for (std::int64_t i = 0; i < 5'000; i += 7) at(of.table, i) = 0;
  of.table.for_each([](std::int64_t, std::int64_t& value) { value = -5; });
  CHECK(of.saved() == of.table_at_cut);
}

TEST_CASE("runs that are kept stay as they were, of whatever size, each with those before it") {
  detail::KeptRuns runs;
  Random random(1);
  for (int times = 0; times < 3; ++times) {
    std::vector<std::string> put[4];
    const detail::KeptRuns::Run* last[4] = {};
    for (int i = 0; i < 10'000; ++i) {
      const std::size_t size = random.chance(0.001) ? 400'000 : random.below(300);
      const std::string bytes(size, static_cast<char>('a' + i % 26));
      const std::uint64_t chain = random.below(4);
      last[chain] = runs.add(as_bytes(bytes), last[chain]);
      put[chain].push_back(bytes);
    }
    for (int chain = 0; chain < 4; ++chain) {
      std::size_t left = put[chain].size();
      bool same = true;
      for (const auto* run = last[chain]; run != nullptr; run = run->before) {
        REQUIRE(left > 0);
        left -= 1;
        same = same && as_text(run->bytes()) == put[chain][left];
      }
      CHECK(left == 0);
      CHECK(same);
    }
    runs.clear();
  }
}

TEST_CASE("what has not changed since it was saved, or loaded, is not saved again") {
  Whole<std::int64_t, std::int64_t> table;
  for (std::int64_t i = 0; i < 50'000; ++i) at(table, i) = i;
  Record first(1);
  save_all(table, first);
  CHECK(first.entries == 50'000);

  Whole<std::int64_t, std::int64_t> other;
  replay(other, first);
  for (KeyedTable<std::int64_t, std::int64_t>* each :
       {static_cast<KeyedTable<std::int64_t, std::int64_t>*>(&table),
        static_cast<KeyedTable<std::int64_t, std::int64_t>*>(&other)}) {
    CHECK(each->in_file(1) == 50'000);
    CHECK(*each->find(std::int64_t{7}, mixed(std::int64_t{7})) == 7);
    Record none(2, {1});
    save_all(*each, none);
    CHECK(none.units.empty());
    at(*each, std::int64_t{7}) = 8;
    each->erase(std::int64_t{8}, mixed(std::int64_t{8}));
    CHECK(each->in_file(1) == 49'998);
    Record two(3, {1});
    save_all(*each, two);
    CHECK(two.entries == 2);
    CHECK(two.out.size() < 50);
    CHECK(each->in_file(3) == 2);
  }
}

TEST_CASE("of a key that comes and goes between two snapshots none has anything") {
  Whole<std::int64_t, std::int64_t> table;
  for (std::int64_t i = 0; i < 100; ++i) at(table, i) = i;
  Record first(1);
  save_all(table, first);
  for (std::int64_t i = 100; i < 200; ++i) {
    at(table, i) = i;
    table.erase(i, mixed(i));
  }
  Record second(2, {1});
  save_all(table, second);
  CHECK(second.entries == 0);
}

TEST_CASE("a key that is gone is said to be so anew while an older file is read") {
  Whole<std::int64_t, std::int64_t> table;
  for (std::int64_t i = 0; i < 100; ++i) at(table, i) = i;
  Record base(1);
  save_all(table, base);
  table.erase(std::int64_t{7}, mixed(std::int64_t{7}));
  Record second(2, {1});
  save_all(table, second);
  CHECK(second.entries == 1);
  Record third(3, {1});  // The second is not read any more, be it merged or given up.
  save_all(table, third);
  CHECK(third.entries == 1);
  Whole<std::int64_t, std::int64_t> other;
  replay(other, base);
  replay(other, third);
  CHECK(other.size() == 99);
  // It comes and goes once more in between, and the snapshot is given up on the way.
  at(table, std::int64_t{7}) = 1;
  Record lost(4, {1});
  table.begin_cut(lost);
  for (std::int64_t i = 8; i < 100; ++i) at(table, i) = 2;  // Its neighbours.
  table.end_cut();
  table.erase(std::int64_t{7}, mixed(std::int64_t{7}));
  Record fifth(5, {1});
  save_all(table, fifth);
  Whole<std::int64_t, std::int64_t> last;
  replay(last, base);
  replay(last, fifth);
  CHECK(last.size() == 99);
}

TEST_CASE("what is forgotten is saved again") {
  Whole<std::int64_t, std::int64_t> table;
  for (std::int64_t i = 0; i < 1'000; ++i) at(table, i) = i;
  Record lost(9);
  save_all(table, lost);
  CHECK(table.in_file(9) == 1'000);
  std::array<bool, 256> nine{};
  nine[9] = true;
  table.forget(nine);
  CHECK(table.in_file(9) == 0);
  Record next(9);
  next.of.again[9] = false;
  save_all(table, next);
  CHECK(next.entries == 1'000);
}

TEST_CASE("what a program of before wrote, all keys of a range, is read") {
  Buffer range;
  detail::KeyedWriter writer(range);
  writer.number(1);
  writer.put(std::int64_t{3});
  writer.put(std::string("three"));
  const std::uint64_t hash = mixed(std::int64_t{3});
  Whole<std::int64_t, std::string> table;
  CHECK_THROWS_AS(table.load({(sixteen.group_of(hash) + 1) % 16, 0, 0}, range), DecodeError);
  table.load({sixteen.group_of(hash), 0, 0}, range);
  CHECK(content(table) == std::map<std::int64_t, std::string>{{3, "three"}});
  CHECK_THROWS_AS(table.load({sixteen.group_of(hash), 0, 0}, range), DecodeError);
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
  KeyedTable<SoughtKey, std::int64_t> table;
  table.own(sixteen, {0, 16});
  // One prefix, and all other bits apart.
  const auto hash = [](std::int64_t i) { return mix(static_cast<std::uint64_t>(i)) >> 27; };
  for (std::int64_t i = 0; i < 30'000; ++i) table.edit(SoughtKey{i}, hash(i)) = i;
  for (std::int64_t i = 0; i < 30'000; ++i) CHECK(*table.find(SoughtKey{i}, hash(i)) == i);
  for (std::int64_t i = 0; i < 30'000; i += 2) table.erase(SoughtKey{i}, hash(i));
  for (std::int64_t i = 0; i < 30'000; ++i) {
    CHECK((table.find(SoughtKey{i}, hash(i)) != nullptr) == (i % 2 == 1));
  }
}

TEST_CASE(
    "keys of one hash are told apart, and more of them than fit are refused with the reason") {
  KeyedTable<SoughtKey, std::int64_t> table;
  table.own(sixteen, {0, 16});
  for (std::int64_t i = 0; i < 2'000; ++i) table.edit(SoughtKey{i}, 0) = i;
  for (std::int64_t i = 0; i < 2'000; i += 2) table.erase(SoughtKey{i}, 0);
  for (std::int64_t i = 0; i < 2'000; ++i) {
    const std::int64_t* const found = table.find(SoughtKey{i}, 0);
    CHECK((found != nullptr) == (i % 2 == 1));
    if (found != nullptr) CHECK(*found == i);
  }
  CHECK_THROWS_WITH_AS((detail::KeyedSegment<SoughtKey, std::int64_t>::make(0, 0, 65'537)),
                       doctest::Contains("KeyHash of this type of key has to spread them"),
                       std::length_error);
}

TEST_CASE("bytes that say nothing of keys are refused") {
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
    if (random.chance(0.2)) unit.group = static_cast<std::uint32_t>(random.below(16));
    Whole<std::string, std::string> other;
    try {
      other.replay(unit.group, as_bytes(unit.bytes), 1);
    } catch (const DecodeError&) {
      refused += 1;
    }
  }
  CHECK(refused > 8'000);
}

TEST_CASE("values that are larger than they look divide their segment") {
  Whole<std::int64_t, std::vector<std::int64_t>> table;
  for (std::int64_t i = 0; i < 64; ++i) at(table, i).assign(10'000, i);
  std::size_t largest = 0;
  for (std::uint8_t snapshot = 1; snapshot < 10; ++snapshot) {
    Record cut(snapshot);
    save_all(table, cut);
    largest = 0;
    for (const auto& unit : cut.units) largest = std::max(largest, unit.bytes.size());
    for (std::int64_t i = 0; i < 64; ++i) at(table, i)[0] += 1;
  }
  CHECK(largest <= 400'000);
  CHECK(content(table).at(5).size() == 10'000);
}
