// What goes from replica to replica, and what replicas tell their process.
#include <algorithm>
#include <utility>

#include "base/log.h"
#include "base/text.h"
#include "run/worker/worker.h"

namespace piracema::runtime {

ReplicaActor* Worker::local(ReplicaId replica) const {
  return replica < replicas_.size() ? replicas_[replica].get() : nullptr;
}

void Worker::route(Epoch epoch, ReplicaId from, ReplicaId to, Packet packet) {
  if (ReplicaActor* replica = local(to)) {
    replica->deliver(epoch, from, std::move(packet));
  } else {
    transport_->send(placement_[to], to_frame(std::move(packet), epoch, from, to));
  }
}

void Worker::route(Epoch epoch, ReplicaId from, std::vector<Addressed> packets) {
  for (auto next = packets.begin(); next != packets.end();) {
    if (ReplicaActor* replica = local(next->to)) {
      replica->deliver(epoch, from, std::move(next++->packet));
      continue;
    }
    const Slot slot = placement_[next->to];
    std::vector<wire::Frame> frames;
    for (; next != packets.end() && local(next->to) == nullptr && placement_[next->to] == slot;
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
  const wire::Frame header{frame.kind, frame.epoch, frame.from, frame.to, {}, {}};
  auto packet = to_packet(std::move(frame));
  if (!packet) {
    log(Level::warning,
        concat("worker ", from, " sent what is no packet: ", packet.error().message));
    return;
  }
  if (auto right = check(from, header, *packet); !right) {
    log(Level::warning, concat("worker ", from, ": ", right.error().message));
    return;
  }
  local(header.to)->deliver(header.epoch, header.from, *std::move(packet));
}

Result<Done> Worker::check(Slot from, const wire::Frame& frame, const Packet& packet) const {
  const auto refuse = [&](const char* why) {
    return Error{Errc::refused,
                 concat("a packet from replica ", frame.from, " to ", frame.to, ": ", why)};
  };
  if (local(frame.to) == nullptr) return refuse("the receiver is not here");
  if (frame.from >= placement_.size() || placement_[frame.from] != from) {
    return refuse("the sender is not there");
  }
  const flow::ReplicaPlan& plan = plan_.replicas[frame.to];
  const auto input = plan.input_from(frame.from);
  const bool fits = std::holds_alternative<Credit>(packet)    ? plan.sends_to(frame.from)
                    : std::holds_alternative<Release>(packet) ? plan.starts_order
                    : std::holds_alternative<Probe>(packet) ? input && plan.inputs[*input].in_cycle
                                                            : input.has_value();
  if (!fits) return refuse("there is no such channel");
  return Done{};
}

void Worker::save(Epoch epoch, ReplicaId replica, SnapshotId snapshot, store::PartContent part) {
  if (writer_) {
    // Its own thread calls, so it has sent no more meanwhile.
    const bool from_source = is_source(graph_.shape.nodes[plan_.replicas[replica].node].role);
    const std::uint64_t sent = replicas_[replica]->counters().items_out.load();
    writer_->write(SnapshotWriter::Job{epoch, snapshot, replica, std::move(part),
                                       from_source ? sent : 0});
  } else {
    say_(SaveFailed{epoch, snapshot, replica, "there is no snapshot directory"});
  }
}

void Worker::save_piece(Epoch epoch, ReplicaId replica, SnapshotId snapshot, Buffer piece,
                        std::function<void()> done) {
  if (!writer_) return done();  // As `save` will say.
  writer_->write(SnapshotWriter::Piece{{epoch, snapshot, replica}, std::move(piece), std::move(done)});
}

// The last heartbeat may be old, and a job may be shorter than the time between two.
void Worker::ended(Epoch epoch, ReplicaId replica) {
  say_(heartbeat());
  say_(Ended{epoch, replica});
}

void Worker::skipped(ReplicaId replica, std::uint64_t item, Bytes bytes) {
  const flow::ReplicaPlan& plan = plan_.replicas[replica];
  dead_letters_.add(graph_.shape.nodes[plan.node].name, plan.index, item, bytes);
}

}  // namespace piracema::runtime
