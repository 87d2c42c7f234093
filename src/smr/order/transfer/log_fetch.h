#pragma once

#include <deque>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "smr/order/messages/actions.h"
#include "smr/order/transfer/pace.h"
#include "smr/order/transfer/sources.h"
#include "smr/order/views/reconfiguration.h"

namespace piracema::smr {

/// How far a replica is.
struct Position {
  const Reconfiguration& views;
  Instance decided = 0;
  Digest history{};
};

/// Brings the decided batches here that follow on this replica's own. Crash: whoever has them is
/// believed. Byzantine: first their digests, which have to lead to a history that one_correct()
/// members have signed; then the batches, each compared with its digest, from anybody. Pure.
class LogFetch {
 public:
  /// `pace` outlives it.
  LogFetch(Sources sources, Pace& pace) : sources_(std::move(sources)), pace_(pace) {}

  void begin(Time now, const Position& at, std::vector<Action>& out) { ask(now, at, out); }
  /// Batches that are decided for certain, from at.decided + 1 on. What does not fit is not
  /// believed, and who sent what is wrong not asked again. The caller makes them its own and then
  /// calls `go_on`.
  std::vector<BatchPtr> on_suffix(Time now, ReplicaId from, const LogSuffix& suffix,
                                  const Position& at, std::vector<Action>& out);
  /// Those of them, from instance `from` on, for which the service has to come after first. Nothing
  /// is asked for as long as some are kept: on a slow way they would come again and again.
  void keep(Instance from, std::vector<BatchPtr> batches);
  bool has_kept() const { return !kept_.empty(); }
  /// From at.decided + 1 on. Again the caller makes them its own, or some of them, and calls
  /// `go_on`.
  std::vector<BatchPtr> take_kept(const Position& at);
  /// Asks for more, if what came was of use. What was of none, as when the service has to come
  /// after first, is asked for again later: an answer that comes twice must not be two questions.
  void go_on(Time now, const Position& at, std::vector<Action>& out);
  /// It has them no more: the others may.
  void on_gone(Time now, ReplicaId from, const Position& at, std::vector<Action>& out);
  bool has_source(ReplicaId id) const { return sources_.has(id); }
  /// It has them as well. Asked at once, if what was asked for is waited for in vain.
  void add_source(Time now, ReplicaId id, const Position& at, std::vector<Action>& out);
  /// Any word of it, an answer or not.
  void heard(Time now, ReplicaId from) { sources_.heard(now, from); }
  /// As of CheckpointFetch.
  bool has_hope() const { return sources_.has_hope(); }
  /// True if whoever was asked is waited for in vain, or is not heard of: others may have offers.
  bool tick(Time now, const Position& at, std::vector<Action>& out);
  std::optional<Time> next_deadline() const;

  bool hopeless() const { return sources_.empty() || fruitless_ > 4; }

 private:
  bool learn_digests(const LogSuffix& suffix, const Position& at);
  void ask(Time now, const Position& at, std::vector<Action>& out);
  LogRequest wanted(const Position& at) const;
  void distrust(ReplicaId who, std::vector<Action>& out);
  void forget_known(Instance decided);

  Sources sources_;
  Pace& pace_;
  /// Byzantine: digests that are proven, of known_from_ and those that follow.
  Instance known_from_ = 1;
  std::deque<Digest> known_;
  /// Came, and are not made use of yet; of kept_from_ and those that follow.
  Instance kept_from_ = 1;
  std::vector<BatchPtr> kept_;
  /// What was asked for last; none if the answer is known to be of no use.
  std::optional<LogRequest> asked_;
  Question question_;
  std::optional<Time> by_;
  unsigned fruitless_ = 0;
};

}  // namespace piracema::smr
