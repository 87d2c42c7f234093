#pragma once

#include <piracema/bytes.h>
#include <piracema/operator.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "base/clock.h"
#include "base/ids.h"
#include "run/packet/packet.h"
#include "store/snapshot/part_index.h"

namespace piracema::runtime {

/// Thrown through a user's operator that waits for room when its replica is told to begin anew.
/// No std::exception, so that a user who catches those does not stop it.
struct Interrupted {};

/// Where a packet goes that all replicas of a node get.
struct ToAll {
  std::uint32_t node = 0;
  /// Which one it is of those that the replica has sent to this node since it began, from 0.
  std::uint64_t number = 0;
  /// All of them have done all batches before this one.
  std::uint64_t done_before = 0;
  /// By their index in the node.
  std::span<const ReplicaId> receivers;
};

/// All that a replica does to the world: implemented by its thread, and by the simulator.
class Port {
 public:
  virtual ~Port() = default;

  /// A credit may wait for what is sent next, or for `flush`, to travel with it.
  virtual void send(ReplicaId to, Packet packet) = 0;
  /// A copy to each of them, in its order among all that go to them. Batches have a part of the
  /// order's share each (`copy_for`).
  virtual void send_to_all(const ToAll& to, Packet packet) {
    for (std::uint32_t i = 0; i < to.receivers.size(); ++i) {
      send(to.receivers[i], copy_for(packet, i, static_cast<std::uint32_t>(to.receivers.size())));
    }
  }
  /// Nothing is sent for a while.
  virtual void flush() {}

  /// Stores the state in the background; the coordinator hears of it. `items_out` were sent up to
  /// the barrier.
  virtual void save(SnapshotId snapshot, std::uint64_t items_out, store::PartContent part) = 0;
  /// Stores a piece of a state whose end `save` brings.
  virtual void save_piece(SnapshotId snapshot, Buffer piece) = 0;
  /// Bytes of pieces that are in memory still. When they are fewer, the replica's next step comes
  /// soon.
  virtual std::uint64_t unwritten() const = 0;

  virtual void ended() = 0;
  virtual void committed(SnapshotId snapshot) = 0;
  /// A sink has its first item.
  virtual void first_output() = 0;
  virtual void failed(std::optional<std::uint64_t> item, std::string why) = 0;
  /// An item that is on the list of those to skip was passed by.
  virtual void skipped(std::uint64_t item, Bytes bytes) = 0;

  /// Blocks until something has come in and the replica knows of it (its `receive` and so on
  /// have been called), or `longest` has passed. Throws Interrupted when the replica is to begin
  /// anew. False if it cannot block: what waits for room is then kept beyond its bound.
  virtual bool wait(std::optional<Time> longest) = 0;

  /// Makes the replica's next `step` come soon; may be called from any thread.
  virtual std::function<void()> waker() = 0;

  virtual Time now() = 0;
  /// By which timers are set.
  virtual WallTime wall_time() = 0;
};

}  // namespace piracema::runtime
