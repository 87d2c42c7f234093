#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/clock.h"
#include "control/coordinator/members/journal.h"
#include "control/coordinator/members/member.h"
#include "control/coordinator_job.h"

namespace piracema::cluster {

/// All slots of a job and who has them. A process of old is nobody here.
class Members {
 public:
  /// How long a process that was killed may take to be gone before its slot goes on without
  /// knowing. SIGKILL takes a millisecond; only a machine that does not answer takes longer.
  static constexpr milliseconds exit_wait{200};

  explicit Members(Journal& journal);

  /// Also of slots that the job once had, and of those that it is to have.
  std::size_t size() const { return members_.size(); }
  /// The first ones, by whom the job is done.
  Slot active() const { return journal_.settings().slots; }
  /// There are as many as the metadata has.
  void grow() { members_.resize(journal_.metadata().incarnations.size()); }
  /// When something is due of it is changed by the calls below alone.
  Member& operator[](Slot slot) { return members_[slot]; }
  const Member& operator[](Slot slot) const { return members_[slot]; }
  /// The slot's process, if it is this incarnation; null if it is of old, or nobody's.
  Member* find(Slot slot, std::uint32_t incarnation);
  std::uint32_t incarnation(Slot slot) const { return journal_.metadata().incarnations[slot]; }

  bool any(Member::State) const;
  /// Of those by whom the job is done.
  bool all_joined() const;
  bool all_ready() const;
  /// Of those that the next plan wants, too.
  bool all_wanted_joined() const;

  /// Of a job that is taken over every process may be there; which slots' have to attach.
  std::vector<Slot> take_over();
  /// Wants a process for each slot that is free by now; which those are.
  std::vector<Slot> spawn(Time now);
  void kill(Slot slot);
  /// The job goes on without it: it is told to leave, and ended if it has not at that time.
  void let_go(Slot slot, Time by);
  /// Kills it; it is given up at that time.
  void end(Slot slot, Time given_up_at, LossCause cause = LossCause::other);
  /// Its process is gone for certain, or is given up.
  void left(Slot slot, Time now, bool gone);
  /// News of a process of old: it does not live any longer.
  void gone(Slot slot, std::uint32_t incarnation);

  void send(Slot slot, runtime::ToWorker message);
  /// To replicas, at their workers: `make` gets those of one worker.
  template <class Make>
  void send_by_slot(const Job& job, const std::vector<ReplicaId>& replicas, Make make) {
    for (const auto& [slot, hosted] : job.by_slot(replicas)) send(slot, make(hosted));
  }
  /// To a process that has no part in the job any more, or never had one.
  void send_away(Slot slot, std::uint32_t incarnation);
  /// What a Deploy says of all of them.
  std::vector<runtime::Peer> peers() const;
  std::vector<Slot> may_live() const;

  /// Of one that is ending, and where `may_spawn` of one that is absent.
  std::optional<Time> next_due(bool may_spawn) const;

 private:
  void note_due(Slot slot);

  Journal& journal_;
  std::vector<Member> members_;
  /// Those with something due.
  std::set<Slot> due_;
};

}  // namespace piracema::cluster
