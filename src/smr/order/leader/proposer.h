#pragma once

#include <map>
#include <optional>

#include "smr/order/agreement/agreed_clock.h"
#include "smr/order/agreement/binding.h"
#include "smr/order/agreement/consensus.h"
#include "smr/order/agreement/request_pool.h"
#include "smr/order/leader/leadership.h"
#include "smr/order/messages/settings.h"
#include "smr/order/step/progress.h"
#include "smr/order/step/step.h"

namespace piracema::smr {

/// What a leader does (paper 003, section 2.1.1: ordering), and what binds it and its followers in
/// their regency. Unlike BFT-SMaRt, which orders one batch at a time, it has several instances
/// open; a change of the leader looks at all of them.
class Proposer {
 public:
  Proposer(const Settings& settings, Step& step, const Membership& members,
           const Leadership& leadership, const Progress& progress, Instances& instances,
           AgreedClock& clock, RequestPool& pool);

  // ---- the regency ----------------------------------------------------------------------------

  /// What is bound in the next regency is not known yet.
  void unbind();
  /// Its SYNC says what is bound above `base`, up to which everything is decided.
  void bind(std::map<Instance, Digest> values, Instance base);
  /// It begins: what is bound is proposed again, up to `top` without a hole.
  void begin(Instance top);
  /// Another view rules: nothing is bound.
  void begin_view();
  /// The first step, when the log is read.
  void start() { next_ = progress_.decided() + 1; }
  /// The service jumped to a checkpoint.
  void jumped();

  /// Null if anything may be proposed there.
  const Digest* bound_at(Instance instance) const;
  /// Up to here everything was decided when the regency began.
  Instance base() const { return base_; }
  /// Places up to here are proposed even if nobody waits: they may hide holes.
  void fill_until(Instance instance) { fill_until_ = std::max(fill_until_, instance); }

  // ---- the leader -----------------------------------------------------------------------------

  Instance next() const { return next_; }
  /// Whether there is something to propose, and a place for it that is not above `highest`.
  bool can_propose(Instance highest) const;
  /// Proposes what comes next, and is the first to say so. Null if that is bound and not here yet.
  BatchPtr propose();
  /// All that was proposed by now, or is bound, is there or below.
  Instance highest_proposed() const { return std::max(next_ - 1, fill_until_); }
  /// What comes next is too far above what this leader has decided: it would not remember its own
  /// proposal, and where f are down already nothing is decided without its vote.
  bool is_behind() const;
  /// Says that the leader lives, if it has not said anything else for a while.
  void beat();
  std::optional<Time> next_deadline() const;

  /// What is bound was asked for and has not come.
  bool is_fetching() const { return fetching_.has_value(); }
  void fetch_again() { fetching_ = std::nullopt; }
  /// It has come.
  void fetched(Instance instance, const BatchPtr& batch);

  /// The service may be told the time, if it is this replica that has to do so.
  bool may_tick() const { return leadership_.leads() && progress_.executed() >= ticked_at_; }
  /// When the service's timer runs out, or has run out, by this replica's idea of the agreed time.
  std::optional<Time> timer_at() const;

 private:
  BatchPtr batch_for(Instance instance);
  bool has_to_tick() const;
  void reserve(const BatchPtr& batch);
  void suspect_clients();

  const Settings settings_;
  Step& step_;
  const Membership& members_;
  const Leadership& leadership_;
  const Progress& progress_;
  Instances& instances_;
  AgreedClock& clock_;
  RequestPool& pool_;
  std::map<Instance, Digest> bound_;
  Instance base_ = 0, fill_until_ = 0, next_ = 1;
  /// Where this leader has proposed the last batch without requests, which is a tick.
  Instance ticked_at_ = 0;
  /// Bound there, and asked for with FetchBatch.
  std::optional<Instance> fetching_;
  Time beat_at_{};
};

}  // namespace piracema::smr
