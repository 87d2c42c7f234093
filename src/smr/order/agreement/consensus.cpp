#include "smr/order/agreement/consensus.h"

#include <algorithm>
#include <utility>

#include "base/ensure.h"

namespace piracema::smr {

namespace {
// Each change of the leader can add one. Fewer of them bind nothing wrong: they only help to find
// what is bound, so who forgets the oldest may at worst have to wait for another collect.
constexpr std::size_t written_max = 64;
}  // namespace

void Consensus::take(Regency regency, BatchPtr proposal) {
  const Vote vote{regency, proposal->digest};
  taken = vote;
  std::erase_if(written, [&](const Vote& old) { return old.digest == vote.digest; });
  written.push_back(vote);
  keep(std::move(proposal), true);
  if (written.size() > written_max) forget_oldest();
  held = nullptr;
}

void Consensus::forget_oldest() {
  const Digest oldest = written.front().digest;
  written.erase(written.begin());
  if (decided == oldest || (certified && certified->digest == oldest)) return;
  std::erase_if(kept_, [&](const Kept& one) { return one.batch->digest == oldest; });
}

void Consensus::certify(Vote vote) { certified = vote; }

void Consensus::keep(BatchPtr batch_to_keep, bool logged) {
  if (decided == batch_to_keep->digest) batch = batch_to_keep;
  for (Kept& one : kept_) {
    if (one.batch->digest != batch_to_keep->digest) continue;
    one.logged |= logged;
    return;
  }
  kept_.push_back({std::move(batch_to_keep), logged});
}

BatchPtr Consensus::find(const Digest& digest) const {
  for (const Kept& one : kept_) {
    if (one.batch->digest == digest) return one.batch;
  }
  return nullptr;
}

bool Consensus::is_logged(const Digest& digest) const {
  return std::any_of(kept_.begin(), kept_.end(),
                     [&](const Kept& one) { return one.logged && one.batch->digest == digest; });
}

Consensus& Instances::at(Instance instance, std::size_t members) {
  ENSURE(instance >= first_);
  while (end() <= instance) list_.emplace_back(members);
  return list_[instance - first_];
}

void Instances::drop_until(Instance instance) {
  while (!list_.empty() && first_ <= instance) {
    list_.pop_front();
    first_ += 1;
  }
  first_ = std::max(first_, instance + 1);
}

void Instances::drop_after(Instance instance) {
  while (!list_.empty() && end() > instance + 1) list_.pop_back();
}

}  // namespace piracema::smr
