#pragma once

#include <piracema/graph.h>

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "base/ids.h"

namespace piracema::observe {

/// Of what was sent to a node, what it has not taken yet.
struct Waiting {
  std::uint64_t items = 0;
  /// How long ago the oldest of them was sent.
  Time age{};
};

/// How far the nodes of a job are behind those that send to them, worked out from counts that are
/// there anyway: when had the senders sent as much as has been taken by now? As exact as looks are
/// frequent, and where items do not overtake each other. It is not known of a node where the counts
/// do not tell: in a cycle, where a sender sends to others as well, or where both are one thread.
class Lag {
 public:
  /// What the replicas of a node have done in this epoch, together.
  struct Done {
    std::uint64_t items_in = 0, items_out = 0;
  };

  /// `at` does not go back. With another epoch all begins anew.
  void look(Time at, Epoch epoch, const GraphShape& shape, const std::vector<Done>& done);

  /// As of the last look; nothing of a source, or if it is not known.
  std::optional<Waiting> of(std::size_t node) const { return nodes_[node].waiting; }
  /// How long ago the oldest item was sent by a source that sinks take now, over the slowest way:
  /// the sum along it. Nothing if it is not known of a node.
  std::optional<Time> to_the_sinks() const { return to_the_sinks_; }

 private:
  struct Moment {
    Time at{};
    std::uint64_t sent = 0;
  };
  struct Node {
    /// Oldest first, and never empty after a look.
    std::deque<Moment> past;
    std::optional<Waiting> waiting;
  };

  static constexpr std::size_t moments_max = 600;
  static Time sent_at(const std::deque<Moment>& past, std::uint64_t count);
  static void look_at(Node& node, Time at, std::uint64_t sent, std::uint64_t taken);
  void sum_up(const GraphShape& shape);

  Epoch epoch_ = 0;
  std::vector<Node> nodes_;
  std::optional<Time> to_the_sinks_;
};

}  // namespace piracema::observe
