// bench_keyed_update [--megabytes N] [--value BYTES] [--rounds N] [--json]
//
// What one core needs to change the state of a key, in turns four ways:
//   map:         a tuned hash map (absl::flat_hash_map), key by key;
//   map, ahead:  the same, asked for the next 32 keys before they are changed (`prefetch`);
//   table:       the table that the runtime keeps, key by key;
//   table, ahead: the same as operators use it, with `fetch` of the next 32 keys.
// All have N MB of states, and are changed at keys drawn at random, half a million a round.
#include <absl/container/flat_hash_map.h>
#include <piracema/detail/keyed_table.h>

#include <array>
#include <utility>
#include <vector>

#include "base/random.h"
#include "bench/common/arguments.h"
#include "bench/common/keyed_rounds.h"
#include "bench/common/ways.h"

using namespace piracema;
using namespace piracema::bench;

namespace {

constexpr KeyGroups groups(1'024);
constexpr std::size_t ahead = 32, updates = 500'000 / ahead * ahead;

struct Settings {
  std::uint64_t megabytes = 1'024, rounds = 9;
};

std::uint64_t mixed(std::uint64_t key) { return mix(KeyHash<std::uint64_t>::of(key)); }

template <std::size_t Bytes>
Ways measure(const Settings& settings) {
  using V = Value<Bytes>;
  const std::uint64_t keys = settings.megabytes * 1'000'000 / (Bytes + 8);
  absl::flat_hash_map<std::uint64_t, V> map;
  detail::KeyedTable<std::uint64_t, V> table;
  table.own(groups, {0, groups.count()});
  for (std::uint64_t key = 0; key < keys; ++key) {
    map[key].words[0] = key;
    table.edit(key, mixed(key)).words[0] = key;
  }

  Ways figures{{"map", {}}, {"map, ahead", {}}, {"table", {}}, {"table, ahead", {}}};
  Random random(1);
  std::vector<std::uint64_t> drawn(updates);
  const auto round = [&](std::size_t way, const auto& some) {
    for (std::uint64_t& key : drawn) key = random.below(keys);
    const Time took = time_of([&] {
      for (std::size_t at = 0; at < updates; at += ahead) some(&drawn[at]);
    });
    figures[way].second.push_back(1e6 * ms(took) / updates);
  };
  const auto edit_in_map = [&](const std::uint64_t* next) {
    for (std::size_t i = 0; i < ahead; ++i) map[next[i]].words[0] += 1;
  };
  const auto edit_in_table = [&](const std::uint64_t* next) {
    for (std::size_t i = 0; i < ahead; ++i) table.edit(next[i], mixed(next[i])).words[0] += 1;
  };
  for (std::uint64_t i = 0; i < settings.rounds; ++i) {
    round(0, edit_in_map);
    round(1, [&](const std::uint64_t* next) {
      for (std::size_t k = 0; k < ahead; ++k) map.prefetch(next[k]);
      edit_in_map(next);
    });
    round(2, edit_in_table);
    round(3, [&](const std::uint64_t* next) {
      std::array<std::uint64_t, ahead> hashes;
      for (std::size_t k = 0; k < ahead; ++k) hashes[k] = mixed(next[k]);
      table.fetch(hashes);
      edit_in_table(next);
    });
  }
  return figures;
}

}  // namespace

int main(int argc, char** argv) {
  Settings settings;
  std::uint64_t value = 96;
  bool json = false;
  Arguments arguments("The time of a change of the state of a key, beside a tuned hash map");
  arguments.number("--megabytes", settings.megabytes, "of states");
  arguments.choice("--value", value, "bytes of a value: 8, 96 or 1000", {8, 96, 1000});
  arguments.number("--rounds", settings.rounds, "of each way", {1, 1'000});
  arguments.flag("--json", json, "all rounds");
  if (const auto code = arguments.parse(argc, argv)) return *code;
  const Ways figures = value == 8    ? measure<8>(settings)
                       : value == 96 ? measure<96>(settings)
                                     : measure<1'000>(settings);
  print(figures, json);
}
