#include "smr/order/core/retransmission.h"

#include <algorithm>
#include <utility>

namespace piracema::smr {

namespace {
// At most so many instances are repeated for one question.
constexpr Instance repeated_max = view_delay;
}  // namespace

Retransmission::Retransmission(Step& step, const Membership& members, const Leadership& leadership,
                               const Progress& progress, Instances& instances,
                               const DecidedLog& decided_log, const DecisionProofs& proofs,
                               Proposer& proposer, LeaderChange& leader_change,
                               LeaderWatch& leader_watch, PeerProgress& peers,
                               RetransmissionTimers& timers, Ordering& ordering)
    : step_(step),
      members_(members),
      leadership_(leadership),
      progress_(progress),
      instances_(instances),
      decided_log_(decided_log),
      proofs_(proofs),
      proposer_(proposer),
      leader_change_(leader_change),
      leader_watch_(leader_watch),
      peers_(peers),
      timers_(timers),
      ordering_(ordering) {}

// ---- who is stuck --------------------------------------------------------------------------

// Somebody has said something about an instance that is not decided here.
bool Retransmission::is_stuck() const {
  return instances_.end() > progress_.decided() + 1 || timers_.others_ahead() ||
         proposer_.is_fetching() || (members_.byzantine() && proofs_.unproven());
}

void Retransmission::tick() {
  if (is_stuck() && step_.now() >= timers_.due()) say_again();
}

std::optional<Time> Retransmission::next_deadline() const {
  if (!is_stuck()) return std::nullopt;
  return timers_.due();
}

void Retransmission::say_again() {
  timers_.repeat(step_.now());
  proposer_.fetch_again();
  ordering_.check_far_behind();
  const Milestone* unproven = proofs_.unproven();
  if (members_.byzantine() && unproven) step_.send_others(message(*unproven));
  const Instance decided = progress_.decided();
  const MessagePtr behind = message(Behind{decided, leadership_.regency()});
  for (const MemberInfo& member : members_.view().members) {
    if (member.id == members_.me()) continue;
    step_.act(Send{member.id, behind});
    for (Instance i = decided + 1; i < instances_.end() && i <= decided + repeated_max; ++i) {
      repeat(member.id, i, *instances_.find(i));
    }
  }
  for (Instance i = decided + 1; i < instances_.end(); ++i) {
    const Consensus& one = *instances_.find(i);
    if (one.decided && !one.batch) step_.send_others(message(FetchBatch{i, *one.decided}));
  }
}

// Everything this replica has said about the instance. After the log, like the first time.
void Retransmission::repeat(ReplicaId to, Instance instance, Consensus& consensus) {
  if (consensus.decided) step_.send(to, Decided{instance, *consensus.decided});
  const Regency regency = leadership_.regency();
  if (leadership_.leads() && consensus.took_in(regency)) {
    step_.send(to, Propose{instance, regency, consensus.find(consensus.taken->digest)},
               !leadership_.entry_durable());
  }
  if (const auto& vote = consensus.certified) {
    step_.send(to, Accept{instance, vote->regency, vote->digest}, true);
  }
  if (const auto& vote = consensus.taken; vote && members_.byzantine()) {
    step_.send(to, Write{instance, vote->regency, vote->digest}, true);
  }
}

// ---- who is behind, or ahead ---------------------------------------------------------------

void Retransmission::tell_of_view(ReplicaId to, const Heartbeat& m) {
  const ViewId view = members_.view().id;
  if (m.view >= view || !members_.own()) return;
  step_.send(to, Heartbeat{view, leadership_.regency(), progress_.decided()});
}

void Retransmission::handle(Sender from, const Heartbeat& m) {
  const View& view = members_.view();
  const Regency regency = leadership_.regency();
  const bool same_view = m.view == view.id;
  if (same_view && from.id == view.leader(m.regency) && m.regency == regency) {
    leader_watch_.heard();
  }
  tell_of_view(from.id, m);
  peers_.told(from.index, m.decided);
  if (m.decided > progress_.decided() || m.view > view.id || (same_view && m.regency > regency)) {
    timers_.see_others_ahead();
  }
  ordering_.check_far_behind();
}

void Retransmission::handle(Sender from, const Behind& m) {
  if (from.id == members_.me()) return;
  const Regency regency = leadership_.regency();
  const Instance decided = progress_.decided();
  if (m.regency < regency) {
    leader_change_.tell_regency(from.id);
  } else if (m.regency > regency || m.decided > decided) {
    timers_.see_others_ahead();
  }
  peers_.told(from.index, m.decided);
  if (m.decided < decided) {
    step_.send(from.id, Heartbeat{members_.view().id, regency, decided});
  }
  if (!timers_.may_answer(step_.now(), from.index)) return;
  const Instance first = std::max(m.decided + 1, instances_.first());
  for (Instance i = first; i < instances_.end() && i <= m.decided + repeated_max; ++i) {
    repeat(from.id, i, *instances_.find(i));
  }
}

// One of one_correct() who say so is right.
void Retransmission::handle(Sender from, const Decided& m) {
  peers_.told(from.index, m.instance);
  Consensus* consensus = ordering_.instance_at(m.instance);
  if (!consensus) return;
  const Vote vote{0, m.digest};
  if (!consensus->decisions.put(from.index, vote)) return;
  if (consensus->decisions.count(vote) >= members_.view().one_correct()) {
    ordering_.decide(m.instance, *consensus, m.digest);
  }
}

// ---- batches that were lost ----------------------------------------------------------------

void Retransmission::handle(Sender from, const FetchBatch& m) {
  if (from.id == members_.me()) return;
  const Consensus* consensus = instances_.find(m.instance);
  BatchPtr batch = consensus ? consensus->find(m.digest) : decided_log_.find(m.instance);
  if (!batch || batch->digest != m.digest) return;
  step_.send(from.id, FetchedBatch{m.instance, std::move(batch)});
}

void Retransmission::handle(Sender, const FetchedBatch& m) {
  const Digest& digest = m.batch->digest;
  const Digest* value = proposer_.bound_at(m.instance);
  Consensus* consensus = value ? ordering_.instance_at(m.instance) : instances_.find(m.instance);
  if (!consensus) return;
  const bool wanted = consensus->decided == digest || (value && *value == digest);
  if (!wanted || consensus->find(digest)) return;
  consensus->keep(m.batch, false);
  proposer_.fetched(m.instance, m.batch);
  ordering_.advance();
}

}  // namespace piracema::smr
