#include "control/coordinator/worker_reports.h"

#include <variant>

#include "base/text.h"

namespace piracema::cluster {

Consequence WorkerReports::hear(Slot slot, const runtime::FromWorker& message, Phase phase,
                                Time now) {
  return std::visit(
      [&](const auto& said) -> Consequence {
        if constexpr (requires { said.epoch; }) {
          if (said.epoch != journal_.metadata().epoch) return {};
        }
        if constexpr (requires { said.replica; }) {
          if (!job_->hosts(slot, said.replica)) return {};
        }
        return on(said, {slot, phase, now});
      },
      message);
}

Consequence WorkerReports::on(const runtime::Ready&, const Context& in) {
  if (in.phase != Phase::restoring && in.phase != Phase::attaching) return {};
  members_[in.slot].ready();
  detector_.ready(in.slot);
  return {};
}

Consequence WorkerReports::on(const runtime::Saved& saved, const Context&) {
  if (!snapshots_.expects(saved.snapshot)) return {};
  progress_.saved(saved.replica, saved.emitted);  // What is redone is counted from here.
  snapshots_.saved(*job_, saved);
  return {};
}

Consequence WorkerReports::on(const runtime::SaveFailed& failed, const Context&) {
  if (!snapshots_.expects(failed.snapshot)) return {};
  return SnapshotHindered{concat(job_->name(failed.replica), ": ", failed.why)};
}

Consequence WorkerReports::on(const runtime::Ended& ended, const Context&) {
  if (!journal_.metadata().has_ended(ended.replica)) journal_.decide(ReplicaEnded{ended.replica});
  snapshots_.ended(*job_, ended.replica);
  return {};
}

Consequence WorkerReports::on(const runtime::OperatorFailed& failed, const Context& in) {
  return failures_.failed(failed, in.phase == Phase::restoring);
}

Consequence WorkerReports::on(const runtime::Committed& committed, const Context&) {
  ending_.committed(committed);
  return {};
}

Consequence WorkerReports::on(const runtime::FirstOutput&, const Context& in) {
  if (!progress_.first_output()) return {};
  if (is_active(in.phase)) epoch_is_fruitful();
  journal_.tell(FirstItemOut{journal_.metadata().epoch});
  return {};
}

// Who is ready goes on while others are not. Its items do not show that the recovery brings
// anything: if those others are given no more time than before, it is all done again.
void WorkerReports::epoch_is_fruitful() {
  if (journal_.metadata().fruitless == 0) return;
  journal_.decide(EpochFruitful{journal_.metadata().epoch});
}

Consequence WorkerReports::on(const runtime::HasReadAhead& ahead, const Context& in) {
  rescaling_.has_read(in.slot, ahead.snapshot);
  return {};
}

Consequence WorkerReports::on(const runtime::LinksSeen& links, const Context& in) {
  if (is_active(in.phase)) broadcasts_.seen(in.slot, links, in.now);
  return {};
}

Consequence WorkerReports::on(const runtime::Restoring& restoring, const Context& in) {
  if (in.phase != Phase::restoring) return {};
  detector_.restores(in.slot, in.now, restoring.progress, restoring.busy != 0);
  return {};
}

Consequence WorkerReports::on(const runtime::Heartbeat& heartbeat, const Context& in) {
  if (in.phase == Phase::attaching) return {};
  progress_.heard(*job_, in.slot, heartbeat.progress);
  if (!is_deployed(in.phase)) return {};
  for (const runtime::Progress& progress : heartbeat.progress) {
    // What loads its state has a time of its own, and is at no item.
    if (!is_active(in.phase) && progress.item == runtime::Progress::no_item) continue;
    Consequence what = failures_.heard(in.slot, progress, in.now);
    if (!std::holds_alternative<std::monostate>(what)) return what;
  }
  return {};
}

}  // namespace piracema::cluster
