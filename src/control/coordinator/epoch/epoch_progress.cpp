#include "control/coordinator/epoch/epoch_progress.h"

#include <algorithm>
#include <utility>

namespace piracema::cluster {

void EpochProgress::begin(const Job& job) {
  clear();
  replicas_.resize(job.replicas());
  for (ReplicaId replica = 0; replica < job.replicas(); ++replica) {
    replicas_[replica].replica = replica;
    if (is_source(job.role(replica))) sources_.push_back(replica);
  }
  item_out_ = false;
}

void EpochProgress::clear() {
  replicas_.clear();
  sources_.clear();
}

void EpochProgress::heard(const Job& job, Slot slot, const std::vector<runtime::Progress>& said) {
  for (const runtime::Progress& progress : said) {
    if (job.hosts(slot, progress.replica)) replicas_[progress.replica] = progress;
  }
}

void EpochProgress::saved(ReplicaId replica, std::uint64_t emitted) {
  std::uint64_t& known = replicas_[replica].items_out;
  known = std::max(known, emitted);
}

bool EpochProgress::first_output() { return !std::exchange(item_out_, true); }

std::uint64_t EpochProgress::emitted() const {
  std::uint64_t items = 0;
  for (const ReplicaId source : sources_) items += replicas_[source].items_out;
  return items;
}

}  // namespace piracema::cluster
