#pragma once

#include <cstdint>
#include <optional>
#include <tuple>
#include <vector>

#include "base/ids.h"

namespace piracema::cluster {

/// What a replica was at work on when it, or the process around it, failed.
struct Suspect {
  std::uint32_t node = 0;
  ReplicaId replica = 0;
  /// None while it opened, finished or committed.
  std::optional<std::uint64_t> item;
  auto fields() { return std::tie(node, replica, item); }
};

/// Tells an item that brings its worker down whenever it is worked on from bad luck: counts the
/// failures of a node that lie within a few items of each other.
class RestartBudget {
 public:
  /// `budget` failures within `window` items of each other are one too many.
  RestartBudget(std::uint32_t budget, std::uint64_t window) : budget_(budget), window_(window) {}

  /// How sure it is that one of the suspects has done it.
  enum class Blame {
    certain,  ///< Nobody else did.
    likely,   ///< A process that is silent may have been stopped by anybody: the same item counts.
  };

  /// One failure, which any of the suspects may have caused.
  void failed(std::vector<Suspect> suspects, Blame blame = Blame::certain);

  /// The suspect of the last failure whose node has used up its budget. Of several the one that
  /// came back to the same item most exactly: the others only happened to be near. Of equals the
  /// first. Its item is the first of those that count: a process may go on for some items before
  /// its failure is noticed, but none is noticed before it happens.
  std::optional<Suspect> culprit() const;

  /// Forgets what counts with this one: its item will be skipped from now on.
  void reset(const Suspect& culprit);

  auto fields() { return std::tie(budget_, window_, failures_); }
  /// Whether it may have come about with these settings.
  bool is_of(std::uint32_t budget, std::uint64_t window, std::size_t nodes,
             std::size_t replicas) const;

 private:
  struct Failure {
    std::vector<Suspect> suspects;
    /// Others within so many items count with it.
    std::uint64_t window = 0;
    auto fields() { return std::tie(suspects, window); }
  };

  /// The nearest of the failure's suspects; null if all are outside the window.
  static const Suspect* nearest(const Suspect& one, const Failure& failure, std::uint64_t window);

  std::uint32_t budget_;
  std::uint64_t window_;
  /// Newest last, a bounded number.
  std::vector<Failure> failures_;
};

}  // namespace piracema::cluster
