#include "state/disk/disk_states.h"

#include <doctest/doctest.h>
#include <piracema/detail/keyed_table.h>
#include <piracema/detail/stored_table.h>

#include <string>
#include <vector>

#include "state/disk/state_place_testing.h"
#include "state/keyed_job_testing.h"

using namespace piracema;
using namespace piracema::state::testing;
using detail::KeyedTable;
using detail::StoredTable;

namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::uint64_t cases = 6;
#else
constexpr std::uint64_t cases = 30;
#endif

template <class Key, class V>
struct OnDisk : StoredTable<Key, V> {
  OnDisk() { this->lie_in(*place()); }
};
using Numbers = OnDisk<std::int64_t, std::int64_t>;
using InMemory = KeyedTable<std::int64_t, std::int64_t>;

template <class Table>
Model content(Table& table) {
  Model found;
  table.for_each([&](std::int64_t key, std::int64_t value) { found[key] = value; });
  return found;
}

// A whole snapshot of the one is read by the other.
template <class From, class To>
void hand_over(From& from, KeyedStates& saved, To& to, KeyedStates& read) {
  for (std::int64_t key = 0; key < 2'000; ++key) from.edit(key, mixed(key)) = 3 * key;
  for (std::int64_t key = 0; key < 2'000; key += 3) from.erase(key, mixed(key));
  state::KeyedSaver saver(0, groups, saved);
  saver.freeze(1, 0);
  saver.begin({});
  while (saver.go_on()) {
  }
  const store::PartContent part = saver.take();
  for (const auto& unit : part.index->units) {
    read.replay(unit.group, Bytes(part.data).subspan(unit.offset, unit.bytes), saved_in::none);
  }
  CHECK(read.size() == saved.size());
  CHECK(content(to) == content(from));
}

}  // namespace

TEST_CASE("a job whose states lie on disk goes on with what one map has, whatever was given up") {
  if (!is_there()) return;
  run_jobs<Numbers>(cases, false);
}

TEST_CASE("a snapshot of states in memory is one of states on disk, and the other way round") {
  if (!is_there()) return;
  for (const bool from_memory : {true, false}) {
    Numbers disk;
    InMemory memory;
    disk.states().own(groups, {0, 16});
    memory.own(groups, {0, 16});
    if (from_memory) {
      hand_over(memory, memory, disk, disk.states());
    } else {
      hand_over(disk, disk.states(), memory, memory);
    }
  }
}

TEST_CASE("keys on disk are visited in the order in which those in memory are") {
  if (!is_there()) return;
  Numbers disk;
  InMemory memory;
  disk.states().own(groups, {0, 16});
  memory.own(groups, {0, 16});
  std::vector<std::int64_t> orders[2];
  for (std::int64_t key = 0; key < 3'000; ++key) {
    disk.edit(key, mixed(key)) = key;
    memory.edit(2'999 - key, mixed(2'999 - key)) = key;
  }
  disk.for_each([&](std::int64_t key, std::int64_t& value) {
    orders[0].push_back(key);
    value += 1;
  });
  memory.for_each([&](std::int64_t key, std::int64_t) { orders[1].push_back(key); });
  CHECK(orders[0] == orders[1]);
  CHECK(*disk.find(std::int64_t{7}, mixed(7)) == 8);
}

TEST_CASE("a cut has what was there when it began, whatever is written and erased meanwhile") {
  if (!is_there()) return;
  Numbers disk;
  disk.states().own(groups, {0, 16});
  Model then;
  for (std::int64_t key = 0; key < 1'000; ++key) then[key] = disk.edit(key, mixed(key)) = key;
  state::KeyedSaver saver(0, groups, disk.states());
  saver.freeze(1, 0);
  saver.begin({});
  Random random(1);
  do {
    const auto key = static_cast<std::int64_t>(random.below(1'500));
    if (random.chance(0.5)) {
      disk.edit(key, mixed(key)) = -1;
    } else {
      disk.erase(key, mixed(key));
    }
  } while (saver.go_on());
  const store::PartContent part = saver.take();
  InMemory read;
  read.own(groups, {0, 16});
  for (const auto& unit : part.index->units) {
    read.replay(unit.group, Bytes(part.data).subspan(unit.offset, unit.bytes), saved_in::none);
  }
  CHECK(content(read) == then);
}

TEST_CASE("an increment has what changed, and not what did not") {
  if (!is_there()) return;
  Numbers disk;
  disk.states().own(groups, {0, 16});
  for (std::int64_t key = 0; key < 20'000; ++key) disk.edit(key, mixed(key)) = key;
  state::KeyedSaver saver(0, groups, disk.states());
  std::vector<std::uint64_t> bytes;
  for (SnapshotId snapshot = 1; snapshot <= 3; ++snapshot) {
    saver.freeze(snapshot, snapshot - 1);
    saver.begin({});
    while (saver.go_on()) {
    }
    bytes.push_back(saver.take().data.size());
    for (std::int64_t key = 0; key < 100; ++key) disk.edit(key, mixed(key)) += 1;
    // To look is no change.
    for (std::int64_t key = 100; key < 200; ++key) disk.find(key, mixed(key));
  }
  constexpr std::uint64_t entry = 1 + 2 * sizeof(std::int64_t);
  CHECK(bytes[0] == 20'000 * entry);
  CHECK(bytes[1] == 100 * entry);
  CHECK(bytes[2] == 100 * entry);
}

TEST_CASE("keys and values of any length are kept, the empty ones too") {
  if (!is_there()) return;
  OnDisk<std::string, std::vector<std::string>> disk;
  disk.states().own(groups, {0, 16});
  const auto mixed_text = [](std::string_view key) {
    return mix(KeyHash<std::string_view>::of(key));
  };
  for (const std::size_t length : {0u, 1u, 7u, 300u, 100'000u}) {
    const std::string key(length, 'k');
    disk.edit(std::string_view(key), mixed_text(key)).assign(length % 9, std::string(length, 'v'));
  }
  CHECK(disk.states().size() == 5);
  for (const std::size_t length : {0u, 1u, 7u, 300u, 100'000u}) {
    const std::string key(length, 'k');
    const auto* const found = disk.find(std::string_view(key), mixed_text(key));
    REQUIRE(found != nullptr);
    CHECK(*found == std::vector<std::string>(length % 9, std::string(length, 'v')));
  }
}

TEST_CASE("what is no unit of these types is refused, and so is a key of another group") {
  if (!is_there()) return;
  Numbers disk;
  disk.states().own(groups, {0, 16});
  CHECK_THROWS_AS(disk.states().replay(0, as_bytes("\2"), 1), DecodeError);
  CHECK_THROWS_AS(disk.states().replay(0, as_bytes("\1abc"), 1), DecodeError);
  const std::int64_t key = 7;
  Buffer entry(as_bytes("\1"));
  entry.append(&key, sizeof key);
  entry.append(&key, sizeof key);
  const std::uint32_t group = groups.group_of(mixed(key));
  CHECK_THROWS_AS(disk.states().replay((group + 1) % 16, entry, 1), DecodeError);
  CHECK(disk.states().replay(group, entry, 1) == 1);
  CHECK_THROWS_AS(disk.states().replay(group, entry, 1), DecodeError);
  disk.states().own(groups, {0, group});
  CHECK_THROWS_AS(disk.find(key, mixed(key)), std::logic_error);
}
