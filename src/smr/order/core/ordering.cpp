#include "smr/order/core/ordering.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/text.h"

namespace piracema::smr {

Ordering::Ordering(const Settings& settings, Step& step, Membership& members, Progress& progress,
                   FormerLife& life, Leadership& leadership, LeaderPatience& patience,
                   ConfirmedReads& reads, Proposer& proposer, LeaderChange& leader_change,
                   LeaderWatch& leader_watch, Instances& instances, AgreedClock& clock,
                   RequestPool& pool, DecisionProofs& proofs, DecidedLog& decided_log,
                   Checkpoints& checkpoints, Reconfiguration& views, StateTransfer& transfer,
                   PeerProgress& peers, RetransmissionTimers& timers, const Authenticator& auth)
    : settings_(settings),
      step_(step),
      members_(members),
      progress_(progress),
      life_(life),
      leadership_(leadership),
      patience_(patience),
      reads_(reads),
      proposer_(proposer),
      leader_change_(leader_change),
      leader_watch_(leader_watch),
      instances_(instances),
      clock_(clock),
      pool_(pool),
      proofs_(proofs),
      decided_log_(decided_log),
      checkpoints_(checkpoints),
      views_(views),
      transfer_(transfer),
      peers_(peers),
      timers_(timers),
      auth_(auth),
      check_(settings, step, members, leadership, life, proposer, proofs, clock, pool, auth) {}

// ---- requests ------------------------------------------------------------------------------

void Ordering::submit(Request request) {
  if (request.operation.size() > settings_.operation_bytes) return;
  pool_.add(std::move(request), step_.now(), std::nullopt);
  if (check_.some_doubtful()) doubt_again();
}

void Ordering::handle(Sender from, const Forward& m) {
  for (const Request& request : m.requests) {
    if (request.operation.size() > settings_.operation_bytes || !auth_.verify(request)) continue;
    pool_.add(request, step_.now(), from.index);
  }
  if (check_.some_doubtful()) doubt_again();
}

// ---- proposals -----------------------------------------------------------------------------

// No instance above it is heard of: bounds memory, and keeps to members that are known.
Instance Ordering::horizon() const {
  const Instance decided = progress_.decided();
  Instance reach = std::min(decided, progress_.executed() + settings_.backlog) + view_delay;
  reach = std::min(reach, checkpoints_.horizon());
  // What is decided is kept until it is proven, for changes of the leader.
  if (members_.byzantine()) reach = std::min(reach, proofs_.proven() + 2 * unproven_max);
  return views_.next() ? std::min(reach, views_.next_from() - 1) : reach;
}

// Nothing above it is proposed.
Instance Ordering::proposal_horizon() const {
  Instance highest = checkpoints_.horizon();
  if (members_.byzantine()) highest = std::min(highest, proofs_.proven() + unproven_max);
  return views_.next() ? std::min(highest, views_.next_from() - 1) : highest;
}

Consensus* Ordering::instance_at(Instance instance) {
  if (instance > horizon()) {
    timers_.see_others_ahead();
    return nullptr;
  }
  if (instance < instances_.first() || instance < members_.first()) return nullptr;
  return &instances_.at(instance, members_.view().n());
}

bool Ordering::can_propose() const { return proposer_.can_propose(proposal_horizon()); }

// Called when all that had arrived was looked at (next_deadline asks for it at once): a batch has
// as many requests as came in the meantime, and nobody waits for more of them.
void Ordering::propose() {
  while (can_propose()) {
    const Instance instance = proposer_.next();
    BatchPtr batch = proposer_.propose();
    if (!batch) return;
    Consensus* consensus = instance_at(instance);
    if (!consensus || consensus->took_in(leadership_.regency())) continue;
    // Its requests were verified when they came.
    take(instance, *consensus, std::move(batch));
  }
}

void Ordering::handle(Sender from, const Propose& m) {
  if (from.id != members_.view().leader(m.regency) || m.regency < leadership_.regency()) return;
  if (m.regency > leadership_.regency()) timers_.see_others_ahead();
  if (m.regency == leadership_.regency()) leader_watch_.heard();
  if (!check_.is_bounded(*m.batch)) return;
  Consensus* consensus = instance_at(m.instance);
  if (!consensus) return;
  if (consensus->took_in(m.regency)) return;
  if (consensus->decided == m.batch->digest && !consensus->batch) {
    consensus->keep(m.batch, false);
    advance();
  }
  if (check_.hold(*consensus, m)) consider(m.instance, *consensus);
}

// Votes for the proposal that is held there, if everything is right with it.
void Ordering::consider(Instance instance, Consensus& consensus) {
  switch (check_.judge(instance, consensus)) {
    case ProposalCheck::Verdict::vote:
      return take(instance, consensus, consensus.held);
    case ProposalCheck::Verdict::ruled_out:
      return leader_change_.demand(concat("leader ", leadership_.leader(), " proposes at ",
                                          instance, " what its SYNC rules out"));
    case ProposalCheck::Verdict::wait:
      return;
  }
}

void Ordering::consider_from(Instance first) {
  for (Instance i = first; i < instances_.end() && !step_.halted(); ++i) {
    if (Consensus* one = instances_.find(i)) consider(i, *one);
  }
}

// A client may send the same request again with a better proof, and then this replica knows that
// the leader's was honest.
void Ordering::doubt_again() {
  check_.forget_doubts();
  for (Instance i = progress_.decided() + 1; i < instances_.end() && !step_.halted(); ++i) {
    Consensus* one = instances_.find(i);
    if (!one || !one->held || !one->held_is_doubtful) continue;
    one->held_is_doubtful = false;
    consider(i, *one);
  }
}

void Ordering::tick() {
  if (!check_.look_again_at() || step_.now() < *check_.look_again_at()) return;
  check_.looks_again();
  consider_from(progress_.decided() + 1);
}

// What is persisted here goes before the vote: a replica that comes back votes for nothing else.
void Ordering::take(Instance instance, Consensus& consensus, BatchPtr batch) {
  const Vote vote{leadership_.regency(), batch->digest};
  if (consensus.is_logged(vote.digest)) {
    step_.persist(ProposalRepeated{instance, vote.regency, vote.digest});
  } else {
    step_.persist(ProposalTaken{instance, vote.regency, batch});
  }
  consensus.take(vote.regency, std::move(batch));
  if (instance == progress_.decided() + 1 && consensus.ready()) advance();
  if (members_.byzantine()) {
    step_.send_all(message(Write{instance, vote.regency, vote.digest}), true);
    check_written(instance, consensus);
  } else {
    consensus.certify(vote);
    step_.send_all(message(Accept{instance, vote.regency, vote.digest}), true);
  }
  // It may have been decided before its proposal came.
  advance();
}

// ---- votes ---------------------------------------------------------------------------------

void Ordering::handle(Sender from, const Write& m) {
  Consensus* consensus = instance_at(m.instance);
  if (!members_.byzantine() || !consensus) return;
  if (!consensus->writes.put(from.index, {m.regency, m.digest})) return;
  if (m.regency != leadership_.regency()) return;
  if (from.id == members_.me()) leadership_.entry_is_durable();
  consider(m.instance, *consensus);
  check_written(m.instance, *consensus);
}

void Ordering::check_written(Instance instance, Consensus& consensus) {
  const Regency regency = leadership_.regency();
  if (!consensus.took_in(regency) || consensus.accepted_in(regency)) return;
  if (!leadership_.votes()) return;
  const Vote vote = *consensus.taken;
  if (consensus.writes.count(vote) < members_.view().quorum()) return;
  consensus.certify(vote);
  step_.persist(ValueCertified{instance, vote.regency, vote.digest});
  step_.send_all(message(Accept{instance, vote.regency, vote.digest}), true);
}

void Ordering::handle(Sender from, const Accept& m) {
  Consensus* consensus = instance_at(m.instance);
  if (!consensus) return;
  const Vote vote{m.regency, m.digest};
  if (!consensus->accepts.put(from.index, vote)) return;
  peers_.voted(from.index, m.instance);
  if (from.id == members_.me() && m.regency == leadership_.regency()) {
    leadership_.entry_is_durable();
  }
  // A quorum of ACCEPTs of one regency decides, whichever regency this replica is in by now.
  if (consensus->accepts.count(vote) >= members_.view().quorum())
    decide(m.instance, *consensus, vote.digest);
}

// ---- decisions -----------------------------------------------------------------------------

void Ordering::decide(Instance instance, Consensus& consensus, const Digest& digest) {
  if (consensus.decided) {
    if (*consensus.decided != digest) step_.halt(concat("two decisions at ", instance));
    return;
  }
  consensus.decided = digest;
  consensus.batch = consensus.find(digest);
  if (!consensus.batch && consensus.held && consensus.held->digest == digest) {
    consensus.keep(consensus.held, false);
  }
  if (!consensus.batch) step_.send_others(message(FetchBatch{instance, digest}));
  advance();
}

void Ordering::advance() {
  while (!step_.halted() && !loading_) {
    const Instance next = progress_.decided() + 1;
    Consensus* consensus = instances_.find(next);
    if (!consensus || !consensus->ready()) break;
    // Lost with a crash it is found again with the others, so nobody waits for it.
    const bool logged = consensus->is_logged(consensus->batch->digest);
    step_.persist(
        InstanceDecided{next, consensus->batch->digest, logged ? nullptr : consensus->batch});
    consensus->keep(consensus->batch, true);
    hand_out(consensus->batch);
  }
}

void Ordering::hand_out(BatchPtr batch) {
  progress_.hand_out(batch->digest);
  const Instance decided = progress_.decided();
  pool_.decided(batch->requests);
  clock_.decided(step_.now(), batch->time, leadership_.leads());
  leader_watch_.decided(batch->requests.size(), leadership_.synced() && !catching_up_);
  timers_.restart(step_.now());
  decided_log_.add(decided, batch);
  step_.act(Execute{decided, batch});
  decide_view(*batch);
  if (checkpoints_.due(decided, batch->encoded.size())) {
    checkpoints_.begin({decided, progress_.history(), batch->time, members_.view(), views_.next(),
                        views_.next_from()},
                       step_.out());
    proofs_.expect(decided);
  }
  if (members_.byzantine()) pass_milestone();
  pass_view();
  forget_decided();
  reads_.answer();
}

// With liars, what is not proven is kept for changes of the leader.
void Ordering::forget_decided() {
  const Instance decided = progress_.decided();
  if (decided <= kept_decided) return;
  const Instance needed_above =
      members_.byzantine() ? std::min(decided, proofs_.proven()) : decided;
  instances_.drop_until(std::min(needed_above, decided - kept_decided));
}

void Ordering::learn(BatchPtr batch) {
  const Instance next = progress_.decided() + 1;
  Consensus& one = instances_.at(next, members_.view().n());
  const Digest digest = batch->digest;
  one.keep(std::move(batch), false);
  catching_up_ = true;
  decide(next, one, digest);
  // It may have been known to be decided, and have waited for its batch alone.
  advance();
  catching_up_ = false;
}

void Ordering::check_far_behind() {
  const Instance decided = progress_.decided();
  const Instance known =
      std::max(peers_.reached_by(members_.view().one_correct()), proofs_.proven());
  // Nobody says again what is proven for himself. What this replica waits for is in an offer.
  const bool lacks_proof = members_.byzantine() && proofs_.unproven();
  const bool in_vain = timers_.in_vain() && (known > decided || lacks_proof);
  if (known <= decided + kept_decided / 2 && !in_vain) return;
  if (!transfer_.active()) transfer_.start(step_.now(), position(), 0, step_.out());
}

void Ordering::jump_to(const CheckpointInfo& checkpoint) {
  const Instance decided = checkpoint.instance;
  progress_.jump_to(decided, checkpoint.history);
  clock_.jump_to(step_.now(), checkpoint.time);
  instances_.drop_until(decided);
  decided_log_.restart_after(decided);
  checkpoints_.restart_after(decided);
  proposer_.jumped();
  views_.jump(checkpoint, step_.out());
  use_view();
  // What this replica wrote below it is forgotten. In a change of the leader a proof has to stand
  // for that, or what another one still remembers of it could be neither bound nor free.
  proofs_.expect(decided);
  if (members_.byzantine()) pass_milestone();
  pass_view();
  pool_.forget_waiting();
  patience_.jumped(step_.now());
  reads_.refuse();
}

// ---- proofs --------------------------------------------------------------------------------

void Ordering::pass_milestone() {
  if (at_boundary()) proofs_.expect(progress_.decided());
  if (auto complete = proofs_.sign()) use_proof(std::move(*complete));
  if (progress_.decided() == proofs_.proven() && proofs_.contradicts(proofs_.best())) {
    step_.halt(concat("the others decided something else up to ", progress_.decided()));
  }
}

void Ordering::handle(Sender from, const Milestone& m) {
  if (!members_.byzantine() || from.id == members_.me()) return;
  peers_.told(from.index, m.instance);
  if (auto complete = proofs_.on_word(from, m)) use_proof(std::move(*complete));
}

void Ordering::use_proof(DecisionProof better) {
  if (better.instance <= proofs_.proven()) return;
  if (proofs_.contradicts(better)) {
    return step_.halt(concat("the others decided something else up to ", better.instance));
  }
  proofs_.keep(std::move(better));
  if (proofs_.proven() > progress_.decided()) {
    timers_.see_others_ahead();
    // It may be the proof that this replica needs to leave its view: the others may never show it
    // an older one, and in the old view it takes no batch of the next.
    pass_view();
    return check_far_behind();
  }
  pass_view();
  forget_decided();
  // Some waited because they were too far above the old one.
  consider_from(progress_.decided() + 1);
}

// ---- regencies and views -------------------------------------------------------------------

void Ordering::handle(Sender from, const Sync& m) {
  if (auto binding = leader_change_.on_sync(from, m)) begin_regency(std::move(*binding));
}

// The leader proposes what is bound again, like anything else, and nobody votes for anything else
// there.
void Ordering::begin_regency(Binding binding) {
  leadership_.begin();
  patience_.begin(step_.now());
  timers_.postpone(step_.now());
  leader_watch_.begin(step_.now());
  for (const auto& [instance, digest] : binding.values) {
    const Consensus* one = instances_.find(instance);
    if (one && one->decided && *one->decided != digest) {
      return step_.halt(concat("regency ", leadership_.regency(),
                               " binds another value than was decided at ", instance));
    }
  }
  proposer_.bind(std::move(binding.values), binding.base.instance);
  if (members_.byzantine()) use_proof(std::move(binding.base));
  if (proposer_.base() > progress_.decided()) timers_.see_others_ahead();
  proposer_.begin(binding.top);
  // The next view may wait for it, and nobody ask for anything meanwhile.
  proposer_.fill_until(views_.fill_until());
  patience_.begin_work(step_.now());
  if (!leadership_.is_leader()) consider_from(instances_.first());
}

void Ordering::handle(Sender from, const ViewVote& m) { views_.on_vote(from.id, m, step_.out()); }
void Ordering::handle(Sender, const SignedView& m) { views_.on_signed(m, step_.out()); }

void Ordering::decide_view(const Batch& batch) {
  std::vector<Action> wanted;
  views_.decided(step_.now(), progress_.decided(), batch, wanted);
  if (step_.replaying()) return;
  for (Action& action : wanted) step_.out().push_back(std::move(action));
  proposer_.fill_until(views_.fill_until());
}

bool Ordering::at_boundary() const {
  return views_.next() && progress_.decided() + 1 == views_.next_from();
}

// With liars a replica leaves the old view only when it can prove what that has decided: until then
// the others may need its votes.
void Ordering::pass_view() {
  const Instance decided = progress_.decided();
  if (!at_boundary() || (members_.byzantine() && proofs_.proven() < decided)) return;
  if (views_.passed(decided, step_.out())) use_view();
}

// Nobody has voted for what the new view orders, so all of its members begin at the same regency,
// the first, and nothing is bound.
void Ordering::use_view() {
  if (members_.view().id == views_.view().id) return;
  members_.use(views_.view(), progress_.decided() + 1);
  leadership_.begin_view();
  life_.begin_view();
  patience_.begin_view(step_.now());
  step_.persist(RegencyEntered{0, members_.view().id});
  proposer_.begin_view();
  leader_change_.begin_view();
  peers_.begin_view(members_.view().n());
  timers_.begin_view(members_.view().n());
  leader_watch_.begin(step_.now());
  instances_.drop_after(progress_.decided());
  reads_.refuse();
}

}  // namespace piracema::smr
