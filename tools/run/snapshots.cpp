#include "tools/run/snapshots.h"

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <vector>

#include "base/log.h"
#include "base/text.h"
#include "state/redistribution.h"
#include "store/open_store.h"

namespace piracema::tools {

namespace {

struct Row {
  SnapshotId snapshot = 0;
  /// Nothing where the snapshot could not be read.
  std::optional<store::Manifest> manifest;
  /// All that a job reads to go on from it, wherever it lies.
  std::uint64_t state_bytes = 0;
  const char* state = "";
  std::string why;
  /// Of items that were under way; where all of it was read.
  std::uint64_t under_way = 0;
  /// Names that keep it.
  std::vector<std::string> savepoints{};
};

// Also the index of states by key, which says where those lie that have not changed.
std::uint64_t written_bytes(const store::Manifest& manifest) {
  std::uint64_t sum = 0;
  for (const store::Part& part : manifest.parts) sum += part.bytes;
  return sum;
}

Result<std::uint64_t> state_bytes(store::SnapshotStore& store, const store::Manifest& manifest) {
  std::uint64_t sum = 0;
  for (const store::Part& part : manifest.parts) {
    if (!part.indexed) {
      sum += part.bytes;
      continue;
    }
    const auto index = store.index(manifest.snapshot, part);
    if (!index) return index.error();
    sum += index->plain_bytes;
    const auto units =
        store::units_of(store, {manifest.snapshot, part.replica}, *index, {0, index->key_groups});
    if (!units) return units.error();
    for (const store::StateUnit& unit : *units) sum += unit.bytes;
  }
  return sum;
}

// Snapshots in whose files states lie that have not changed since.
std::set<SnapshotId> needed_by(const store::Manifest& manifest) {
  std::set<SnapshotId> needed;
  for (const store::Part& part : manifest.parts) {
    for (const store::PartFile& file : part.files) {
      if (file.snapshot != manifest.snapshot) needed.insert(file.snapshot);
    }
  }
  return needed;
}

Row damaged(SnapshotId snapshot, const Error& error) {
  const bool version = error.code == Errc::refused;
  return {snapshot, std::nullopt, 0, version ? "other version" : "damaged", error.message, 0, {}};
}

Row row_of(store::SnapshotStore& store, SnapshotId snapshot, bool verify) {
  auto manifest = verify ? store::verify(store, snapshot) : store.manifest(snapshot);
  if (!manifest) return damaged(snapshot, manifest.error());
  const auto bytes = state_bytes(store, *manifest);
  if (!bytes) return damaged(snapshot, bytes.error());
  const auto under_way = verify ? state::bytes_under_way(store, *manifest) : std::uint64_t{0};
  if (!under_way) return damaged(snapshot, under_way.error());
  const char* state = manifest->finished ? "finished" : verify ? "intact" : "complete";
  return {snapshot, *std::move(manifest), *bytes, state, "", *under_way, {}};
}

// A job that runs here drops what it does not need any more, also while somebody looks: that is not
// damaged.
Result<Done> leave_out_dropped(store::SnapshotStore& store, std::vector<Row>& rows) {
  const auto is_read = [](const Row& row) { return row.manifest.has_value(); };
  if (std::all_of(rows.begin(), rows.end(), is_read)) return Done{};
  const auto left = store.list();
  if (!left) return left.error();
  std::erase_if(rows, [&](const Row& row) {
    return !is_read(row) && std::find(left->begin(), left->end(), row.snapshot) == left->end();
  });
  return Done{};
}

// Seconds since 1970 as a date; "-" for what no clock of ours shows.
std::string date(std::uint64_t seconds, bool utc) {
  constexpr std::uint64_t end_of_year_9999 = 253'402'300'799;
  if (seconds > end_of_year_9999) return "-";
  const auto time = static_cast<std::time_t>(seconds);
  std::tm parts{};
  utc ? ::gmtime_r(&time, &parts) : ::localtime_r(&time, &parts);
  char text[32];
  std::strftime(text, sizeof text, utc ? "%Y-%m-%dT%H:%M:%SZ" : "%Y-%m-%d %H:%M:%S", &parts);
  return text;
}

std::string as_table(const std::vector<Row>& rows, const std::string& directory) {
  if (rows.empty()) return concat("No snapshots in ", directory, ".\n");
  char line[128];
  const auto columns = [&](const std::string& snapshot, const std::string& taken,
                           const std::string& replicas, const std::string& size,
                           const std::string& written) {
    std::snprintf(line, sizeof line, "%8s  %-19s  %8s  %8s  %8s  ", snapshot.c_str(), taken.c_str(),
                  replicas.c_str(), size.c_str(), written.c_str());
    return std::string(line);
  };
  const auto human = [](std::uint64_t bytes) { return human_bytes(static_cast<double>(bytes)); };
  std::string out = columns("SNAPSHOT", "TAKEN", "REPLICAS", "SIZE", "WRITTEN") + "STATE\n";
  for (const Row& row : rows) {
    const auto& manifest = row.manifest;
    out += columns(concat(row.snapshot), manifest ? date(manifest->created, false) : "-",
                   manifest ? concat(manifest->parts.size()) : "-",
                   manifest ? human(row.state_bytes) : "-",
                   manifest ? human(written_bytes(*manifest)) : "-");
    out += row.state;
    if (!row.why.empty()) out += concat(" (", row.why, ")");
    if (row.under_way != 0) out += concat(", with ", human(row.under_way), " under way");
    for (const std::string& name : row.savepoints) out += concat(", savepoint '", name, "'");
    const auto needed = manifest ? needed_by(*manifest) : std::set<SnapshotId>();
    for (const SnapshotId other : needed) {
      out += concat(other == *needed.begin() ? ", needs what was saved in " : ", ", other);
    }
    out += '\n';
  }
  return out;
}

std::string as_json(const std::vector<Row>& rows, const std::string& directory, bool verified) {
  using nlohmann::ordered_json;
  ordered_json list = ordered_json::array();
  for (const Row& row : rows) {
    ordered_json entry{{"snapshot", row.snapshot}, {"state", row.state}};
    if (row.manifest) {
      entry["taken"] = date(row.manifest->created, true);
      entry["epoch"] = row.manifest->epoch;
      entry["replicas"] = row.manifest->parts.size();
      entry["state_bytes"] = row.state_bytes;
      entry["written_bytes"] = written_bytes(*row.manifest);
      entry["needs"] = needed_by(*row.manifest);
      if (verified) entry["under_way_bytes"] = row.under_way;
    } else {
      entry["error"] = row.why;
    }
    entry["savepoints"] = row.savepoints;
    list.push_back(std::move(entry));
  }
  const ordered_json document{{"directory", directory}, {"snapshots", std::move(list)}};
  // A directory's name need not be UTF-8.
  return document.dump(2, ' ', false, ordered_json::error_handler_t::replace) + '\n';
}

}  // namespace

Answer describe_snapshots(const std::string& directory, bool verify, bool json) {
  auto store = store::open_store(directory, false);
  if (!store) return {3, "", store.error().message};
  // Before the snapshots: what gets a name meanwhile is none that was lost.
  const auto savepoints = (*store)->savepoints();
  if (!savepoints) return {3, "", savepoints.error().message};
  auto snapshots = (*store)->list();
  if (!snapshots) return {3, "", snapshots.error().message};

  std::vector<Row> rows;
  for (const SnapshotId snapshot : *snapshots) rows.push_back(row_of(**store, snapshot, verify));
  if (auto left = leave_out_dropped(**store, rows); !left) return {3, "", left.error().message};
  // Once more: nor is one whose name was deleted meanwhile.
  const auto names = (*store)->savepoints();
  if (!names) return {3, "", names.error().message};
  std::string lost;
  for (const auto& [name, snapshot] : *savepoints) {
    const auto row = std::find_if(rows.begin(), rows.end(), [wanted = snapshot](const Row& each) {
      return each.snapshot == wanted;
    });
    if (row != rows.end()) {
      row->savepoints.push_back(name);
    } else if (names->contains(name)) {
      lost += concat(lost.empty() ? "" : "\n", directory, ": snapshot ", snapshot,
                     " of savepoint '", name, "' is not there");
    }
  }
  const auto of_version = [](const Row& row) {
    return std::string_view(row.state) == "other version";
  };
  if (!rows.empty() && std::all_of(rows.begin(), rows.end(), of_version)) {
    return {3, "", rows.back().why};
  }
  const bool all_read = std::all_of(rows.begin(), rows.end(),
                                    [](const Row& row) { return row.manifest.has_value(); });
  const bool damaged = !all_read || !lost.empty();
  return {verify && damaged ? 1 : 0,
          json ? as_json(rows, directory, verify) : as_table(rows, directory), lost};
}

namespace {

Answer refusal(const Error& error) { return {3, "", error.message}; }

Result<SnapshotId> newest(store::JobStore& store) {
  const auto all = store.list();
  if (!all) return all.error();
  if (!all->empty()) return all->back();
  return Error{Errc::config, concat(store.name(), " has no snapshot to be named")};
}

Answer named(store::JobStore& store, const std::string& name, SnapshotId snapshot) {
  // A name of what cannot be read would be found out when it is too late.
  const Row row = row_of(store, snapshot, false);
  if (!row.manifest) return {3, "", row.why};
  const auto under_way = state::bytes_under_way(store, *row.manifest);
  if (!under_way) return {3, "", under_way.error().message};
  if (auto added = store.add_savepoint(name, snapshot); !added) return refusal(added.error());
  std::string done = concat("savepoint '", name, "' is snapshot ", snapshot, "\n");
  if (*under_way != 0) {
    done += concat("it has ", human_bytes(static_cast<double>(*under_way)),
                   " of items that were under way: only the same program with the same numbers of "
                   "replicas can go on from it\n");
  }
  return {0, std::move(done), ""};
}

Answer that_one_named(store::JobStore& store, const std::string& name, SnapshotId snapshot) {
  const auto all = store.list();
  if (!all) return refusal(all.error());
  if (std::find(all->begin(), all->end(), snapshot) != all->end()) {
    return named(store, name, snapshot);
  }
  std::string found;
  for (const SnapshotId id : *all) found += concat(found.empty() ? "" : ", ", id);
  return {3, "",
          concat(store.name(), ": want snapshot ", snapshot, ", found ",
                 found.empty() ? "none" : found)};
}

// A job that takes snapshots faster than this is done may have dropped the one that was the newest:
// then another one is.
Answer newest_named(store::JobStore& store, const std::string& name) {
  constexpr int tries_max = 100;
  for (int tries = 1;; ++tries) {
    const auto snapshot = newest(store);
    if (!snapshot) return refusal(snapshot.error());
    Answer answer = named(store, name, *snapshot);
    if (answer.code == 0 || tries == tries_max) return answer;
    const auto names = store.savepoints();
    const auto now = newest(store);
    if (!names || names->contains(name) || !now || *now == *snapshot) return answer;
  }
}

Answer deleted(store::JobStore& store, const std::string& name) {
  // One that cannot be read can be deleted, too.
  const auto all = store.savepoints();
  const auto found = all ? all->find(name) : store::Savepoints::const_iterator();
  if (all && found == all->end()) {
    return refusal(store::find_savepoint(*all, name, store.name()).error());
  }
  if (auto gone = store.delete_savepoint(name); !gone) return refusal(gone.error());
  const std::string done = concat("savepoint '", name, "' is deleted");
  // Who has the store for itself removes what nobody needs.
  auto lock = store.lock();
  if (!lock && lock.error().code == Errc::refused) {
    return {0, concat(done, "; the job that is running here removes what it does not need\n"), ""};
  }
  if (!lock) return refusal(lock.error());
  if (auto dropped = store.drop_released(); !dropped) return refusal(dropped.error());
  if (!all) return {0, done + "\n", ""};
  const auto left = store.list();
  if (!left) return refusal(left.error());
  const bool stays = std::find(left->begin(), left->end(), found->second) != left->end();
  return {0,
          concat(done, stays ? "; snapshot " : ", and snapshot ", found->second,
                 stays ? " stays, for the job or another name\n" : " with it\n"),
          ""};
}

int print(const Answer& answer) {
  std::fputs(answer.out.c_str(), stdout);
  if (!answer.error.empty()) log(Level::error, answer.error);
  return answer.code;
}

}  // namespace

int list_snapshots(const std::string& directory, bool verify, bool json) {
  return print(describe_snapshots(directory, verify, json));
}

Result<std::string> parse_savepoint(const std::string& text) {
  if (auto fits = store::check_savepoint_name(text); !fits) {
    return Error{Errc::usage, fits.error().message};
  }
  return text;
}

Answer savepoint_changed(const std::string& directory, const SavepointChange& change) {
  auto store = store::open_store(directory, false);
  if (!store) return refusal(store.error());
  if (change.name.empty()) return deleted(**store, change.deleted);
  if (auto fits = store::check_savepoint_name(change.name); !fits) return refusal(fits.error());
  if (change.snapshot) return that_one_named(**store, change.name, *change.snapshot);
  return newest_named(**store, change.name);
}

int change_savepoints(const std::string& directory, const SavepointChange& change) {
  return print(savepoint_changed(directory, change));
}

}  // namespace piracema::tools
