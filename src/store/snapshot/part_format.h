#pragma once

#include <piracema/bytes.h>
#include <piracema/error.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/ids.h"
#include "store/snapshot/snapshot_store.h"

/// The file that holds one replica's state: header, state, trailer; docs/formats/snapshot.md.
namespace piracema::store {

/// Of a part without an index, and of one with one.
constexpr std::uint32_t part_version = 1, indexed_part_version = 3;
/// Of those with an index the oldest that is read.
constexpr std::uint32_t indexed_part_version_min = 2;
constexpr std::size_t part_header_bytes = 32;
constexpr std::size_t part_trailer_bytes = 8;
/// Behind the index, which is at the end of what the part holds: its length and its checksum.
constexpr std::size_t index_trailer_bytes = 16;

using PartHeader = std::array<std::byte, part_header_bytes>;
using PartTrailer = std::array<std::byte, part_trailer_bytes>;

/// What the manifest will say of `state`. Errc::refused above `part_bytes_max`.
Result<Part> describe(ReplicaId replica, Bytes state);

using IndexTrailer = std::array<std::byte, index_trailer_bytes>;

/// The same of a part with an index, which holds `data_bytes` before it.
Result<Part> describe_indexed(SnapshotId snapshot, ReplicaId replica, std::uint64_t data_bytes,
                              Bytes index, const PartIndex& content);
IndexTrailer index_trailer(Bytes index);
struct IndexedPart {
  std::uint32_t version = 0;
  /// How much it holds, its index as well.
  std::uint64_t bytes = 0;
};
/// Says whether a file that begins with `start` is an indexed part. Errc::corrupt, Errc::refused.
Result<IndexedPart> check_indexed(const std::string& file, std::uint64_t file_bytes, Bytes start,
                                  const PartFile& want);
/// What the last bytes of such a file say of its index.
struct IndexPlace {
  std::uint64_t bytes = 0, checksum = 0;
};
/// `part`: what the manifest says of it; null if it is read because another part names it.
Result<IndexPlace> check_index_trailer(const std::string& file, Bytes trailer,
                                       const IndexedPart& found, const Part* part);
/// The index of that part, checked against these.
Result<PartIndex> check_index(const std::string& file, Bytes index, const IndexedPart& found,
                              const IndexPlace& place, const PartFile& own, const Part* part);

PartHeader part_header(SnapshotId snapshot, const Part& part);
PartTrailer part_trailer(const Part& part);

/// Says whether a file of `file_bytes` that begins with `start` (all of it if shorter than a
/// header) can be the part that a manifest describes. Ask before making room for the state.
/// Errc::corrupt, or Errc::refused for another version; messages begin with `file`.
Result<Done> check_part_header(const std::string& file, std::uint64_t file_bytes, Bytes start,
                               SnapshotId snapshot, const Part& part);

/// Says whether the rest of the file is what the manifest describes.
Result<Done> check_part_state(const std::string& file, Bytes state, Bytes trailer,
                              const Part& part);

/// "part-0003"
std::string part_file_name(ReplicaId replica);
/// "000000000007", and back; nullopt for a name that this does not make.
std::string snapshot_folder_name(SnapshotId snapshot);
std::optional<SnapshotId> snapshot_of_folder(std::string_view name);

}  // namespace piracema::store
