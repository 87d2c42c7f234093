#pragma once

#include <algorithm>
#include <optional>

#include "smr/order/agreement/former_life.h"
#include "smr/order/leader/regencies.h"
#include "smr/order/step/membership.h"

namespace piracema::smr {

/// The regency that this replica is in, and what this replica may do there: vote, lead, ask for
/// another one. A regency is entered when a quorum has left the one before, and begins here with
/// its SYNC. Pure.
class Leadership {
 public:
  Leadership(const Membership& members, const FormerLife& life)
      : members_(members), life_(life), regencies_(members.view().n(), 0) {}

  Regency regency() const { return regencies_.entered(); }
  /// Of the regency; whether it is there yet is another question.
  ReplicaId leader() const { return members_.view().leader(regency()); }
  bool is_leader() const { return leader() == members_.me(); }
  /// What is bound in this regency is known.
  bool synced() const { return synced_; }
  /// This replica's entry into this regency is durable.
  bool entry_durable() const { return entry_durable_; }
  /// A member, with all of its memory.
  bool votes() const { return life_.remembered() && members_.own(); }
  /// This replica is the leader, its regency has begun, and it knows all that it did in it.
  bool leads() const { return synced_ && votes() && is_leader() && life_.may_lead_in(regency()); }

  /// Above regency() while a change of the leader is asked for.
  Regency wanted() const { return regencies_.wanted(); }
  bool content() const { return wanted() == regency(); }
  /// The highest that this replica has asked for, in this life or the one before.
  Regency asked_for() const { return std::max(wanted(), stop_said_); }
  /// The highest whose STOP is in the log.
  Regency stop_said() const { return stop_said_; }

  /// As Regencies says.
  bool want(Regency regency) { return regencies_.want(regency); }
  bool heard(std::size_t member, Regency regency) { return regencies_.heard(member, regency); }
  std::optional<Regency> to_join(std::size_t one_correct) const {
    return regencies_.to_join(one_correct);
  }
  std::optional<Regency> to_enter(std::size_t quorum) const { return regencies_.to_enter(quorum); }

  void say_stop(Regency regency) { stop_said_ = std::max(stop_said_, regency); }
  /// What is bound in it is not known yet.
  void enter(Regency regency);
  void entry_is_durable() { entry_durable_ = true; }
  /// The SYNC of this regency has come.
  void begin() { synced_ = true; }
  /// Another view rules: regency 0, in which nothing is bound.
  void begin_view();

  /// From the log: this replica was in that regency; and it asked for that one.
  void recover_entered(Regency regency);
  void recover_stop(Regency regency);

 private:
  const Membership& members_;
  const FormerLife& life_;
  Regencies regencies_;
  Regency stop_said_ = 0;
  bool synced_ = true, entry_durable_ = false;
};

}  // namespace piracema::smr
