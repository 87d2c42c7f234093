// Feeds mutated indexes of parts, and mutated states by key, to what reads them from a store whose
// checksums are right, as somebody would make them who may write there.
//
//     fuzz_parts [SECONDS]       some thousand, or as many as fit into the time
//     PIRACEMA_SEED=4711 fuzz_parts      one
//
// What must hold: nothing crashes (the sanitizers look on in the preset dev); an index that is read
// has only ranges that lie one behind the other and within what there is; a table that has taken a
// range has only its keys, and no more of them than there were bytes.
#include <piracema/detail/keyed_table.h>

#include <string>
#include <vector>

#include "base/clock.h"
#include "base/engine.h"
#include "base/random.h"
#include "fuzzing.h"
#include "state/keyed_saver.h"
#include "store/snapshot/part_index.h"

using namespace piracema;

namespace {

constexpr std::uint64_t seeds_in_a_test = 20'000;
constexpr KeyGroups groups(16);
using Table = detail::KeyedTable<std::string, std::vector<std::int64_t>>;

struct Corpus {
  store::PartContent part;
  Buffer index;
};

Corpus corpus() {
  Table table;
  table.own(groups, {0, 16});
  for (int i = 0; i < 3'000; ++i) {
    const std::string key = std::to_string(i);
    table.edit(key, mix(KeyHash<std::string>::of(key))).assign(static_cast<std::size_t>(i % 5), i);
  }
  state::KeyedSaver saver(3, groups, table);
  saver.begin(7, 0, Buffer(as_bytes("plain")));
  while (saver.go_on()) {
  }
  Corpus made{saver.take(), {}};
  made.index = store::encode_index(*made.part.index);
  return made;
}

std::string run_one(std::uint64_t seed, const Corpus& from) {
  Random random(seed);
  std::string index(as_text(from.index));
  fuzzing::mutate(index, 1 + random.below(4), random);
  const auto read = store::decode_index("file", as_bytes(index), {7, 3}, from.part.data.size());
  if (read) {
    for (std::size_t i = 0; i < read->units.size(); ++i) {
      const store::StateUnit& unit = read->units[i];
      if (unit.group >= read->key_groups || unit.depth > HashRange::depth_max) {
        return "a range of keys that is none was read";
      }
      if (i != 0 && read->units[i - 1].group > unit.group) return "groups were read out of order";
      if (unit.file == store::PartFile{7, 3} && unit.offset + unit.bytes > from.part.data.size()) {
        return "a range was read that is not in the file";
      }
    }
  }

  const auto& units = from.part.index->units;
  const store::StateUnit& unit = units[random.below(units.size())];
  std::string bytes(as_text(Bytes(from.part.data).subspan(unit.offset, unit.bytes)));
  HashRange range{unit.group, unit.depth, unit.prefix};
  if (random.chance(0.8)) fuzzing::mutate(bytes, 1 + random.below(4), random);
  if (random.chance(0.3)) {
    range.group = static_cast<std::uint32_t>(random.below(16));
    range.depth = static_cast<std::uint32_t>(random.below(HashRange::depth_max + 1));
    range.prefix = static_cast<std::uint32_t>(random.below(std::uint64_t{1} << range.depth));
  }
  Table table;
  table.own(groups, {0, 16});
  try {
    table.load(range, as_bytes(bytes), {7, 3, unit.offset, unit.bytes, unit.checksum});
  } catch (const DecodeError&) {
    // Refused, and what it had taken by then goes with the table.
  }
  if (table.size() > bytes.size()) return "a table has more keys than there were bytes";
  std::string why;
  table.for_each([&](const std::string& key, const auto&) {
    if (groups.group_of(mix(KeyHash<std::string>::of(key))) != range.group) why = "a foreign key";
  });
  return why;
}

}  // namespace

int main(int argc, char** argv) {
  const Corpus from = corpus();
  return fuzzing::run(argc, argv, seeds_in_a_test,
                      [&](std::uint64_t seed) { return run_one(seed, from); });
}
