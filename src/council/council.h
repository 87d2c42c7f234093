#pragma once

#include <piracema/error.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cluster/driver/driver.h"
#include "cluster/driver/leading.h"
#include "cluster/driver/signals.h"
#include "cluster/driver/stop_signals.h"
#include "council/group_log.h"
#include "council/group_state.h"
#include "council/leader_line.h"
#include "council/majority_watch.h"
#include "council/own_replica.h"
#include "council/replacer.h"
#include "council/seats.h"
#include "council/signal_line.h"
#include "loop/poller.h"

namespace piracema::council {

/// One of several coordinators of a job, in a process of its own: a replica of their group, and,
/// while that leads, what `run_job` is. Belongs to one thread, and has another one for the replica.
class Council {
 public:
  /// Takes the seat that the command has for this process (Convener), or another coordinator
  /// (Replacer). `words` is the command line of `job`. Errc::config, Errc::io, and Errc::lost when
  /// whoever has the seat is gone.
  static Result<std::unique_ptr<Council>> open(const cluster::JobOptions& job,
                                               const std::vector<std::string>& words);
  ~Council();

  /// Until the job is over, whoever coordinates it then.
  cluster::JobReport run(const cluster::JobOptions& options, cluster::JobObserver& observer);
  /// This one has coordinated the job in the end, and says what there is to say of it.
  bool has_led() const { return led_; }
  /// All was said: the others end, too, and the command.
  void end(const cluster::JobReport& report);

 private:
  Council(Seat seat, std::string snapshots);
  Result<Done> start(const cluster::JobOptions& job, const std::vector<std::string>& words);
  void look();
  void lead(const cluster::JobOptions& options, cluster::JobObserver& observer);
  void applied();
  void signalled(int number);
  void told(const Signalled& signalled);
  void hear_signals();
  void order(const Signalled& signalled);
  void ping();
  void share_lock();
  void look_into_file();
  void ask_who_leads();
  void has_no_seat();
  void replaced();
  bool waits_for_store(const cluster::JobReport& report);

  std::uint32_t number() const { return seat_.number + 1; }
  std::uint32_t count() const { return static_cast<std::uint32_t>(seat_.members.size()); }

  Seat seat_;
  const std::string snapshots_;
  net::Poller poller_;
  cluster::Signals signals_;
  cluster::StopSignals stop_signals_;
  GroupState state_;
  std::unique_ptr<OwnReplica> replica_;
  std::unique_ptr<GroupLine> line_;
  cluster::CoordinatorAtWork at_work_;
  /// Belongs to the replica's thread.
  std::size_t signals_seen_ = 0;
  bool begun_ = false, has_claimed_ = false;
  /// One more than the term in which the replica leads; 0: it does not.
  std::atomic<std::uint64_t> leads_ = 0;
  Lead lead_;
  Fd lock_;
  MajorityWatch majority_;
  std::optional<Time> without_seat_since_;
  bool warned_ = false;
  /// While none does.
  std::unique_ptr<LeaderLine> leader_;
  /// It has led in the end; and else, it knows how the job has ended.
  bool led_ = false, was_told_ = false;
  /// Since when it could not take the job over, as the store of snapshots did not answer.
  std::optional<Time> store_silent_since_;
  std::chrono::milliseconds keep_{0};
  /// Of the replica, once it has ended by itself.
  std::optional<Error> failure_;
  std::optional<cluster::JobReport> ended_;
  /// Signals to this process itself.
  std::uint64_t signals_taken_ = 0;
  // Last, so that they go first: their threads use all the others.
  std::unique_ptr<SignalLine> signal_line_;
  std::unique_ptr<Replacer> replacer_;
};

}  // namespace piracema::council
