#pragma once

#include <piracema/bytes.h>
#include <piracema/error.h>

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

/// The states of the keys of a group whose hashes go on with `prefix`, of `depth` bits.
struct StateUnit {
  std::uint32_t group = 0, depth = 0, prefix = 0;
  PartFile file;
  /// From the beginning of what the file holds.
  std::uint64_t offset = 0, bytes = 0;
  std::uint64_t checksum = 0;
  bool operator==(const StateUnit&) const = default;
};

struct PartIndex {
  /// What the part has beside: its first bytes.
  std::uint64_t plain_bytes = 0, plain_checksum = 0;
  /// Of the node, all replicas together.
  std::uint32_t key_groups = 0;
  /// No two have a key in common; by group and prefix once they were read. Those that have not
  /// changed lie in the files of earlier snapshots.
  std::vector<StateUnit> units;
  bool operator==(const PartIndex&) const = default;

  /// All files but `own` that it needs, each once.
  std::vector<PartFile> other_files(const PartFile& own) const;
};

/// Puts the units into their order.
Buffer encode_index(const PartIndex& index);

/// `bytes` may hold anything. Errc::corrupt, beginning with `file`, also if a unit of the file
/// itself, `own`, is not within its first `data_bytes`.
Result<PartIndex> decode_index(const std::string& file, Bytes bytes, const PartFile& own,
                               std::uint64_t data_bytes);

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
};

}  // namespace piracema::store
