#include "control/coordinator/epoch/epoch_change.h"

#include <algorithm>
#include <utility>

namespace piracema::cluster {

void EpochChange::end(std::string why) {
  const JobMetadata& metadata = journal_.metadata();
  if (metadata.epoch_holds) journal_.decide(EpochEnded{metadata.epoch});
  why_ = std::move(why);
}

void EpochChange::go_back(std::string why) {
  at_snapshot_ = false;
  end(std::move(why));
}

void EpochChange::go_on_at_snapshot(std::string why) {
  at_snapshot_ = true;
  end(std::move(why));
}

void EpochChange::deploy(const Job& job, std::uint64_t emitted, Time now) {
  const JobMetadata& metadata = journal_.metadata();
  // Of a job that was taken over a moment ago nobody has said yet how far it is.
  const std::uint64_t redone = emitted - std::min(emitted, metadata.emitted_at_snapshot);
  journal_.decide(EpochRaised{metadata.epoch + 1});
  const auto restore = metadata.snapshots.newest();
  runtime::Deploy deploy{metadata.epoch,   restore,        job.placement,
                         members_.peers(), metadata.skips, members_.may_live()};
  for (const NodeShape& node : job.shape.nodes) deploy.replicas.push_back(node.replicas);
  deploy.started_before = metadata.started;
  const bool goes_back = metadata.epoch > 1 && !at_snapshot_;
  if (goes_back) journal_.tell(Recovering{metadata.epoch, restore, redone});
  for (Slot slot = 0; slot < members_.active(); ++slot) {
    members_[slot].deploy();
    members_.send(slot, deploy);
  }
  found_ = false;
  await_ready(now);
}

void EpochChange::attach(Time now) {
  await_ready(now);
  found_ = true;
  journal_.tell(Reattached{journal_.metadata().term, journal_.metadata().epoch});
}

void EpochChange::await_ready(Time now) {
  for (Slot slot = 0; slot < members_.active(); ++slot) {
    if (!members_[slot].is_ready()) detector_.deployed(slot, now, journal_.metadata().fruitless);
  }
  detector_.begin_epoch();
}

bool EpochChange::run() {
  if (!journal_.metadata().started) journal_.decide(AllStarted{});
  journal_.tell(Running{journal_.metadata().epoch});
  return std::exchange(found_, false);
}

}  // namespace piracema::cluster
