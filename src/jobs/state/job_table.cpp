#include "jobs/state/job_table.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/text.h"
#include "jobs/state/job_end.h"
#include "jobs/state/placement.h"

namespace piracema::jobs {

namespace {

Error refuse(std::string why) { return {Errc::refused, std::move(why)}; }

// What was said twice counts once. Behind a gap the output begins anew.
void hear(Job& job, std::uint64_t& heard, const Said& said) {
  const std::uint64_t end = said.from + said.text.size();
  if (end <= heard) return;
  if (said.from > heard) {
    job.output_before += job.output.size() + (said.from - heard);
    job.output = said.text;
  } else {
    job.output.append(said.text, heard - said.from);
  }
  heard = end;
  if (job.output.size() > output_bytes_max) {
    const std::size_t gone = job.output.size() - output_bytes_max;
    job.output.erase(0, gone);
    job.output_before += gone;
  }
}

void begin(Job& job, const std::vector<std::string>& nodes, std::uint64_t now_ms) {
  job.state = JobState::running;
  job.node = nodes.front();
  job.others.assign(nodes.begin() + 1, nodes.end());
  job.parts.clear();
  job.attempt += 1;
  job.started_ms = now_ms;
  job.why.clear();
  job.joins = false;
  job.leaves_ms = 0;
  job.output.clear();
  job.output_before = 0;
  job.heard = 0;
}

}  // namespace

bool JobTable::replace(std::vector<Job> list, JobId last) {
  std::map<JobId, Job> jobs;
  for (Job& job : list) jobs.emplace(job.id, std::move(job));
  if (jobs.size() != list.size()) return false;
  jobs_ = std::move(jobs);
  last_ = last;
  by_node_.learn(jobs_);
  return true;
}

// ---- what users ask for -------------------------------------------------------------------------

Result<JobId> JobTable::submit(JobSpec spec, Owner owner, std::uint64_t now_ms) {
  if (auto right = check(spec); !right) return refuse(right.error().message);
  const auto open = std::count_if(jobs_.begin(), jobs_.end(),
                                  [](const auto& job) { return !is_over(job.second.state); });
  if (static_cast<std::size_t>(open) >= open_max) {
    return refuse(concat("there are ", open_max, " jobs that are not over: want less"));
  }
  Job& job = jobs_[++last_];
  job.id = last_;
  job.spec = std::move(spec);
  job.owner = std::move(owner);
  job.submitted_ms = now_ms;
  return job.id;
}

Result<Done> JobTable::cancel(JobId id, std::uint64_t now_ms) {
  const auto found = jobs_.find(id);
  if (found == jobs_.end()) return refuse(concat("there is no job ", id));
  Job& job = found->second;
  if (is_over(job.state)) return refuse(concat("job ", id, " is over"));
  job.cancelled = true;
  if (job.state == JobState::waiting) {
    job.why = job.attempt == 0 ? "cancelled before it began" : "cancelled before it began again";
    over(job, JobState::cancelled, now_ms);
  } else if (job.state == JobState::ending) {
    if (job.next == JobState::waiting) job.next = JobState::cancelled;
  } else {
    job.state = JobState::leaving;
  }
  return Done{};
}

Result<Done> JobTable::run_beside(JobId id, const std::vector<std::string>& command) {
  const auto found = jobs_.find(id);
  if (found == jobs_.end()) return refuse(concat("there is no job ", id));
  Job& job = found->second;
  if (is_over(job.state)) return refuse(concat("job ", id, " is over: want one that runs"));
  if (job.state == JobState::waiting) {
    return refuse(concat("job ", id, " waits for a place: want one that runs"));
  }
  if (job.state != JobState::running) {
    return refuse(concat("job ", id, " is to end: want one that goes on"));
  }
  if (auto why = jobs::run_beside(job, command)) return refuse(*std::move(why));
  by_node_.learn(jobs_);
  return Done{};
}

Result<Done> JobTable::resize(JobId id, std::uint32_t nodes) {
  const auto found = jobs_.find(id);
  if (found == jobs_.end()) return refuse(concat("there is no job ", id));
  Job& job = found->second;
  if (is_over(job.state)) return refuse(concat("job ", id, " is over: want one that is not"));
  if (!follows_nodes(job.spec)) {
    return refuse(concat("job ", id,
                         " does not follow its nodes: want one that was submitted with "
                         "--stream, and with --nodes 2 or more"));
  }
  if (nodes < 2) return refuse(concat("want 2 nodes or more for job ", id, ", found ", nodes));
  JobSpec wanted = job.spec;
  wanted.nodes = nodes;
  if (auto right = check(wanted); !right) return refuse(right.error().message);
  job.spec.nodes = nodes;
  if (job.state != JobState::running) return Done{};
  while (1 + job.others.size() > nodes) does_without(job, std::string(job.others.back()));
  return Done{};
}

// ---- what a node says ---------------------------------------------------------------------------

Job* JobTable::running(const Attempt& attempt, const std::string& node) {
  const auto found = jobs_.find(attempt.job);
  if (found == jobs_.end() || attempt.part != 0) return nullptr;
  Job& job = found->second;
  return runs(job) && job.attempt == attempt.attempt && job.node == node ? &job : nullptr;
}

bool JobTable::heard(const Report& report) {
  bool any = false;
  for (const Said& said : report.said) {
    if (Job* const job = running(said.attempt, report.node)) {
      hear(*job, job->heard, said);
      any = true;
    } else if (said.attempt.part != 0) {
      any |= heard_part(said, report.node);
    }
  }
  return any;
}

bool JobTable::heard_part(const Said& said, const std::string& node) {
  const auto found = jobs_.find(said.attempt.job);
  if (found == jobs_.end() || found->second.attempt != said.attempt.attempt) return false;
  Job& job = found->second;
  const auto part = job.parts.find(said.attempt.part);
  if (part == job.parts.end() || part->second.node != node || !outlives_first_node(job.spec)) {
    return false;
  }
  hear(job, part->second.heard, said);
  return true;
}

bool JobTable::ended(const Report& report, const std::map<std::string, Node>& nodes,
                     std::uint64_t now_ms) {
  bool any = false;
  for (const Ended& end : report.ended) {
    if (Job* const job = running(end.attempt, report.node)) {
      command_ended(*job, end, nodes, now_ms, history_);
      any = true;
    }
    const auto found = jobs_.find(end.attempt.job);
    if (found != jobs_.end()) any |= end_part(found->second, end, report.node);
  }
  return any;
}

bool JobTable::parts_gone(const Report& report) {
  bool any = false;
  for (const JobId id : on(report.node)) any |= jobs::parts_gone(jobs_.at(id), report);
  return any;
}

// Whoever is not of the newest attempt gets nothing.
Followed JobTable::follow_parts(const Report& report, const std::map<std::string, Node>& nodes) {
  Followed all;
  const auto add = [&all](Followed one) {
    all.changed |= one.changed;
    for (Ended& ended : one.gone) all.gone.push_back(std::move(ended));
  };
  for (const AskedPart& asked : report.asks) {
    const auto found = jobs_.find(asked.part.job);
    if (found == jobs_.end() || found->second.attempt != asked.part.attempt) continue;
    Job& job = found->second;
    if (runs(job) && takes_part(job, report.node)) add(ask_for(job, report.node, asked, nodes));
  }
  for (const JobId id : on(report.node)) {
    Job& job = jobs_.at(id);
    if (runs(job)) add(follow_wants(job, report.node, report.wants));
  }
  return all;
}

// ---- what becomes of a node ---------------------------------------------------------------------

void JobTable::ask_to_leave(const Node& node) {
  for (auto& [id, job] : jobs_) {
    if (job.state != JobState::running || !has_node(job, node.name)) continue;
    if (stays_on(node, job.spec) || does_without(job, node.name)) continue;
    // Whether it is its command alone that moves is seen when all that leaves is known.
    if (!outlives_first_node(job.spec)) job.state = JobState::leaving;
    happened(Event::Kind::job_moves, job, concat("the node ", node.name, " is to be left"),
             history_);
  }
}

void JobTable::stand_still(const Node& node) {
  const bool stands = node.lent.kept == Kept::stands_still;
  for (auto& [id, job] : jobs_) {
    if (job.state != JobState::running || job.node != node.name) continue;
    const std::uint64_t leaves_ms = stands && stays_on(node, job.spec) ? node.closes_ms : 0;
    const bool stood = std::exchange(job.leaves_ms, leaves_ms) != 0;
    if (stood == (leaves_ms != 0)) continue;
    happened(stood ? Event::Kind::job_resumed : Event::Kind::job_suspended, job,
             stood ? "" : node.lent.why, history_);
  }
}

void JobTable::leave_with_all(const std::map<std::string, Node>& nodes) {
  for (auto& [id, job] : jobs_) {
    if (job.state != JobState::running || !outlives_first_node(job.spec)) continue;
    if (is_to_be_left(nodes.at(job.node)) && !hands_over(job, nodes)) job.state = JobState::leaving;
  }
}

// Nobody says how they ended.
void JobTable::lose(const std::string& node, const std::map<std::string, Node>& nodes,
                    const std::string& why) {
  for (auto& [id, job] : jobs_) {
    lose_parts(job, node, why);
    node_lost(job, node, nodes, why, history_);
  }
}

std::optional<JobId> JobTable::in_places_of(const std::string& node) const {
  for (const auto& [id, job] : jobs_) {
    const bool has_places = job.state != JobState::waiting && !is_over(job.state);
    if (has_places && lives_on(job, node)) return id;
  }
  return std::nullopt;
}

// ---- how a job ends, or begins anew -------------------------------------------------------------

void JobTable::settle_all(std::uint64_t now_ms) {
  std::vector<JobId> settled;
  for (auto& [id, job] : jobs_) {
    if (job.state == JobState::ending && !may_have_parts_alive(job)) settled.push_back(id);
  }
  // Others that are over may be forgotten meanwhile, and these are not.
  for (const JobId id : settled) {
    Job& job = jobs_.at(id);
    job.parts.clear();
    if (is_over(job.next)) {
      over(job, job.next, now_ms);
    } else {
      job.state = JobState::waiting;
    }
  }
}

void JobTable::over(Job& job, JobState state, std::uint64_t now_ms) {
  job.state = state;
  job.ended_ms = now_ms;
  if (state != JobState::done) happened(Event::Kind::job_over, job, job.why, history_);
  auto over = static_cast<std::size_t>(std::count_if(
      jobs_.begin(), jobs_.end(), [](const auto& one) { return is_over(one.second.state); }));
  // Not this one: whoever has called still has a hand on it.
  const JobId own = job.id;
  std::erase_if(jobs_, [&](const auto& one) {
    if (over <= over_max || one.first == own || !is_over(one.second.state)) return false;
    over -= 1;
    return true;
  });
}

// ---- time, and places ---------------------------------------------------------------------------

std::optional<std::uint64_t> JobTable::next_ms() const {
  std::optional<std::uint64_t> next;
  for (const auto& [id, job] : jobs_) {
    if (!pauses(job)) continue;
    const std::uint64_t over = job.ended_ms + pause_ms(job);
    next = std::min(next.value_or(over), over);
  }
  return next;
}

bool JobTable::end_pauses(std::uint64_t now_ms) {
  bool any = false;
  for (auto& [id, job] : jobs_) {
    if (!pauses(job) || now_ms < job.ended_ms + pause_ms(job)) continue;
    job.ended_ms = 0;
    any = true;
  }
  return any;
}

void JobTable::place(std::map<std::string, Node>& nodes, std::uint64_t now_ms) {
  settle_all(now_ms);
  leave_with_all(nodes);
  for (auto& [name, node] : nodes) node.used = 0;
  for (const auto& [id, job] : jobs_) {
    if (job.state == JobState::waiting || is_over(job.state)) continue;
    nodes[job.node].used += job.spec.slots;
    std::set<std::string> others(job.others.begin(), job.others.end());
    // Also where a part has yet to leave.
    for (const auto& [number, part] : job.parts) {
      if (!part.ended && part.node != job.node) others.insert(part.node);
    }
    for (const std::string& other : others) nodes[other].used += job.spec.slots;
  }
  for (const Placed& placed : jobs::place(jobs_, nodes)) {
    Job& job = jobs_.at(placed.job);
    for (const std::string& node : placed.nodes) nodes[node].used += job.spec.slots;
    if (job.state == JobState::running) {
      job.others.insert(job.others.end(), placed.nodes.begin(), placed.nodes.end());
    } else {
      if (wants_alike(job.spec)) job.kind = nodes.at(placed.nodes.front()).kind;
      begin(job, placed.nodes, now_ms);
      if (job.attempt > 1) happened(Event::Kind::job_began_again, job, "", history_);
    }
  }
  by_node_.learn(jobs_);
}

}  // namespace piracema::jobs
