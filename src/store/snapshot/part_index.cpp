#include "store/snapshot/part_index.h"

#include <algorithm>
#include <bit>
#include <map>
#include <set>

#include "base/text.h"
#include "wire/fields.h"

namespace piracema::store {

namespace {

constexpr std::uint32_t depth_max = 16, groups_max = 32'768;
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

// The hashes of a unit within its group, from the first to before the last, as numbers of
// `depth_max` bits.
std::pair<std::uint32_t, std::uint32_t> hashes(const UnitFields& unit) {
  return {unit.prefix << (depth_max - unit.depth), (unit.prefix + 1) << (depth_max - unit.depth)};
}

// Empty, or what is wrong with a unit that follows `before`.
std::string mistake(const IndexFields& index, const UnitFields& unit, const UnitFields* before) {
  if (unit.group >= index.key_groups || unit.depth > depth_max || unit.prefix >> unit.depth != 0) {
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

}  // namespace

std::vector<PartFile> PartIndex::other_files(const PartFile& own) const {
  std::set<PartFile> files;
  for (const StateUnit& unit : units) files.insert(unit.file);
  files.erase(own);
  return {files.begin(), files.end()};
}

Buffer encode_index(const PartIndex& index) {
  IndexFields all{index.plain_bytes, index.plain_checksum, index.key_groups, {}, {}};
  all.units.reserve(index.units.size());
  std::map<PartFile, std::uint32_t> numbers;
  for (const StateUnit& unit : index.units) {
    const auto next = static_cast<std::uint32_t>(numbers.size());
    const auto [file, is_new] = numbers.emplace(unit.file, next);
    if (is_new) all.files.push_back({unit.file.snapshot, unit.file.replica});
    all.units.push_back({unit.group, unit.depth, unit.prefix, file->second, unit.offset, unit.bytes,
                         unit.checksum});
  }
  std::sort(all.units.begin(), all.units.end(), [](const UnitFields& a, const UnitFields& b) {
    return std::pair(a.group, hashes(a)) < std::pair(b.group, hashes(b));
  });
  return wire::encode(all);
}

Result<PartIndex> decode_index(const std::string& file, Bytes bytes, const PartFile& own,
                               std::uint64_t data_bytes) {
  const auto corrupt = [&](const std::string& what) {
    return Error{Errc::corrupt, concat(file, ": its index: ", what)};
  };
  auto all = wire::decode<IndexFields>(bytes);
  if (!all) return corrupt(all.error().message);
  if (!std::has_single_bit(all->key_groups) || all->key_groups < 2 ||
      all->key_groups > groups_max) {
    return corrupt(concat("want a power of two from 2 to ", groups_max,
                          " as the number of key groups, found ", all->key_groups));
  }
  if (all->plain_bytes > data_bytes) {
    return corrupt(
        concat("want a state of at most ", data_bytes, " bytes, found one of ", all->plain_bytes));
  }
  PartIndex index{all->plain_bytes, all->plain_checksum, all->key_groups, {}};
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
        {unit.group, unit.depth, unit.prefix, where, unit.offset, unit.bytes, unit.checksum});
  }
  return index;
}

}  // namespace piracema::store
