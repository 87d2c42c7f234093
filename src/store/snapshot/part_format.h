#pragma once

#include <piracema/bytes.h>
#include <piracema/error.h>

#include <array>
#include <cstdint>
#include <string>

#include "base/ids.h"
#include "store/snapshot/snapshot_store.h"

/// The file that holds one replica's state: header, state, trailer; docs/formats/snapshot.md.
namespace piracema::store {

constexpr std::uint32_t part_version = 1;
constexpr std::size_t part_header_bytes = 32;
constexpr std::size_t part_trailer_bytes = 8;

using PartHeader = std::array<std::byte, part_header_bytes>;
using PartTrailer = std::array<std::byte, part_trailer_bytes>;

/// What the manifest will say of `state`. Errc::refused above `part_bytes_max`.
Result<Part> describe(ReplicaId replica, Bytes state);

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

}  // namespace piracema::store
