#pragma once

#include <optional>

#include "smr/order/agreement/amnesia.h"

namespace piracema::smr {

/// What this replica may have promised before it started: where it may vote, and in which regency
/// it may lead, without breaking its word. Pure.
class FormerLife {
 public:
  /// `forgotten`: it may have voted for what it no longer knows.
  explicit FormerLife(bool forgotten) : remembered_(!forgotten) {}

  /// False while this replica may have voted for what it no longer knows: it does not say a word.
  bool remembered() const { return remembered_; }
  /// Not where it may have voted in a life that it forgot.
  bool may_vote_at(Instance instance) const { return instance > votes_above_; }
  /// Not where it may have proposed what it no longer knows.
  bool may_lead_in(Regency regency) const { return regency >= leads_from_; }

  /// It has entered this regency before, and may have led it.
  void was_in(Regency regency) { leads_from_ = regency + 1; }
  /// The log holds what only a replica says that knows of everything up to `instance`.
  void builds_on(Instance instance);
  /// The log is read, and everything up to `decided` is known. Returns what it builds on if that is
  /// not: then it counts as forgotten.
  std::optional<Instance> doubt(Instance decided);

  /// An answer to a replica that has forgotten (Amnesia).
  void on_offer(ReplicaId from, const StateOffer& offer, const View& view);
  /// What has to be known for it to vote again; nullopt as long as too few have answered.
  std::optional<Amnesia::Fence> fence(const View& view) const { return amnesia_.fence(view); }
  /// Everything up to `instance` is known again.
  void remember(Instance instance);

  /// Nobody was in a regency of the view that rules now; and its members have to be asked.
  void begin_view();

 private:
  bool remembered_;
  Instance votes_above_ = 0;
  Regency leads_from_ = 0;
  Instance builds_on_ = 0;
  Amnesia amnesia_;
};

}  // namespace piracema::smr
