#pragma once

#include <algorithm>
#include <vector>

#include "smr/ids.h"

namespace piracema::smr {

/// Replicas to ask for the same thing, one after the other; whoever lies is not asked again.
class Sources {
 public:
  explicit Sources(std::vector<ReplicaId> all = {}) : all_(std::move(all)) {}

  bool empty() const { return all_.empty(); }
  std::size_t size() const { return all_.size(); }
  bool has(ReplicaId id) const { return std::find(all_.begin(), all_.end(), id) != all_.end(); }
  /// The next one; there is one.
  ReplicaId next() { return all_[turn_++ % all_.size()]; }
  void drop(ReplicaId id) { std::erase(all_, id); }

 private:
  std::vector<ReplicaId> all_;
  std::size_t turn_ = 0;
};

}  // namespace piracema::smr
