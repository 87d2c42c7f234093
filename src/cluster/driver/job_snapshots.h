#pragma once

#include <piracema/error.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/fd.h"
#include "cluster/driver/beginning.h"
#include "cluster/driver/driver.h"
#include "cluster/driver/program_check.h"
#include "cluster/driver/store_thread.h"
#include "control/messages/control.h"
#include "host/directory_mark.h"
#include "loop/poller.h"

namespace piracema::cluster {

/// The place of a job's snapshots, as its coordinator has it: what the job begins with, the lock,
/// the thread that keeps manifests, and the mark by which other hosts know the directory. Of a job
/// without snapshots there is nothing. Belongs to the poller's thread.
class JobSnapshots {
 public:
  struct Events {
    /// Of the store, as the coordinator is told.
    std::function<void(const Event&)> happened;
    /// Another process may have the lock.
    std::function<void(const Error&)> lost;
  };
  /// As of begin_in.
  using Wait = std::function<Result<Fd>(const std::string& lock_path, const std::string& why)>;

  JobSnapshots(net::Poller& poller, Events events) : poller_(poller), events_(std::move(events)) {}

  /// As `begin_in`, or, of one of several coordinators after another one, as `go_on_in`. Puts what
  /// is gone on from into `settings`, and into `options` how long the coordinator before has said
  /// that workers are kept. `options.leading` gets the lock's file. A text: why nothing is to be
  /// done.
  Result<std::optional<std::string>> begin(JobOptions& options, JobSettings& settings,
                                           const Wait& wait);
  /// What the one before has left, if its workers may still run.
  const std::optional<JobRecord::Found>& taken_over() const { return beginning_.taken_over; }
  /// The directory, absolute; empty: there is none.
  std::string directory() const;

  /// Of the first process that joins: its program is the one that the snapshots are of, and what is
  /// in none is said. Numbers of replicas that it has in place of its own. Errors as `accept_job`
  /// and `accept_unsaved`.
  Result<Replicas> accept(const runtime::Hello& hello, const JobOptions& options) const;

  /// The path of a mark that is there from now on; empty where other hosts see the same place
  /// anyway.
  Result<std::string> mark();

  /// What the coordinator wants of the store.
  template <class Action>
  void act(Action&& action) {
    store_thread_->act(std::forward<Action>(action));
  }
  /// Returns once all of that is done.
  void close() { store_thread_.reset(); }
  /// The lock stays with the other coordinators.
  void leave_to_others();

 private:
  net::Poller& poller_;
  const Events events_;
  Beginning beginning_;
  std::string place_;
  std::unique_ptr<DirectoryMark> mark_;
  std::unique_ptr<StoreThread> store_thread_;
};

}  // namespace piracema::cluster
