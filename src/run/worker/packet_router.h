#pragma once

#include <optional>
#include <vector>

#include "base/ids.h"
#include "control/messages/control.h"
#include "net/transport/transport.h"
#include "run/packet/packet.h"
#include "run/packet/port.h"
#include "run/relay/link_watch.h"
#include "run/relay/relay.h"
#include "run/replica/replica_actor.h"
#include "run/worker/epoch_start.h"
#include "run/worker/layouts.h"
#include "wire/frame.h"

namespace piracema::runtime {

/// Brings packets from replica to replica: to those of the process at once, to others by its
/// transport; and checks what comes by that. What is of an epoch or a plan that is over is worth
/// nothing, and is dropped.
class PacketRouter {
 public:
  /// Both outlive it.
  PacketRouter(Slot here, const Layouts& layouts, EpochStart& start)
      : layouts_(layouts), start_(start), relay_(here) {}

  /// The way to the other processes; null when there are none. Before all else.
  void set_transport(net::Transport* transport) { transport_ = transport; }

  // ---- one thread, the owner's
  /// A new epoch, before anybody knows of it: broadcasts begin anew.
  void begin(const Layout& layout, Epoch epoch);
  void connect(const std::vector<Peer>& others);
  /// Broadcasts go by these from here on.
  void follow(const BroadcastTrees& trees);
  /// What is to be told of the links to other processes; nothing while that is not due.
  std::optional<LinksSeen> links();

  // ---- any thread
  void route(Epoch epoch, ReplicaId from, ReplicaId to, Packet&& packet);
  /// Those to one process together.
  void route(Epoch epoch, ReplicaId from, std::vector<Addressed> packets);
  void route_to_all(Epoch epoch, ReplicaId from, const ToAll& to, Packet&& packet);
  void on_frame(Slot from, wire::Frame&& frame);

 private:
  void receive(const Layout& layout, Slot from, wire::Frame frame);
  void receive_relayed(const Layout& layout, Slot from, wire::Frame frame);
  void leave(std::vector<Relay::Leaving> leaving);

  const Layouts& layouts_;
  EpochStart& start_;
  net::Transport* transport_ = nullptr;
  Relay relay_;
  LinkWatch link_watch_;
};

}  // namespace piracema::runtime
