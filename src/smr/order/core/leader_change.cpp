#include "base/text.h"
#include "smr/order/core/parts.h"

/// STOP and STOPDATA: away from a leader that does not do its work (paper 003, section 2.1.1; the
/// synchronisation phase of Mod-SMaRt). It looks at all open instances at once.
namespace piracema::smr {

void Core::Parts::demand(const std::string& why) {
  if (!leadership.votes() || !leadership.content()) return;
  step.note(concat("asks for regency ", leadership.regency() + 1, ": ", why));
  leadership.want(leadership.regency() + 1);
  ask_to_stop(leadership.wanted());
}

void Core::Parts::ask_to_stop(Regency wanted) {
  stop_again = step.now() + settings.resend_interval;
  // Whoever lost its disk is told by others which regency it may have entered: only one that a
  // quorum had asked for, and these remember.
  if (leadership.stop_said() < wanted && !SMR_MUTANT("forget_regency"))
    step.persist(StopSaid{wanted, members.view().id});
  leadership.say_stop(wanted);
  step.send_others(message(Stop{members.view().id, wanted}), true);
  leadership.heard(*members.own(), wanted);
  follow_regencies();
}

void Core::Parts::handle(Sender from, const Stop& m) {
  if (from.id == members.me()) return;
  if (m.view != members.view().id) {
    // There is nothing to change any more where it is; it learns how far the others are.
    if (m.view < members.view().id && !m.answer)
      step.send(from.id, Heartbeat{members.view().id, leadership.regency(), progress.decided()});
    return;
  }
  const bool resigns =
      from.id == leadership.leader() && m.regency == leadership.regency() + 1 && !m.answer;
  leadership.heard(from.index, m.regency);
  if (m.regency <= leadership.regency()) {
    // It asks for what was done without it: our word that we are there lets it follow.
    if (!m.answer) step.send(from.id, Stop{members.view().id, leadership.regency(), true}, true);
    return;
  }
  // Nobody knows better than the leader itself that it cannot lead.
  if (resigns && leadership.want(m.regency)) return ask_to_stop(m.regency);
  follow_regencies();
}

void Core::Parts::follow_regencies() {
  if (!leadership.votes()) return;
  const std::size_t enough_to_join =
      SMR_MUTANT("join_late") ? members.view().quorum() : members.view().one_correct();
  if (const auto joined = leadership.to_join(enough_to_join)) {
    leadership.want(*joined);
    return ask_to_stop(*joined);
  }
  const std::size_t enough_to_enter =
      SMR_MUTANT("enter_alone") ? members.view().one_correct() : members.view().quorum();
  if (const auto next = leadership.to_enter(enough_to_enter)) enter(*next);
}

// From here on this replica votes in no older regency: what it tells the new leader stays true.
void Core::Parts::enter(Regency next) {
  patience.enter(step.now(), {leadership.synced(), !leadership.is_leader(), pool.size() != 0});
  leadership.enter(next);
  if (!SMR_MUTANT("forget_regency")) step.persist(RegencyEntered{next, members.view().id});
  stop_again = step.now() + settings.resend_interval;
  bound.clear();
  fetching = std::nullopt;
  sync = nullptr;
  if (members.own()) leadership.heard(*members.own(), next);
  reads.refuse();
  step.note(concat("leader is ", members.view().leader(next), " (regency ", next, ")"));
  send_stop_data();
  const auto early =
      std::exchange(collects, std::vector<std::optional<Collect>>(members.view().n()));
  for (std::size_t i = 0; i < early.size(); ++i) {
    if (early[i]) handle(Sender{members.view().members[i].id, i}, StopData{*early[i]});
  }
  const auto leader = members.index_of(members.view().leader(next));
  if (leader && lost[*leader]) demand(concat("no connection to ", members.view().leader(next)));
}

Collect Core::Parts::make_collect() const {
  Collect collect{members.me(), members.view().id, leadership.regency(), proof, {}, {}};
  if (!members.byzantine()) collect.proof = {progress.decided(), progress.history(), {}};
  // A proof of others may be above what this replica has decided: what is below it needs no word.
  for (Instance i = std::max(instances.first(), collect.proof.instance + 1); i < instances.end();
       ++i) {
    const Consensus& one = *const_cast<Instances&>(instances).find(i);
    if (!one.certified && one.written.empty()) continue;
    CollectEntry entry{i, one.certified, {}};
    if (members.byzantine()) entry.written = one.written;
    collect.entries.push_back(std::move(entry));
  }
  if (members.byzantine()) collect.signature = auth.sign(signed_bytes(collect));
  return collect;
}

void Core::Parts::send_stop_data() {
  stop_data_again = step.now() + settings.resend_interval;
  if (!leadership.votes()) return;
  step.send(leadership.leader(), StopData{make_collect()}, true);
}

// Whether a correct replica can have sent it.
bool Core::Parts::acceptable(const Collect& collect, Regency expected) const {
  if (collect.view != members.view().id || collect.regency != expected ||
      !members.index_of(collect.from)) {
    return false;
  }
  if (!well_formed(collect, members.view().model)) return false;
  if (!members.byzantine() || SMR_MUTANT("unsigned_collects")) return true;
  return auth.verify(collect.from, signed_bytes(collect), collect.signature) &&
         proves(collect.proof);
}

void Core::Parts::handle(Sender from, const StopData& m) {
  const Collect& collect = m.collect;
  if (collect.from != from.id || collect.view != members.view().id) return;
  // Who sends it has entered that regency.
  if (collect.regency > leadership.regency()) {
    if (members.view().leader(collect.regency) == members.me()) collects[from.index] = collect;
    leadership.heard(from.index, collect.regency);
    return follow_regencies();
  }
  if (collect.regency < leadership.regency()) {
    if (from.id != members.me())
      step.send(from.id, Stop{members.view().id, leadership.regency(), true}, true);
    return;
  }
  if (!leadership.is_leader() || !life.may_lead_in(leadership.regency())) return;
  if (sync) {
    if (from.id != members.me()) step.act(Send{from.id, sync, !leadership.entry_durable()});
    return;
  }
  if (collects[from.index]) return;
  if (!acceptable(collect, leadership.regency())) {
    return step.note(concat("the collect of replica ", from.id, " is none of a correct replica"),
                     true);
  }
  collects[from.index] = collect;
  gather();
}

// The leader's part. With collects of a quorum that tell what is bound everywhere, begin.
void Core::Parts::gather() {
  Sync all{members.view().id, leadership.regency(), {}};
  for (const auto& collect : collects) {
    if (collect) all.collects.push_back(*collect);
  }
  if (!smr::bind(members.view(), all.collects)) {
    if (all.collects.size() >= members.view().quorum()) {
      step.note(concat("collects of ", all.collects.size(), " replicas leave open what is bound"));
    }
    return;
  }
  sync = message(std::move(all));
  step.send_all(sync, true);
}

}  // namespace piracema::smr
