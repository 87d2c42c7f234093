#include "jobs/state/job_parts.h"

#include <algorithm>
#include <utility>

#include "base/text.h"

namespace piracema::jobs {

namespace {

bool is_in(const std::vector<Attempt>& list, const Attempt& attempt) {
  return std::find(list.begin(), list.end(), attempt) != list.end();
}

/// Why the command does not get it.
std::optional<std::string> refusal(const Job& job, const AskedPart& asked,
                                   const std::map<std::string, Node>& nodes) {
  if (auto right = check(asked); !right) return right.error().message;
  if (job.spec.nodes < 2 || !has_node(job, asked.node)) {
    return concat("want a node of job ", job.id, ", found '", asked.node.substr(0, name_bytes_max),
                  "'");
  }
  const std::size_t most = parts_max * job.spec.nodes;
  if (std::distance(job.parts.begin(), job.parts.lower_bound(first_beside)) >=
      static_cast<std::ptrdiff_t>(most)) {
    return concat("want at most ", most, " parts of job ", job.id, " at a time");
  }
  const Node& node = nodes.at(asked.node);
  if (node.alive && !node.leaving) return std::nullopt;
  return concat("the node ", asked.node, node.alive ? " is leaving" : " is not heard of");
}

/// It has ended, and nobody is to be told.
bool is_forgotten(std::uint32_t number, const Part& part) {
  return number < first_beside && part.ended && part.asker.empty();
}

}  // namespace

bool end_part(Job& job, const Ended& end, const std::string& node) {
  if (job.attempt != end.attempt.attempt) return false;
  const auto found = job.parts.find(end.attempt.part);
  if (found == job.parts.end() || found->second.ended || found->second.node != node) return false;
  Part& part = found->second;
  part.ended = end;
  part.ended->why.resize(std::min(end.why.size(), why_bytes_max));
  if (is_forgotten(found->first, part)) job.parts.erase(found);
  return true;
}

bool takes_part(const Job& job, const std::string& node) {
  if (job.node == node) return true;
  return std::any_of(job.parts.begin(), job.parts.end(), [&](const auto& part) {
    return part.second.node == node && !part.second.ended && part.first < first_beside;
  });
}

void lose_parts(Job& job, const std::string& node, const std::string& why) {
  for (auto at = job.parts.begin(); at != job.parts.end();) {
    auto& [number, part] = *at;
    if (part.node == node && !part.ended) {
      part.ended = Ended{{job.id, job.attempt, number}, End::fenced, no_way_there, why};
    }
    if (part.asker == node) part.asker.clear();
    at = is_forgotten(number, part) ? job.parts.erase(at) : std::next(at);
  }
}

// A node that has not got what it is not to begin any more will not have it: an answer to an older
// question is no answer to it.
bool parts_gone(Job& job, const Report& report) {
  bool any = false;
  for (auto& [number, part] : job.parts) {
    if (part.node != report.node || part.ended || (part.wanted && runs(job))) continue;
    const Attempt attempt{job.id, job.attempt, number};
    if (is_in(report.has, attempt)) continue;
    part.ended = Ended{attempt, End::exited, no_way_there, "nobody wanted it any more"};
    any = true;
  }
  return any;
}

Followed ask_for(Job& job, const std::string& asker, const AskedPart& asked,
                 const std::map<std::string, Node>& nodes) {
  const auto refused = [&](std::string why) {
    // The error is one of whoever has asked, which is told.
    return Followed{true, {Ended{asked.part, End::not_started, no_way_there, std::move(why)}}};
  };
  if (const auto found = job.parts.find(asked.part.part); found != job.parts.end()) {
    // Nodes draw the numbers of parts.
    if (found->second.asker == asker) return {};
    return refused(concat("another part of job ", job.id, " has this number: ask again"));
  }
  if (auto why = refusal(job, asked, nodes)) return refused(*std::move(why));
  job.parts[asked.part.part] = {
      .node = asked.node, .command = asked.command, .input = asked.input, .asker = asker};
  return {.changed = true, .gone = {}};
}

Followed follow_wants(Job& job, const std::string& asker, const std::vector<Attempt>& wants) {
  Followed followed;
  for (auto at = job.parts.begin(); at != job.parts.end();) {
    auto& [number, part] = *at;
    if (part.asker != asker) {
      ++at;
      continue;
    }
    const bool wanted = is_in(wants, {job.id, job.attempt, number});
    if (wanted && part.ended) followed.gone.push_back(*part.ended);
    if (!wanted && outlives_first_node(job.spec)) {
      part.asker.clear();
    } else {
      followed.changed |= std::exchange(part.wanted, wanted) != wanted;
    }
    const bool goes = !wanted && part.ended;
    followed.changed |= goes;
    at = goes ? job.parts.erase(at) : std::next(at);
  }
  return followed;
}

std::optional<std::string> run_beside(Job& job, const std::vector<std::string>& command) {
  const auto first = job.parts.lower_bound(first_beside);
  const auto alive = static_cast<std::size_t>(std::count_if(
      first, job.parts.end(), [](const auto& part) { return !part.second.ended.has_value(); }));
  if (alive >= beside_max) {
    return concat("want at most ", beside_max, " at a time that are run beside job ", job.id,
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
  job.parts[number] = {.node = job.node, .command = command};
  return std::nullopt;
}

}  // namespace piracema::jobs
