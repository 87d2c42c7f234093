#pragma once

#include <cstdint>
#include <optional>

#include "base/clock.h"
#include "jobs/protocol/operations.h"
#include "tools/cluster/client.h"

namespace piracema::tools {

/// A job of a cluster that somebody waits for.
class FollowedJob {
 public:
  /// `client` outlives it. `now_ms`: of an answer (Answer::now_ms); no replica that is behind that
  /// is listened to.
  FollowedJob(ClusterClient& client, jobs::JobId id, std::uint64_t now_ms = 0)
      : client_(client), id_(id), now_ms_(now_ms) {}

  /// How it is now, and then again each time once it is otherwise. Errc::refused if there is none,
  /// Errc::timeout if nobody answers.
  Result<jobs::Job> next();
  /// The same, or nothing if it is still so then, or some seconds later.
  Result<std::optional<jobs::Job>> next(Time until);

 private:
  ClusterClient& client_;
  const jobs::JobId id_;
  std::uint64_t mark_ = 0, now_ms_;
};

}  // namespace piracema::tools
