#include "control/broadcasts/broadcasts.h"

#include <doctest/doctest.h>

#include <algorithm>

using namespace piracema;
using namespace piracema::cluster;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

constexpr std::uint64_t mb = 1'000'000;
constexpr std::uint32_t show = 1;

/// A camera in process 0, and so many replicas of a node that all get its frames, one a process.
/// Processes 0 and 1 are on host a, 2 and 3 on host b, and so on.
struct World {
  explicit World(std::uint32_t shows, Delivery delivery = Delivery::broadcast) {
    job.shape.nodes = {{.name = "camera", .role = Role::source},
                       {.name = "show", .role = Role::sink, .replicas = shows}};
    job.shape.edges = {{.from = 0, .to = show, .delivery = delivery}};
    job.plan = flow::make_plan(job.shape);
    job.placement = {0};
    for (Slot slot = 0; slot < shows; ++slot) job.placement.push_back(slot);
    for (Slot slot = 0; slot < shows; ++slot) {
      processes.push_back(
          {slot, 0, host(slot / 2) + ":" + std::to_string(4'000 + slot) + ",local"});
    }
    begin(1);
  }
  static std::string host(std::uint32_t number) {
    return std::string(1, static_cast<char>('a' + number));
  }
  void begin(Epoch epoch) { broadcasts.begin(job, processes, epoch, now); }

  /// What is said by `then`.
  void pass(Time then) {
    while (broadcasts.next_deadline() && *broadcasts.next_deadline() <= then) {
      now = std::max(now, *broadcasts.next_deadline());
      auto due = broadcasts.due(now);
      for (auto& [slot, message] : due.messages) {
        for (runtime::BroadcastTree& tree : message.trees) trees[slot] = std::move(tree);
        if (message.watch_every_ms != 0) watching.insert(slot);
        epochs.insert(message.epoch);
      }
      notes.insert(notes.end(), due.notes.begin(), due.notes.end());
    }
    now = then;
  }
  /// The camera's packets are so large, and its links carry so much to the other hosts.
  void see(std::uint64_t bytes, const std::vector<std::uint64_t>& speeds) {
    runtime::LinksSeen seen{.epoch = 1, .broadcast_bytes = bytes, .links = {}};
    for (std::size_t i = 0; i < speeds.size(); ++i) {
      if (speeds[i] == 0) continue;
      seen.links.push_back({.to = static_cast<Slot>(2 * (i + 1)),
                            .round_trip_us = 20'000,
                            .bytes_per_second = speeds[i]});
    }
    broadcasts.seen(0, seen, now);
  }
  std::vector<Slot> children(Slot of) {
    const auto& branches = trees[0].branches;
    const auto at = std::find_if(branches.begin(), branches.end(),
                                 [of](const auto& branch) { return branch.slot == of; });
    std::vector<Slot> found;
    for (auto child = at + 1; child - at <= static_cast<std::ptrdiff_t>(at->below);
         child += child->below + 1) {
      found.push_back(child->slot);
    }
    return found;
  }

  Job job;
  std::vector<runtime::Peer> processes;
  Broadcasts broadcasts;
  Time now = seconds(1);
  std::map<Slot, runtime::BroadcastTree> trees;
  std::set<Slot> watching;
  std::set<Epoch> epochs;
  std::vector<BroadcastRouted> notes;
};

}  // namespace

TEST_CASE("where all processes are on one host there is nothing to plan") {
  World world(2);
  CHECK_FALSE(world.broadcasts.next_deadline());
  CHECK(world.broadcasts.due(world.now).messages.empty());
}

TEST_CASE("what does not go to all replicas has no tree") {
  World world(8, Delivery::on_demand);
  CHECK_FALSE(world.broadcasts.next_deadline());
}

TEST_CASE("from the first moment each host gets a packet once, and passes it on to its own") {
  World world(8);
  world.pass(seconds(2));
  REQUIRE(world.trees.size() == 1);
  CHECK(world.trees[0].node == show);
  CHECK(world.trees[0].branches.size() == 8);
  CHECK(world.children(0) == std::vector<Slot>{2, 4, 6, 1});
  CHECK(world.children(4) == std::vector<Slot>{5});
  CHECK(world.watching.size() == 8);
  CHECK(world.epochs == std::set<Epoch>{1});
  CHECK(world.notes.empty());  // That is no news to anybody.
}

TEST_CASE("a slow link is gone around, and people are told once") {
  World world(8);
  world.pass(seconds(2));
  for (int i = 0; i < 4; ++i) {
    world.see(mb, {50 * mb, 50 * mb, 1 * mb});
    world.pass(world.now + seconds(1));
  }
  const auto direct = world.children(0);
  CHECK(std::find(direct.begin(), direct.end(), 6) == direct.end());
  CHECK(world.trees[0].branches.size() == 8);
  REQUIRE_FALSE(world.notes.empty());
  CHECK(world.notes.back().node == "show");
  CHECK(world.notes.back().from == 0);
  CHECK(world.notes.back().tree.find("a to") != std::string::npos);
  const auto told = world.notes.size();
  for (int i = 0; i < 20; ++i) {
    world.see(mb, {50 * mb, 50 * mb, 0});
    world.pass(world.now + seconds(1));
  }
  CHECK(world.notes.size() == told);
}

TEST_CASE("connections to one host share its link") {
  World world(8);
  for (int i = 0; i < 20; ++i) {
    runtime::LinksSeen seen{.epoch = 1, .broadcast_bytes = mb, .links = {}};
    for (const Slot to : {2, 4, 6}) {
      seen.links.push_back({.to = to, .round_trip_us = 20'000, .bytes_per_second = 10 * mb});
    }
    seen.bytes_per_second = 30 * mb;
    // Half of it by each of two.
    seen.links[2].bytes_per_second = 5 * mb;
    seen.links.push_back({.to = 7, .round_trip_us = 20'000, .bytes_per_second = 5 * mb});
    world.broadcasts.seen(0, seen, world.now);
    world.pass(world.now + seconds(1));
  }
  CHECK(world.notes.empty());
}

TEST_CASE("small packets go by the tree whose last receiver has them first") {
  World world(8);
  world.pass(seconds(2));
  runtime::LinksSeen seen{.epoch = 1, .broadcast_bytes = 100, .links = {}};
  seen.links = {{.to = 2, .round_trip_us = 10'000},
                {.to = 4, .round_trip_us = 10'000},
                {.to = 6, .round_trip_us = 400'000}};
  world.broadcasts.seen(0, seen, world.now);
  seen.links = {{.to = 6, .round_trip_us = 10'000}, {.to = 2, .round_trip_us = 10'000}};
  world.broadcasts.seen(4, seen, world.now);
  seen.links = {{.to = 6, .round_trip_us = 400'000}};
  world.broadcasts.seen(2, seen, world.now);
  world.pass(seconds(3));
  CHECK(world.children(0) == std::vector<Slot>{4, 2, 1});
  CHECK(world.children(4) == std::vector<Slot>{6, 5});
}

TEST_CASE("the next epoch has its trees at once, by what was seen in the one before") {
  World world(8);
  for (int i = 0; i < 4; ++i) {
    world.see(mb, {50 * mb, 50 * mb, 1 * mb});
    world.pass(world.now + seconds(1));
  }
  const auto before = world.trees[0];
  world.trees.clear();
  world.begin(2);
  world.pass(world.now + milliseconds(1));
  CHECK(world.trees[0] == before);
  CHECK(world.epochs.contains(2));
}

TEST_CASE("it says when it is to be asked, and has nothing to say before") {
  World world(8);
  world.pass(seconds(2));
  for (int i = 0; i < 3; ++i) world.see(mb, {50 * mb, 50 * mb, 1 * mb});
  CHECK(world.broadcasts.next_deadline() <= world.now + milliseconds(500));
  world.pass(seconds(3));
  // What is not seen again is forgotten a minute later.
  CHECK(world.broadcasts.next_deadline() == seconds(62));
}
