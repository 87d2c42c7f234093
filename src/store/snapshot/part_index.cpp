#include "store/snapshot/part_index.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <set>

#include "base/text.h"
#include "wire/checksum.h"
#include "wire/fields.h"

namespace piracema::store {

namespace {

constexpr std::uint32_t unit_depth_max = 16, groups_max = 32'768;
constexpr std::uint64_t bytes_max = std::uint64_t{64} << 30;

struct FileFields {
  std::uint64_t snapshot = 0;
  std::uint32_t replica = 0;
  auto fields() { return std::tie(snapshot, replica); }
};
struct UnitFields {
  std::uint32_t group = 0, depth = 0, prefix = 0, file = 0;
  std::uint64_t offset = 0, bytes = 0, checksum = 0;
  auto fields() { return std::tie(group, depth, prefix, file, offset, bytes, checksum); }
};
struct IndexFields {
  std::uint64_t plain_bytes = 0, plain_checksum = 0;
  std::uint32_t key_groups = 0;
  std::vector<FileFields> files;
  std::vector<UnitFields> units;
  auto fields() { return std::tie(plain_bytes, plain_checksum, key_groups, files, units); }
};

// Version 3.
struct NamedFields {
  std::uint64_t snapshot = 0;
  std::uint32_t replica = 0, first = 0, end = 0;
  std::uint64_t seal = 0;
  auto fields() { return std::tie(snapshot, replica, first, end, seal); }
};
struct RunFields {
  std::uint32_t group = 0;
  std::uint64_t offset = 0, bytes = 0, checksum = 0;
  auto fields() { return std::tie(group, offset, bytes, checksum); }
};
struct DeltaFields {
  std::uint64_t plain_bytes = 0, plain_checksum = 0;
  std::uint32_t key_groups = 0;
  std::vector<NamedFields> files;
  std::vector<RunFields> runs;
  auto fields() { return std::tie(plain_bytes, plain_checksum, key_groups, files, runs); }
};

// The hashes of a unit within its group, from the first to before the last, as numbers of
// `unit_depth_max` bits.
std::pair<std::uint32_t, std::uint32_t> hashes(const UnitFields& unit) {
  return {unit.prefix << (unit_depth_max - unit.depth), (unit.prefix + 1)
                                                            << (unit_depth_max - unit.depth)};
}

// Empty, or what is wrong with a unit that follows `before`.
std::string mistake(const IndexFields& index, const UnitFields& unit, const UnitFields* before) {
  if (unit.group >= index.key_groups || unit.depth > unit_depth_max ||
      unit.prefix >> unit.depth != 0) {
    return concat("a range of keys: group ", unit.group, " of ", index.key_groups, ", prefix ",
                  unit.prefix, " of ", unit.depth, " bits");
  }
  if (unit.file >= index.files.size()) return concat("file ", unit.file, " of a range of keys");
  if (unit.bytes > bytes_max || unit.offset > bytes_max) {
    return concat(unit.bytes, " bytes at ", unit.offset, " for a range of keys");
  }
  if (before == nullptr || before->group < unit.group) return {};
  const bool in_order = before->group == unit.group && hashes(*before).second <= hashes(unit).first;
  return in_order ? ""
                  : concat("ranges of group ", unit.group, " that are not one behind the other");
}

std::vector<RunFields> runs_of(const std::vector<StateUnit>& units) {
  std::vector<RunFields> runs;
  runs.reserve(units.size());
  for (const StateUnit& unit : units) {
    runs.push_back({unit.group, unit.offset, unit.bytes, unit.checksum});
  }
  return runs;
}

using Corrupt = std::function<Error(const std::string&)>;

Result<Done> check_start(const Corrupt& corrupt, std::uint32_t key_groups,
                         std::uint64_t plain_bytes, std::uint64_t data_bytes) {
  if (!std::has_single_bit(key_groups) || key_groups < 2 || key_groups > groups_max) {
    return corrupt(concat("want a power of two from 2 to ", groups_max,
                          " as the number of key groups, found ", key_groups));
  }
  if (plain_bytes > data_bytes) {
    return corrupt(
        concat("want a state of at most ", data_bytes, " bytes, found one of ", plain_bytes));
  }
  return Done{};
}

// Empty, or what is wrong with a file that is named behind `before`.
std::string mistake(const NamedFields& file, const NamedFields* before, std::uint32_t key_groups,
                    const PartFile& own) {
  if (file.snapshot >= own.snapshot) {
    return concat("a file of snapshot ", file.snapshot, ", which is not before ", own.snapshot);
  }
  if (file.first >= file.end || file.end > key_groups) {
    return concat("groups ", file.first, " to ", file.end, " of ", key_groups, " of a file");
  }
  if (before == nullptr) return {};
  const PartFile a{before->snapshot, before->replica}, b{file.snapshot, file.replica};
  if (a < b || (a == b && before->end <= file.first && before->seal == file.seal)) return {};
  return "files that are not one behind the other";
}

Result<PartIndex> decode_delta(const Corrupt& corrupt, Bytes bytes, const PartFile& own,
                               std::uint64_t data_bytes) {
  auto all = wire::decode<DeltaFields>(bytes);
  if (!all) return corrupt(all.error().message);
  auto start = check_start(corrupt, all->key_groups, all->plain_bytes, data_bytes);
  if (!start) return start.error();
  PartIndex index{all->plain_bytes, all->plain_checksum, all->key_groups, {}};
  const NamedFields* last = nullptr;
  for (const NamedFields& file : all->files) {
    const std::string what = mistake(file, last, all->key_groups, own);
    if (!what.empty()) return corrupt(what);
    last = &file;
    index.files.push_back({{file.snapshot, file.replica}, {file.first, file.end}, file.seal});
  }
  index.units.reserve(all->runs.size());
  const RunFields* before = nullptr;
  for (const RunFields& run : all->runs) {
    if (run.group >= all->key_groups) {
      return corrupt(concat("group ", run.group, " of ", all->key_groups));
    }
    if (run.offset > data_bytes || run.bytes > data_bytes - run.offset) {
      return corrupt(concat(run.bytes, " bytes at ", run.offset, ", which are not there"));
    }
    const bool in_order = before == nullptr || std::pair(before->group, before->offset) <
                                                   std::pair(run.group, run.offset);
    if (!in_order) {
      return corrupt(concat("states of group ", run.group, " that are not one behind the other"));
    }
    before = &run;
    index.units.push_back({run.group, 0, 0, own, run.offset, run.bytes, run.checksum});
  }
  return index;
}

}  // namespace

std::uint64_t seal(const std::vector<StateUnit>& units) {
  auto runs = runs_of(units);
  return wire::checksum(wire::encode(runs));
}

void put_in_order(std::vector<StateUnit>& units) {
  std::sort(units.begin(), units.end(), [](const StateUnit& a, const StateUnit& b) {
    return std::pair(a.group, a.offset) < std::pair(b.group, b.offset);
  });
}

std::vector<PartFile> PartIndex::other_files(const PartFile& own) const {
  std::set<PartFile> others;
  for (const NamedFile& named : files) others.insert(named.file);
  for (const StateUnit& unit : units) others.insert(unit.file);
  others.erase(own);
  return {others.begin(), others.end()};
}

Buffer encode_index(const PartIndex& index) {
  std::vector<StateUnit> units = index.units;
  put_in_order(units);
  DeltaFields all{index.plain_bytes, index.plain_checksum, index.key_groups, {}, runs_of(units)};
  for (const NamedFile& named : index.files) {
    all.files.push_back({named.file.snapshot, named.file.replica, named.groups.first,
                         named.groups.end, named.seal});
  }
  return wire::encode(all);
}

Result<PartIndex> decode_index(const std::string& file, Bytes bytes, const PartFile& own,
                               std::uint64_t data_bytes, std::uint32_t version) {
  const Corrupt corrupt = [&](const std::string& what) {
    return Error{Errc::corrupt, concat(file, ": its index: ", what)};
  };
  if (version == 3) return decode_delta(corrupt, bytes, own, data_bytes);
  auto all = wire::decode<IndexFields>(bytes);
  if (!all) return corrupt(all.error().message);
  auto start = check_start(corrupt, all->key_groups, all->plain_bytes, data_bytes);
  if (!start) return start.error();
  PartIndex index{all->plain_bytes, all->plain_checksum, all->key_groups, {}};
  index.version = version;
  index.units.reserve(all->units.size());
  const UnitFields* before = nullptr;
  for (const UnitFields& unit : all->units) {
    if (const std::string what = mistake(*all, unit, before); !what.empty()) return corrupt(what);
    before = &unit;
    const FileFields& lies_in = all->files[unit.file];
    const PartFile where{lies_in.snapshot, lies_in.replica};
    if (where.snapshot > own.snapshot || (where == own && unit.offset + unit.bytes > data_bytes)) {
      return corrupt(concat(unit.bytes, " bytes at ", unit.offset, " of replica ", where.replica,
                            " in snapshot ", where.snapshot, ", which are not there"));
    }
    index.units.push_back(
        {unit.group, unit.depth, unit.prefix, where, unit.offset, unit.bytes, unit.checksum, true});
  }
  return index;
}

}  // namespace piracema::store
