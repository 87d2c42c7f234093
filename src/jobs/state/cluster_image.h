#pragma once

#include <piracema/bytes.h>
#include <piracema/error.h>

#include <cstdint>
#include <vector>

#include "jobs/protocol/history.h"
#include "jobs/protocol/job.h"
#include "jobs/protocol/users.h"

namespace piracema::jobs {

/// All that the control plane of a cluster knows, for replicas that come late and for the disk.
struct ClusterImage {
  /// In 4 no node had a home that is full. In 3 machines had no kinds, and only commands said
  /// anything. In 2 only the first node of a job had asked for parts, and none outlived that.
  static constexpr std::uint32_t version = 6;

  std::vector<Job> jobs;
  std::vector<Node> nodes;
  std::vector<User> users;
  std::vector<Event> events;
  JobId last_job = 0;
  std::uint64_t time = 0, own_ms = 0;
};

Buffer encode(const ClusterImage& image);
/// Of this version and the four before. Errc::corrupt; Errc::config names another version.
Result<ClusterImage> decode_image(Bytes bytes);

}  // namespace piracema::jobs
