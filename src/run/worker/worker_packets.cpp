// What goes from replica to replica, and what replicas tell their process.
#include <algorithm>
#include <utility>

#include "base/log.h"
#include "base/text.h"
#include "run/worker/worker.h"

namespace piracema::runtime {

void Worker::route(Epoch epoch, ReplicaId from, ReplicaId to, Packet packet) {
  const Layout* const layout = layout_of(epoch);
  // What a replica still does by a plan that is over is worth nothing, and its numbers mean others.
  if (layout == nullptr) return;
  if (ReplicaActor* replica = layout->local(to)) {
    replica->deliver(epoch, from, std::move(packet));
  } else {
    transport_->send(layout->placement[to], to_frame(std::move(packet), epoch, from, to));
  }
}

void Worker::route(Epoch epoch, ReplicaId from, std::vector<Addressed> packets) {
  const Layout* const layout = layout_of(epoch);
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

void Worker::route_to_all(Epoch epoch, ReplicaId from, const ToAll& to, Packet packet) {
  const Layout* const layout = layout_of(epoch);
  if (layout == nullptr) return;
  const auto count = static_cast<std::uint32_t>(to.receivers.size());
  for (std::uint32_t i = 0; i < count; ++i) {
    if (ReplicaActor* replica = layout->local(to.receivers[i])) {
      replica->deliver(epoch, from, copy_for(packet, i, count));
    }
  }
  leave(relay_.send(epoch, from, to, std::move(packet)));
}

void Worker::leave(std::vector<Relay::Leaving> leaving) {
  for (Relay::Leaving& one : leaving) transport_->send(one.to, std::move(one.frame));
}

void Worker::on_frame(Slot from, wire::Frame frame) {
  // What an older epoch sent is refused here. A newer one may be known to others first.
  if (frame.epoch < epoch_.load()) return;
  if (frame.epoch > epoch_.load()) {
    std::lock_guard lock(mutex_);
    if (frame.epoch > epoch_.load()) {
      early_.emplace_back(from, std::move(frame));
      return;
    }
  }
  const Layout* const layout = layout_of(frame.epoch);
  if (layout == nullptr) return;
  if (frame.kind == relayed_kind) {
    receive_relayed(*layout, from, std::move(frame));
  } else {
    receive(*layout, from, std::move(frame));
  }
}

void Worker::receive(const Layout& layout, Slot from, wire::Frame frame) {
  const wire::Frame header{frame.kind, frame.epoch, frame.from, frame.to, {}, {}};
  auto packet = to_packet(std::move(frame));
  if (!packet) {
    log(Level::warning,
        concat("worker ", from, " sent what is no packet: ", packet.error().message));
    return;
  }
  if (auto right = check(layout, from, header, *packet); !right) {
    log(Level::warning, concat("worker ", from, ": ", right.error().message));
    return;
  }
  layout.local(header.to)->deliver(header.epoch, header.from, *std::move(packet));
}

// First to those further down, who wait longest.
void Worker::receive_relayed(const Layout& layout, Slot from, wire::Frame frame) {
  auto coming = relay_.receive(std::move(frame));
  if (!coming) {
    log(Level::warning, concat("worker ", from, ": ", coming.error().message));
    return;
  }
  leave(std::move(coming->onward));
  for (wire::Frame& one : coming->packets) {
    const wire::Frame header{one.kind, one.epoch, one.from, one.to, {}, {}};
    const auto packet = to_packet(std::move(one));
    const auto right = packet ? check_relayed(layout, header) : packet.error();
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

Result<Done> Worker::check_relayed(const Layout& layout, const wire::Frame& packet) const {
  const auto refuse = [&](const char* why) {
    return Error{Errc::refused, concat("a packet from replica ", packet.from, " to all of node ",
                                       packet.to, ": ", why)};
  };
  if (packet.from >= layout.placement.size()) return refuse("there is no such sender");
  const auto& shape = layout.graph->shape;
  const std::uint32_t sender = layout.plan.replicas[packet.from].node;
  const bool is_channel =
      std::any_of(shape.edges.begin(), shape.edges.end(), [&](const EdgeShape& edge) {
        return edge.from == sender && edge.to == packet.to && edge.delivery == Delivery::broadcast;
      });
  if (!is_channel) return refuse("there is no such channel");
  return Done{};
}

Result<Done> Worker::check(const Layout& layout, Slot from, const wire::Frame& frame,
                           const Packet& packet) const {
  const auto refuse = [&](const char* why) {
    return Error{Errc::refused,
                 concat("a packet from replica ", frame.from, " to ", frame.to, ": ", why)};
  };
  if (layout.local(frame.to) == nullptr) return refuse("the receiver is not here");
  if (frame.from >= layout.placement.size() || layout.placement[frame.from] != from) {
    return refuse("the sender is not there");
  }
  const flow::ReplicaPlan& plan = layout.plan.replicas[frame.to];
  const auto input = plan.input_from(frame.from);
  const bool fits = std::holds_alternative<Credit>(packet)    ? plan.sends_to(frame.from)
                    : std::holds_alternative<Release>(packet) ? plan.starts_order
                    : std::holds_alternative<Probe>(packet) ? input && plan.inputs[*input].in_cycle
                                                            : input.has_value();
  if (!fits) return refuse("there is no such channel");
  return Done{};
}

void Worker::save(Epoch epoch, ReplicaId replica, SnapshotId snapshot, std::uint64_t items_out,
                  store::PartContent part) {
  const Layout* const layout = layout_of(epoch);
  if (layout == nullptr) return;
  if (writer_) {
    const bool from_source = is_source(layout->node(replica).role);
    writer_->write(SnapshotWriter::Job{epoch, snapshot, replica, std::move(part),
                                       from_source ? items_out : 0});
  } else {
    say_(SaveFailed{epoch, snapshot, replica, "there is no snapshot directory"});
  }
}

void Worker::save_piece(Epoch epoch, ReplicaId replica, SnapshotId snapshot, Buffer piece,
                        std::function<void()> done) {
  if (!writer_) return done();  // As `save` will say.
  writer_->write(
      SnapshotWriter::Piece{{epoch, snapshot, replica}, std::move(piece), std::move(done)});
}

// The last heartbeat may be old, and a job may be shorter than the time between two.
void Worker::ended(Epoch epoch, ReplicaId replica) {
  say_(heartbeat());
  say_(Ended{epoch, replica});
}

void Worker::skipped(Epoch epoch, ReplicaId replica, std::uint64_t item, Bytes bytes) {
  const Layout* const layout = layout_of(epoch);
  if (layout == nullptr) return;
  const flow::ReplicaPlan& plan = layout->plan.replicas[replica];
  dead_letters_.add(layout->node(replica).name, plan.index, item, bytes);
}

}  // namespace piracema::runtime
