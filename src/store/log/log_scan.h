#pragma once

#include <functional>
#include <string>
#include <vector>

#include "store/disk/disk.h"
#include "store/log/log_format.h"

/// How a log is read after a restart.
namespace piracema::store {

/// A file of the log whose records are whole and right from `first` up to `next`.
struct ScannedSegment {
  std::string name;
  LogSequence first = 0, next = 0;
  /// Where the next record would begin, and where the last byte is that is not zero.
  std::uint64_t end = 0, used = 0;
};

struct LogScan {
  /// Nothing before this is needed any more.
  LogSequence floor = 1;
  /// Oldest first, each beginning where the one before ends; the last one goes on.
  std::vector<ScannedSegment> segments;
  /// Files to be removed before anything is written.
  std::vector<std::string> leftovers;
  /// What a crash has left behind the last record, for people; empty if nothing.
  std::string cut;
};

/// Errc::corrupt if records are damaged or missing that were durable; Errc::refused for another
/// owner or version; Errc::io. Changes nothing.
Result<LogScan> scan_log(Disk& disk, std::uint64_t owner);

/// Calls `visit` for each record from `floor` on, until it returns an error.
Result<Done> visit_segment(Disk& disk, const ScannedSegment& segment, LogSequence floor,
                           const std::function<Result<Done>(LogSequence, Bytes)>& visit);

}  // namespace piracema::store
