#pragma once

#include <algorithm>
#include <chrono>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "smr/ids.h"

namespace piracema::smr {

/// A member that is there says something in so long: a vote, a life sign, an answer. It is about as
/// long as a silent leader is waited for.
constexpr std::chrono::milliseconds quiet_after{500};

/// Replicas to ask for the same thing, one after the other. Whoever lies is not asked again. Who
/// was asked in vain, or is not heard of at all, is left for the others until it is heard of again:
/// patience is long where answers were slow, and a member that is cut off never answers. Pure.
class Sources {
 public:
  explicit Sources(const std::vector<ReplicaId>& all = {}) {
    for (const ReplicaId id : all) all_.push_back({id});
  }

  bool empty() const { return all_.empty(); }
  std::size_t size() const { return all_.size(); }
  bool has(ReplicaId id) const { return find(id) != all_.end(); }
  /// The next one; there is one. Those that were left come only when there are no others.
  ReplicaId next() {
    for (std::size_t i = 0; i < all_.size(); ++i) {
      const Source& one = all_[turn_++ % all_.size()];
      if (!one.left) return one.id;
    }
    return all_[turn_++ % all_.size()].id;
  }
  void add(ReplicaId id) {
    if (!has(id)) all_.push_back({id});
  }
  void drop(ReplicaId id) {
    std::erase_if(all_, [id](const Source& one) { return one.id == id; });
  }

  /// Any word of it.
  void heard(Time now, ReplicaId id) {
    for (Source& one : all_) {
      if (one.id == id) one = {id, now, false};
    }
  }
  /// When to look for another one than `whom`, who was asked at `asked`, if nothing is heard of it
  /// until then. None if it was left already.
  std::optional<Time> quiet_at(ReplicaId whom, Time asked) const {
    const auto source = find(whom);
    if (source == all_.end() || source->left) return std::nullopt;
    return std::max(asked, source->heard) + quiet_after;
  }
  /// Whether there is one that was not left.
  bool has_hope() const {
    return std::any_of(all_.begin(), all_.end(), [](const Source& one) { return !one.left; });
  }
  /// It was asked in vain: the others go first until it is heard of again.
  void leave(ReplicaId id) {
    for (Source& one : all_) one.left |= one.id == id;
  }

 private:
  struct Source {
    ReplicaId id = 0;
    Time heard{};
    bool left = false;
  };
  std::vector<Source>::const_iterator find(ReplicaId id) const {
    return std::find_if(all_.begin(), all_.end(), [id](const Source& one) { return one.id == id; });
  }

  std::vector<Source> all_;
  std::size_t turn_ = 0;
};

}  // namespace piracema::smr
