// Feeds mutated indexes of parts, and mutated states by key, to what reads them from a store whose
// checksums are right, as somebody would make them who may write there.
//
//     fuzz_parts [SECONDS]       some thousand, or as many as fit into the time
//     PIRACEMA_SEED=4711 fuzz_parts      one
//
// What must hold: nothing crashes (the sanitizers look on in the preset dev); an index that is read
// has only ranges that lie one behind the other and within what there is; a table that has taken a
// range has only its keys, and no more of them than there were bytes; the same of states that have
// maps and lists, of which code that visits all meets an error or what it is.
#include <piracema/detail/collected_states.h>
#include <piracema/detail/keyed_table.h>
#include <piracema/detail/stored_rows.h>
#include <piracema/detail/stored_table.h>
#include <piracema/list_state.h>
#include <piracema/map_state.h>

#include <memory>
#include <optional>
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
using OnDisk = detail::StoredTable<std::string, std::vector<std::int64_t>>;

/// A snapshot, and one after it: what has changed, and which keys are gone.
struct Corpus {
  store::PartContent base, part;
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
  const auto save = [&](SnapshotId snapshot, SnapshotId complete) {
    saver.freeze(snapshot, complete);
    saver.begin(Buffer(as_bytes("plain")));
    while (saver.go_on()) {
    }
    return saver.take();
  };
  Corpus made{save(6, 0), {}, {}};
  for (int i = 0; i < 3'000; i += 2) {
    const std::string key = std::to_string(i);
    const std::uint64_t mixed = mix(KeyHash<std::string>::of(key));
    if (i % 3 == 0) {
      table.erase(key, mixed);
    } else {
      table.edit(key, mixed).push_back(-1);
    }
  }
  made.part = save(7, 6);
  made.index = store::encode_index(*made.part.index);
  return made;
}

void replay_base(Table& table, const Corpus& from, std::uint32_t group) {
  for (const store::StateUnit& unit : from.base.index->units) {
    if (unit.group != group) continue;
    table.replay(group, Bytes(from.base.data).subspan(unit.offset, unit.bytes), 1);
  }
}

// How many entries states on disk would take of it; nothing if it is refused. They are the bytes
// themselves, one behind the other.
std::optional<std::uint64_t> entries_on_disk(Bytes unit, StateTypes::Form form) {
  const OnDisk types;
  std::uint64_t entries = 0, bytes = form == StateTypes::Form::counted ? sizeof entries : 0;
  try {
    types.read(unit, form, [&](const StateTypes::Entry& entry) {
      entries += 1;
      bytes += entry.key.size() + entry.state.size() + (form == StateTypes::Form::marked ? 1 : 0);
    });
  } catch (const DecodeError&) {
    return std::nullopt;
  }
  return bytes == unit.size() ? entries : ~std::uint64_t{0};
}

std::string run_one(std::uint64_t seed, const Corpus& from) {
  Random random(seed);
  std::string index(as_text(from.index));
  fuzzing::mutate(index, 1 + random.below(4), random);
  const auto read = store::decode_index("file", as_bytes(index), {7, 3}, from.part.data.size());
  if (read) {
    for (const store::NamedFile& named : read->files) {
      if (named.file.snapshot >= 7) return "a file was read that is not an earlier one";
      if (named.groups.first >= named.groups.end || named.groups.end > read->key_groups) {
        return "a range of groups that is none was read";
      }
    }
    for (std::size_t i = 0; i < read->units.size(); ++i) {
      const store::StateUnit& unit = read->units[i];
      if (unit.group >= read->key_groups) return "a group that is none was read";
      if (i != 0 && read->units[i - 1].group > unit.group) return "groups were read out of order";
      if (unit.offset + unit.bytes > from.part.data.size()) {
        return "a range was read that is not in the file";
      }
    }
  }

  const auto& units = from.part.index->units;
  const store::StateUnit& unit = units[random.below(units.size())];
  std::string bytes(as_text(Bytes(from.part.data).subspan(unit.offset, unit.bytes)));
  std::uint32_t group = unit.group;
  if (random.chance(0.8)) fuzzing::mutate(bytes, 1 + random.below(4), random);
  if (random.chance(0.1)) group = static_cast<std::uint32_t>(random.below(16));
  Table table;
  table.own(groups, {0, 16});
  const bool as_before = random.chance(0.2);  // Version 2.
  const bool on_base = !as_before && random.chance(0.5);
  const auto on_disk = entries_on_disk(
      as_bytes(bytes), as_before ? StateTypes::Form::counted : StateTypes::Form::marked);
  if (on_disk == ~std::uint64_t{0}) return "entries on disk are not all of the bytes";
  try {
    std::uint64_t entries = 0;
    if (as_before) {
      table.load({group, 0, 0}, as_bytes(bytes));
      entries = table.size();
    } else {
      if (on_base) replay_base(table, from, group);
      entries = table.replay(group, as_bytes(bytes), 2);
    }
    // On disk nothing less may be taken than in memory.
    if (on_disk != entries) return "memory and disk do not read the same";
  } catch (const DecodeError&) {
    // Refused, and what it had taken by then goes with the table.
  }
  if (!on_base && table.size() > bytes.size()) return "a table has more keys than there were bytes";
  std::string why;
  table.for_each([&](const std::string& key, const auto&) {
    if (groups.group_of(mix(KeyHash<std::string>::of(key))) != group) why = "a foreign key";
  });
  return why;
}

/// A state that is saved entry by entry.
struct Account {
  MapState<std::string, std::vector<std::int64_t>> of;
  std::int64_t count = 0;
  ListState<std::int64_t> last;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(of, count, last);
  }
};
template <class Rows>
using Accounts = detail::CollectedStates<Rows, std::string, Account, false>;
using AccountsInMemory = Accounts<detail::KeyedRows<std::string>>;
using AccountsOnDisk = Accounts<detail::StoredRows<std::string>>;

/// Hears which types there are, and keeps nothing.
struct NoPlace final : StatePlace {
  std::unique_ptr<StoredStates> make(StateTypes& of) override {
    types = &of;
    return nullptr;
  }
  StateTypes* types = nullptr;
};

store::PartContent corpus_of_rows() {
  AccountsInMemory accounts;
  accounts.states().own(groups, {0, 16});
  state::KeyedSaver saver(3, groups, accounts.states());
  store::PartContent part;
  for (SnapshotId snapshot = 1; snapshot <= 2; ++snapshot) {
    for (int i = 0; i < 2'000; i += static_cast<int>(snapshot)) {
      const std::string key = std::to_string(i % 50);
      const std::uint64_t mixed = mix(KeyHash<std::string>::of(key));
      accounts.begin(key, mixed);
      Account& account = accounts.edit(key, mixed);
      account.count += 1;
      account.of.put(std::to_string(i), std::vector<std::int64_t>(static_cast<std::size_t>(i % 5)));
      if (snapshot == 2 && i % 3 == 0) account.of.erase(std::to_string(i));
      account.last.push_back(i);
      if (account.last.size() > 3) account.last.pop_front();
      accounts.done();
    }
    saver.freeze(snapshot, snapshot - 1);
    saver.begin({});
    while (saver.go_on()) {
    }
    part = saver.take();
  }
  return part;
}

std::string run_rows(std::uint64_t seed, const store::PartContent& from) {
  Random random(seed);
  const auto& units = from.index->units;
  const store::StateUnit& unit = units[random.below(units.size())];
  std::string bytes(as_text(Bytes(from.data).subspan(unit.offset, unit.bytes)));
  if (random.chance(0.9)) fuzzing::mutate(bytes, 1 + random.below(4), random);
  NoPlace place;
  AccountsOnDisk on_disk;
  on_disk.lie_in(place);
  AccountsInMemory in_memory;
  in_memory.states().own(groups, {0, 16});
  std::optional<std::uint64_t> entries_on_disk, entries_in_memory;
  try {
    std::uint64_t entries = 0;
    place.types->read(as_bytes(bytes), StateTypes::Form::marked,
                      [&](const StateTypes::Entry&) { entries += 1; });
    entries_on_disk = entries;
  } catch (const DecodeError&) {
  }
  try {
    entries_in_memory = in_memory.states().replay(unit.group, as_bytes(bytes), 2);
  } catch (const DecodeError&) {
  }
  if (entries_in_memory && entries_on_disk != entries_in_memory) {
    return "memory and disk do not read the same rows";
  }
  if (in_memory.states().size() > bytes.size()) return "there are more rows than there were bytes";
  std::string why;
  try {
    in_memory.for_each([&](const std::string& key, Account& account) {
      if (groups.group_of(mix(KeyHash<std::string>::of(key))) != unit.group) why = "a foreign key";
      account.of.for_each([](const std::string&, const auto&) {});
      account.last.for_each([](std::int64_t) {});
      account.of.clear();
      account.last.clear();
    });
  } catch (const DecodeError&) {
    // A list that says it is longer than it is.
  }
  return why;
}

}  // namespace

int main(int argc, char** argv) {
  const Corpus from = corpus();
  const store::PartContent rows = corpus_of_rows();
  return fuzzing::run(argc, argv, seeds_in_a_test, [&](std::uint64_t seed) {
    const std::string why = run_one(seed, from);
    return why.empty() ? run_rows(seed, rows) : why;
  });
}
