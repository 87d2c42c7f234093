#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "jobs/state/cluster_state.h"
#include "sim/scheduler.h"

namespace piracema::sim {

using namespace jobs;

/// What the group agrees on, and a second replica that is replaced by an image now and then.
class Group {
 public:
  explicit Group(Scheduler& scheduler) : scheduler_(scheduler) { tick(); }

  Answer execute(const Operation& operation);
  /// Answered once there is news; whoever has asked may be gone by then.
  void hold(const Operation& question, std::function<void(const Answer&)> answered);
  const ClusterState& state() const { return state_; }
  void replace_other();
  /// Another leader, whose clock is another one.
  void jump(Time by) { ahead_ += by; }

  /// A majority is there.
  bool answers = true;

 private:
  Answer apply(const Operation& operation, std::uint64_t client);
  void steal(const Operation& operation, std::uint64_t client);

  std::uint64_t time();
  void tick();

  void nothing_comes_to_full_nodes();
  void all_is_placed() const;
  bool any_news() const;

  void look();

  Scheduler& scheduler_;
  std::vector<std::pair<Buffer, std::function<void(const Answer&)>>> held_;
  ClusterState state_;
  std::unique_ptr<ClusterState> other_ = std::make_unique<ClusterState>();
  /// What is on a node whose home is full: of jobs that live, and whether their command is.
  struct There {
    std::string node;
    JobId job = 0;
    std::uint32_t attempt = 0;
    bool leads = false;
    auto operator<=>(const There&) const = default;
  };
  std::set<std::string> full_;
  std::set<There> there_;
  Time ahead_{};
  std::uint64_t last_ = 0;
  /// Operations that have changed nothing.
  std::uint64_t quiet_ = 0;
};

}  // namespace piracema::sim
