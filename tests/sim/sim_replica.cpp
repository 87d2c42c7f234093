#include "sim/sim_replica.h"

#include <algorithm>
#include <utility>

#include "base/ensure.h"
#include "state/plain_part.h"

namespace piracema::sim {

namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

}  // namespace

void SimReplica::retire() {
  wanted_ = epoch_ = ~Epoch{0};
  replica_.reset();
  kept_.reset();
}

std::shared_ptr<state::KeptStates> SimReplica::take_kept() {
  return replica_ ? replica_->keep() : std::exchange(kept_, nullptr);
}

bool SimReplica::is_same_as(const flow::ReplicaPlan& other) const {
  return plan_.node == other.node && plan_.index == other.index;
}

void SimReplica::begin(const runtime::Deploy& deploy) {
  wanted_ = deploy.epoch;
  Time takes = between(microseconds(100), milliseconds(10));
  if (random().chance(0.05)) takes = between(milliseconds(50), milliseconds(1'300));
  owner_.host().after(takes, [this, deploy] {
    if (deploy.epoch == wanted_) do_begin(deploy);
  });
}

void SimReplica::deliver(Parcel parcel) {
  if (parcel.epoch > epoch_) {
    early_.push_back(std::move(parcel));
  } else if (parcel.epoch == epoch_ && replica_) {
    replica_->receive(parcel.from, std::move(parcel.packet));
    wake();
  }
}

void SimReplica::trigger(Epoch epoch, SnapshotId snapshot, SnapshotId complete, bool hold,
                         Time patience) {
  if (epoch != epoch_ || !replica_) return;
  replica_->trigger(snapshot, complete, hold, patience);
  wake();
}

void SimReplica::commit(Epoch epoch, SnapshotId snapshot) {
  if (epoch != epoch_ || !replica_) return;
  replica_->commit(snapshot);
  wake();
}

runtime::Progress SimReplica::progress() const {
  return {.replica = self_,
          .items_in = counters_.items_in.load(),
          .items_out = counters_.items_out.load()};
}

void SimReplica::do_begin(const runtime::Deploy& deploy) {
  epoch_ = deploy.epoch;
  auto kept = take_kept();
  replica_.reset();
  auto beginning = read_state(deploy, std::move(kept));
  if (!beginning) return failed(std::nullopt, beginning.error().message);
  replica_ = std::make_unique<runtime::Replica>(self_, plan_, graph_, *std::move(beginning), *this,
                                                counters_, nullptr);
  replica_->begin();
  for (Parcel& parcel : std::exchange(early_, {})) deliver(std::move(parcel));
  owner_.begun(epoch_);
  replica_->start();
  wake();
}

bool SimReplica::has_overtaken(Bytes plain) const {
  const auto part = state::read_plain_part(plain);
  ENSURE(part.ok());
  return !plan_.is_head && !part->under_way.empty();
}

Result<runtime::ReplicaInit> SimReplica::read_state(const runtime::Deploy& deploy,
                                                    std::shared_ptr<state::KeptStates> kept) {
  const NodeShape& node = graph_.shape.nodes[plan_.node];
  runtime::ReplicaInit beginning;
  // Small ones, and often a writer that is slower than the replica.
  if (node.keyed) {
    beginning.piece_bytes = 1 + random().below(2'000);
    beginning.unwritten_bytes_max = random().below(1'000);
  }
  beginning.place = owner_.place();
  beginning.context = {.node = node.name,
                       .replica = plan_.index,
                       .replicas = node.replicas,
                       .begins_job = deploy.epoch == 1 && !deploy.restore,
                       .started_before = deploy.started_before};
  for (const runtime::Skip& skip : deploy.skips) {
    if (skip.node == plan_.node) beginning.skips.insert(skip.item);
  }
  for (ReplicaId other = 0; other < deploy.placement.size(); ++other) {
    if (deploy.placement[other] == deploy.placement[self_]) beginning.neighbours.insert(other);
  }
  if (!deploy.restore) return beginning;
  store::SnapshotStore& store = owner_.host().store();
  auto ahead = runtime::StatesToCome::bring(owner_.to_come().take(plan_), store, *deploy.restore);
  auto read = beginning.restore(store, *deploy.restore, graph_.shape, plan_,
                                {std::move(kept), std::move(ahead)});
  if (!read) return read.error();
  owner_.counts().kept += beginning.kept != nullptr;
  owner_.counts().ahead += beginning.ahead != nullptr;
  owner_.counts().restored_overtaken += beginning.state && has_overtaken(*beginning.state);
  return beginning;
}

void SimReplica::wake() {
  if (std::exchange(awake_, true)) return;
  // A source is what sets the pace of a test.
  const Time idle = plan_.inputs.empty() ? between(milliseconds(1), milliseconds(20))
                                         : between(microseconds(5), microseconds(300));
  const Time pause = std::max(idle, busy_until_ - owner_.host().scheduler().now());
  owner_.want_turn([this, pause] { owner_.host().after(pause, [this] { step(); }); });
}

void SimReplica::step() {
  awake_ = false;
  owner_.turn_over();
  if (!replica_) return;
  const std::uint64_t before = counters_.items_in;
  const auto next = replica_->step();
  const Time cost(graph_.shape.nodes[plan_.node].cost_ns);
  if (cost != Time{} && counters_.items_in != before) {
    busy_until_ = owner_.host().scheduler().now() + between(cost / 2, 2 * cost);
  }
  switch (next) {
    case runtime::Replica::Next::again:
    case runtime::Replica::Next::poll:
      wake();
      break;
    case runtime::Replica::Next::wait:
      rest();
      break;
  }
}

void SimReplica::rest() {
  const auto longest = replica_->longest_wait();
  if (!longest) return;
  owner_.host().after(std::max<Time>(*longest, microseconds(1)), [this, epoch = epoch_] {
    if (epoch == epoch_ && replica_) wake();
  });
}

void SimReplica::send(ReplicaId to, runtime::Packet packet) {
  owner_.route(epoch_, self_, to, std::move(packet));
}

void SimReplica::send_to_all(const runtime::ToAll& to, runtime::Packet packet) {
  owner_.route_to_all(epoch_, self_, to, std::move(packet));
}

void SimReplica::save(SnapshotId snapshot, std::uint64_t, store::PartContent content) {
  // Of one by key the plain part is somewhere in the pieces.
  if (!content.index) owner_.counts().overtaken += has_overtaken(content.data);
  write({epoch_, snapshot, {}, std::move(content)});
}

void SimReplica::save_piece(SnapshotId snapshot, Buffer piece) {
  unwritten_ += piece.size();
  write({epoch_, snapshot, std::move(piece), std::nullopt});
}

void SimReplica::failed(std::optional<std::uint64_t> item, std::string why) {
  say(runtime::OperatorFailed{epoch_, self_, item, std::move(why)});
}

std::function<void()> SimReplica::waker() {
  return [this] { wake(); };
}

// The work of an operator takes a while too, and a source that is slow gives little at once.
Time SimReplica::now() {
  spent_ += between(Time{0}, plan_.inputs.empty() ? microseconds(1'000) : microseconds(100));
  return owner_.host().scheduler().now() + spent_;
}

WallTime SimReplica::wall_time() {
  return WallTime(std::chrono::duration_cast<WallTime::duration>(owner_.host().scheduler().now()));
}

void SimReplica::write(Write next) {
  to_write_.push_back(std::move(next));
  if (to_write_.size() == 1) write_later();
}

void SimReplica::write_later() {
  const Time takes = between(microseconds(100), milliseconds(20));
  owner_.host().after(takes, [this] {
    if (!writer_) writer_.emplace(owner_.host().store());
    const Write next = std::move(to_write_.front());
    to_write_.pop_front();
    if (!to_write_.empty()) write_later();
    const runtime::PartWriter::Of of{next.epoch, next.snapshot, self_};
    if (next.rest) return put(of, *next.rest);
    writer_->add(of, next.piece);
    unwritten_ -= next.piece.size();
    if (replica_) wake();
  });
}

void SimReplica::put(const runtime::PartWriter::Of& of, const store::PartContent& rest) {
  const auto part = writer_->put(of, rest);
  if (!part) return say(runtime::SaveFailed{of.epoch, of.snapshot, self_, part.error().message});
  runtime::Saved saved{of.epoch, of.snapshot, self_, part->bytes, part->checksum, 0, part->indexed};
  for (const store::PartFile& file : part->files) {
    saved.files.push_back({file.snapshot, file.replica});
  }
  say(std::move(saved));
}

}  // namespace piracema::sim
