// What workers say. The slot was checked, and so were epoch and replica where a message has them.
#include <algorithm>

#include "base/text.h"
#include "control/coordinator.h"
#include "state/redistribution.h"

namespace piracema::cluster {

// Every message is a sign of life, whatever it says.
void Coordinator::on(const Said& said) {
  Member* member = process(said.slot, said.incarnation);
  if (member == nullptr || member->state() != Member::State::joined) {
    return send_away_if_of_old(said.slot, said.incarnation);
  }
  member->heard(heard_by());
  if (!deployed()) return;
  std::visit(
      [&](const auto& message) {
        if constexpr (requires { message.epoch; }) {
          if (message.epoch != epoch_) return;
        }
        if constexpr (requires { message.replica; }) {
          if (!job_->hosts(said.slot, message.replica)) return;
        }
        hear(said.slot, message);
      },
      said.message);
}

// A process that was given up and speaks again: it froze, or its machine could not be reached.
void Coordinator::send_away_if_of_old(Slot slot, std::uint32_t incarnation) {
  if (slot >= members_.size() || incarnation >= members_[slot].incarnation()) return;
  act(Send{slot, incarnation, runtime::Shutdown{1, place_given_away}});
}

std::string text_of(const ReplicaBusy& busy) {
  const std::chrono::duration<double> since = busy.since;
  return concat(busy.name, " has been busy", busy.item ? concat(" with item ", *busy.item) : "",
                " for ", human_seconds(since.count()));
}

void Coordinator::hear(Slot slot, const runtime::Ready&) {
  if (phase_ == Phase::restoring) members_[slot].ready();
}

void Coordinator::hear(Slot, const runtime::Saved& saved) {
  if (!round_ || round_->committing() || saved.snapshot != round_->id()) return;
  round_->saved(saved);
  // The heartbeats lag behind: what is redone is counted from here.
  std::uint64_t& emitted = progress_[saved.replica].items_out;
  emitted = std::max(emitted, saved.emitted);
  if (!round_->complete()) return;
  round_->set_committing();
  act(CommitSnapshot{
      round_->manifest(job_->graph, job_->layouts_by_node(), state::nodes_of(job_->shape))});
}

void Coordinator::hear(Slot, const runtime::SaveFailed& failed) {
  if (!round_ || round_->committing() || failed.snapshot != round_->id()) return;
  give_up_round(concat(job_->name(failed.replica), ": ", failed.why));
}

// A replica may end without ever seeing a barrier that is on its way, as nothing is left to
// bring it: it is asked directly. One that has saved already takes no notice.
void Coordinator::hear(Slot, const runtime::Ended& ended) {
  ended_[ended.replica] = true;
  if (round_ && !round_->has(ended.replica)) trigger({ended.replica});
}

void Coordinator::hear(Slot, const runtime::OperatorFailed& failed) {
  const std::string name = job_->name(failed.replica);
  tell(ReplicaFailed{failed.replica, name, failed.item, failed.why});
  // A job that cannot begin has nothing yet that could be saved by trying again.
  const bool cannot_begin = epoch_ == 1 && phase_ == Phase::restoring && !failed.item;
  if (!settings_.snapshots || cannot_begin) {
    const std::string where = failed.item ? concat(" at item ", *failed.item) : "";
    return fail(1, concat("operator ", name, " failed", where, ": ", failed.why));
  }
  budget_.failed({{job_->plan.replicas[failed.replica].node, failed.replica, failed.item}});
  if (within_budget(failed.why)) roll_back(concat("operator ", name, " failed"));
}

void Coordinator::hear(Slot, const runtime::Committed& committed) {
  if (last_commit_ && committed.snapshot == last_commit_id_) uncommitted_.erase(committed.replica);
}

void Coordinator::hear(Slot, const runtime::FirstOutput&) {
  if (item_out_) return;
  item_out_ = true;
  fruitless_ = 0;
  tell(FirstItemOut{epoch_});
}

// Loading is not hanging: who gets on has all of its time again.
void Coordinator::hear(Slot slot, const runtime::Restoring& restoring) {
  if (phase_ != Phase::restoring) return;
  const bool busy = restoring.busy != 0;
  members_[slot].restores(now_, restoring.progress, busy, time_to_restore(busy));
}

void Coordinator::hear(Slot slot, const runtime::Heartbeat& heartbeat) {
  for (const runtime::Progress& progress : heartbeat.progress) {
    if (job_->hosts(slot, progress.replica)) progress_[progress.replica] = progress;
  }
  for (const runtime::Progress& progress : heartbeat.progress) {
    if (job_->hosts(slot, progress.replica) && is_stuck(slot, progress)) return;
  }
}

}  // namespace piracema::cluster
