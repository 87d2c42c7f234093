#pragma once

#include <piracema/error.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "jobs/protocol/history.h"
#include "jobs/protocol/job.h"
#include "jobs/protocol/operations.h"
#include "jobs/state/job_parts.h"
#include "jobs/state/jobs_by_node.h"

namespace piracema::jobs {

/// The jobs of a cluster, from when they were asked for until they are forgotten.
///
/// A job of several nodes has its command on the first one; that, and its parts, may have parts run
/// on all of them.
/// If its command follows what becomes of its nodes, one but the first may leave it, and another
/// one takes its place; its parts on that are asked to leave, and end when they have. Of other jobs
/// all leaves; and if one of their nodes is lost, a bad end of the command is no failure of its
/// own. When the first node of a job is lost, or left, that outlives it, another of its nodes runs
/// a command that joins the job. Else, and once the command has ended, its parts are ended, and the
/// job is over or waits anew only when each node has said in a later report that it has none of
/// them, or has lost its lease. What users have run beside the command is such a part, on its own
/// node.
///
/// Pure: times are the group's, in milliseconds. After what changes anything `place` is due.
class JobTable {
 public:
  /// Jobs that are over are forgotten beyond so many, the oldest first; more than so many that are
  /// not are refused.
  static constexpr std::size_t over_max = 1'000, open_max = 10'000;

  /// What is not the rule is told to `history`, which outlives it.
  explicit JobTable(History& history) : history_(history) {}

  const std::map<JobId, Job>& all() const { return jobs_; }
  /// Those that have something on the node, in their order.
  const std::vector<JobId>& on(const std::string& node) const { return by_node_.on(node); }
  /// The number of the newest one that was ever asked for.
  JobId last() const { return last_; }
  /// Takes the place of all; false, and nothing has changed, if two have one number.
  bool replace(std::vector<Job> jobs, JobId last);

  // ---- what users ask for; Errc::refused says why not ------------------------------------------
  Result<JobId> submit(JobSpec spec, Owner owner, std::uint64_t now_ms);
  Result<Done> cancel(JobId id, std::uint64_t now_ms);
  Result<Done> run_beside(JobId id, const std::vector<std::string>& command);
  Result<Done> resize(JobId id, std::uint32_t nodes);

  // ---- what a node says; whether that changes anything -----------------------------------------
  bool heard(const Report& report);
  bool ended(const Report& report, const std::map<std::string, Node>& nodes, std::uint64_t now_ms);
  bool parts_gone(const Report& report);
  Followed follow_parts(const Report& report, const std::map<std::string, Node>& nodes);

  // ---- what becomes of a node ------------------------------------------------------------------
  /// Nothing is alive there.
  void lose(const std::string& node, const std::map<std::string, Node>& nodes,
            const std::string& why);
  /// What runs there leaves: the job, or what of it is there. Not what stays on (stays_on).
  void ask_to_leave(const Node& node);
  /// What stays on there stands still, or goes on.
  void stand_still(const Node& node);
  /// Why the node cannot be forgotten yet.
  std::optional<JobId> in_places_of(const std::string& node) const;

  // ---- time, and places ------------------------------------------------------------------------
  /// When the next pause after a failure is over.
  std::optional<std::uint64_t> next_ms() const;
  /// Whether any was over.
  bool end_pauses(std::uint64_t now_ms);
  /// What has ended is over or waits anew, and what has room begins. Counts Node::used.
  void place(std::map<std::string, Node>& nodes, std::uint64_t now_ms);

 private:
  /// Of a job whose command runs there in that attempt; or null.
  Job* running(const Attempt& attempt, const std::string& node);
  /// A part has said this on that node, and is heard.
  bool heard_part(const Said& said, const std::string& node);
  /// Those whose first node is to be left, where too few others are there that go on.
  void leave_with_all(const std::map<std::string, Node>& nodes);
  void settle_all(std::uint64_t now_ms);
  void over(Job& job, JobState state, std::uint64_t now_ms);

  History& history_;
  std::map<JobId, Job> jobs_;
  /// Of `jobs_`.
  JobsByNode by_node_;
  JobId last_ = 0;
};

}  // namespace piracema::jobs
