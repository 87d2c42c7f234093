#include "state/saved_files.h"

#include <doctest/doctest.h>
#include <piracema/detail/keyed_table.h>

#include <algorithm>

#include "state/keyed_job_testing.h"

using namespace piracema;
using namespace piracema::state::testing;

namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::uint64_t jobs_in_memory = 60;
#else
constexpr std::uint64_t jobs_in_memory = 500;
#endif

using Table = detail::KeyedTable<std::int64_t, std::int64_t>;

struct StatesInMemory : Table {
  KeyedStates& states() { return *this; }
};

}  // namespace

TEST_CASE("a job of any number of replicas goes on with what one map has, whatever was given up") {
  run_jobs<StatesInMemory>(jobs_in_memory, true);
}

TEST_CASE("with changes all over a snapshot writes what changed and a fifth to a third more") {
  constexpr std::int64_t keys = 20'000, changed = keys / 20;
  Table table;
  constexpr KeyGroups all(64);
  table.own(all, {0, 64});
  state::KeyedSaver saver(0, all, table);
  for (std::int64_t key = 0; key < keys; ++key) table.edit(key, mixed(key)) = key;
  Random random(1);
  std::uint64_t written = 0, distinct = 0, files_most = 0;
  for (SnapshotId snapshot = 1; snapshot <= 200; ++snapshot) {
    Model now;
    for (std::int64_t i = 0; snapshot > 1 && i < changed; ++i) {
      const auto key = static_cast<std::int64_t>(random.below(keys));
      table.edit(key, mixed(key)) += 1;
      now[key] = 1;
    }
    saver.freeze(snapshot, snapshot - 1);
    saver.begin({});
    while (saver.go_on()) {
    }
    const store::PartContent part = saver.take();
    if (snapshot == 1) continue;
    written += part.data.size();
    distinct += now.size() * 17;
    files_most = std::max<std::uint64_t>(files_most, part.index->files.size());
  }
  CHECK(static_cast<double>(written) < 1.3 * static_cast<double>(distinct));
  CHECK(files_most < 64);
}

TEST_CASE("snapshots that are given up one behind the other for ever lose nothing") {
  Table table;
  table.own(groups, {0, 16});
  state::KeyedSaver saver(0, groups, table);
  for (std::int64_t key = 0; key < 3'000; ++key) table.edit(key, mixed(key)) = key;
  for (SnapshotId snapshot = 1; snapshot <= 600; ++snapshot) {
    saver.freeze(snapshot, 0);
    saver.begin({});
    for (SnapshotId slice = 0; slice < snapshot % 7; ++slice) saver.go_on();
  }
  saver.freeze(601, 0);
  saver.begin({});
  while (saver.go_on()) {
  }
  const store::PartContent part = saver.take();
  CHECK(part.index->files.empty());
  Table other;
  other.own(groups, {0, 16});
  for (const auto& unit : part.index->units) {
    other.replay(unit.group, Bytes(part.data).subspan(unit.offset, unit.bytes), 1);
  }
  CHECK(other.size() == 3'000);
}
