#pragma once

#include <piracema/graph.h>

#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "control/messages/control.h"
#include "run/packet/port.h"
#include "run/relay/link_watch.h"
#include "run/relay/relayed_frame.h"
#include "topology/message/in_order.h"

namespace piracema::runtime {

/// The part that one process has in packets for all replicas of a node: over which processes its
/// own leave, and what comes from others, to be passed on and for the replicas here.
///
/// A packet carries its tree (source routing; paper 001 keeps a tree at every process, and stops
/// broadcasts while it changes), and a number by which it is put back in order where a later one
/// has come by another tree. Who passes it on keeps nothing of it but what waits for an earlier
/// one, and credits of the receivers bound that. The sender's process keeps what is not done yet,
/// where it has a tree: when that changes because a link has become slow, packets are stuck before
/// it, and go to those behind it once more by the new tree. What an epoch leaves on the way is
/// worth nothing in the next.
///
/// Pure. Any thread.
class Relay {
 public:
  explicit Relay(Slot me) : me_(me) {}

  /// From here on nothing of older epochs counts, nor trees. `placement` has a slot for each
  /// replica of the plan of `shape`.
  void begin(Epoch epoch, const GraphShape& shape, const std::vector<Slot>& placement);
  struct Leaving {
    Slot to = 0;
    wire::Frame frame;
  };
  /// How packets to some nodes leave from here on; and what leaves once more, to those that get it
  /// by another way now. One of another epoch, and a tree that does not reach just the processes of
  /// its node, counts for nothing.
  std::vector<Leaving> follow(const BroadcastTrees& trees);

  /// A packet of a replica here, to the other processes. Without a tree it goes to each itself.
  std::vector<Leaving> send(Epoch epoch, ReplicaId from, const ToAll& to, Packet packet);

  struct Coming {
    /// To pass on at once.
    std::vector<Leaving> onward;
    /// For all replicas of a node here, in their order; `to` of each is the node.
    std::vector<wire::Frame> packets;
  };
  /// One of the epoch that began last; others come to nothing, and so does one that was here
  /// before, but that it is passed on. Errc::corrupt for bytes that no peer of this version sends.
  Result<Coming> receive(wire::Frame frame);

  /// What has left since it was asked last: packets of replicas here, and their bytes.
  LinkWatch::Sent take_sent();

 private:
  /// What a process sends its first copies by.
  using Ways = std::vector<coll::Branches>;
  struct Kept {
    Epoch epoch = 0;
    ReplicaId from = 0;
    ToAll to;
    Packet packet;
  };

  std::shared_ptr<const Ways> ways_to(std::uint32_t node);
  void keep(Kept one, std::uint64_t done_before);
  bool is_tree_for(std::uint32_t node, const coll::Branches& tree) const;
  static std::vector<Leaving> leave_by(const Ways& ways, Epoch epoch, ReplicaId from,
                                       const ToAll& to, Packet packet);

  /// No sender has more on its way.
  static constexpr std::uint64_t early_max = 1 << 16;

  const Slot me_;
  std::mutex mutex_;
  Epoch epoch_ = 0;
  /// Of each node, those with a replica; in order.
  std::vector<std::vector<Slot>> slots_;
  std::map<std::uint32_t, std::shared_ptr<const Ways>> ways_;
  /// Trees that were followed last; and by node and sender, what was sent by them and is not done.
  std::map<std::uint32_t, coll::Branches> trees_;
  std::map<std::pair<std::uint32_t, ReplicaId>, std::deque<Kept>> kept_;
  /// By node, from each replica.
  std::map<std::uint32_t, coll::InOrder<wire::Frame>> arrivals_;
  LinkWatch::Sent sent_;
};

}  // namespace piracema::runtime
