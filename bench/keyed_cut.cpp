// bench_keyed_cut [--megabytes N] [--value BYTES] [--changed PERCENT] [--rounds N] [--json]
//
// The longest time that an operator stands still at a snapshot of N MB of states, in turns two
// ways:
//   old: a map in the operator, which `serialize` copies whole at the barrier;
//   new: the table that the runtime keeps, cut at the barrier and saved in slices between batches.
// Between two snapshots PERCENT of the keys are changed, drawn at random, in batches of 1,000 while
// the new way saves; what counts as a pause there is the cut, a slice of saving, and what a batch
// takes beyond the median of batches when nothing is saved. Pieces of the part are taken as they
// are made, and dropped, as by a writer that keeps pace. Also printed: bytes written by each way,
// and the time of an update.
#include <piracema/detail/keyed_table.h>

#include <algorithm>
#include <array>
#include <cereal/types/unordered_map.hpp>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <sstream>
#include <unordered_map>
#include <vector>

#include "base/engine.h"
#include "base/random.h"
#include "bench/common/arguments.h"
#include "bench/common/keyed_rounds.h"

using namespace piracema;
using namespace piracema::bench;

namespace {

constexpr KeyGroups groups(1'024);
constexpr std::uint64_t batch_items = 1'000;

struct Settings {
  std::uint64_t megabytes = 256, changed = 5, rounds = 5;
};

struct Figures {
  std::vector<double> old_pauses, new_pauses;
  double old_bytes = 0, first_bytes = 0, new_bytes = 0, old_update_ns = 0, new_update_ns = 0;
};

template <std::size_t Bytes>
Figures measure(const Settings& settings) {
  using V = Value<Bytes>;
  const std::uint64_t keys = settings.megabytes * 1'000'000 / (Bytes + 8);
  const std::uint64_t changes = keys * settings.changed / 100;
  Figures figures;
  Random random(1);
  const auto hash = [](std::uint64_t key) { return mix(KeyHash<std::uint64_t>::of(key)); };

  {
    std::unordered_map<std::uint64_t, V> map;
    for (std::uint64_t key = 0; key < keys; ++key) map[key].words[0] = key;
    for (std::uint64_t round = 0; round < settings.rounds; ++round) {
      const Time took = time_of([&] {
        for (std::uint64_t i = 0; i < changes; ++i) map[random.below(keys)].words[1] += 1;
      });
      figures.old_update_ns =
          1e6 * ms(took) / static_cast<double>(std::max(changes, std::uint64_t{1}));
      Buffer part;
      part.reserve(figures.old_bytes == 0 ? 0 : static_cast<std::size_t>(figures.old_bytes));
      const Time pause = time_of([&] {
        detail::BufferWriter writer(part);
        std::ostream stream(&writer);
        cereal::BinaryOutputArchive archive(stream);
        archive(map);
      });
      figures.old_pauses.push_back(ms(pause));
      figures.old_bytes = static_cast<double>(part.size());
    }
  }

  detail::KeyedTable<std::uint64_t, V> table;
  table.own(groups, {0, groups.count()});
  for (std::uint64_t key = 0; key < keys; ++key) table.edit(key, hash(key)).words[0] = key;
  state::KeyedSaver saver(0, groups, table);
  // As operators do with the items of a batch.
  std::array<std::uint64_t, detail::HashesAhead::most> next, hashes;
  const auto batch = [&] {
    for (std::uint64_t left = batch_items; left != 0;) {
      const std::size_t count = std::min<std::uint64_t>(left, next.size());
      for (std::size_t i = 0; i < count; ++i) {
        next[i] = random.below(keys);
        hashes[i] = hash(next[i]);
      }
      table.fetch({hashes.data(), count});
      for (std::size_t i = 0; i < count; ++i) table.edit(next[i], hashes[i]).words[1] += 1;
      left -= count;
    }
  };
  // The first one saves all: how that disturbs is the worst case of all rounds.
  const auto rounds = keyed_rounds(saver, settings.rounds + 1, changes, batch_items, batch);
  for (const KeyedRound& round : rounds) figures.new_pauses.push_back(round.longest_ms);
  figures.new_update_ns = 1e6 * rounds.back().batch_ms / batch_items;
  figures.first_bytes = static_cast<double>(rounds.front().bytes);
  figures.new_bytes = static_cast<double>(rounds.back().bytes);
  return figures;
}

nlohmann::json json_of(const Figures& figures) {
  return {{"old_pause_ms", figures.old_pauses},    {"new_pause_ms", figures.new_pauses},
          {"old_bytes", figures.old_bytes},        {"first_bytes", figures.first_bytes},
          {"new_bytes", figures.new_bytes},        {"old_update_ns", figures.old_update_ns},
          {"new_update_ns", figures.new_update_ns}};
}

void print(const Figures& figures) {
  const auto longest = [](const std::vector<double>& all) {
    return *std::max_element(all.begin(), all.end());
  };
  std::printf("old: pause %8.3f ms median, %8.3f ms longest; writes %8.1f MB; an update %5.0f ns\n",
              median(figures.old_pauses), longest(figures.old_pauses), figures.old_bytes / 1e6,
              figures.old_update_ns);
  std::printf(
      "new: pause %8.3f ms median, %8.3f ms longest; writes %8.1f MB at first, %8.1f MB after; "
      "an update %5.0f ns\n",
      median(figures.new_pauses), longest(figures.new_pauses), figures.first_bytes / 1e6,
      figures.new_bytes / 1e6, figures.new_update_ns);
}

}  // namespace

int main(int argc, char** argv) {
  Settings settings;
  std::uint64_t value = 96;
  bool json = false;
  Arguments arguments("The pause of an operator at a snapshot, with states of its own and by key");
  arguments.number("--megabytes", settings.megabytes, "of states");
  arguments.choice("--value", value, "bytes of a value: 96 or 1000", {96, 1000});
  arguments.number("--changed", settings.changed, "keys changed between two snapshots, in percent");
  arguments.number("--rounds", settings.rounds, "snapshots each way", {1, 1'000});
  arguments.flag("--json", json, "all runs");
  if (const auto code = arguments.parse(argc, argv)) return *code;
  const Figures figures = value == 96 ? measure<96>(settings) : measure<1'000>(settings);
  if (json) {
    std::printf("%s\n", json_of(figures).dump(1).c_str());
  } else {
    print(figures);
  }
}
