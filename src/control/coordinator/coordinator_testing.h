#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "control/coordinator/coordinator.h"

/// What the tests of the coordinator share.
namespace piracema::cluster {

/// reader -> work (2 replicas) -> writer. On two slots: work/0 and reader on slot 0, work/1 and
/// writer on slot 1.
inline GraphShape test_shape() {
  GraphShape shape;
  shape.nodes = {{.name = "reader", .role = Role::source},
                 {.name = "work", .replicas = 2},
                 {.name = "writer", .role = Role::sink}};
  shape.edges = {{.from = 0, .to = 1}, {.from = 1, .to = 2}};
  return shape;
}
constexpr ReplicaId reader = 0, work_0 = 1, work_1 = 2, writer = 3;

inline JobSettings test_settings() {
  JobSettings settings;
  settings.slots = 2;
  settings.snapshots = true;
  return settings;
}

inline JobSettings without_snapshots() {
  JobSettings settings = test_settings();
  settings.snapshots = false;
  return settings;
}

/// The world around a coordinator, acted by the test. Workers are alive while time passes.
class World {
 public:
  explicit World(JobSettings with = test_settings()) : settings(with), log(with) {
    coordinator.emplace(with);
    incarnations.resize(settings.slots);
    tell(Tick{});
  }

  /// Does one step; `wanted` is what the coordinator answers.
  void tell(const Event& event) {
    wanted = coordinator->step(now, event);
    std::erase_if(wanted, [this](const Action& action) {
      const auto* decide = std::get_if<Decide>(&action);
      if (decide == nullptr) return false;
      CHECK(&action == wanted.data());
      keep(decide->decisions);
      return true;
    });
    // What a log holds is what the coordinator goes by.
    CHECK(as_text(log.encode()) == as_text(coordinator->metadata().encode()));
    for (const Action& action : wanted) {
      if (const auto* spawn = std::get_if<Spawn>(&action)) {
        if (spawn->slot >= incarnations.size()) incarnations.resize(spawn->slot + 1);
        incarnations[spawn->slot] = spawn->incarnation;
      }
    }
    all.insert(all.end(), wanted.begin(), wanted.end());
    const bool asked = std::any_of(wanted.begin(), wanted.end(), [](const Action& action) {
      return std::holds_alternative<FindSnapshot>(action);
    });
    if (asked && snapshots_stay) {
      const auto before = wanted;
      tell(SnapshotFound{});
      wanted.insert(wanted.begin(), before.begin(), before.end());
    }
  }
  /// As a log does: as bytes, and back.
  void keep(const std::vector<Decision>& decisions) {
    const auto read = decode_decisions(encode_decisions(decisions));
    REQUIRE(read);
    for (const Decision& decision : *read) REQUIRE(log.apply(decision).ok());
    decided.insert(decided.end(), read->begin(), read->end());
    auto again = JobMetadata::decode(log.encode());
    REQUIRE(again);
    log = *std::move(again);
  }
  void join(Slot slot, std::string graph = runtime::encode_shape(test_shape())) {
    tell(Joined{slot, incarnations[slot], "address", std::move(graph), {}, layouts});
  }
  void hindered(Slot slot, std::string why) {
    tell(Joined{.slot = slot,
                .incarnation = incarnations[slot],
                .address = {},
                .graph = {},
                .hindrance = std::move(why)});
  }
  void say(Slot slot, runtime::FromWorker message) {
    tell(Said{slot, incarnations[slot], std::move(message)});
  }
  void say_of(ReplicaId replica, runtime::FromWorker message) {
    say(coordinator->job()->placement[replica], std::move(message));
  }
  void exit(Slot slot, std::string by = "killed by signal 9 (SIGKILL)", bool from_outside = true,
            std::vector<std::pair<ReplicaId, std::uint64_t>> at_work = {}) {
    tell(Exited{slot, incarnations[slot], false, from_outside, std::move(by), std::move(at_work)});
  }
  void end_by_signal(Slot slot, bool from_outside) {
    tell(Exited{
        .slot = slot,
        .incarnation = incarnations[slot],
        .from_outside = from_outside,
        .by = from_outside ? "killed by signal 9 (SIGKILL)" : "killed by signal 11 (SIGSEGV)",
        .at_work = {},
        .by_signal = true});
  }

  void ready() {
    for (Slot slot = 0; slot < settings.slots; ++slot) say(slot, runtime::Ready{epoch()});
  }
  void start() {
    for (Slot slot = 0; slot < settings.slots; ++slot) join(slot);
    ready();
    REQUIRE(coordinator->phase() == Phase::running);
  }
  /// Everybody but `silent` sends heartbeats. All that is wanted on the way is in `all`.
  void pass(milliseconds time, std::set<Slot> silent = {}) {
    const Time until = now + time;
    while (now < until) {
      Time next = std::min<Time>(until, now + settings.heartbeat_interval);
      if (const auto deadline = coordinator->next_deadline()) {
        next = std::clamp<Time>(*deadline, now, next);
      }
      now = next;
      for (Slot slot = 0; slot < settings.slots; ++slot) {
        if (!silent.contains(slot)) say(slot, runtime::Heartbeat{epoch(), 0, {}});
      }
      const auto deadline = coordinator->next_deadline();
      if (deadline && *deadline <= now) tell(Tick{});
      if (now == next && deadline && coordinator->next_deadline() == deadline) now += Time{1};
    }
  }
  void end_all() {
    for (ReplicaId replica = 0; replica < 4; ++replica) {
      say_of(replica, runtime::Ended{epoch(), replica});
    }
  }
  void save_all(SnapshotId id) {
    for (ReplicaId replica = 0; replica < 4; ++replica) {
      say_of(replica, runtime::Saved{epoch(), id, replica, 10, replica});
    }
  }
  void commit_writer(SnapshotId id) { say_of(writer, runtime::Committed{epoch(), id, writer}); }
  /// A whole snapshot, from its interval to its manifest.
  void take_snapshot(SnapshotId id) {
    pass(settings.snapshot_interval);
    save_all(id);
    tell(SnapshotCommitted{id});
  }
  void clear() { all.clear(); }
  Epoch epoch() const { return coordinator->epoch(); }

  /// The actions of one kind since `clear`.
  template <class A>
  std::vector<A> done() const {
    std::vector<A> found;
    for (const Action& action : all) {
      if (const A* one = std::get_if<A>(&action)) found.push_back(*one);
    }
    return found;
  }
  template <class M>
  std::vector<std::pair<Slot, M>> sent() const {
    std::vector<std::pair<Slot, M>> found;
    for (const Send& send : done<Send>()) {
      if (const M* one = std::get_if<M>(&send.message)) found.push_back({send.slot, *one});
    }
    return found;
  }
  template <class N>
  std::vector<N> told() const {
    std::vector<N> found;
    for (const Tell& tell : done<Tell>()) {
      if (const N* one = std::get_if<N>(&tell.note)) found.push_back(*one);
    }
    return found;
  }
  /// How the job ended; -1 while it has not.
  int code() const {
    const auto finishes = done<Finish>();
    return finishes.empty() ? -1 : finishes.back().code;
  }
  std::string why() const {
    const auto finishes = done<Finish>();
    return finishes.empty() ? "" : finishes.back().why;
  }

  JobSettings settings;
  /// What a recovery looks for it finds, at once.
  bool snapshots_stay = true;
  Time now{1'000'000'000};
  /// Another one may take its place.
  std::optional<Coordinator> coordinator;
  /// Made of its decisions alone.
  JobMetadata log;
  std::vector<Decision> decided;
  std::vector<std::uint32_t> incarnations;
  std::vector<std::string> layouts;
  std::vector<Action> wanted, all;
};

/// Its process is lost; another one has what the log holds.
inline void take_over(World& world) {
  world.clear();
  auto metadata = JobMetadata::decode(world.log.encode());
  REQUIRE(metadata);
  world.coordinator.emplace(*std::move(metadata));
  world.tell(Tick{});
}

inline bool has(const std::string& text, const std::string& part) {
  return text.find(part) != text.npos;
}

}  // namespace piracema::cluster
