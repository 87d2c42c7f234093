#pragma once

#include <piracema/smr/figures.h>

#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"

namespace piracema::tools {

/// A replica as it was a moment ago, with what it did over the last seconds. Never changed once it
/// was published.
struct ReplicaSight {
  struct Rates {
    Time at{};
    double ordered = 0, reads = 0;
  };

  smr::ReplicaFigures figures;
  Time at{};
  /// A second, over the last seconds.
  Rates rates;
  /// Of the last ten minutes, oldest first.
  std::vector<Rates> past;

  /// Members that are connected, this replica too.
  std::size_t here() const;
  /// How many instances the member is behind those that so many others have come to as there have
  /// to be, or behind this replica; what few say may be a lie. Nothing: it was not heard of.
  std::optional<std::uint64_t> behind(const smr::ReplicaFigures::Member& member) const;
  /// Why it takes no part, for people; empty if it does.
  std::string trouble() const;
};

/// Where a replica puts what it is, and those that look find it. Safe from any thread.
class ReplicaBoard {
 public:
  void show(const smr::ReplicaFigures& figures, Time now);
  /// Null: nothing is known yet.
  std::shared_ptr<const ReplicaSight> latest() const;

 private:
  struct Moment {
    Time at{};
    std::uint64_t ordered = 0, reads = 0;
  };

  mutable std::mutex mutex_;
  std::shared_ptr<const ReplicaSight> latest_;
  std::deque<Moment> recent_;
  std::deque<ReplicaSight::Rates> past_;
};

}  // namespace piracema::tools
