#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <vector>

#include "jobs/protocol/stream_sight.h"

namespace piracema::jobs {

/// What nodes say of the streams that they run, in the memory of one replica of the control plane:
/// no part of the replicated state, in no log and in no image. Nodes tell whoever leads, again and
/// again, and users ask whoever leads; a new leader has nothing for a moment. Times are the
/// group's. Any thread.
class StreamBoard {
 public:
  static constexpr std::size_t streams_max = 4'096;
  /// So long after somebody has asked nodes look every second.
  static constexpr std::uint64_t watched_ms = 10'000;

  /// Takes the place of what was said of the job before. What is too much is not kept: some streams
  /// are unknown then.
  void put(StreamSight sight, std::uint64_t now_ms);
  /// Somebody has asked lately.
  bool is_watched(std::uint64_t now_ms) const;

  /// Of jobs from this one on, in order, of whose attempts `is_so` says that they run; the others
  /// are forgotten. About so many bytes at most, and at least one; `next`: where it goes on, 0:
  /// nowhere. Counts as asked.
  struct Some {
    std::vector<StreamSight> sights;
    JobId next = 0;
  };
  Some from(JobId first, std::size_t bytes, std::uint64_t now_ms,
            const std::function<bool(const Attempt&)>& is_so);

 private:
  mutable std::mutex mutex_;
  std::map<JobId, StreamSight> sights_;
  /// When somebody has asked; 0: nobody has.
  std::uint64_t asked_ms_ = 0;
};

}  // namespace piracema::jobs
