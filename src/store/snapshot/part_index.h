#pragma once

#include <piracema/bytes.h>
#include <piracema/error.h>
#include <piracema/key.h>

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/ids.h"

/// Which states by key a part has, and where each range of them lies: docs/formats/snapshot.md.
namespace piracema::store {

/// The file of one replica's part.
struct PartFile {
  SnapshotId snapshot = 0;
  ReplicaId replica = 0;
  auto operator<=>(const PartFile&) const = default;
};

/// A run of bytes that a file has of a group: entries that say what has become of keys since the
/// files before it. In a part of version 2 these are all keys whose hashes go on with `prefix`, of
/// `depth` bits, and nothing else has any of them.
struct StateUnit {
  std::uint32_t group = 0, depth = 0, prefix = 0;
  PartFile file;
  /// From the beginning of what the file holds.
  std::uint64_t offset = 0, bytes = 0;
  std::uint64_t checksum = 0;
  /// Of a part of version 2.
  bool whole_range = false;
  bool operator==(const StateUnit&) const = default;
};

/// A file of an earlier snapshot that is to be read, too, for these groups.
struct NamedFile {
  PartFile file;
  GroupRange groups;
  /// What `seal` says of its units.
  std::uint64_t seal = 0;
  bool operator==(const NamedFile&) const = default;
};

struct PartIndex {
  /// What the part has beside: its first bytes.
  std::uint64_t plain_bytes = 0, plain_checksum = 0;
  /// Of the node, all replicas together.
  std::uint32_t key_groups = 0;
  /// Those of the file itself; by group and offset once they were read. In a part of version 2
  /// also those that lie in other files.
  std::vector<StateUnit> units;
  /// Other files that are to be read before it, the oldest first; a file may be named for several
  /// ranges of groups.
  std::vector<NamedFile> files{};
  /// Of the part: 2 or 3.
  std::uint32_t version = 3;
  bool operator==(const PartIndex&) const = default;

  /// All files but `own` that it needs, each once.
  std::vector<PartFile> other_files(const PartFile& own) const;
};

/// Tells the units of a file from any others. They are in their order (`put_in_order`).
std::uint64_t seal(const std::vector<StateUnit>& units);
void put_in_order(std::vector<StateUnit>& units);

/// Always of version 3. Puts the units into their order.
Buffer encode_index(const PartIndex& index);

/// `bytes` may hold anything. Errc::corrupt, beginning with `file`, also if a unit of the file
/// itself, `own`, is not within its first `data_bytes`. `version` is that of the part.
Result<PartIndex> decode_index(const std::string& file, Bytes bytes, const PartFile& own,
                               std::uint64_t data_bytes, std::uint32_t version = 3);

/// What a replica saves, or the end of it.
struct PartContent {
  PartContent() = default;
  PartContent(Buffer state) : data(std::move(state)) {}
  PartContent(Buffer bytes, PartIndex of, std::uint64_t in_pieces = 0)
      : data(std::move(bytes)), index(std::move(of)), before(in_pieces) {}

  Buffer data;
  /// Where it has states by key.
  std::optional<PartIndex> index;
  /// How much of it was handed over before, in pieces; only with an index, which counts them.
  std::uint64_t before = 0;
  /// How much of it are items that a barrier has overtaken: for people.
  std::uint64_t under_way = 0;
};

}  // namespace piracema::store
