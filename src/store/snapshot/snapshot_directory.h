#pragma once

#include <piracema/error.h>

#include <string>

namespace piracema::store {

/// The absolute path of a directory that holds snapshots, by its mark (`lock_name`) or by a
/// snapshot. With `create` makes the directory (its parent exists), or takes one that is empty.
/// Errc::not_found if it does not exist, Errc::config if it exists and is something else: it is
/// never taken over. Errc::io with the system's reason.
Result<std::string> find_snapshot_directory(const std::string& path, bool create);

}  // namespace piracema::store
