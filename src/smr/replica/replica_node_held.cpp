#include <piracema/smr/watchable.h>

#include <algorithm>

#include "smr/replica/replica_node.h"

/// Reads that are held until there is something to tell.
namespace piracema::smr {

namespace {

constexpr std::size_t held_max = 4'096;
/// Then it is told that there is nothing: so it knows that somebody is there.
constexpr std::chrono::seconds hold_time{10};
constexpr std::chrono::milliseconds least_pause{5};

}  // namespace

void ReplicaNode::hold(std::uint64_t token, Buffer operation) {
  const bool first = held_reads_.size() < held_max && watchable_ != nullptr;
  held_reads_[token] = {std::move(operation), first ? now() + Time(hold_time) : Time{}};
  look_at_held_ = true;
}

// What they ask is looked at again when something was executed, in a fifth of the time at most,
// however many there are.
void ReplicaNode::look_at_held(Time time) {
  if (held_reads_.empty() || time < held_again_) return;
  const bool all = std::exchange(look_at_held_, false);
  for (auto& [token, one] : held_reads_) {
    if (one.asked || (!all && one.until > time)) continue;
    one.asked = true;
    held_due_.push_back(token);
  }
  for (const std::uint64_t token : std::exchange(held_due_, {})) {
    execution_->query(held_reads_.at(token).operation,
                      [this, token](const Buffer& result) { tell_held(token, result); });
  }
  held_again_ = now() + std::max(Time(least_pause), 4 * (now() - time));
}

void ReplicaNode::tell_held(std::uint64_t token, Bytes result) {
  const auto found = held_reads_.find(token);
  if (found == held_reads_.end()) return;
  found->second.asked = false;
  if (watchable_ != nullptr && !watchable_->has_news(result) && found->second.until > now()) return;
  held_reads_.erase(found);
  answer_read(token, true, result);
}

}  // namespace piracema::smr
