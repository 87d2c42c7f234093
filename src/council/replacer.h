#pragma once

#include <piracema/error.h>
#include <piracema/smr/invoker.h>

#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/fd.h"
#include "cluster/driver/leading.h"
#include "council/group_log.h"
#include "council/group_state.h"
#include "council/seat_watch.h"
#include "council/seats.h"
#include "host/host_names.h"
#include "loop/poller.h"

namespace piracema::council {

/// Sees to it that a job keeps as many coordinators as it began with: while this one leads, each
/// whose seat is due (SeatWatch) is replaced by a process that is started here, or on
/// another host, and comes into the group as a newcomer (paper 003, section 2.1: replicas join and
/// leave at run time). By a thread of its own, so nothing waits for it; whatever it has not
/// finished the next one that leads finishes.
class Replacer {
 public:
  struct Job {
    /// The command as it was typed, and the hosts that it names; others may have come since.
    std::vector<std::string> words;
    std::vector<cluster::HostOptions> hosts;
    /// Of the administrator; a file that nobody else can read.
    std::string key_file;
  };

  /// `leads` is 0 while this one does not lead. All of these outlive it.
  Replacer(const Seat& seat, Job job, const GroupState& state, smr::Invoker& group,
           const cluster::CoordinatorAtWork& at_work, const std::atomic<std::uint64_t>& leads);
  /// Those that it has started go on.
  ~Replacer();

  /// The job is over: it waits for those that it has started, and ends those that are late.
  void end();

 private:
  void stop();
  void look();
  Result<Done> replace(const SeatWatch::Due& due, const Standing& standing);
  Result<Done> complete(const std::vector<Member>& members);
  /// Where a coordinator may be.
  std::vector<cluster::HostOptions> hosts_of(const Standing& standing) const;
  Result<Member> start(std::size_t seat, const Standing& standing);
  /// False: there was nothing to change.
  Result<bool> follow(const std::vector<Member>& members);
  void reap();

  const Seat& seat_;
  const Job job_;
  const GroupState& state_;
  GroupLine line_;
  const cluster::CoordinatorAtWork& at_work_;
  const std::atomic<std::uint64_t>& leads_;
  /// Readable once nothing more is to be begun.
  Fd stopped_;
  std::atomic<bool> stopping_ = false;
  net::Poller poller_;
  /// Since when this one leads; nothing: it does not.
  std::optional<SeatWatch> watch_;
  /// When it looks next whether a majority answers.
  Time ask_at_{};
  /// The replicas of the group are who has a seat.
  bool followed_ = false;
  std::vector<Started> started_;
  std::thread thread_;
};

}  // namespace piracema::council
