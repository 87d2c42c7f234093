#pragma once

#include <cstdint>
#include <span>
#include <variant>

#include "base/ids.h"
#include "run/packet/packet.h"
#include "topology/trees/tree.h"
#include "wire/frame.h"

namespace piracema::runtime {

/// The kind of a frame that carries a packet for all replicas of a node: the first one that no
/// packet has. Its sender is a replica, and `to` the number of the node.
constexpr std::uint8_t relayed_kind = std::variant_size_v<Packet>;

/// A packet for all replicas of a node, on its way to one process and over it to others: the tree
/// travels with it, so nobody has to know one, and a new tree needs no agreement.
struct RelayedFrame {
  /// Which one it is of those that its sender has sent to this node, from 0.
  std::uint64_t number = 0;
  /// The process that gets it first, and all that get it from there; ranks are slots.
  coll::Branches way;
  /// As if it went to one replica; `to` is the node.
  wire::Frame packet;
};

/// `way` in place of that of the frame.
wire::Frame to_frame(RelayedFrame relayed, std::span<const coll::Branch> way);
/// Errc::corrupt for what is none, or whose way is no tree that begins at `me`.
Result<RelayedFrame> to_relayed(wire::Frame frame, Slot me);

}  // namespace piracema::runtime
