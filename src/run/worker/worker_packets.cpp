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
  const wire::Frame header{frame.kind, frame.epoch, frame.from, frame.to, {}, {}};
  auto packet = to_packet(std::move(frame));
  if (!packet) {
    log(Level::warning,
        concat("worker ", from, " sent what is no packet: ", packet.error().message));
    return;
  }
  if (auto right = check(*layout, from, header, *packet); !right) {
    log(Level::warning, concat("worker ", from, ": ", right.error().message));
    return;
  }
  layout->local(header.to)->deliver(header.epoch, header.from, *std::move(packet));
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
