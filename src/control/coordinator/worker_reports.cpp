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

Consequence WorkerReports::on(const runtime::FirstOutput&, const Context&) {
  if (!progress_.first_output()) return {};
  const Epoch epoch = journal_.metadata().epoch;
  if (journal_.metadata().fruitless != 0) journal_.decide(EpochFruitful{epoch});
  journal_.tell(FirstItemOut{epoch});
  return {};
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
  if (!is_active(in.phase)) return {};
  for (const runtime::Progress& progress : heartbeat.progress) {
    Consequence what = failures_.heard(in.slot, progress, in.now);
    if (!std::holds_alternative<std::monostate>(what)) return what;
  }
  return {};
}

}  // namespace piracema::cluster
