#include "sim/control_worker.h"

#include <piracema/codec.h>

#include <deque>

#include "base/text.h"
#include "flow/plan.h"
#include "run/barrier/aligner.h"

namespace piracema::sim {

namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

constexpr milliseconds produce_interval{20};

struct State {
  std::uint64_t position = 0;
  std::uint64_t ended = 0;
};

/// What goes from one replica to the next.
enum class Mark { item, barrier, end };
struct Letter {
  Mark mark = Mark::item;
  SnapshotId snapshot = 0;
};

struct Replica {
  explicit Replica(const flow::ReplicaPlan& from)
      : plan(from), aligner(from.inputs.size()), held(from.inputs.size()) {}

  flow::ReplicaPlan plan;
  runtime::Aligner aligner;
  std::vector<std::deque<Letter>> held;
  State state;
  SnapshotId saved = 0;
  bool had_item = false;
  bool stuck = false;
};

/// A letter of an epoch that its receiver has yet to begin.
struct Early {
  Epoch epoch = 0;
  ReplicaId from = 0, to = 0;
  Letter letter;
};

/// All that a replica sends to, by any output.
std::vector<ReplicaId> receivers(const flow::ReplicaPlan& plan) {
  std::vector<ReplicaId> all;
  for (const auto& output : plan.outputs) {
    all.insert(all.end(), output.targets.begin(), output.targets.end());
  }
  return all;
}

class ControlWorker final : public SimWorker {
 public:
  ControlWorker(const GraphShape& shape, std::uint64_t items, Slot slot, ProcessHost& host,
                std::optional<Poison> poison, Loading loading)
      : shape_(shape),
        plan_(flow::make_plan(shape)),
        items_(items),
        slot_(slot),
        host_(host),
        poison_(poison),
        loading_(loading) {}

  void handle(const runtime::ToWorker& message) override {
    if (const auto* deploy = std::get_if<runtime::Deploy>(&message)) {
      begin(*deploy);
    } else if (const auto* trigger = std::get_if<runtime::Trigger>(&message)) {
      if (trigger->epoch != deploy_.epoch) return;
      for (const ReplicaId id : trigger->replicas) {
        Replica& replica = replicas_.at(id);
        // Others that are asked wait for their barriers here, or for their ends.
        const bool begins = replica.plan.inputs.empty() || replica.state.ended != 0;
        if (begins && trigger->snapshot > replica.saved) save(id, trigger->snapshot);
      }
    } else if (const auto* commit = std::get_if<runtime::Commit>(&message)) {
      if (commit->epoch != deploy_.epoch) return;
      for (const ReplicaId id : commit->replicas) {
        say_later(runtime::Committed{deploy_.epoch, commit->snapshot, id});
      }
    } else if (const auto* ahead = std::get_if<runtime::ReadAhead>(&message)) {
      if (ahead->snapshot != 0) say_later(runtime::HasReadAhead{ahead->epoch, ahead->snapshot});
    }
  }

  runtime::Heartbeat heartbeat() override {
    runtime::Heartbeat beat{deploy_.epoch, 0, {}};
    for (const auto& [id, replica] : replicas_) {
      beat.progress.push_back({.replica = id, .items_out = replica.state.position});
      if (!replica.stuck) continue;
      beat.progress.back().calls = 1;
      beat.progress.back().item = poison_->item;
    }
    return beat;
  }

  std::optional<runtime::Restoring> restoring() override {
    if (deploy_.epoch == 0 || begun_) return std::nullopt;
    const Time loads = host_.scheduler().now() - deployed_at_;
    const auto bytes = loading_.gets_on ? static_cast<std::uint64_t>(loads.count()) : 0;
    return runtime::Restoring{.epoch = deploy_.epoch, .busy = 0, .progress = bytes};
  }

  void fail_somewhere() override {
    if (replicas_.empty()) return;
    host_.say(runtime::OperatorFailed{deploy_.epoch, replicas_.begin()->first,
                                      host_.scheduler().random().next(), "it threw"});
  }

 private:
  void begin(const runtime::Deploy& deploy) {
    deploy_ = deploy;
    begun_ = false;
    deployed_at_ = host_.scheduler().now();
    replicas_.clear();
    for (ReplicaId id = 0; id < deploy.placement.size(); ++id) {
      if (deploy.placement[id] == slot_) replicas_.emplace(id, plan_.replicas[id]);
    }
    // A worker in the middle of a long computation comes late.
    Time takes = host_.scheduler().between(microseconds(200), milliseconds(20));
    if (host_.scheduler().random().chance(0.05)) {
      takes = host_.scheduler().between(milliseconds(100), milliseconds(1'500));
    }
    if (deploy.restore) takes += loading_.takes;
    host_.after(takes, [this, epoch = deploy.epoch] {
      if (epoch != deploy_.epoch) return;
      if (auto restored = restore(); !restored) {
        host_.say(runtime::OperatorFailed{epoch, replicas_.begin()->first, std::nullopt,
                                          restored.error().message});
        return;
      }
      for (const auto& [id, replica] : replicas_) {
        if (replica.state.ended != 0) host_.say(runtime::Ended{epoch, id});
      }
      host_.say(runtime::Ready{epoch});
      begun_ = true;
      produce(epoch);  // First, so that what has ended before says so once.
      for (const Early& early : std::exchange(early_, {})) {
        receive(early.epoch, early.from, early.to, early.letter);
      }
    });
  }

  Result<Done> restore() {
    if (!deploy_.restore) return Done{};
    auto manifest = host_.store().manifest(*deploy_.restore);
    if (!manifest) return manifest.error();
    for (auto& [id, replica] : replicas_) {
      auto state = host_.store().get(manifest->snapshot, manifest->parts.at(id));
      if (!state) return state.error();
      replica.state = Codec<State>::decode(*state);
    }
    return Done{};
  }

  // Until its end: an item now and then, and what ended before says so again.
  void produce(Epoch epoch) {
    if (epoch != deploy_.epoch) return;
    for (auto& [id, replica] : replicas_) {
      if (!had_start_.insert({epoch, id}).second || replica.state.ended == 0) continue;
      to_next(replica, {Mark::end, 0}, id);
    }
    for (auto& [id, replica] : replicas_) {
      if (!replica.plan.inputs.empty() || replica.state.ended != 0) continue;
      replica.state.position += 1;
      to_next(replica, {Mark::item, 0}, id);
      if (replica.state.position >= items_) end(id);
    }
    host_.after(produce_interval, [this, epoch] { produce(epoch); });
  }

  void to_next(const Replica& replica, Letter letter, ReplicaId from) {
    for (const ReplicaId to : receivers(replica.plan)) {
      const auto work = [epoch = deploy_.epoch, from, to, letter](SimWorker& peer) {
        static_cast<ControlWorker&>(peer).receive(epoch, from, to, letter);
      };
      const auto& peer = deploy_.peers.at(deploy_.placement.at(to));
      static const char* const names[] = {"item", "barrier", "end"};
      host_.send(peer.slot, peer.incarnation, names[static_cast<int>(letter.mark)], work);
    }
  }

  // Nobody waits for the slowest to begin, so letters may come before their epoch has.
  void receive(Epoch epoch, ReplicaId from, ReplicaId to, Letter letter) {
    if (epoch < deploy_.epoch) return;
    if (epoch > deploy_.epoch || !begun_) return early_.push_back({epoch, from, to, letter});
    const std::size_t input = *plan_.replicas[to].input_from(from);
    take(to, input, letter);
  }

  void take(ReplicaId id, std::size_t input, Letter letter) {
    Replica& replica = replicas_.at(id);
    if (replica.stuck) return;
    if (letter.mark == Mark::item && !replica.aligner.is_blocked(input) && !taste(id)) return;
    if (replica.aligner.is_blocked(input)) {
      replica.held[input].push_back(letter);
    } else if (letter.mark == Mark::item) {
      replica.state.position += 1;
      if (shape_.nodes[replica.plan.node].role == Role::sink && !replica.had_item) {
        replica.had_item = true;
        say_later(runtime::FirstOutput{deploy_.epoch, id});
      }
      to_next(replica, letter, id);
    } else if (letter.mark == Mark::barrier) {
      aligned(id, replica.aligner.on_barrier(input, letter.snapshot));
    } else {
      aligned(id, replica.aligner.on_end(input));
      if (replica.aligner.all_ended() && replica.state.ended == 0) end(id);
    }
  }

  // False: whoever took it does not get on.
  bool taste(ReplicaId id) {
    if (!poison_ || id != poison_->replica) return true;
    Replica& replica = replicas_.at(id);
    const std::uint64_t item = replica.state.position + 1;
    for (const runtime::Skip& skip : deploy_.skips) {
      if (skip.node == replica.plan.node && skip.item == item) return true;
    }
    if (item != poison_->item) return true;
    host_.at_work(id, item);
    replica.stuck = true;
    if (poison_->does == Poison::Does::freeze) host_.freeze();
    if (poison_->does == Poison::Does::hang_up) host_.hang_up();
    return false;
  }

  void aligned(ReplicaId id, std::optional<SnapshotId> snapshot) {
    if (!snapshot) return;
    save(id, *snapshot);
    Replica& replica = replicas_.at(id);
    for (std::size_t input = 0; input < replica.held.size(); ++input) {
      auto letters = std::exchange(replica.held[input], {});
      for (const Letter& letter : letters) take(id, input, letter);
    }
  }

  void save(ReplicaId id, SnapshotId snapshot) {
    Replica& replica = replicas_.at(id);
    replica.saved = snapshot;
    if (replica.state.ended == 0) to_next(replica, {Mark::barrier, snapshot}, id);
    Buffer state;
    Codec<State>::encode(replica.state, state);
    Time takes = host_.scheduler().between(microseconds(100), milliseconds(20));
    if (host_.scheduler().random().chance(0.02)) takes = milliseconds(1'000);
    host_.after(takes, [this, epoch = deploy_.epoch, id, snapshot, state] {
      const auto part = host_.store().put(snapshot, id, Bytes(state));
      if (part) {
        host_.say(runtime::Saved{epoch, snapshot, id, part->bytes, part->checksum});
      } else {
        host_.say(runtime::SaveFailed{epoch, snapshot, id, part.error().message});
      }
    });
  }

  void end(ReplicaId id) {
    Replica& replica = replicas_.at(id);
    replica.state.ended = 1;
    to_next(replica, {Mark::end, 0}, id);
    say_later(runtime::Ended{deploy_.epoch, id});
  }

  void say_later(runtime::FromWorker message) {
    host_.after(host_.scheduler().between(Time{0}, milliseconds(1)),
                [this, message = std::move(message)] { host_.say(message); });
  }

  const GraphShape& shape_;
  const flow::Plan plan_;
  const std::uint64_t items_;
  const Slot slot_;
  ProcessHost& host_;
  const std::optional<Poison> poison_;
  runtime::Deploy deploy_;
  const Loading loading_;
  Time deployed_at_{};
  bool begun_ = false;
  std::vector<Early> early_;
  std::map<ReplicaId, Replica> replicas_;
  std::set<std::pair<Epoch, ReplicaId>> had_start_;
};

}  // namespace

std::unique_ptr<SimWorker> make_control_worker(const GraphShape& shape, std::uint64_t items,
                                               Slot slot, ProcessHost& host,
                                               std::optional<Poison> poison, Loading loading) {
  return std::make_unique<ControlWorker>(shape, items, slot, host, poison, loading);
}

}  // namespace piracema::sim
