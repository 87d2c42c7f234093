#include "smr/replica/held_reads.h"

#include <algorithm>
#include <utility>

namespace piracema::smr {

namespace {

constexpr Time least_pause = std::chrono::milliseconds(5);

}  // namespace

void HeldReads::add(std::uint64_t token, Buffer operation, Time now) {
  const bool holds = reads_.size() < held_max && watchable_ != nullptr;
  reads_[token] = {std::move(operation), holds ? now + hold_time : Time{}};
  look_ = true;
}

void HeldReads::executed() {
  if (watchable_ == nullptr) return;
  const auto before = std::exchange(changes_, watchable_->changes());
  if (!changes_ || changes_ != before) look_ = true;
}

std::vector<std::uint64_t> HeldReads::due(Time now) {
  std::vector<std::uint64_t> due;
  if (reads_.empty() || now < again_) return due;
  const bool all = std::exchange(look_, false);
  for (auto& [token, read] : reads_) {
    read.again = read.asked && (read.again || all);
    if (read.asked || (!all && read.until > now)) continue;
    read.asked = true;
    due.push_back(token);
  }
  return due;
}

void HeldReads::asked(Time began, Time now) {
  again_ = now + std::max(least_pause, 4 * (now - began));
}

bool HeldReads::told(std::uint64_t token, Bytes result, Time now) {
  const auto found = reads_.find(token);
  if (found == reads_.end()) return false;
  Read& read = found->second;
  read.asked = false;
  if (watchable_ != nullptr && !watchable_->has_news(result) && read.until > now) {
    look_ = look_ || std::exchange(read.again, false);
    return false;
  }
  reads_.erase(found);
  return true;
}

std::optional<Time> HeldReads::next_look() const {
  if (!look_ || reads_.empty()) return std::nullopt;
  return again_;
}

}  // namespace piracema::smr
