#include "tools/cluster/resize.h"

#include "base/clock.h"
#include "base/text.h"
#include "tools/cluster/followed_job.h"

namespace piracema::tools {

bool has_all_nodes(const jobs::Job& job) {
  return job.state == jobs::JobState::running && 1 + job.others.size() == job.spec.nodes;
}

Result<jobs::Job> resize(ClusterClient& client, jobs::JobId id, std::uint32_t nodes,
                         std::chrono::milliseconds within) {
  const Time until = now() + within;
  const auto answer = client.ask(jobs::Resize{id, nodes});
  if (!answer) return answer.error();
  if (answer->jobs.size() != 1) return Error{Errc::corrupt, "an answer without a job"};
  jobs::Job job = answer->jobs.front();
  for (FollowedJob followed(client, id, answer->now_ms);;) {
    if (job.spec.nodes != nodes) {
      return Error{
          Errc::lost,
          concat("job ", id, " was given another number of nodes meanwhile: ", job.spec.nodes)};
    }
    if (is_over(job.state)) {
      return Error{Errc::lost, concat("job ", id, " has ended meanwhile: ", job.why)};
    }
    if (has_all_nodes(job)) return job;
    auto next = followed.next(until);
    if (!next) return next.error();
    if (!*next) return job;
    job = *std::move(*next);
  }
}

}  // namespace piracema::tools
