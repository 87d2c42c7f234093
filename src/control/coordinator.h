#pragma once

#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "control/busy_watch.h"
#include "control/coordinator_actions.h"
#include "control/coordinator_events.h"
#include "control/coordinator_job.h"
#include "control/coordinator_settings.h"
#include "control/member.h"
#include "control/restart_budget.h"
#include "control/snapshot_round.h"

namespace piracema::cluster {

enum class Phase {
  gathering,  ///< Processes start, or are replaced; until all have joined nothing runs.
  restoring,  ///< Deploy was sent: all load the same snapshot, or the beginning, and begin.
  running,    ///< All have said that they are ready.
  ending,     ///< Every replica has ended: the last snapshot is taken, sinks commit.
  stopping,   ///< The user wants to stop: the last snapshot is taken, sinks commit.
  leaving,    ///< Processes end.
  finished,
};
const char* name_of(Phase);

/// Runs one job: starts its processes, takes its snapshots, rolls all of it back when a part of
/// it is lost (paper 000, section 4.1: the monitor), ends it.
///
/// A pure state machine: it is told what happened and answers what to do. Time comes in and never
/// goes back; there is no thread, clock, socket or random number inside, so the simulator runs the
/// same code. Not safe for two threads.
///
/// One epoch fences everything: each Deploy raises it, and what workers say of an older one, or
/// while there is none, does not count. So a process that was taken for dead may well live.
class Coordinator {
 public:
  /// The settings are valid. Begin with a Tick.
  explicit Coordinator(JobSettings settings);

  std::vector<Action> step(Time now, const Event& event);

  /// When to call with a Tick at the latest. Without anything else that happens this is the
  /// earliest time at which there is something to do.
  std::optional<Time> next_deadline() const;

  // ---- for people; all of it as old as the last heartbeats ----------------------------------

  Phase phase() const { return phase_; }
  Epoch epoch() const { return epoch_; }
  /// Nothing until the first process has joined.
  const std::optional<Job>& job() const { return job_; }
  /// What each replica has done since the last Deploy.
  const std::vector<runtime::Progress>& progress() const { return progress_; }
  /// Items that the sources have emitted since the job began or was resumed, redone ones once.
  std::uint64_t items_emitted() const;
  /// What a recovery would go back to now.
  std::optional<SnapshotId> last_snapshot() const { return restore_; }
  bool has_ended(ReplicaId replica) const { return replica < ended_.size() && ended_[replica]; }

 private:
  // ---- coordinator.cpp: from the start to where everything runs -----------------------------
  void on(const Joined&);
  void on(const Said&);
  void on(const StopRequested&);
  void advance();
  void gather();
  void deploy();
  void start_when_ready();

  // ---- coordinator_leaving.cpp: how it ends -------------------------------------------------
  void leave(int code, std::string why);
  void leave_stopped();
  void finish_when_all_left();
  void fail(int code, std::string why);

  // ---- coordinator_workers.cpp: what workers say --------------------------------------------
  void send_away_if_of_old(Slot slot, std::uint32_t incarnation);
  void hear(Slot, const runtime::Hello&) {}
  void hear(Slot, const runtime::Ready&);
  void hear(Slot, const runtime::Saved&);
  void hear(Slot, const runtime::SaveFailed&);
  void hear(Slot, const runtime::Ended&);
  void hear(Slot, const runtime::OperatorFailed&);
  void hear(Slot, const runtime::Committed&);
  void hear(Slot, const runtime::FirstOutput&);
  void hear(Slot, const runtime::Heartbeat&);
  void hear(Slot, const runtime::Restoring&);

  // ---- coordinator_losses.cpp: who is lost, and why -----------------------------------------
  void on(const Exited&);
  void on(const ConnectionLost&);
  void on(const Tick&);
  void expire(Slot);
  void expire_rollback(Slot);
  Time time_to_restore(bool busy) const;
  void lose(Slot, std::string how, Member::Fault fault = Member::Fault::none);
  bool is_stuck(Slot, const runtime::Progress&);
  void member_left(Slot, bool gone);
  void suspect(Slot, const std::vector<std::pair<ReplicaId, std::uint64_t>>& at_work,
               RestartBudget::Blame, const std::string& why);
  std::string silence() const;
  bool within_budget(const std::string& why);
  void roll_back(const std::string& why);
  void forgive_lateness(Time now);

  // ---- coordinator_snapshots.cpp ------------------------------------------------------------
  void on(const SnapshotCommitted&);
  void on(const SnapshotCommitFailed&);
  void on(const SnapshotFound&);
  void on(const SnapshotGone&);
  void look_for_snapshot();
  void go_on();
  void begin_round(SnapshotRound::Purpose);
  void trigger(const std::vector<ReplicaId>&);
  void give_up_round(const std::string& why);
  void round_failed(const SnapshotRound&, const std::string& why);
  void keep(SnapshotId);
  void commit_sinks(SnapshotId, bool last);
  bool all_ended() const;

  // ---- helpers ------------------------------------------------------------------------------
  /// Whether the workers have work that a loss would undo.
  bool active() const;
  bool deployed() const { return active() || phase_ == Phase::restoring; }
  /// The slot's process, if it is this incarnation; null if it is of old, or nobody's.
  Member* process(Slot, std::uint32_t incarnation);
  void send(Slot, runtime::ToWorker);
  template <class A>
  void act(A action) {
    actions_.emplace_back(std::in_place_type<A>, std::move(action));
  }
  void tell(Note note) { act(Tell{std::move(note)}); }
  std::string worker_name(Slot) const;
  std::optional<Time> heard_by() const;

  static constexpr const char* place_given_away =
      "its place in the job was given to another process";

  const JobSettings settings_;
  std::vector<Action> actions_;
  Time now_{};
  Phase phase_ = Phase::gathering;
  Epoch epoch_ = 0;
  std::optional<Job> job_;
  std::vector<Member> members_;

  /// Since the last Deploy, by replica.
  std::vector<bool> ended_;
  std::vector<runtime::Progress> progress_;
  bool item_out_ = false;

  /// What to go back to; none is the beginning.
  std::optional<SnapshotId> restore_;
  /// Items that the sources had emitted then, and at the last Deploy.
  std::uint64_t emitted_at_restore_ = 0, emitted_at_deploy_ = 0;
  /// Complete ones, oldest first, and those given up that may still be there in parts.
  std::vector<SnapshotId> kept_, given_up_;
  SnapshotId next_id_ = 1;
  std::optional<SnapshotRound> round_;
  Time next_round_{};
  std::uint32_t final_failures_ = 0;
  /// The last commit of the job, and the sinks that have not answered it.
  bool last_commit_ = false;
  SnapshotId last_commit_id_ = 0;
  std::set<ReplicaId> uncommitted_;

  RestartBudget budget_;
  BusyWatch busy_;
  std::vector<runtime::Skip> skips_;
  std::uint32_t fruitless_ = 0;
  /// Whether what a recovery goes back to is still there: it has to be looked for, is being looked
  /// for, or was found.
  enum class Search { wanted, asked, found } search_ = Search::found;
  std::string why_back_;
  /// A loss that nothing can be done about, once all is known of it.
  std::optional<Slot> fatal_;
  std::string fatal_how_;

  bool stop_requested_ = false;
  Time stop_by_{}, leave_by_{};
  std::optional<Finish> finish_;
};

}  // namespace piracema::cluster
