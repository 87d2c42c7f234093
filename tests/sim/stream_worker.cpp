#include "sim/stream_worker.h"

#include <array>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "base/ensure.h"
#include "flow/plan.h"
#include "run/packet/packet.h"
#include "run/relay/relay.h"
#include "run/threads/run_queue.h"
#include "run/worker/states_to_come.h"

namespace piracema::sim {

namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

class StreamWorker final : public SimWorker, public ReplicaOwner {
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
      auto replica = std::make_shared<SimReplica>(id, plan_->replicas[id], graph, *this);
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
    static constexpr std::array names = {"batch",   "barrier", "end",       "credit",
                                         "release", "probe",   "watermark", "relayed"};
    static_assert(names.size() == runtime::relayed_kind + 1);
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
  std::vector<std::shared_ptr<SimReplica>> retired_;
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
  std::map<ReplicaId, std::shared_ptr<SimReplica>> replicas_;
  std::size_t to_begin_ = 0;
};

}  // namespace

std::unique_ptr<SimWorker> make_stream_worker(const Graph& graph, Slot slot, ProcessHost& host,
                                              std::size_t threads, StreamCounts* counts,
                                              StatePlace* place) {
  return std::make_unique<StreamWorker>(graph, slot, host, threads, counts, place);
}

}  // namespace piracema::sim