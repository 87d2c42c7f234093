#pragma once

#include <piracema/batch.h>
#include <piracema/error.h>
#include <piracema/operator.h>

#include <cstdint>
#include <variant>

#include "base/clock.h"
#include "base/ids.h"
#include "wire/frame.h"

namespace piracema::runtime {

/// Everything before it belongs to the snapshot, nothing after it (Chandy-Lamport's marker).
struct Barrier {
  static constexpr Time forever = Time::max();

  SnapshotId snapshot = 0;
  /// As in Trigger.
  SnapshotId complete = 0;
  /// For how long it may wait behind items from here on; then it overtakes them. Each replica takes
  /// off what it has waited there, so no two clocks have to agree.
  Time patience = forever;

  /// Until when it may wait if it has come at `now`. A peer may say anything.
  Time deadline(Time now) const;
};

/// Nothing follows on this channel.
struct EndOfStream {};

/// A receiver asks for more: so many batches may be sent beyond those allowed before.
struct Credit {
  std::uint32_t batches = 0;
  /// How long it, or the slowest node after it, takes for an item.
  std::uint64_t ns_per_item = 0;
  /// Batches of this sender that it has done since it last said so.
  std::uint32_t done = 0;
};

/// An ordered node has taken all batches before `sequence`.
struct Release {
  std::uint64_t sequence = 0;
};

/// Goes round a cycle behind all items, to find out whether it is empty: see CycleEnd.
struct Probe {
  std::uint64_t round = 0;
  /// Rounds in a row that were quiet, at all heads the probe has heard of.
  std::uint32_t quiet = 0;
};

/// Nothing that follows on this channel happened before `come`, but for what was late already when
/// its time was read.
struct Watermark {
  EventTime come{};
};

/// What goes from one replica to another.
using Packet = std::variant<Batch, Barrier, EndOfStream, Credit, Release, Probe, Watermark>;

/// A packet that goes to all `count` replicas of a node, as the one with this index gets it: all of
/// them together have the share of a batch.
Packet copy_for(const Packet& packet, std::uint32_t index, std::uint32_t count);

/// A packet as a frame and back; kinds are the positions in the variant. Errc::corrupt if a
/// frame is no packet, or its lists do not fit its count.
wire::Frame to_frame(Packet packet, Epoch epoch, ReplicaId from, ReplicaId to);
Result<Packet> to_packet(wire::Frame frame);

}  // namespace piracema::runtime
