#include "tools/cluster/followed_job.h"

#include <chrono>
#include <thread>

namespace piracema::tools {

namespace {

// For a replica that is behind to come up.
constexpr std::chrono::milliseconds behind_pause{20};

}  // namespace

Result<jobs::Job> FollowedJob::next() {
  auto job = next(Time::max());
  if (!job) return job.error();
  return std::move(**job);
}

Result<std::optional<jobs::Job>> FollowedJob::next(Time until) {
  while (now() < until) {
    auto answer = client_.await(jobs::AwaitJob{id_, mark_, now_ms_});
    if (!answer && answer.error().code == Errc::refused) {
      // A question that is held is answered by one replica, which may not know of the job yet.
      const auto known = client_.ask(jobs::ShowJob{id_});
      if (!known) return known.error();
      now_ms_ = known->now_ms;
      std::this_thread::sleep_for(behind_pause);
      continue;
    }
    if (!answer) return answer.error();
    if (answer->jobs.size() != 1) continue;
    mark_ = answer->mark;
    now_ms_ = answer->now_ms;
    return std::optional(std::move(answer->jobs.front()));
  }
  return std::optional<jobs::Job>();
}

}  // namespace piracema::tools
