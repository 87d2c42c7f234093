#pragma once

#include <piracema/bytes.h>
#include <piracema/error.h>

#include <cstdint>
#include <vector>

#include "jobs/history.h"
#include "jobs/job.h"
#include "jobs/users.h"

namespace piracema::jobs {

/// All that the control plane of a cluster knows, for replicas that come late and for the disk.
struct ClusterImage {
  /// 1 had no users, so that all jobs were the first one's, and no events.
  static constexpr std::uint32_t version = 2;

  std::vector<Job> jobs;
  std::vector<Node> nodes;
  std::vector<User> users;
  std::vector<Event> events;
  JobId last_job = 0;
  std::uint64_t time = 0, own_ms = 0;
};

Buffer encode(const ClusterImage& image);
/// Of this version and the one before. Errc::corrupt; Errc::config names another version.
Result<ClusterImage> decode_image(Bytes bytes);

}  // namespace piracema::jobs
