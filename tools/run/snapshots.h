#pragma once

#include <string>

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

/// `piracema snapshots DIR [--verify] [--json]`: prints it and returns the exit code.
int list_snapshots(const std::string& directory, bool verify, bool json);

}  // namespace piracema::tools
