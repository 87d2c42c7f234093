// Parts of jobs, which run on other nodes than the command that asks for them.
#include <algorithm>
#include <utility>

#include "base/text.h"
#include "jobs/cluster_state.h"

namespace piracema::jobs {

namespace {

// As ssh has it, when it is not the program's own.
constexpr std::uint32_t no_way_there = 255;

bool is_in(const std::vector<Attempt>& list, const Attempt& attempt) {
  return std::find(list.begin(), list.end(), attempt) != list.end();
}

}  // namespace

Part* ClusterState::part(const Attempt& attempt, const std::string& node) {
  const auto found = jobs_.find(attempt.job);
  if (found == jobs_.end() || found->second.attempt != attempt.attempt) return nullptr;
  const auto one = found->second.parts.find(attempt.part);
  if (one == found->second.parts.end() || one->second.ended) return nullptr;
  return one->second.node == node ? &one->second : nullptr;
}

void ClusterState::lose_parts_of(const std::string& node, const std::string& why) {
  for (auto& [id, job] : jobs_) {
    for (auto& [number, part] : job.parts) {
      if (part.node != node || part.ended) continue;
      part.ended = Ended{{id, job.attempt, number}, End::fenced, no_way_there, why};
    }
  }
}

// A node that has not got what it is not to begin any more will not have it: an answer to an older
// question is no answer to it.
bool ClusterState::parts_gone(const Report& report) {
  bool any = false;
  for (const JobId id : by_node_.on(report.node)) {
    Job& job = jobs_.at(id);
    for (auto& [number, part] : job.parts) {
      if (part.node != report.node || part.ended || (part.wanted && runs(job))) continue;
      const Attempt attempt{id, job.attempt, number};
      if (is_in(report.has, attempt)) continue;
      part.ended = Ended{attempt, End::exited, no_way_there, "nobody wanted it any more"};
      any = true;
    }
  }
  return any;
}

void ClusterState::settle_all() {
  std::vector<JobId> settled;
  for (auto& [id, job] : jobs_) {
    const auto may_live = [](const auto& part) { return !part.second.ended; };
    if (job.state != JobState::ending || std::ranges::any_of(job.parts, may_live)) continue;
    settled.push_back(id);
  }
  // Others that are over may be forgotten meanwhile, and these are not.
  for (const JobId id : settled) settle(jobs_.at(id));
}

// Answers what has become of parts that commands on this node want. A command that has gone, or
// that is not of this node, gets nothing.
std::pair<bool, std::vector<Ended>> ClusterState::follow_wants(const Report& report) {
  std::vector<Ended> gone;
  bool changed = false;
  for (const AskedPart& asked : report.asks) {
    Job* const job = running({asked.part.job, asked.part.attempt}, report.node);
    if (job == nullptr || job->parts.contains(asked.part.part)) continue;
    changed = true;
    if (auto refused = ask_for(*job, asked)) gone.push_back(*std::move(refused));
  }
  for (const JobId id : by_node_.on(report.node)) {
    Job& job = jobs_.at(id);
    if (!runs(job) || job.node != report.node) continue;
    for (auto at = job.parts.begin(); at != job.parts.end();) {
      Part& part = at->second;
      if (is_beside({id, job.attempt, at->first})) {
        ++at;
        continue;
      }
      const bool wanted = is_in(report.wants, {id, job.attempt, at->first});
      changed |= std::exchange(part.wanted, wanted) != wanted || (!wanted && part.ended);
      if (wanted && part.ended) gone.push_back(*part.ended);
      at = !wanted && part.ended ? job.parts.erase(at) : std::next(at);
    }
  }
  return {changed, std::move(gone)};
}

// The error is one of the command's, which is told.
std::optional<Ended> ClusterState::ask_for(Job& job, const AskedPart& asked) {
  const auto refuse = [&](std::string why) {
    return Ended{asked.part, End::not_started, no_way_there, std::move(why)};
  };
  if (auto right = check(asked); !right) return refuse(right.error().message);
  if (job.spec.nodes < 2 || !has_node(job, asked.node)) {
    return refuse(concat("want a node of job ", job.id, ", found '",
                         asked.node.substr(0, name_bytes_max), "'"));
  }
  const std::size_t most = parts_max * job.spec.nodes;
  if (std::distance(job.parts.begin(), job.parts.lower_bound(first_beside)) >=
      static_cast<std::ptrdiff_t>(most)) {
    return refuse(concat("want at most ", most, " parts of job ", job.id, " at a time"));
  }
  const Node& node = nodes_.at(asked.node);
  if (!node.alive || node.leaving) {
    return refuse(concat("the node ", asked.node, node.alive ? " is leaving" : " is not heard of"));
  }
  job.parts[asked.part.part] = {.node = asked.node, .command = asked.command, .input = asked.input};
  return std::nullopt;
}

Answer ClusterState::on(const RunBeside& beside) {
  const auto refused = [&](auto... why) {
    return Answer{.verdict = Answer::Verdict::refused, .why = concat(why...)};
  };
  if (auto right = check(beside); !right) return refused(right.error().message);
  const auto found = jobs_.find(beside.job);
  if (found == jobs_.end()) return refused("there is no job ", beside.job);
  Job& job = found->second;
  if (is_over(job.state)) return refused("job ", job.id, " is over: want one that runs");
  if (job.state == JobState::waiting) {
    return refused("job ", job.id, " waits for a place: want one that runs");
  }
  if (job.state != JobState::running) {
    return refused("job ", job.id, " is to end: want one that goes on");
  }
  const auto first = job.parts.lower_bound(first_beside);
  const auto alive = static_cast<std::size_t>(std::count_if(
      first, job.parts.end(), [](const auto& part) { return !part.second.ended.has_value(); }));
  if (alive >= beside_max) {
    return refused("want at most ", beside_max, " at a time that are run beside job ", job.id,
                   ", found ", alive);
  }
  const std::uint32_t number =
      first == job.parts.end() ? first_beside : job.parts.rbegin()->first + 1;
  // The oldest that have ended, and never the one whose number was the last.
  auto ended = static_cast<std::size_t>(std::distance(first, job.parts.end())) - alive;
  for (auto at = first; ended >= beside_max;) {
    const bool goes = at->second.ended.has_value();
    ended -= goes ? 1 : 0;
    at = goes ? job.parts.erase(at) : std::next(at);
  }
  job.parts[number] = {.node = job.node, .command = beside.command};
  by_node_.learn(jobs_);
  changes_ += 1;
  return on(ShowJob{job.id});
}

}  // namespace piracema::jobs
