#pragma once

#include <piracema/error.h>

#include <optional>
#include <string>

#include "base/ids.h"

namespace piracema::tools {

/// What a command has to say, and its exit code.
struct Answer {
  int code = 0;
  std::string out;
  std::string error;
};

/// The snapshots of a directory as a table, or as JSON: how large each is, what was written for it,
/// and in the files of which others lies what has not changed since. With `verify` every byte of
/// them is read, those files' as well, and the state is "intact"; without, only manifests and
/// indexes are, and it is "complete". Changes nothing, and may be used while a job is running.
///
/// Exit code 0: fine; 1: with `verify`, something is damaged; 3: not a snapshot directory, or
/// everything in it is of another version (`error` says in one line what was wanted and found).
Answer describe_snapshots(const std::string& directory, bool verify, bool json);

/// The name of a savepoint. Errc::usage.
Result<std::string> parse_savepoint(const std::string& text);

/// What is to be done with the names of snapshots.
struct SavepointChange {
  /// A new one; empty: none.
  std::string name;
  /// Whose it is; none: the newest one's.
  std::optional<SnapshotId> snapshot;
  /// One that goes; empty: none.
  std::string deleted;

  bool is_wanted() const { return !name.empty() || !deleted.empty(); }
};

/// Names a snapshot, which is kept from there on, or deletes a name: if the job has no need of the
/// snapshot, it goes as well, with the files that only it needs. May be used while a job is
/// running, which then removes them itself when it removes others. Exit code 3: there is no such
/// snapshot, name or directory, or a name cannot be had.
Answer savepoint_changed(const std::string& directory, const SavepointChange& change);

/// The same, and prints what came of it.
int change_savepoints(const std::string& directory, const SavepointChange& change);

/// `piracema snapshots DIR [--verify] [--json]`: prints it and returns the exit code.
int list_snapshots(const std::string& directory, bool verify, bool json);

}  // namespace piracema::tools
