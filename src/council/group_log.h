#pragma once

#include <piracema/smr/invoker.h>

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "cluster/driver/decision_log.h"
#include "cluster/driver/job_record.h"
#include "council/group_state.h"

namespace piracema::council {

/// Asks the group of this process's replica, and waits for the answer. Any thread.
class GroupLine {
 public:
  explicit GroupLine(smr::Invoker& group) : group_(group) {}

  /// Errc::timeout when no majority answers in time, Errc::refused when `let_go` was called
  /// meanwhile: nobody knows then whether it was decided.
  Result<Answer> ask(const Operation& operation);
  /// Whoever waits does so in vain: its replica leads no longer.
  void let_go();

 private:
  struct Waiting {
    std::mutex mutex;
    std::condition_variable news;
    std::optional<Result<Buffer>> answer;
  };

  smr::Invoker& group_;
  std::mutex mutex_;
  std::weak_ptr<Waiting> waiting_;
};

/// The decisions of a job with several coordinators: in the order that they agree on. Whoever has
/// claimed the job last may add to it. Beside the snapshots, if they are files, there is a record
/// that nobody can take over, so that a job whose coordinators are all lost is not begun anew while
/// its workers live. Elsewhere the lock of the store says so.
class GroupLog : public cluster::DecisionLog {
 public:
  /// Where the coordinators listen when they lead; others may have come since it was asked last.
  using Doors = std::function<std::vector<std::string>()>;

  /// `line` outlives it; `snapshots` is empty where no files can be.
  GroupLog(GroupLine& line, Lead lead, Doors doors, std::string snapshots, std::string token,
           std::chrono::milliseconds keep);

  Result<Done> begin(const cluster::JobMetadata& metadata) override;
  Kept append(const std::vector<cluster::Decision>& decisions,
              const cluster::JobMetadata& now) override;
  std::vector<std::string> doors(const std::vector<std::string>&) const override {
    return doors_();
  }
  void show_life() override;
  Kept end(int code, const std::string& why) override;

 private:
  GroupLine& line_;
  const Lead lead_;
  const Doors doors_;
  const std::string snapshots_, token_;
  const std::chrono::milliseconds keep_;
  std::optional<cluster::JobRecord> mark_;
};

}  // namespace piracema::council
