#include "smr/order/core/parts.h"

/// Linearizable reads that are not ordered. core.h says what a client has to do with them.
namespace piracema::smr {

namespace {
constexpr std::size_t reads_max = 65'536;
}

void Core::Parts::on(ReadAsked& event) {
  // Every replica answers from what it has executed; a quorum of equal answers is as new as any
  // write that a quorum has acknowledged.
  if (members.byzantine()) return step.act(ReadNow{event.token, progress.executed()});
  const bool room = reads_waiting.size() + reads_asked.size() + reads_confirmed.size() < reads_max;
  if (!leads() || !room) return step.act(Refuse{event.token});
  reads_waiting.push_back({event.token, 0});
}

// A write that was acknowledged before the read was asked is among what this leader has proposed,
// or what it was bound to, unless there is a newer leader; and then a quorum knows of it. Each view
// begins at the same regency, so a leader is newer by its view, too.
void Core::Parts::confirm_reads() {
  if (reads_asked.empty()) {
    if (reads_waiting.empty()) return;
    reads_asked = std::exchange(reads_waiting, {});
    for (Read& read : reads_asked) read.after = std::max(next_instance - 1, fill_until);
    read_round += 1;
    confirmed_by.clear();
  } else if (step.now() < read_again) {
    return;
  }
  read_again = step.now() + settings.resend_interval;
  confirmed_by.insert(*members.own());
  step.send_others(message(ConfirmLeader{members.view().id, regency(), read_round}));
  if (SMR_MUTANT("read_unconfirmed") || confirmed_by.size() >= members.view().quorum())
    answer_reads();
}

void Core::Parts::handle(Sender from, const ConfirmLeader& m) {
  if (!SMR_MUTANT("leaders_of_any_view") && m.view != members.view().id) return;
  if (m.regency != regency() || from.id != members.view().leader(m.regency) || !votes()) return;
  heard_leader = step.now();
  step.send(from.id, LeaderConfirmed{m.view, m.regency, m.round});
}

void Core::Parts::handle(Sender from, const LeaderConfirmed& m) {
  if (m.view != members.view().id || m.regency != regency() || m.round != read_round) return;
  if (reads_asked.empty()) return;
  confirmed_by.insert(from.index);
  if (confirmed_by.size() >= members.view().quorum()) answer_reads();
}

void Core::Parts::answer_reads() {
  if (!reads_asked.empty() &&
      (confirmed_by.size() >= members.view().quorum() || SMR_MUTANT("read_unconfirmed"))) {
    reads_confirmed.insert(reads_confirmed.end(), reads_asked.begin(), reads_asked.end());
    reads_asked.clear();
  }
  std::size_t kept = 0;
  for (const Read& read : reads_confirmed) {
    if (read.after <= progress.decided()) {
      step.act(ReadNow{read.token, read.after});
    } else {
      reads_confirmed[kept++] = read;
    }
  }
  reads_confirmed.resize(kept);
}

void Core::Parts::refuse_reads() {
  for (auto* list : {&reads_waiting, &reads_asked, &reads_confirmed}) {
    for (const Read& read : std::exchange(*list, {})) step.act(Refuse{read.token});
  }
}

}  // namespace piracema::smr
