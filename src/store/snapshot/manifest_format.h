#pragma once

#include <piracema/bytes.h>
#include <piracema/error.h>

#include <cstdint>
#include <string>

#include "store/snapshot/snapshot_store.h"

/// The file that makes a snapshot complete, in JSON; docs/formats/snapshot.md.
namespace piracema::store {

/// What is written, and the oldest that is read.
constexpr std::uint32_t manifest_version = 3, manifest_version_min = 1;
/// Room for about 80,000 replicas.
constexpr std::size_t manifest_bytes_max = std::size_t{8} << 20;
constexpr const char* manifest_file_name = "manifest.json";

/// Errc::refused above `manifest_bytes_max`.
Result<std::string> encode_manifest(const Manifest& manifest);

/// `text` may hold anything. Errc::corrupt for what is not the manifest of this snapshot,
/// Errc::refused for another version; messages begin with `file`.
Result<Manifest> decode_manifest(const std::string& file, Bytes text, SnapshotId snapshot);

}  // namespace piracema::store
