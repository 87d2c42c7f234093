#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "base/fd.h"
#include "cluster/driver/decision_log.h"
#include "cluster/driver/job_record.h"
#include "cluster/driver/onlookers.h"

namespace piracema::cluster {

/// How other threads reach a coordinator at work. Any thread.
class CoordinatorAtWork {
 public:
  struct Hands {
    /// It coordinates no longer.
    std::function<void()> depose;
    /// As if this process had got that signal.
    std::function<void(int number)> signal;
  };
  /// A signal that came before is told at once; nothing is deposed that did not coordinate yet.
  void set(Hands hands) {
    const std::lock_guard lock(mutex_);
    hands_ = std::move(hands);
    if (hands_.signal && waiting_) hands_.signal(*std::exchange(waiting_, std::nullopt));
  }
  void depose() const {
    const std::lock_guard lock(mutex_);
    if (hands_.depose) hands_.depose();
  }
  void signal(int number) {
    const std::lock_guard lock(mutex_);
    if (hands_.signal) {
      hands_.signal(number);
    } else {
      waiting_ = number;
    }
  }
  /// On these hosts, by their addresses, that the job is to leave, nothing of it runs any more.
  void has_left(std::set<std::string> hosts) {
    const std::lock_guard lock(mutex_);
    left_ = std::move(hosts);
  }
  std::set<std::string> left() const {
    const std::lock_guard lock(mutex_);
    return left_;
  }

 private:
  mutable std::mutex mutex_;
  Hands hands_;
  std::optional<int> waiting_;
  std::set<std::string> left_;
};

/// What a coordinator is given that is one of several of its job, and leads them now.
struct Leading {
  /// Makes the log of the job whose snapshots these are, with this key.
  std::function<std::unique_ptr<DecisionLog>(const std::string& snapshots, const std::string& token,
                                             std::chrono::milliseconds keep)>
      log;
  /// Of a job that begins with it.
  std::string token;
  /// Where it listens: a numeric address of this host, the only one at which any process of the job
  /// looks for it.
  std::string host;
  std::uint16_t port = 0;
  /// The first coordinator has brought it to this host: no process here has the command's standard
  /// output.
  bool was_brought = false;
  /// What the one before has left; nothing: the job begins.
  std::optional<JobRecord::Found> left;
  CoordinatorAtWork* at_work = nullptr;
  /// The command hands on a signal, perhaps not for the first time.
  Onlookers::HandedOn handed_on;
  /// Gets the lock of the directory, shared with the other coordinators, once it is ours.
  Fd* lock = nullptr;
  /// Set in the end: it coordinates no longer, and the job goes on with another one.
  bool deposed = false;
  /// Set in the end: it could not take the job over, which goes on with another one; and whether
  /// only the store of snapshots did not answer, so that it may try again.
  bool failed = false, may_try_again = false;
};

}  // namespace piracema::cluster
