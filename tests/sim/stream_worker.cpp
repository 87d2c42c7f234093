#include "sim/stream_worker.h"

#include <algorithm>
#include <deque>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "base/ensure.h"
#include "flow/plan.h"
#include "run/barrier/part_writer.h"
#include "run/packet/packet.h"
#include "run/relay/relay.h"
#include "run/replica/replica.h"
#include "run/threads/run_queue.h"
#include "run/worker/states_to_come.h"
#include "state/plain_part.h"

namespace piracema::sim {

namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

struct Parcel {
  Epoch epoch = 0;
  ReplicaId from = 0;
  runtime::Packet packet;
};

/// What a replica may do to its process.
class Owner {
 public:
  virtual ~Owner() = default;
  virtual ProcessHost& host() = 0;
  virtual void route(Epoch epoch, ReplicaId from, ReplicaId to, runtime::Packet packet) = 0;
  virtual void route_to_all(Epoch epoch, ReplicaId from, const runtime::ToAll& to,
                            runtime::Packet packet) = 0;
  virtual void begun(Epoch epoch) = 0;
  virtual StreamCounts& counts() = 0;
  virtual StatePlace* place() = 0;
  virtual runtime::StatesToCome& to_come() = 0;
  /// Has `turn` called when there is a thread for it; then `turn_over` follows.
  virtual void want_turn(std::function<void()> turn) = 0;
  virtual void turn_over() = 0;
};

/// What `runtime::ReplicaActor` is to a real one: its mailbox, and its steps one by one.
class ReplicaActor final : public runtime::Port {
 public:
  ReplicaActor(ReplicaId self, const flow::ReplicaPlan& plan, const Graph& graph, Owner& owner)
      : self_(self), plan_(plan), graph_(graph), owner_(owner) {}

  /// It is no replica of the plan that follows. What is still to happen may name it.
  void retire() {
    wanted_ = epoch_ = ~Epoch{0};
    replica_.reset();
    kept_.reset();
  }
  /// A real one stays what it is until it begins anew, by whatever plan.
  std::shared_ptr<state::KeptStates> take_kept() {
    return replica_ ? replica_->keep() : std::exchange(kept_, nullptr);
  }
  void follow(ReplicaActor& former) { kept_ = former.take_kept(); }
  bool is_same_as(const flow::ReplicaPlan& other) const {
    return plan_.node == other.node && plan_.index == other.index;
  }

  /// Whatever the replica is at takes its time before it begins anew.
  void begin(const runtime::Deploy& deploy) {
    wanted_ = deploy.epoch;
    Time takes = between(microseconds(100), milliseconds(10));
    if (random().chance(0.05)) takes = between(milliseconds(50), milliseconds(1'300));
    owner_.host().after(takes, [this, deploy] {
      if (deploy.epoch == wanted_) do_begin(deploy);
    });
  }

  void deliver(Parcel parcel) {
    if (parcel.epoch > epoch_) {
      early_.push_back(std::move(parcel));
    } else if (parcel.epoch == epoch_ && replica_) {
      replica_->receive(parcel.from, std::move(parcel.packet));
      wake();
    }
  }
  void trigger(Epoch epoch, SnapshotId snapshot, SnapshotId complete, bool hold, Time patience) {
    if (epoch != epoch_ || !replica_) return;
    replica_->trigger(snapshot, complete, hold, patience);
    wake();
  }
  void commit(Epoch epoch, SnapshotId snapshot) {
    if (epoch != epoch_ || !replica_) return;
    replica_->commit(snapshot);
    wake();
  }

  runtime::Progress progress() const {
    return {.replica = self_,
            .items_in = counters_.items_in.load(),
            .items_out = counters_.items_out.load()};
  }

 private:
  void do_begin(const runtime::Deploy& deploy) {
    epoch_ = deploy.epoch;
    auto kept = take_kept();
    replica_.reset();
    auto beginning = read_state(deploy, std::move(kept));
    if (!beginning) return failed(std::nullopt, beginning.error().message);
    replica_ = std::make_unique<runtime::Replica>(self_, plan_, graph_, *std::move(beginning),
                                                  *this, counters_, nullptr);
    replica_->begin();
    for (Parcel& parcel : std::exchange(early_, {})) deliver(std::move(parcel));
    owner_.begun(epoch_);
    replica_->start();
    wake();
  }

  bool has_overtaken(Bytes plain) const {
    const auto part = state::read_plain_part(plain);
    ENSURE(part.ok());
    return !plan_.is_head && !part->under_way.empty();
  }

  Result<runtime::ReplicaInit> read_state(const runtime::Deploy& deploy,
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
                         .begins_job = deploy.epoch == 1 && !deploy.restore};
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

  // ---- its thread
  void wake() {
    if (std::exchange(awake_, true)) return;
    // A source is what sets the pace of a test.
    const Time idle = plan_.inputs.empty() ? between(milliseconds(1), milliseconds(20))
                                           : between(microseconds(5), microseconds(300));
    const Time pause = std::max(idle, busy_until_ - owner_.host().scheduler().now());
    owner_.want_turn([this, pause] { owner_.host().after(pause, [this] { step(); }); });
  }
  void step() {
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

  // Until it is woken, or a timer of its operator is due.
  void rest() {
    const auto longest = replica_->longest_wait();
    if (!longest) return;
    owner_.host().after(std::max<Time>(*longest, microseconds(1)), [this, epoch = epoch_] {
      if (epoch == epoch_ && replica_) wake();
    });
  }

  // ---- what the replica does
  void send(ReplicaId to, runtime::Packet packet) override {
    owner_.route(epoch_, self_, to, std::move(packet));
  }
  void send_to_all(const runtime::ToAll& to, runtime::Packet packet) override {
    owner_.route_to_all(epoch_, self_, to, std::move(packet));
  }
  void save(SnapshotId snapshot, std::uint64_t, store::PartContent content) override {
    // Of one by key the plain part is somewhere in the pieces.
    if (!content.index) owner_.counts().overtaken += has_overtaken(content.data);
    write({epoch_, snapshot, {}, std::move(content)});
  }
  void save_piece(SnapshotId snapshot, Buffer piece) override {
    unwritten_ += piece.size();
    write({epoch_, snapshot, std::move(piece), std::nullopt});
  }
  std::uint64_t unwritten() const override { return unwritten_; }
  void ended() override { say(runtime::Ended{epoch_, self_}); }
  void committed(SnapshotId snapshot) override { say(runtime::Committed{epoch_, snapshot, self_}); }
  void first_output() override { say(runtime::FirstOutput{epoch_, self_}); }
  void failed(std::optional<std::uint64_t> item, std::string why) override {
    say(runtime::OperatorFailed{epoch_, self_, item, std::move(why)});
  }
  void skipped(std::uint64_t, Bytes) override {}
  bool wait(std::optional<Time>) override { return false; }
  std::function<void()> waker() override {
    return [this] { wake(); };
  }
  // The work of an operator takes a while too, and a source that is slow gives little at once.
  Time now() override {
    spent_ += between(Time{0}, plan_.inputs.empty() ? microseconds(1'000) : microseconds(100));
    return owner_.host().scheduler().now() + spent_;
  }

  WallTime wall_time() override {
    return WallTime(
        std::chrono::duration_cast<WallTime::duration>(owner_.host().scheduler().now()));
  }

  // ---- what `runtime::SnapshotWriter` is to a real one: one after the other
  struct Write {
    Epoch epoch = 0;
    SnapshotId snapshot = 0;
    Buffer piece;
    /// Of the end of a part.
    std::optional<store::PartContent> rest;
  };
  void write(Write next) {
    to_write_.push_back(std::move(next));
    if (to_write_.size() == 1) write_later();
  }
  void write_later() {
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
  void put(const runtime::PartWriter::Of& of, const store::PartContent& rest) {
    const auto part = writer_->put(of, rest);
    if (!part) return say(runtime::SaveFailed{of.epoch, of.snapshot, self_, part.error().message});
    runtime::Saved saved{of.epoch,       of.snapshot, self_,        part->bytes,
                         part->checksum, 0,           part->indexed};
    for (const store::PartFile& file : part->files) {
      saved.files.push_back({file.snapshot, file.replica});
    }
    say(std::move(saved));
  }

  void say(runtime::FromWorker message) { owner_.host().say(std::move(message)); }
  Random& random() { return owner_.host().scheduler().random(); }
  Time between(Time least, Time most) { return owner_.host().scheduler().between(least, most); }

  const ReplicaId self_;
  const flow::ReplicaPlan plan_;
  const Graph& graph_;
  Owner& owner_;
  runtime::Counters counters_;
  std::unique_ptr<runtime::Replica> replica_;
  /// Of the replica that it follows, until it begins.
  std::shared_ptr<state::KeptStates> kept_;
  Epoch epoch_ = 0, wanted_ = 0;
  std::vector<Parcel> early_;
  bool awake_ = false;
  /// What its operator was given last takes until then.
  Time busy_until_{};
  Time spent_{};
  std::deque<Write> to_write_;
  std::optional<runtime::PartWriter> writer_;
  std::uint64_t unwritten_ = 0;
};

class StreamWorker final : public SimWorker, public Owner {
 public:
  StreamWorker(const Graph& graph, Slot slot, ProcessHost& host, std::size_t threads,
               StreamCounts* counts, StatePlace* place)
      : graph_(graph),
        plan_(std::make_unique<flow::Plan>(flow::make_plan(graph.shape))),
        slot_(slot),
        host_(host),
        counts_(counts != nullptr ? *counts : own_counts_),
        place_(place),
        turns_(threads == 0 ? plan_->replicas.size() : threads) {}

  void handle(const runtime::ToWorker& message) override {
    if (const auto* deploy = std::get_if<runtime::Deploy>(&message)) {
      begin(*deploy);
    } else if (const auto* trigger = std::get_if<runtime::Trigger>(&message)) {
      if (trigger->epoch != deploy_.epoch) return;
      for (const ReplicaId id : trigger->replicas) {
        replicas_.at(id)->trigger(trigger->epoch, trigger->snapshot, trigger->complete,
                                  trigger->hold, trigger->patience);
      }
    } else if (const auto* commit = std::get_if<runtime::Commit>(&message)) {
      if (commit->epoch != deploy_.epoch) return;
      for (const ReplicaId id : commit->replicas) {
        replicas_.at(id)->commit(commit->epoch, commit->snapshot);
      }
    } else if (const auto* trees = std::get_if<runtime::BroadcastTrees>(&message)) {
      if (trees->epoch != deploy_.epoch) return;
      for (auto& again : relay_.follow(*trees)) {
        counts_.sent_again += 1;
        leave(again.to, std::move(again.frame));
      }
      counts_.trees += trees->trees.size();
      if (std::exchange(watching_, trees->epoch) != trees->epoch) watch(trees->epoch);
    } else if (const auto* ahead = std::get_if<runtime::ReadAhead>(&message)) {
      read_ahead(*ahead);
    }
  }

  runtime::Heartbeat heartbeat() override {
    runtime::Heartbeat beat{deploy_.epoch, 0, {}};
    for (const auto& [id, replica] : replicas_) beat.progress.push_back(replica->progress());
    return beat;
  }

  void fail_somewhere() override {}  // The program of a test throws where it likes.

 private:
  // What `runtime::AheadReader` does with a thread. It may be done when another epoch has begun.
  void read_ahead(const runtime::ReadAhead& message) {
    if (message.snapshot == 0) {
      to_come_ = {};
      return;
    }
    Time takes = host_.scheduler().between(microseconds(100), milliseconds(50));
    if (host_.scheduler().random().chance(0.1)) takes *= 40;
    host_.after(takes, [this, message, since = deploy_.epoch] {
      if (since == deploy_.epoch && place_ == nullptr) {
        std::optional<runtime::Layout> now;
        if (since != 0) now.emplace(deploy_, graph_, slot_);
        runtime::StatesToCome wanted(runtime::Layout(message, graph_, slot_),
                                     now ? &*now : nullptr);
        wanted.take_over(std::exchange(to_come_, {}));
        to_come_ = std::move(wanted);
        to_come_.read(host_.store(), message.snapshot,
                      [this] { return host_.scheduler().random().chance(0.0005); });
      }
      host_.say(runtime::HasReadAhead{message.epoch, message.snapshot});
    });
  }

  void begin(const runtime::Deploy& deploy) {
    if (deploy.placement != deploy_.placement || deploy.replicas != deploy_.replicas)
      change(deploy);
    deploy_ = deploy;
    relay_.begin(deploy.epoch, graphs_.empty() ? graph_.shape : graphs_.back()->shape,
                 deploy.placement);
    for (auto& [id, replica] : replicas_) replica->begin(deploy);
    to_begin_ = replicas_.size();
    if (to_begin_ == 0) host_.say(runtime::Ready{deploy.epoch});
    for (wire::Frame& frame : std::exchange(early_, {})) receive(std::move(frame));
  }

  // Another plan: what is still to happen to replicas of the former one finds them at rest.
  void change(const runtime::Deploy& deploy) {
    const auto former = std::exchange(replicas_, {});
    plans_.push_back(std::move(plan_));
    graphs_.push_back(std::make_unique<Graph>(graph_));
    Graph& graph = *graphs_.back();
    for (std::size_t node = 0; node < deploy.replicas.size(); ++node) {
      graph.shape.nodes[node].replicas = deploy.replicas[node];
    }
    plan_ = std::make_unique<flow::Plan>(flow::make_plan(graph.shape));
    for (ReplicaId id = 0; id < deploy.placement.size(); ++id) {
      if (deploy.placement[id] != slot_) continue;
      auto replica = std::make_shared<ReplicaActor>(id, plan_->replicas[id], graph, *this);
      for (const auto& [number, other] : former) {
        if (other->is_same_as(plan_->replicas[id])) replica->follow(*other);
      }
      replicas_[id] = std::move(replica);
    }
    for (const auto& [number, replica] : former) {
      replica->retire();
      retired_.push_back(replica);
    }
  }

  ProcessHost& host() override { return host_; }

  void begun(Epoch epoch) override {
    if (epoch != deploy_.epoch) return;
    to_begin_ -= 1;
    if (to_begin_ == 0) host_.say(runtime::Ready{epoch});
  }

  StatePlace* place() override { return place_; }
  runtime::StatesToCome& to_come() override { return to_come_; }
  StreamCounts& counts() override { return counts_; }

  // What `runtime::ThreadPool` does with its lock; a replica that is at its turn is an event that
  // will come.
  void want_turn(std::function<void()> turn) override {
    turns_.put(std::move(turn));
    give_turns();
  }
  void turn_over() override {
    turns_.give_back();
    give_turns();
  }
  void give_turns() {
    while (auto turn = turns_.take()) (*turn)();
  }

  void route(Epoch epoch, ReplicaId from, ReplicaId to, runtime::Packet packet) override {
    // What a replica still does for an epoch that its process has left is worth nothing.
    if (epoch != deploy_.epoch) return;
    if (deploy_.placement.at(to) == slot_) {
      replicas_.at(to)->deliver({epoch, from, std::move(packet)});
      return;
    }
    leave(deploy_.placement.at(to), to_frame(std::move(packet), epoch, from, to));
  }

  void route_to_all(Epoch epoch, ReplicaId from, const runtime::ToAll& to,
                    runtime::Packet packet) override {
    if (epoch != deploy_.epoch) return;
    deliver_to_all(epoch, from, to.node, packet);
    for (auto& leaving : relay_.send(epoch, from, to, std::move(packet))) {
      leave(leaving.to, std::move(leaving.frame));
    }
  }

  void deliver_to_all(Epoch epoch, ReplicaId from, std::uint32_t node,
                      const runtime::Packet& packet) {
    std::uint32_t count = 0;
    for (const flow::ReplicaPlan& plan : plan_->replicas) count += plan.node == node;
    for (auto& [id, replica] : replicas_) {
      const flow::ReplicaPlan& plan = plan_->replicas[id];
      if (plan.node != node) continue;
      replica->deliver({epoch, from, runtime::copy_for(packet, plan.index, count)});
    }
  }

  void leave(Slot to, wire::Frame frame) {
    const runtime::Peer& peer = deploy_.peers.at(to);
    static const char* const names[] = {"batch",   "barrier", "end",    "credit",
                                        "release", "probe",   "relayed"};
    const char* name = names[frame.kind];
    host_.send(peer.slot, peer.incarnation, name, [frame = std::move(frame)](SimWorker& worker) {
      static_cast<StreamWorker&>(worker).receive(frame);
    });
  }

  // Links that are others all the time, so that trees are, too.
  void watch(Epoch epoch) {
    const Time pause = host_.scheduler().between(milliseconds(5), milliseconds(300));
    host_.after(pause, [this, epoch] {
      if (epoch != deploy_.epoch) return;
      Random& random = host_.scheduler().random();
      runtime::LinksSeen seen{.epoch = epoch, .links = {}};
      seen.broadcast_bytes = random.chance(0.5) ? 100 : 1'000'000;
      seen.bytes_per_second = random.below(2) * random.below(200'000'000);
      for (const runtime::Peer& peer : deploy_.peers) {
        if (peer.slot == slot_) continue;
        const std::uint64_t speed = 1'000'000 + random.below(random.chance(0.3) ? 10 : 100'000'000);
        seen.links.push_back({.to = peer.slot,
                              .round_trip_us = static_cast<std::uint32_t>(random.below(100'000)),
                              .bytes_per_second = speed});
      }
      host_.say(std::move(seen));
      watch(epoch);
    });
  }

  void receive(wire::Frame frame) {
    if (frame.epoch < deploy_.epoch) return;
    if (frame.epoch >
        deploy_.epoch) {  // Others may have been told to begin before this process has.
      early_.push_back(std::move(frame));
      return;
    }
    if (frame.kind == runtime::relayed_kind) {
      auto coming = relay_.receive(std::move(frame));
      ENSURE(coming.ok());
      counts_.relayed += coming->onward.size();
      for (auto& leaving : coming->onward) leave(leaving.to, std::move(leaving.frame));
      for (wire::Frame& one : coming->packets) {
        const wire::Frame header{one.kind, one.epoch, one.from, one.to, {}, {}};
        const auto packet = runtime::to_packet(std::move(one));
        ENSURE(packet.ok());
        deliver_to_all(header.epoch, header.from, header.to, *packet);
      }
      return;
    }
    const Parcel header{frame.epoch, frame.from, {}};
    const ReplicaId to = frame.to;
    auto packet = runtime::to_packet(std::move(frame));
    ENSURE(packet.ok());
    replicas_.at(to)->deliver({header.epoch, header.from, *std::move(packet)});
  }

  const Graph& graph_;
  /// Of the plans that there have been, the last one apart.
  std::vector<std::unique_ptr<Graph>> graphs_;
  std::vector<std::unique_ptr<flow::Plan>> plans_;
  std::unique_ptr<flow::Plan> plan_;
  std::vector<std::shared_ptr<ReplicaActor>> retired_;
  std::vector<wire::Frame> early_;
  const Slot slot_;
  ProcessHost& host_;
  StreamCounts own_counts_;
  StreamCounts& counts_;
  StatePlace* const place_;
  runtime::RunQueue<std::function<void()>> turns_;
  runtime::Deploy deploy_;
  runtime::StatesToCome to_come_;
  runtime::Relay relay_{slot_};
  Epoch watching_ = 0;
  std::map<ReplicaId, std::shared_ptr<ReplicaActor>> replicas_;
  std::size_t to_begin_ = 0;
};

}  // namespace

std::unique_ptr<SimWorker> make_stream_worker(const Graph& graph, Slot slot, ProcessHost& host,
                                              std::size_t threads, StreamCounts* counts,
                                              StatePlace* place) {
  return std::make_unique<StreamWorker>(graph, slot, host, threads, counts, place);
}

}  // namespace piracema::sim
