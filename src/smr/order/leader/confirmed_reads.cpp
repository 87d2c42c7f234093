#include "smr/order/leader/confirmed_reads.h"

#include <utility>

namespace piracema::smr {

namespace {
constexpr std::size_t reads_max = 65'536;
}

ConfirmedReads::ConfirmedReads(Step& step, const Membership& members, const Leadership& leadership,
                               const Progress& progress, LeaderPatience& patience,
                               Time resend_interval)
    : step_(step),
      members_(members),
      leadership_(leadership),
      progress_(progress),
      patience_(patience),
      resend_interval_(resend_interval) {}

void ConfirmedReads::ask(std::uint64_t token) {
  // Every replica answers from what it has executed; a quorum of equal answers is as new as any
  // write that a quorum has acknowledged.
  if (members_.byzantine()) return step_.act(ReadNow{token, progress_.executed()});
  const bool room = waiting_.size() + asked_.size() + confirmed_.size() < reads_max;
  if (!leadership_.leads() || !room) return step_.act(Refuse{token});
  waiting_.push_back({token, 0});
}

// A write that was acknowledged before the read was asked is among what this leader has proposed,
// or what it was bound to, unless there is a newer leader; and then a quorum knows of it. Each view
// begins at the same regency, so a leader is newer by its view, too.
void ConfirmedReads::confirm(Instance after) {
  if (asked_.empty()) {
    if (waiting_.empty()) return;
    asked_ = std::exchange(waiting_, {});
    for (Read& read : asked_) read.after = after;
    round_ += 1;
    confirmed_by_.clear();
  } else if (step_.now() < again_at_) {
    return;
  }
  again_at_ = step_.now() + resend_interval_;
  confirmed_by_.insert(*members_.own());
  step_.send_others(message(ConfirmLeader{members_.view().id, leadership_.regency(), round_}));
  if (has_quorum()) answer();
}

void ConfirmedReads::handle(Sender from, const ConfirmLeader& m) {
  if (m.view != members_.view().id) return;
  if (m.regency != leadership_.regency() || from.id != leadership_.leader()) return;
  if (!leadership_.votes()) return;
  patience_.hear(step_.now());
  step_.send(from.id, LeaderConfirmed{m.view, m.regency, m.round});
}

void ConfirmedReads::handle(Sender from, const LeaderConfirmed& m) {
  if (m.view != members_.view().id || m.regency != leadership_.regency()) return;
  if (m.round != round_ || asked_.empty()) return;
  confirmed_by_.insert(from.index);
  if (has_quorum()) answer();
}

void ConfirmedReads::answer() {
  if (!asked_.empty() && has_quorum()) {
    confirmed_.insert(confirmed_.end(), asked_.begin(), asked_.end());
    asked_.clear();
  }
  std::size_t kept = 0;
  for (const Read& read : confirmed_) {
    if (read.after <= progress_.decided()) {
      step_.act(ReadNow{read.token, read.after});
    } else {
      confirmed_[kept++] = read;
    }
  }
  confirmed_.resize(kept);
}

void ConfirmedReads::refuse() {
  for (auto* list : {&waiting_, &asked_, &confirmed_}) {
    for (const Read& read : std::exchange(*list, {})) step_.act(Refuse{read.token});
  }
}

std::optional<Time> ConfirmedReads::next_deadline() const {
  if (asked_.empty()) return std::nullopt;
  return again_at_;
}

}  // namespace piracema::smr
