// bench_keyed_disk [--megabytes N] [--value BYTES] [--changed PERCENT] [--memory SIZE] [--rounds N]
//                  [--directory DIR] [--json]
//
// States by key in memory and on disk, each in a process of its own: N MB of states are made, and
// then PERCENT of the keys are changed between two snapshots, drawn at random, in batches of 1,000
// while a snapshot is saved. Printed for both: the time of an update, at the beginning and at
// random; the most memory that the process had; what the first snapshot wrote, how long it took,
// and what later ones wrote; and the longest time that a batch waited, as bench_keyed_cut has it.
#include <piracema/detail/keyed_table.h>
#include <piracema/detail/stored_table.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>

#include "base/engine.h"
#include "base/parse.h"
#include "base/random.h"
#include "bench/common/arguments.h"
#include "bench/common/keyed_rounds.h"
#include "state/disk/state_directory.h"

using namespace piracema;
using namespace piracema::bench;

namespace {

constexpr KeyGroups groups(1'024);
constexpr std::uint64_t batch_items = 1'000;

struct Settings {
  std::uint64_t megabytes = 1'000, changed = 5, rounds = 5;
  std::string memory = "64MiB", directory = "bench-states";
};

struct Figures {
  double first_update_ns = 0, update_ns = 0, memory_mb = 0;
  double first_snapshot_s = 0, first_mb = 0, later_mb = 0, longest_ms = 0;
};

template <std::size_t Bytes>
using Value = std::array<std::uint64_t, Bytes / 8>;

std::uint64_t hash_of(std::uint64_t key) { return mix(KeyHash<std::uint64_t>::of(key)); }

template <std::size_t Bytes, class Table>
Figures measure(const Settings& settings, Table& table, KeyedStates& states) {
  const std::uint64_t keys = settings.megabytes * 1'000'000 / (Bytes + 8);
  const std::uint64_t changes = keys * settings.changed / 100;
  Figures figures;
  Random random(1);
  states.own(groups, {0, groups.count()});
  figures.first_update_ns = 1e6 / static_cast<double>(keys) * ms(time_of([&] {
                              for (std::uint64_t key = 0; key < keys; ++key) {
                                // Nothing that a disk makes smaller.
                                for (auto& word : table.edit(key, hash_of(key))) {
                                  word = random.next();
                                }
                              }
                            }));
  state::KeyedSaver saver(0, groups, states);
  const auto batch = [&] {
    for (std::uint64_t i = 0; i < batch_items; ++i) {
      const std::uint64_t key = random.below(keys);
      table.edit(key, hash_of(key))[0] += 1;
    }
  };
  const auto rounds = keyed_rounds(saver, settings.rounds + 1, changes, batch_items, batch);
  figures.update_ns = 1e6 * rounds.back().batch_ms / batch_items;
  figures.first_snapshot_s = rounds.front().seconds;
  figures.first_mb = static_cast<double>(rounds.front().bytes) / 1e6;
  figures.later_mb = static_cast<double>(rounds.back().bytes) / 1e6;
  for (const KeyedRound& round : rounds) {
    figures.longest_ms = std::max(figures.longest_ms, round.longest_ms);
  }
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  figures.memory_mb = static_cast<double>(used.ru_maxrss) / 1'000;
  return figures;
}

template <std::size_t Bytes>
Figures measure(const Settings& settings, bool on_disk) {
  if (!on_disk) {
    detail::KeyedTable<std::uint64_t, Value<Bytes>> table;
    return measure<Bytes>(settings, table, table);
  }
  const auto memory = parse_bytes(settings.memory);
  if (!memory) throw StateError(memory.error().message);
  const auto place = state::StateDirectory::open(settings.directory, *memory);
  if (!place) throw StateError(place.error().message);
  detail::StoredTable<std::uint64_t, Value<Bytes>> table;
  table.lie_in(**place);
  return measure<Bytes>(settings, table, table.states());
}

// In a process of its own: what the one has in memory is not the other one's.
Figures apart(const Settings& settings, std::uint64_t value, bool on_disk) {
  int way[2];
  if (::pipe(way) != 0) throw std::runtime_error("no pipe");
  const pid_t child = ::fork();
  if (child == 0) {
    int code = 1;
    try {
      const Figures figures =
          value == 96 ? measure<96>(settings, on_disk) : measure<1'000>(settings, on_disk);
      code = ::write(way[1], &figures, sizeof figures) == sizeof figures ? 0 : 1;
    } catch (const std::exception& error) {
      std::fprintf(stderr, "bench_keyed_disk: %s\n", error.what());
    }
    ::_exit(code);
  }
  ::close(way[1]);
  Figures figures;
  const bool whole = ::read(way[0], &figures, sizeof figures) == sizeof figures;
  ::close(way[0]);
  ::waitpid(child, nullptr, 0);
  if (!whole) std::exit(1);
  return figures;
}

nlohmann::json json_of(const Figures& figures) {
  return {{"first_update_ns", figures.first_update_ns},
          {"update_ns", figures.update_ns},
          {"memory_mb", figures.memory_mb},
          {"first_snapshot_s", figures.first_snapshot_s},
          {"first_snapshot_mb", figures.first_mb},
          {"later_snapshot_mb", figures.later_mb},
          {"longest_ms", figures.longest_ms}};
}

void print(const char* where, const Figures& figures) {
  std::printf(
      "%s: an update %6.0f ns at first, %6.0f ns at random; %7.0f MB of memory; first snapshot "
      "%7.1f MB in %5.1f s, later ones %6.1f MB; longest wait %8.3f ms\n",
      where, figures.first_update_ns, figures.update_ns, figures.memory_mb, figures.first_mb,
      figures.first_snapshot_s, figures.later_mb, figures.longest_ms);
}

}  // namespace

int main(int argc, char** argv) {
  Settings settings;
  std::uint64_t value = 96;
  bool json = false;
  Arguments arguments("States by key in memory and on disk");
  arguments.number("--megabytes", settings.megabytes, "of states");
  arguments.choice("--value", value, "bytes of a value: 96 or 1000", {96, 1000});
  arguments.number("--changed", settings.changed, "keys changed between two snapshots, in percent");
  arguments.number("--rounds", settings.rounds, "snapshots", {1, 1'000});
  arguments.text("--memory", settings.memory, "for states on disk, such as 64MiB");
  arguments.text("--directory", settings.directory, "where those lie");
  arguments.flag("--json", json, "as JSON");
  if (const auto code = arguments.parse(argc, argv)) return *code;
  const Figures memory = apart(settings, value, false), disk = apart(settings, value, true);
  if (json) {
    std::printf(
        "%s\n",
        nlohmann::json{{"memory", json_of(memory)}, {"disk", json_of(disk)}}.dump(1).c_str());
    return 0;
  }
  print("memory", memory);
  print("disk  ", disk);
}
