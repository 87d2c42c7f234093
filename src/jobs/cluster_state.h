#pragma once

#include <piracema/smr/state_machine.h>
#include <piracema/smr/watchable.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "jobs/job.h"
#include "jobs/jobs_by_node.h"
#include "jobs/operations.h"

namespace piracema::jobs {

/// The nodes of a cluster and its jobs: a machine that the group replicates (paper 003, section
/// 2.1), and all that decides which job runs where. A node has a lease. When that ends its jobs
/// begin elsewhere, and by then the node has ended them (JobRunner): so of a job at most one
/// attempt is alive, also while a node is cut off.
///
/// A job of several nodes has its command on the first one, and may have parts run on all of them.
/// If its command follows what becomes of its nodes, one but the first may leave it, and another
/// one takes its place; its parts on that are asked to leave, and end when they have. Of other jobs
/// all leaves. Once the command has ended, or its node is lost, its parts are ended, and the job is
/// over or waits anew only when each node has said in a later report that it has none of them, or
/// has lost its lease. What users have run beside the command is such a part, on its own node.
class ClusterState final : public smr::StateMachine, public smr::Watchable {
 public:
  /// Jobs that are over are forgotten beyond so many, the oldest first; more than so many that are
  /// not are refused.
  static constexpr std::size_t over_max = 1'000, open_max = 10'000;
  static constexpr std::size_t nodes_max = 2'000;
  /// A job that has lost its node so often fails: it may be what brings them down.
  static constexpr std::uint32_t losses_max = 20;
  /// So many parts a job may have at a time for each of its nodes.
  static constexpr std::size_t parts_max = 8;
  /// So many users may have run beside a job at a time; as many that have ended are remembered.
  static constexpr std::size_t beside_max = 4;

  Buffer apply(Bytes operation, const smr::Context& context) override;
  Buffer query(Bytes operation) const override;
  smr::Keys keys(Bytes operation) const override;
  std::optional<std::uint64_t> next_deadline() const override;
  void on_time(const smr::Context& context) override;
  Image snapshot() override;
  bool restore(Bytes image) override;
  bool has_news(Bytes reply) const override;
  std::optional<std::uint64_t> changes() const override { return changes_; }

  const std::map<JobId, Job>& jobs() const { return jobs_; }
  const std::map<std::string, Node>& nodes() const { return nodes_; }

 private:
  Answer on(const Join&);
  Answer on(const Report&);
  Answer on(const Leave&);
  Answer on(const Submit&);
  Answer on(const Cancel&);
  Answer on(const Drain&);
  Answer on(const Forget&);
  Answer on(const RunBeside&);
  Answer on(const ListJobs&) const;
  Answer on(const ListNodes&) const;
  Answer on(const ShowJob&) const;
  Answer on(const AwaitOrders&) const;
  Answer on(const AwaitJob&) const;
  template <class Question>
  Answer on(const Question& question) {
    return std::as_const(*this).on(question);
  }

  void pass(std::uint64_t time);
  /// These say whether there may be places now that were none before, or others.
  bool renew(Node& node);
  bool begins_to_leave(Node& node);
  bool lend(Node& node, const Lent& lent);
  bool all_ended(const Report& report);
  bool parts_gone(const Report& report);
  /// Beside that: what the node's commands are told.
  std::pair<bool, std::vector<Ended>> follow_wants(const Report& report);

  /// After all that has changed anything but a lease.
  void place_all();
  /// Of those that are over; whether there were any.
  bool end_pauses();
  void lose_jobs_of(const std::string& node, const std::string& why);
  /// Of a job whose command runs there in that attempt; or null.
  Job* running(const Attempt& attempt, const std::string& node);
  /// In that attempt, on that node, and maybe alive; or null.
  Part* part(const Attempt& attempt, const std::string& node);
  void lose_parts_of(const std::string& node, const std::string& why);
  void settle_all();
  std::optional<Ended> ask_for(Job& job, const AskedPart& asked);
  void ask_to_leave(const std::string& node);
  /// From now on, if its command can: it follows its nodes, and that one is not the first.
  bool does_without(Job& job, const std::string& node);
  void ended(Job& job, const Ended& end);
  void again_or_over(Job& job, JobState over);
  void become(Job& job, JobState next);
  void settle(Job& job);
  void over(Job& job, JobState state);
  std::vector<Order> orders_for(const std::string& node, const std::vector<Attempt>& has) const;
  /// To a Join or a Report.
  Answer told(const std::string& node, const std::vector<Attempt>& has) const;
  /// Stands for the orders of the node, and for the ends of parts that its commands wait for.
  std::uint64_t mark_of(const std::string& node) const;
  /// NAME=ADDRESS of all its nodes, the leading one first.
  std::vector<std::string> hosts_of(const Job& job) const;
  void heard(Job& job, const Said& said);
  Node* find(const std::string& name, std::uint64_t incarnation);

  std::map<JobId, Job> jobs_;
  std::map<std::string, Node> nodes_;
  /// Of `jobs_`.
  JobsByNode by_node_;
  std::atomic<std::uint64_t> changes_ = 0;
  JobId last_job_ = 0;
  /// The group's clock at the last operation.
  std::uint64_t time_ = 0;
  /// Goes with the group's, but no further than a second from one operation to the next: what is
  /// more is a group that was not there, or a leader whose clock is ahead, and no node could have
  /// renewed its lease in it.
  std::uint64_t own_ms_ = 0;
};

}  // namespace piracema::jobs
