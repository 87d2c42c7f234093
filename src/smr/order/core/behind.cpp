#include "smr/order/core/parts.h"

/// What was lost on the way is said again when nothing goes on without it: whoever is stuck
/// repeats its own words and asks for those of the others. There is no other retransmission.
namespace piracema::smr {

namespace {
// At most so many instances are repeated for one question.
constexpr Instance repeated_max = view_delay;
}  // namespace

// Somebody has said something about an instance that is not decided here.
bool Core::Parts::stuck() const {
  if (SMR_MUTANT("never_say_again")) return false;
  return instances.end() > progress.decided() + 1 || timers.others_ahead() ||
         proposer.is_fetching() || (members.byzantine() && proofs.unproven());
}

void Core::Parts::say_again() {
  timers.repeat(step.now());
  proposer.fetch_again();
  check_far_behind();
  const Milestone* unproven = proofs.unproven();
  if (members.byzantine() && unproven) step.send_others(message(*unproven));
  const MessagePtr behind = message(Behind{progress.decided(), leadership.regency()});
  for (const MemberInfo& member : members.view().members) {
    if (member.id == members.me()) continue;
    step.act(Send{member.id, behind});
    for (Instance i = progress.decided() + 1;
         i < instances.end() && i <= progress.decided() + repeated_max; ++i) {
      repeat(member.id, i, *instances.find(i));
    }
  }
  for (Instance i = progress.decided() + 1; i < instances.end(); ++i) {
    const Consensus& one = *instances.find(i);
    if (one.decided && !one.batch) step.send_others(message(FetchBatch{i, *one.decided}));
  }
}

// Everything this replica has said about the instance. After the log, like the first time.
void Core::Parts::repeat(ReplicaId to, Instance instance, Consensus& consensus) {
  if (consensus.decided) step.send(to, Decided{instance, *consensus.decided});
  if (leadership.leads() && consensus.took_in(leadership.regency())) {
    step.send(to, Propose{instance, leadership.regency(), consensus.find(consensus.taken->digest)},
              !leadership.entry_durable());
  }
  if (consensus.certified) {
    step.send(to, Accept{instance, consensus.certified->regency, consensus.certified->digest},
              true);
  }
  if (members.byzantine() && consensus.taken) {
    step.send(to, Write{instance, consensus.taken->regency, consensus.taken->digest}, true);
  }
}

void Core::Parts::handle(Sender from, const Behind& m) {
  if (from.id == members.me()) return;
  if (m.regency < leadership.regency()) {
    leader_change.tell_regency(from.id);
  } else if (m.regency > leadership.regency() || m.decided > progress.decided()) {
    timers.see_others_ahead();
  }
  peers.told(from.index, m.decided);
  if (m.decided < progress.decided())
    step.send(from.id, Heartbeat{members.view().id, leadership.regency(), progress.decided()});
  if (!timers.may_answer(step.now(), from.index)) return;
  const Instance first = std::max(m.decided + 1, instances.first());
  for (Instance i = first; i < instances.end() && i <= m.decided + repeated_max; ++i) {
    repeat(from.id, i, *instances.find(i));
  }
}

// One of one_correct() who say so is right.
void Core::Parts::handle(Sender from, const Decided& m) {
  peers.told(from.index, m.instance);
  Consensus* consensus = instance_at(m.instance);
  if (!consensus) return;
  const Vote vote{0, m.digest};
  if (!consensus->decisions.put(from.index, vote)) return;
  const std::size_t wanted = SMR_MUTANT("believe_one") ? 1 : members.view().one_correct();
  if (consensus->decisions.count(vote) >= wanted) decide(m.instance, *consensus, m.digest);
}

void Core::Parts::handle(Sender from, const FetchBatch& m) {
  if (from.id == members.me()) return;
  const Consensus* consensus = instances.find(m.instance);
  BatchPtr batch = consensus ? consensus->find(m.digest) : decided_log.find(m.instance);
  if (!batch || batch->digest != m.digest) return;
  step.send(from.id, FetchedBatch{m.instance, std::move(batch)});
}

void Core::Parts::handle(Sender, const FetchedBatch& m) {
  const Digest& digest = m.batch->digest;
  const Digest* value = proposer.bound_at(m.instance);
  Consensus* consensus = value ? instance_at(m.instance) : instances.find(m.instance);
  if (!consensus) return;
  const bool wanted = consensus->decided == digest || (value && *value == digest);
  if (!wanted || consensus->find(digest)) return;
  consensus->keep(m.batch, false);
  proposer.fetched(m.instance, m.batch);
  advance();
}

}  // namespace piracema::smr
