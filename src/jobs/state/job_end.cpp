#include "jobs/state/job_end.h"

#include <algorithm>

#include "base/text.h"

namespace piracema::jobs {

namespace {

// Not before its parts have ended.
void become(Job& job, JobState next) {
  job.next = next;
  job.state = JobState::ending;
}

void again_or_over(Job& job) {
  if (job.cancelled) return become(job, JobState::cancelled);
  if (job.failures > job.spec.retries) return become(job, JobState::failed);
  if (job.losses >= losses_max) {
    job.why += concat("; that was the ", losses_max, "th time that it lost its node");
    return become(job, JobState::failed);
  }
  become(job, JobState::waiting);
}

// Its coordinators on the other nodes see to that; what a user does to the job goes by a command.
bool goes_on(Job& job, const std::map<std::string, Node>& nodes) {
  if (job.state != JobState::running || !outlives_first_node(job.spec)) return false;
  if (!has_coordinators_apart(job, nodes)) return false;
  const std::string next = next_node(job, nodes);
  if (next.empty() || job.losses >= losses_max) return false;
  job.node = next;
  std::erase(job.others, next);
  job.joins = true;
  // Another command counts what it says from the beginning.
  job.heard = 0;
  return true;
}

// As `piracema run --join` says it: with the first node more was lost than the job can do without.
bool found_nobody(const Job& job, const Ended& end) {
  constexpr std::uint32_t all_lost = 4;
  return job.joins && end.code == all_lost;
}

// What a command does without one of its nodes is no failure of its own.
bool misses_a_node(const Job& job, const std::map<std::string, Node>& nodes) {
  if (follows_nodes(job.spec)) return false;
  // By a node that was not sure of its lease, and may have it still.
  const bool was_fenced = std::any_of(job.parts.begin(), job.parts.end(), [](const auto& part) {
    return part.second.ended && part.second.ended->end == End::fenced;
  });
  return was_fenced || std::any_of(job.others.begin(), job.others.end(), [&](const auto& other) {
           const auto node = nodes.find(other);
           return node == nodes.end() || !node->second.alive;
         });
}

// Its command has, and the loss of a node that it noticed may not be known yet.
bool has_failed(const Job& job) {
  return job.state == JobState::ending && !follows_nodes(job.spec) && job.failures != 0 &&
         job.losses < losses_max &&
         (job.next == JobState::failed || (job.next == JobState::waiting && job.ended_ms != 0));
}

void take_for_loss(Job& job, const std::string& why, History& history) {
  job.failures -= 1;
  job.losses += 1;
  job.ended_ms = 0;
  job.why = why;
  happened(Event::Kind::job_lost_node, job, why, history);
  again_or_over(job);
}

}  // namespace

void command_ended(Job& job, const Ended& end, const std::map<std::string, Node>& nodes,
                   std::uint64_t now_ms, History& history) {
  job.code = end.code;
  job.why = end.why.substr(0, why_bytes_max);
  if (end.end == End::fenced) {
    job.losses += 1;
    happened(Event::Kind::job_lost_node, job, job.why, history);
    if (!goes_on(job, nodes)) again_or_over(job);
    return;
  }
  if (end.end == End::exited && end.code == 0) return become(job, JobState::done);
  if (end.end == End::left && goes_on(job, nodes)) return;
  // Asked to leave by a drain it is no failure of its own.
  const bool moved = job.state == JobState::leaving || end.end == End::left;
  if (moved && !job.cancelled) return again_or_over(job);
  // That loss was counted.
  if (!job.cancelled && found_nobody(job, end)) return again_or_over(job);
  if (!job.cancelled && misses_a_node(job, nodes)) {
    job.losses += 1;
    happened(Event::Kind::job_lost_node, job, job.why, history);
    return again_or_over(job);
  }
  job.failures += 1;
  if (!job.cancelled) happened(Event::Kind::job_failed, job, job.why, history);
  // One that fails at once each time would keep nodes and group busy.
  if (job.failures <= job.spec.retries && !job.cancelled) {
    job.ended_ms = std::max<std::uint64_t>(1, now_ms);
    job.why = concat("begins again after a pause of ", pause_ms(job) / 1'000, " s: ", job.why);
  }
  again_or_over(job);
}

void node_lost(Job& job, const std::string& node, const std::map<std::string, Node>& nodes,
               const std::string& why, History& history) {
  if (job.state == JobState::running) does_without(job, node);
  // Its command has noticed before the lease was over.
  if (has_failed(job) && job.node != node && has_node(job, node)) take_for_loss(job, why, history);
  if (!runs(job) || job.node != node) return;
  job.losses += 1;
  job.why = why;
  happened(Event::Kind::job_lost_node, job, why, history);
  if (!goes_on(job, nodes)) again_or_over(job);
}

bool does_without(Job& job, const std::string& node) {
  return follows_nodes(job.spec) && job.node != node && std::erase(job.others, node) != 0;
}

void happened(Event::Kind kind, const Job& job, const std::string& why, History& history) {
  history.add({.kind = kind,
               .node = job.node,
               .user = job.owner.user,
               .job = job.id,
               .attempt = job.attempt,
               .why = why});
}

}  // namespace piracema::jobs
