// States of keys that have a MapState or a ListState, in memory and on disk.
#include <doctest/doctest.h>
#include <piracema/detail/collected_states.h>
#include <piracema/detail/expiring_table.h>
#include <piracema/detail/stored_rows.h>
#include <piracema/detail/stored_table.h>
#include <piracema/list_state.h>
#include <piracema/map_state.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "state/disk/state_place_testing.h"
#include "state/keyed_job_testing.h"

using namespace piracema;
using namespace piracema::state::testing;
using detail::CollectedStates;
using detail::Expiring;
using detail::KeyedRows;
using detail::StoredRows;
using detail::StoredTable;
using detail::Timed;
using std::chrono::milliseconds;

namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::uint64_t cases_in_memory = 20, cases_on_disk = 4;
#else
constexpr std::uint64_t cases_in_memory = 100, cases_on_disk = 10;
#endif

/// All values, what they add up to, and which keys were written last.
struct Values {
  MapState<std::int64_t, std::int64_t> of;
  std::int64_t sum = 0;
  ListState<std::int64_t> last;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(of, sum, last);
  }
  void add(std::int64_t key, std::int64_t value) {
    of.put(key, value);
    sum = static_cast<std::int64_t>(static_cast<std::uint64_t>(sum) +
                                    static_cast<std::uint64_t>(value));
    last.push_back(key);
    if (last.size() > 5) last.pop_front();
  }
  void take(std::int64_t key) {
    sum = static_cast<std::int64_t>(static_cast<std::uint64_t>(sum) -
                                    static_cast<std::uint64_t>(of.get(key).value_or(0)));
    of.erase(key);
  }
};

/// One that is wrong.
struct Forgets {
  MapState<std::int64_t, std::int64_t> named, forgotten;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(named);
  }
};

template <class V, bool expires = false>
using RowsInMemory = CollectedStates<KeyedRows<std::int64_t>, std::int64_t, V, expires>;
template <class V, bool expires = false>
struct RowsOnDisk : CollectedStates<StoredRows<std::int64_t>, std::int64_t, V, expires> {
  RowsOnDisk() { this->lie_in(*place()); }
};

/// To a job what a table of numbers is: several keys are entries of the map of one.
template <class States>
class NumbersInRows {
 public:
  using State = Values;
  static std::int64_t key_of(std::int64_t key) { return key / 40; }

  struct Edited {
    NumbersInRows& in;
    std::int64_t key;
    std::uint64_t mixed;
    void operator=(std::int64_t value) const {
      in.with(key, mixed, [&](Values& values) {
        values.take(key);
        values.add(key, value);
      });
    }
  };
  Edited edit(std::int64_t key, std::uint64_t mixed) { return {*this, key, mixed}; }
  const std::int64_t* find(std::int64_t key, std::uint64_t mixed) {
    states_.begin(key_of(key), mixed);
    const Values* const values = states_.find(key, mixed);
    found_ = values != nullptr ? values->of.get(key) : std::nullopt;
    states_.done();
    return found_ ? &*found_ : nullptr;
  }
  void erase(std::int64_t key, std::uint64_t mixed) {
    states_.begin(key_of(key), mixed);
    const Values* const values = states_.find(key, mixed);
    if (values != nullptr && values->of.has(key)) {
      states_.edit(key, mixed).take(key);
      if (values->of.empty()) states_.erase(key, mixed);
    }
    states_.done();
  }
  KeyedStates& states() { return states_.states(); }

  /// Of all maps. What else there is of a key has to fit to them.
  std::uint64_t entries() {
    std::uint64_t entries = 0;
    states_.for_each([&](const std::int64_t&, Values& values) {
      std::uint64_t seen = 0, sum = 0, listed = 0;
      values.of.for_each([&](std::int64_t, std::int64_t value) {
        seen += 1;
        sum += static_cast<std::uint64_t>(value);
      });
      values.last.for_each([&](std::int64_t) { listed += 1; });
      CHECK(seen == values.of.size());
      CHECK(sum == static_cast<std::uint64_t>(values.sum));
      CHECK(listed == values.last.size());
      entries += seen;
    });
    return entries;
  }

 private:
  template <class Use>
  void with(std::int64_t key, std::uint64_t mixed, const Use& use) {
    states_.begin(key_of(key), mixed);
    use(states_.edit(key, mixed));
    states_.done();
  }

  States states_;
  std::optional<std::int64_t> found_;
};

template <class States, class Use>
void with(States& states, std::int64_t key, const Use& use) {
  states.begin(key, mixed(key));
  use(states.edit(key, mixed(key)));
  states.done();
}

/// What the next snapshots of the states have, in bytes.
template <class States>
class Saved {
 public:
  explicit Saved(States& states) : saver_(0, groups, states.states()) {}
  store::PartContent next() {
    snapshot_ += 1;
    saver_.freeze(snapshot_, snapshot_ - 1);
    saver_.begin({});
    while (saver_.go_on()) {
    }
    return saver_.take();
  }

 private:
  state::KeyedSaver saver_;
  SnapshotId snapshot_ = 0;
};

template <class States>
void replay(States& states, const store::PartContent& part) {
  for (const auto& unit : part.index->units) {
    states.states().replay(unit.group, Bytes(part.data).subspan(unit.offset, unit.bytes),
                           saved_in::none);
  }
}

/// All that there is, in the order in which it is visited.
template <class States>
std::vector<std::int64_t> content_of(States& states) {
  std::vector<std::int64_t> all;
  states.for_each([&](const std::int64_t& key, Values& values) {
    all.insert(all.end(), {key, values.sum});
    values.of.for_each([&](std::int64_t entry, std::int64_t value) {
      all.insert(all.end(), {entry, value});
    });
    values.last.for_each([&](std::int64_t entry) { all.push_back(entry); });
  });
  return all;
}

template <class States>
void fill(States& states) {
  states.states().own(groups, {0, 16});
  for (std::int64_t i = 0; i < 3'000; ++i) {
    with(states, i % 30, [&](Values& values) { values.add(i, -i); });
  }
}

template <class States>
void check_increments() {
  States states;
  states.states().own(groups, {0, 16});
  for (std::int64_t entry = 0; entry < 20'000; ++entry) {
    with(states, 1, [&](Values& values) { values.of.put(entry, entry); });
  }
  Saved<States> saved(states);
  saved.next();
  with(states, 1, [&](Values& values) { values.of.put(77, 78); });
  // What it is: the mark, the key, the collection, the entry with its length, and the same of the
  // value.
  constexpr std::size_t number = sizeof(std::int64_t), entry = 1 + number + 1 + 1 + number;
  CHECK(saved.next().data.size() == entry + 1 + number);
  with(states, 1, [&](Values& values) { values.of.put(77, 78); });
  CHECK(saved.next().data.size() == 0);  // It was that already.
  with(states, 1, [&](Values& values) { CHECK(values.of.erase(77)); });
  // The entry is gone, and the row of the key says how many there are.
  constexpr std::size_t row = 1 + number + 1 + 1 + 4 * number;
  CHECK(saved.next().data.size() == entry + row);
  with(states, 1, [&](Values& values) { CHECK(!values.of.erase(77)); });
  CHECK(saved.next().data.size() == 0);
}

// A whole snapshot of the one is read by the other.
template <class From, class To>
void hand_over() {
  From from;
  fill(from);
  To to;
  to.states().own(groups, {0, 16});
  replay(to, Saved<From>(from).next());
  CHECK(content_of(to) == content_of(from));
  CHECK(to.states().size() == from.states().size());
}

template <class States>
void check_list() {
  States states;
  states.states().own(groups, {0, 16});
  with(states, 3, [](ListState<std::string>& list) {
    for (const char* text : {"c", "d", "e"}) list.push_back(text);
    list.push_front("b");
    list.push_front("a");
    list.set(2, "C");
    CHECK_THROWS_AS(list.set(5, ""), std::out_of_range);
  });
  with(states, 3, [](ListState<std::string>& list) {
    std::string all;
    list.for_each([&](const std::string& text) { all += text; });
    CHECK(all == "abCde");
    list.pop_front();
    list.pop_back();
    CHECK(list.front() == "b");
    CHECK(list.back() == "d");
    CHECK(list.size() == 3);
    list.clear();
    CHECK(list.empty());
    CHECK_THROWS_AS(list.pop_front(), std::out_of_range);
    CHECK_THROWS_AS(list.back(), std::out_of_range);
  });
  CHECK(states.states().size() == 1);  // The row of the key alone.
}

template <class States>
void check_ttl() {
  milliseconds time(50'000);
  States states;
  states.states().own(groups, {0, 16});
  states.expire_after(milliseconds(1'000), [&time] { return WallTime(time); });
  const auto at = [&](std::int64_t key, const auto& use) {
    states.tick();
    with(states, key, use);
  };
  const auto look = [&](std::int64_t key) {
    states.tick();
    states.begin(key, mixed(key));
    const auto* const found = states.find(key, mixed(key));
    states.done();
    return found != nullptr;
  };
  at(1, [](Values& values) { values.add(7, 70); });
  at(2, [](Values& values) { values.add(8, 80); });
  time += milliseconds(600);
  at(1, [](Values& values) { CHECK(values.of.get(7) == 70); });  // That is a change.
  time += milliseconds(600);
  CHECK(look(1));
  CHECK(!look(2));
  at(2, [](Values& values) {
    CHECK(values.of.empty());
    CHECK(!values.of.has(8));  // Its entries are gone with it.
    CHECK(values.last.empty());
  });
  time += milliseconds(5'000);
  for (std::int64_t i = 0; i < 5'000; ++i) look(1'000);
  CHECK(states.states().size() == 0);  // Nobody has asked for them.
}

/// Each item brings a key, and a thousand live at a time: `change(states, key)` gives one a state.
/// Returns the most that there were.
template <class States, class Change>
std::uint64_t most_of_short_lives(States& states, KeyedStates& kept, const Change& change) {
  milliseconds time(50'000);
  kept.own(groups, {0, 16});
  states.expire_after(milliseconds(1'000), [&time] { return WallTime(time); });
  std::uint64_t most = 0;
  for (std::int64_t key = 0; key < 20'000; ++key) {
    time += milliseconds(1);
    states.tick();
    change(states, key);
    most = std::max(most, kept.size());
  }
  return most;
}
template <class States>
std::uint64_t most_rows_of_short_lives() {
  States states;
  const auto change = [](States& all, std::int64_t key) {
    with(all, key, [key](Values& values) { values.add(key, 1); });
  };
  return most_of_short_lives(states, states.states(), change);
}

}  // namespace

TEST_CASE("there is little more than what lives where each item brings a key, also on disk") {
  constexpr std::uint64_t rows_of_key = 3;
  CHECK(most_rows_of_short_lives<RowsInMemory<Values, true>>() < 4'000 * rows_of_key);
  if (!is_there()) return;
  CHECK(most_rows_of_short_lives<RowsOnDisk<Values, true>>() < 4'000 * rows_of_key);
  using Table = StoredTable<std::int64_t, Timed<std::int64_t>>;
  Expiring<Table, std::int64_t, std::int64_t> table;
  table.lie_in(*place());
  const auto change = [](auto& all, std::int64_t key) { all.edit(key, mixed(key)) = key; };
  CHECK(most_of_short_lives(table, table.states(), change) < 4'000);
}

TEST_CASE("a job whose keys have maps goes on with what one map has, whatever was given up") {
  run_jobs<NumbersInRows<RowsInMemory<Values>>>(cases_in_memory, true);
}

TEST_CASE("the same with maps that lie on disk") {
  if (!is_there()) return;
  run_jobs<NumbersInRows<RowsOnDisk<Values>>>(cases_on_disk, false);
}

TEST_CASE("an increment has the entries that have changed, and not what did not") {
  check_increments<RowsInMemory<Values>>();
  if (is_there()) check_increments<RowsOnDisk<Values>>();
}

TEST_CASE("a snapshot of maps in memory is one of maps on disk, and the other way round") {
  hand_over<RowsInMemory<Values>, RowsInMemory<Values>>();
  if (!is_there()) return;
  hand_over<RowsInMemory<Values>, RowsOnDisk<Values>>();
  hand_over<RowsOnDisk<Values>, RowsInMemory<Values>>();
}

TEST_CASE("a list grows and shrinks at both ends, and says where it has nothing") {
  check_list<RowsInMemory<ListState<std::string>>>();
  if (is_there()) check_list<RowsOnDisk<ListState<std::string>>>();
}

TEST_CASE("with its time to live all of a key goes") {
  check_ttl<RowsInMemory<Values, true>>();
  if (is_there()) check_ttl<RowsOnDisk<Values, true>>();
}

TEST_CASE(
    "many entries of one key are divided among segments, so that a cut saves some at a time") {
  RowsInMemory<Values> states;
  states.states().own(groups, {0, 16});
  for (std::int64_t entry = 0; entry < 100'000; ++entry) {
    with(states, 1, [&](Values& values) { values.of.put(entry, 1); });
  }
  state::KeyedSaver saver(0, groups, states.states());
  saver.freeze(1, 0);
  saver.begin({});
  std::uint64_t slices = 1;
  while (saver.go_on()) slices += 1;
  CHECK(slices > 500);
}

TEST_CASE("a collection that `serialize` does not name cannot be used") {
  RowsInMemory<Forgets> states;
  states.states().own(groups, {0, 16});
  with(states, 1, [](Forgets& state) {
    state.named.put(1, 2);
    CHECK_THROWS_AS(state.forgotten.put(1, 2), std::logic_error);
  });
}

TEST_CASE("rows that are none of this state are refused, in memory and on disk") {
  const auto refuses = [](auto& states) {
    states.states().own(groups, {0, 16});
    const auto row_with = [](std::uint8_t collection, std::string_view entry,
                             std::string_view value) {
      Buffer bytes;
      detail::KeyedWriter writer(bytes);
      writer.put(std::uint8_t{1});
      writer.put(std::int64_t{7});
      writer.put(collection);
      if (collection != 0) writer.bytes(as_bytes(entry));
      writer.bytes(as_bytes(value));
      return bytes;
    };
    const std::string eight(8, '\0'), row(32, '\0');
    const std::uint32_t group = groups.group_of(mixed(7));
    const auto replay = [&](const Buffer& unit) { states.states().replay(group, unit, 1); };
    CHECK_THROWS_AS(replay(row_with(3, eight, eight)), DecodeError);  // There are two collections.
    CHECK_THROWS_AS(replay(row_with(1, "1234567", eight)), DecodeError);
    CHECK_THROWS_AS(replay(row_with(1, eight, "123")), DecodeError);
    CHECK_THROWS_AS(replay(row_with(2, "1234567", eight)), DecodeError);
    CHECK_THROWS_AS(replay(row_with(0, "", eight)), DecodeError);
    CHECK_THROWS_AS(replay(row_with(0, "", row + "x")), DecodeError);
    const std::string backwards = std::string(23, '\0') + "\1" + eight;
    CHECK_THROWS_AS(replay(row_with(0, "", backwards)), DecodeError);
    replay(row_with(0, "", row));
    CHECK_THROWS_AS(replay(row_with(0, "", row)), DecodeError);  // Twice.
    replay(row_with(1, eight, eight));
    CHECK(states.states().size() == 2);
  };
  RowsInMemory<Values> memory;
  refuses(memory);
  if (!is_there()) return;
  RowsOnDisk<Values> disk;
  refuses(disk);
}
