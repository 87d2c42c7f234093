#include "run/worker/packet_router.h"

#include <chrono>
#include <utility>

#include "base/clock.h"
#include "base/log.h"
#include "base/text.h"

namespace piracema::runtime {

void PacketRouter::begin(const Layout& layout, Epoch epoch) {
  relay_.begin(epoch, layout.graph->shape, layout.placement);
  link_watch_.begin(epoch, Time{});
}

void PacketRouter::connect(const std::vector<Peer>& others) {
  if (transport_ == nullptr) return;
  for (const Peer& peer : others) transport_->connect(peer.slot, peer.incarnation, peer.address);
}

void PacketRouter::follow(const BroadcastTrees& trees) {
  leave(relay_.follow(trees));
  link_watch_.begin(trees.epoch, std::chrono::milliseconds(trees.watch_every_ms));
}

std::optional<LinksSeen> PacketRouter::links() {
  if (transport_ == nullptr || !link_watch_.is_due(now())) return std::nullopt;
  return link_watch_.look(now(), transport_->links(), relay_.take_sent());
}

void PacketRouter::route(Epoch epoch, ReplicaId from, ReplicaId to, Packet&& packet) {
  const Layout* const layout = layouts_.of(epoch);
  // What a replica still does by a plan that is over is worth nothing, and its numbers mean others.
  if (layout == nullptr) return;
  if (ReplicaActor* replica = layout->local(to)) {
    replica->deliver(epoch, from, std::move(packet));
  } else {
    transport_->send(layout->placement[to], to_frame(std::move(packet), epoch, from, to));
  }
}

void PacketRouter::route(Epoch epoch, ReplicaId from, std::vector<Addressed> packets) {
  const Layout* const layout = layouts_.of(epoch);
  if (layout == nullptr) return;
  for (auto next = packets.begin(); next != packets.end();) {
    if (ReplicaActor* replica = layout->local(next->to)) {
      replica->deliver(epoch, from, std::move(next++->packet));
      continue;
    }
    const Slot slot = layout->placement[next->to];
    std::vector<wire::Frame> frames;
    for (; next != packets.end() && layout->local(next->to) == nullptr &&
           layout->placement[next->to] == slot;
         ++next) {
      frames.push_back(to_frame(std::move(next->packet), epoch, from, next->to));
    }
    transport_->send(slot, std::move(frames));
  }
}

void PacketRouter::route_to_all(Epoch epoch, ReplicaId from, const ToAll& to, Packet&& packet) {
  const Layout* const layout = layouts_.of(epoch);
  if (layout == nullptr) return;
  const auto count = static_cast<std::uint32_t>(to.receivers.size());
  for (std::uint32_t i = 0; i < count; ++i) {
    if (ReplicaActor* replica = layout->local(to.receivers[i])) {
      replica->deliver(epoch, from, copy_for(packet, i, count));
    }
  }
  leave(relay_.send(epoch, from, to, std::move(packet)));
}

void PacketRouter::leave(std::vector<Relay::Leaving> leaving) {
  for (Relay::Leaving& one : leaving) transport_->send(one.to, std::move(one.frame));
}

void PacketRouter::on_frame(Slot from, wire::Frame&& frame) {
  // What an older epoch sent is refused here. A newer one may be known to others first.
  const Epoch epoch = start_.epoch();
  if (frame.epoch < epoch || (frame.epoch > epoch && start_.keep_early(from, frame))) return;
  const Layout* const layout = layouts_.of(frame.epoch);
  if (layout == nullptr) return;
  if (frame.kind == relayed_kind) {
    receive_relayed(*layout, from, std::move(frame));
  } else {
    receive(*layout, from, std::move(frame));
  }
}

void PacketRouter::receive(const Layout& layout, Slot from, wire::Frame frame) {
  const wire::Frame header{frame.kind, frame.epoch, frame.from, frame.to, {}, {}};
  auto packet = to_packet(std::move(frame));
  if (!packet) {
    log(Level::warning,
        concat("worker ", from, " sent what is no packet: ", packet.error().message));
    return;
  }
  if (auto right = layout.check(from, header, *packet); !right) {
    log(Level::warning, concat("worker ", from, ": ", right.error().message));
    return;
  }
  layout.local(header.to)->deliver(header.epoch, header.from, *std::move(packet));
}

// First to those further down, who wait longest.
void PacketRouter::receive_relayed(const Layout& layout, Slot from, wire::Frame frame) {
  auto coming = relay_.receive(std::move(frame));
  if (!coming) {
    log(Level::warning, concat("worker ", from, ": ", coming.error().message));
    return;
  }
  leave(std::move(coming->onward));
  for (wire::Frame& one : coming->packets) {
    const wire::Frame header{one.kind, one.epoch, one.from, one.to, {}, {}};
    const auto packet = to_packet(std::move(one));
    const auto right = packet ? layout.check_relayed(header) : packet.error();
    if (!right) {
      log(Level::warning, concat("worker ", from, ": ", right.error().message));
      continue;
    }
    const std::uint32_t count = layout.graph->shape.nodes[header.to].replicas;
    for (const ReplicaId id : layout.of_node[header.to]) {
      const std::uint32_t index = layout.plan.replicas[id].index;
      layout.local(id)->deliver(header.epoch, header.from, copy_for(*packet, index, count));
    }
  }
}

}  // namespace piracema::runtime
