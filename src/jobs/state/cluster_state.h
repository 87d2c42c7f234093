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

#include "jobs/protocol/history.h"
#include "jobs/protocol/job.h"
#include "jobs/protocol/operations.h"
#include "jobs/state/job_table.h"
#include "jobs/state/questions.h"
#include "jobs/state/stream_board.h"

namespace piracema::jobs {

/// The nodes of a cluster and its jobs: a machine that the group replicates (paper 003, section
/// 2.1), and all that decides which job runs where. A node has a lease. When that ends its jobs
/// begin elsewhere, and by then the node has ended them (JobRunner): so of a job at most one
/// attempt is alive, also while a node is cut off. How a job lives is JobTable's matter.
class ClusterState final : public smr::StateMachine, public smr::Watchable {
 public:
  static constexpr std::size_t nodes_max = 2'000;

  Buffer apply(Bytes operation, const smr::Context& context) override;
  Buffer query(Bytes operation) const override;
  smr::Keys keys(Bytes operation) const override;
  std::optional<std::uint64_t> next_deadline() const override;
  void on_time(const smr::Context& context) override;
  Image snapshot() override;
  bool restore(Bytes image) override;
  bool has_news(Bytes reply) const override;
  std::optional<std::uint64_t> changes() const override { return changes_; }

  const std::map<JobId, Job>& jobs() const { return jobs_.all(); }
  const std::map<std::string, Node>& nodes() const { return nodes_; }
  const Users& users() const { return users_; }
  const History& history() const { return history_; }

 private:
  Answer on(const Join&, std::uint64_t client);
  Answer on(const Report&);
  Answer on(const Leave&);
  Answer on(const Submit&, std::uint64_t client);
  Answer on(const Cancel&);
  Answer on(const Drain&);
  Answer on(const Forget&);
  Answer on(const RunBeside&);
  Answer on(const Resize&);
  Answer on(const PutUser&);
  Answer on(const DropUser&);
  Questions questions() const;

  void pass(std::uint64_t time);
  /// The group's clock at the last operation.
  std::uint64_t now_ms() const;
  Node* find(const std::string& name, std::uint64_t incarnation);
  /// These say whether there may be places now that were none before, or others.
  bool renew(Node& node);
  bool begins_to_leave(Node& node);
  bool lend(Node& node, const Lent& lent);
  bool fill(Node& node, bool full);
  /// It closes at another time than was known.
  bool learn_close(Node& node);
  void happened(Event::Kind kind, const std::string& node, const std::string& why = "");
  void happened(Event event);
  /// After all that has changed anything but a lease.
  void place_all();
  /// To a Join or a Report.
  Answer told(const std::string& node, const std::vector<Attempt>& has) const;

  History history_;
  JobTable jobs_{history_};
  std::map<std::string, Node> nodes_;
  Users users_;
  /// Beside the state: other replicas have another one.
  mutable StreamBoard streams_;
  std::atomic<std::uint64_t> changes_ = 0;
  /// In nanoseconds.
  std::uint64_t time_ = 0;
  /// Goes with the group's, but no further than a second from one operation to the next: what is
  /// more is a group that was not there, or a leader whose clock is ahead, and no node could have
  /// renewed its lease in it.
  std::uint64_t own_ms_ = 0;
};

}  // namespace piracema::jobs
