#include "smr/order/leader/leader_change.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/text.h"
#include "smr/order/messages/statements.h"

namespace piracema::smr {

LeaderChange::LeaderChange(Time resend_interval, Step& step, const Membership& members,
                           Leadership& leadership, const FormerLife& life, LeaderPatience& patience,
                           ConfirmedReads& reads, Proposer& proposer, const Progress& progress,
                           Instances& instances, const DecisionProofs& proofs,
                           const RequestPool& pool, const Authenticator& auth)
    : resend_interval_(resend_interval),
      step_(step),
      members_(members),
      leadership_(leadership),
      life_(life),
      patience_(patience),
      reads_(reads),
      proposer_(proposer),
      progress_(progress),
      instances_(instances),
      proofs_(proofs),
      pool_(pool),
      auth_(auth),
      collects_(members.view().n()),
      lost_(members.view().n()) {}

// ---- STOP ----------------------------------------------------------------------------------

void LeaderChange::demand(const std::string& why) {
  if (!leadership_.votes() || !leadership_.content()) return;
  const Regency next = leadership_.regency() + 1;
  step_.note(concat("asks for regency ", next, ": ", why));
  leadership_.want(next);
  ask_to_stop(next);
}

void LeaderChange::ask_to_stop(Regency wanted) {
  stop_again_ = step_.now() + resend_interval_;
  // Whoever lost its disk is told by others which regency it may have entered: only one that a
  // quorum had asked for, and these remember.
  if (leadership_.stop_said() < wanted) {
    step_.persist(StopSaid{wanted, members_.view().id});
  }
  leadership_.say_stop(wanted);
  step_.send_others(message(Stop{members_.view().id, wanted}), true);
  leadership_.heard(*members_.own(), wanted);
  follow_regencies();
}

void LeaderChange::handle(Sender from, const Stop& m) {
  if (from.id == members_.me()) return;
  const ViewId view = members_.view().id;
  const Regency regency = leadership_.regency();
  if (m.view != view) {
    // There is nothing to change any more where it is; it learns how far the others are.
    if (m.view < view && !m.answer) {
      step_.send(from.id, Heartbeat{view, regency, progress_.decided()});
    }
    return;
  }
  const bool resigns = from.id == leadership_.leader() && m.regency == regency + 1 && !m.answer;
  leadership_.heard(from.index, m.regency);
  if (m.regency <= regency) {
    // It asks for what was done without it: our word that we are there lets it follow.
    if (!m.answer) step_.send(from.id, Stop{view, regency, true}, true);
    return;
  }
  // Nobody knows better than the leader itself that it cannot lead.
  if (resigns && leadership_.want(m.regency)) return ask_to_stop(m.regency);
  follow_regencies();
}

void LeaderChange::follow_regencies() {
  if (!leadership_.votes()) return;
  const View& view = members_.view();
  if (const auto joined = leadership_.to_join(view.one_correct())) {
    leadership_.want(*joined);
    return ask_to_stop(*joined);
  }
  if (const auto next = leadership_.to_enter(view.quorum())) enter(*next);
}

void LeaderChange::enter(Regency next) {
  patience_.enter(step_.now(), {leadership_.synced(), !leadership_.is_leader(), pool_.size() != 0});
  leadership_.enter(next);
  const View& view = members_.view();
  step_.persist(RegencyEntered{next, view.id});
  stop_again_ = step_.now() + resend_interval_;
  proposer_.unbind();
  sync_ = nullptr;
  if (members_.own()) leadership_.heard(*members_.own(), next);
  reads_.refuse();
  step_.note(concat("leader is ", view.leader(next), " (regency ", next, ")"));
  send_stop_data();
  const auto early = std::exchange(collects_, std::vector<std::optional<Collect>>(view.n()));
  for (std::size_t i = 0; i < early.size(); ++i) {
    if (early[i]) handle(Sender{view.members[i].id, i}, StopData{*early[i]});
  }
  const auto leader = members_.index_of(view.leader(next));
  if (leader && lost_[*leader]) demand(concat("no connection to ", view.leader(next)));
}

void LeaderChange::lost_link(ReplicaId to) {
  const auto index = members_.index_of(to);
  if (!index || to == members_.me()) return;
  lost_[*index] = true;
  if (to == leadership_.leader()) demand(concat("lost the connection to ", to));
}

void LeaderChange::repeat_stop() {
  if (!leadership_.content() && step_.now() >= stop_again_) ask_to_stop(leadership_.wanted());
}

// ---- STOPDATA ------------------------------------------------------------------------------

Collect LeaderChange::make_collect() const {
  const bool byzantine = members_.byzantine();
  Collect collect{members_.me(), members_.view().id, leadership_.regency(), proofs_.best(), {}, {}};
  if (!byzantine) collect.proof = {progress_.decided(), progress_.history(), {}};
  // A proof of others may be above what this replica has decided: what is below it needs no word.
  for (Instance i = std::max(instances_.first(), collect.proof.instance + 1); i < instances_.end();
       ++i) {
    const Consensus& one = *instances_.find(i);
    if (!one.certified && one.written.empty()) continue;
    CollectEntry entry{i, one.certified, {}};
    if (byzantine) entry.written = one.written;
    collect.entries.push_back(std::move(entry));
  }
  if (byzantine) collect.signature = auth_.sign(signed_bytes(collect));
  return collect;
}

void LeaderChange::send_stop_data() {
  stop_data_again_ = step_.now() + resend_interval_;
  if (!leadership_.votes()) return;
  step_.send(leadership_.leader(), StopData{make_collect()}, true);
}

void LeaderChange::repeat_stop_data() {
  if (step_.now() >= stop_data_again_) send_stop_data();
}

bool LeaderChange::acceptable(const Collect& collect, Regency expected) const {
  if (collect.view != members_.view().id || collect.regency != expected ||
      !members_.index_of(collect.from)) {
    return false;
  }
  if (!well_formed(collect, members_.view().model)) return false;
  if (!members_.byzantine()) return true;
  return auth_.verify(collect.from, signed_bytes(collect), collect.signature) &&
         proofs_.proves(collect.proof);
}

void LeaderChange::handle(Sender from, const StopData& m) {
  const Collect& collect = m.collect;
  const View& view = members_.view();
  const Regency regency = leadership_.regency();
  if (collect.from != from.id || collect.view != view.id) return;
  // Who sends it has entered that regency.
  if (collect.regency > regency) {
    if (view.leader(collect.regency) == members_.me()) collects_[from.index] = collect;
    leadership_.heard(from.index, collect.regency);
    return follow_regencies();
  }
  if (collect.regency < regency) {
    if (from.id != members_.me()) step_.send(from.id, Stop{view.id, regency, true}, true);
    return;
  }
  if (!leadership_.is_leader() || !life_.may_lead_in(regency)) return;
  if (sync_) {
    if (from.id != members_.me()) send_sync(from.id);
    return;
  }
  if (collects_[from.index]) return;
  if (!acceptable(collect, regency)) {
    return step_.note(concat("the collect of replica ", from.id, " is none of a correct replica"),
                      true);
  }
  collects_[from.index] = collect;
  gather();
}

// ---- SYNC ----------------------------------------------------------------------------------

// The leader's part. With collects of a quorum that tell what is bound everywhere, begin.
void LeaderChange::gather() {
  Sync all{members_.view().id, leadership_.regency(), {}};
  for (const auto& collect : collects_) {
    if (collect) all.collects.push_back(*collect);
  }
  if (!smr::bind(members_.view(), all.collects)) {
    if (all.collects.size() >= members_.view().quorum()) {
      step_.note(concat("collects of ", all.collects.size(), " replicas leave open what is bound"));
    }
    return;
  }
  sync_ = message(std::move(all));
  step_.send_all(sync_, true);
}

void LeaderChange::send_sync(ReplicaId to) {
  step_.act(Send{to, sync_, !leadership_.entry_durable()});
}

void LeaderChange::tell_regency(ReplicaId to) {
  if (leadership_.leads() && sync_) return send_sync(to);
  step_.send(to, Stop{members_.view().id, leadership_.regency(), true}, true);
}

std::optional<Binding> LeaderChange::on_sync(Sender from, const Sync& m) {
  const View& view = members_.view();
  const Regency regency = leadership_.regency();
  if (m.view != view.id || from.id != view.leader(m.regency) || !leadership_.votes()) {
    return std::nullopt;
  }
  if (m.regency < regency || (m.regency == regency && leadership_.synced())) return std::nullopt;
  if (m.regency == regency && from.id == members_.me()) leadership_.entry_is_durable();
  auto binding = check(m);
  // It shows that a quorum has entered that regency: who missed the STOPs follows.
  if (binding && m.regency > regency) enter(m.regency);
  return binding;
}

std::optional<Binding> LeaderChange::check(const Sync& m) const {
  std::set<ReplicaId> from;
  for (const Collect& collect : m.collects) {
    if (!acceptable(collect, m.regency)) return std::nullopt;
    if (!from.insert(collect.from).second) return std::nullopt;
  }
  return smr::bind(members_.view(), m.collects);
}

void LeaderChange::begin_view() {
  sync_ = nullptr;
  collects_.assign(members_.view().n(), std::nullopt);
  lost_.assign(members_.view().n(), false);
}

std::optional<Time> LeaderChange::next_deadline() const {
  std::optional<Time> next;
  if (!leadership_.synced()) next = stop_data_again_;
  if (!leadership_.content()) next = next ? std::min(*next, stop_again_) : stop_again_;
  return next;
}

}  // namespace piracema::smr
