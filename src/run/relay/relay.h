#pragma once

#include <piracema/graph.h>

#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "control/messages/control.h"
#include "run/packet/port.h"
#include "run/relay/link_watch.h"
#include "run/relay/relayed_frame.h"
#include "topology/message/in_order.h"

namespace piracema::runtime {

/// The part that one process has in packets for all replicas of a node: over which processes its own
/// leave, and what comes from others, to be passed on and for the replicas here.
///
/// A packet carries its tree (source routing; paper 001 keeps a tree at every process, and stops
/// broadcasts while it changes), and a number by which it is put back in order where a later one has
/// come by another tree. Who passes it on keeps nothing of it but what waits for an earlier one, and
/// credits of the receivers bound that. What an epoch leaves on the way is worth nothing in the next.
///
/// Pure. Any thread.
class Relay {
 public:
  explicit Relay(Slot me) : me_(me) {}

  /// From here on nothing of older epochs counts, nor trees. `placement` has a slot for each replica
  /// of the plan of `shape`.
  void begin(Epoch epoch, const GraphShape& shape, const std::vector<Slot>& placement);
  /// How packets to some nodes leave from here on. One of another epoch, and a tree that does not
  /// reach just the processes of its node, counts for nothing.
  void follow(const BroadcastTrees& trees);

  struct Leaving {
    Slot to = 0;
    wire::Frame frame;
  };
  /// A packet of a replica here, to the other processes. Without a tree it goes to each itself.
  std::vector<Leaving> send(Epoch epoch, ReplicaId from, const ToAll& to, Packet packet);

  struct Coming {
    /// To pass on at once.
    std::vector<Leaving> onward;
    /// For all replicas of a node here, in their order; `to` of each is the node.
    std::vector<wire::Frame> packets;
  };
  /// One of the epoch that began last; others come to nothing. Errc::corrupt for bytes that no peer
  /// of this version sends.
  Result<Coming> receive(wire::Frame frame);

  /// What has left since it was asked last: packets of replicas here, and their bytes.
  LinkWatch::Sent take_sent();

 private:
  /// What a process sends its first copies by.
  using Ways = std::vector<coll::Branches>;

  std::shared_ptr<const Ways> ways_to(std::uint32_t node);

  /// No sender has more on its way.
  static constexpr std::uint64_t early_max = 1 << 16;

  const Slot me_;
  std::mutex mutex_;
  Epoch epoch_ = 0;
  /// Of each node, those with a replica; in order.
  std::vector<std::vector<Slot>> slots_;
  std::map<std::uint32_t, std::shared_ptr<const Ways>> ways_;
  /// By node, from each replica.
  std::map<std::uint32_t, coll::InOrder<wire::Frame>> arrivals_;
  LinkWatch::Sent sent_;
};

}  // namespace piracema::runtime
