#pragma once

#include <piracema/bytes.h>
#include <piracema/error.h>

#include <map>
#include <string>
#include <string_view>

#include "base/ids.h"

/// A name that keeps a snapshot until the name is deleted; docs/formats/snapshot.md.
namespace piracema::store {

/// By name.
using Savepoints = std::map<std::string, SnapshotId>;

/// Where a store has a file for each of them, under its name.
constexpr const char* savepoints_folder_name = "savepoints";
/// In a snapshot's folder: its job needs it no more, and only a name may keep it.
constexpr const char* released_file_name = "released";
constexpr std::size_t savepoint_bytes_max = 256;

/// Letters, digits and "._-", at most 64, beginning with a letter or a digit, without ".tmp-".
/// Errc::config.
Result<Done> check_savepoint_name(std::string_view name);
bool is_savepoint_name(std::string_view name);
/// "x-UUID", as servers that keep a bucket in files (S3Proxy) call what they still write as "x",
/// and list it for a moment. No new name ends so.
bool ends_in_uuid(std::string_view name);

std::string encode_savepoint(const std::string& name, SnapshotId snapshot);
/// `text` may hold anything. Errc::corrupt for what is not the savepoint of this name,
/// Errc::refused for another version; messages begin with `file`.
Result<SnapshotId> decode_savepoint(const std::string& file, const std::string& name, Bytes text);

}  // namespace piracema::store
