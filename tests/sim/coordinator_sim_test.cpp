#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "sim/cluster.h"
#include "sim/control_worker.h"
#include "sim/seeds.h"

namespace piracema::sim {

using namespace cluster;
using std::chrono::seconds;

namespace {

GraphShape shape() {
  GraphShape shape;
  shape.nodes = {{.name = "reader", .role = Role::source, .replicas = 2},
                 {.name = "work", .replicas = 3},
                 {.name = "writer", .role = Role::sink, .replicas = 2}};
  shape.edges = {{.from = 0, .to = 1}, {.from = 1, .to = 2}};
  return shape;
}

Cluster::Settings settings(std::uint64_t seed) {
  Cluster::Settings settings;
  settings.seed = seed;
  settings.shape = shape();
  settings.job.slots = 3;
  settings.job.snapshots = true;
  settings.job.snapshot_interval = milliseconds(300);
  settings.job.snapshot_timeout = milliseconds(3'000);
  settings.reload = reloads(seed);
  return settings;
}

/// Everything that can go wrong, each kind in about every other run.
Chaos everything(Random random) {
  const auto sometimes = [&](Time mean) { return random.chance(0.5) ? mean : Time{}; };
  Chaos chaos;
  chaos.kill = sometimes(milliseconds(700));
  chaos.crash = sometimes(milliseconds(1'500));
  chaos.freeze = sometimes(milliseconds(1'500));
  chaos.disconnect = sometimes(milliseconds(1'500));
  chaos.stall = sometimes(milliseconds(3'000));
  chaos.slow = sometimes(milliseconds(1'000));
  chaos.operator_failure = sometimes(milliseconds(2'000));
  chaos.undead = random.chance(0.5) ? 0.2 : 0;
  if (random.chance(0.5)) chaos.store = {.put = 0.02, .commit = 0.1, .seed = random.next()};
  return chaos;
}

/// Sees all that the coordinator hears and does, and knows what it must not do.
class Referee {
 public:
  explicit Referee(Cluster& cluster) : cluster_(cluster) {
    cluster.on_event = [this](const Event& event) {
      if (const auto* done = std::get_if<SnapshotCommitted>(&event)) {
        CHECK(writing_ == done->snapshot);
        complete_ = done->snapshot;
      } else if (const auto* failed = std::get_if<SnapshotCommitFailed>(&event)) {
        CHECK(writing_ == failed->snapshot);
      }
    };
    cluster.on_action = [this](const Action& action) {
      std::visit([this](const auto& what) { see(what); }, action);
    };
  }

 private:
  void see(const Spawn& spawn) {
    const auto before = incarnations_.find(spawn.slot);
    CHECK((before == incarnations_.end() || before->second < spawn.incarnation));
    incarnations_[spawn.slot] = spawn.incarnation;
  }
  void see(const Send& send) {
    if (const auto* deploy = std::get_if<runtime::Deploy>(&send.message)) see(*deploy);
    if (const auto* commit = std::get_if<runtime::Commit>(&send.message)) {
      CHECK(commit->snapshot == newest_);  // Nothing is committed before the manifest is there.
      CHECK(commit->epoch == epoch_);
    }
    // What is told to a process that has lost its slot is that it shall end.
    if (!std::holds_alternative<runtime::Shutdown>(send.message)) {
      CHECK(send.incarnation == incarnations_[send.slot]);
    }
  }
  void see(const runtime::Deploy& deploy) {
    CHECK(deploy.epoch == epoch_);
    // Nobody goes back while a manifest may yet become complete, and all to the newest one.
    CHECK_FALSE(writing_);
    CHECK(deploy.restore == newest_);
    CHECK(deploy.peers.size() == incarnations_.size());
    for (const runtime::Peer& peer : deploy.peers) {
      CHECK(peer.incarnation == incarnations_[peer.slot]);
    }
  }
  void see(const CommitSnapshot& commit) {
    const store::Manifest& manifest = commit.manifest;
    // Whoever takes the job over writes it once more.
    CHECK(writing_ == manifest.snapshot);
    CHECK(manifest.snapshot > newest_.value_or(0));
    CHECK(manifest.epoch == epoch_);
    std::set<ReplicaId> replicas;
    for (const store::Part& part : manifest.parts) {
      CHECK(replicas.insert(part.replica).second);
      CHECK(cluster_.store().get(manifest.snapshot, part).ok());
    }
    CHECK(replicas.size() == 7);
  }
  void see(const DropSnapshot& drop) { CHECK(drop.snapshot != newest_); }
  void see(const Kill&) {}
  void see(const FindSnapshot& wanted) {
    CHECK_FALSE(writing_);
    CHECK(wanted.snapshot == newest_);
  }
  void see(const Finish&) {}
  void see(const Tell&) {}
  void see(const AnswerRequest&) {}
  void see(const NameSnapshot&) {}
  // What was not decided before is not done.
  void see(const Decide& decide) {
    for (const Decision& decision : decide.decisions) {
      if (const auto* raised = std::get_if<TermRaised>(&decision)) {
        CHECK(raised->term == ++term_);
      } else if (const auto* epoch = std::get_if<EpochRaised>(&decision)) {
        CHECK_FALSE(writing_);
        epoch_ = epoch->epoch;
      } else if (const auto* saved = std::get_if<SnapshotSaved>(&decision)) {
        CHECK_FALSE(writing_);
        writing_ = saved->snapshot.id;
      } else if (const auto* completed = std::get_if<SnapshotCompleted>(&decision)) {
        CHECK(complete_ == completed->id);
        CHECK(std::exchange(writing_, std::nullopt) == completed->id);
        newest_ = completed->id;
      } else if (const auto* over = std::get_if<SnapshotGivenUp>(&decision)) {
        if (writing_ == over->id) writing_.reset();
      }
    }
  }

  Cluster& cluster_;
  std::map<Slot, std::uint32_t> incarnations_;
  Epoch epoch_ = 0;
  std::uint64_t term_ = 0;
  std::optional<SnapshotId> writing_, complete_, newest_;
};

MakeWorker workers(const GraphShape& shape, std::uint64_t items,
                   std::optional<Poison> poison = {}) {
  return [&shape, items, poison](Slot slot, ProcessHost& host) {
    return make_control_worker(shape, items, slot, host, poison);
  };
}

}  // namespace

TEST_CASE("a job without faults takes its snapshots and ends after one epoch") {
  const GraphShape graph = shape();
  for (const auto seed : seeds(50)) {
    Cluster cluster(settings(seed), workers(graph, 250));
    Referee referee(cluster);
    REQUIRE(cluster.run(seconds(60)));
    CHECK(cluster.finish()->code == 0);
    CHECK(cluster.coordinator().epoch() == 1);
    CHECK(cluster.coordinator().metadata().snapshots.newest() >= 3u);
    CHECK(cluster.spawned() == 3);
  }
}

TEST_CASE("a state that takes long to load costs no worker but those that were killed") {
  const GraphShape graph = shape();
  for (const auto seed : seeds(100)) {
    Cluster::Settings with = settings(seed);
    with.chaos = {.until = seconds(20), .kill = seconds(10)};
    Cluster cluster(with, [&](Slot slot, ProcessHost& host) {
      return make_control_worker(graph, 250, slot, host, {}, {.takes = seconds(40)});
    });
    Referee referee(cluster);
    std::size_t killed = 0;
    cluster.on_action = [&, before = cluster.on_action](const Action& action) {
      before(action);
      const auto* tell = std::get_if<Tell>(&action);
      const auto* lost = tell == nullptr ? nullptr : std::get_if<Lost>(&tell->note);
      if (lost == nullptr) return;
      const bool by_its_death = lost->how == "its process ended: killed by signal 9 (SIGKILL)" ||
                                lost->how == "its connection ended";
      CHECK(by_its_death);
      killed += 1;
    };
    REQUIRE(cluster.run(seconds(600)));
    CHECK(cluster.finish()->code == 0);
    CHECK(cluster.spawned() == 3 + killed);
  }
}

TEST_CASE("slow machines and a coordinator that stands still cost no worker") {
  const GraphShape graph = shape();
  for (const auto seed : seeds(200)) {
    Cluster::Settings with = settings(seed);
    with.chaos = {.stall = milliseconds(1'500), .slow = milliseconds(500)};
    Cluster cluster(with, workers(graph, 400));
    REQUIRE(cluster.run(seconds(200)));
    CHECK(cluster.finish()->code == 0);
    CHECK(cluster.coordinator().epoch() == 1);
  }
}

TEST_CASE("whatever goes wrong, the job keeps its promises and ends once nothing does any more") {
  const GraphShape graph = shape();
  std::uint64_t recoveries = 0;
  for (const auto seed : seeds(1'000)) {
    Cluster::Settings with = settings(seed);
    with.chaos = everything(Random(seed));
    Cluster cluster(with, workers(graph, 200));
    Referee referee(cluster);
    REQUIRE(cluster.run(seconds(200)));
    CHECK(cluster.finish()->code == 0);
    recoveries += cluster.coordinator().epoch() - 1;
  }
  CHECK((recoveries > 0 || tracing()));
}

TEST_CASE("a job that is stopped in the middle of trouble ends, and tells where to go on") {
  const GraphShape graph = shape();
  for (const auto seed : seeds(300)) {
    Cluster::Settings with = settings(seed);
    with.chaos = everything(Random(seed));
    Cluster cluster(with, workers(graph, 100'000));
    Referee referee(cluster);
    cluster.stop_at(Random(seed + 1).below(10) * seconds(1));
    REQUIRE(cluster.run(seconds(100)));
    const int code = cluster.finish()->code;
    CHECK((code == 75 || code == 143 || code == 1));
    std::vector<Error> refused;
    const auto newest = store::newest_intact(cluster.store(), refused);
    REQUIRE(newest);
    CHECK(refused.empty());
    if (code == 75) {
      REQUIRE(newest->has_value());
      CHECK((*newest)->snapshot == cluster.coordinator().metadata().snapshots.newest());
    } else if (code == 143) {
      CHECK_FALSE(newest->has_value());
    }
  }
}

TEST_CASE(
    "without its snapshots a job ends with its next loss, and never tells to go on with them") {
  const GraphShape graph = shape();
  int ended = 0;
  for (const auto seed : seeds(300)) {
    Random random(seed + 1);
    Cluster::Settings with = settings(seed);
    with.chaos = everything(random);
    with.chaos.kill = milliseconds(700);
    Cluster cluster(with, workers(graph, 100'000));
    cluster.lose_store_at(random.below(6'000) * milliseconds(1));
    if (random.chance(0.5)) cluster.stop_at(seconds(6) + random.below(4'000) * milliseconds(1));
    REQUIRE(cluster.run(seconds(100)));
    const auto& finish = *cluster.finish();
    INFO(finish.why);
    // A stop that was asked for while all ran fails with the last snapshot.
    CHECK((finish.code == 4 || finish.code == 1 || finish.code == 143));
    if (finish.code == 4) CHECK(finish.why.ends_with("the store: no such directory"));
    ended += finish.code == 4;
  }
  CHECK((ended > 0 || tracing()));
}

TEST_CASE("an item that freezes, cuts off or holds whoever works on it becomes a dead letter") {
  const GraphShape graph = shape();
  using Does = Poison::Does;
  for (const Does does : {Does::freeze, Does::hang_up, Does::stick}) {
    for (const auto seed : seeds(100)) {
      Random random(seed);
      Cluster::Settings with = settings(seed);
      with.job.dead_letters = true;
      with.job.stuck_after = milliseconds(2'000);
      with.chaos.kill = random.chance(0.5) ? Time(milliseconds(1'000)) : Time{};
      with.chaos.until = seconds(3);
      const auto replica = static_cast<ReplicaId>(2 + random.below(3));
      Cluster cluster(with, workers(graph, 200, Poison{does, replica, 1 + random.below(150)}));
      Referee referee(cluster);
      std::vector<ItemSkipped> skipped;
      cluster.on_action = [&, see = cluster.on_action](const Action& action) {
        see(action);
        const auto* tell = std::get_if<Tell>(&action);
        const auto* one = tell != nullptr ? std::get_if<ItemSkipped>(&tell->note) : nullptr;
        if (one != nullptr) skipped.push_back(*one);
      };
      REQUIRE(cluster.run(seconds(200)));
      INFO(cluster.finish()->why);
      CHECK(cluster.finish()->code == 0);
      CHECK(skipped.size() == 1);
    }
  }
}

TEST_CASE("the same seed makes the same run of a whole cluster, from a log as from memory") {
  const GraphShape graph = shape();
  const auto run = [&](std::uint64_t seed, bool reload) {
    Cluster::Settings with = settings(seed);
    with.reload = reload;
    with.chaos = everything(Random(seed));
    Cluster cluster(with, workers(graph, 100));
    std::vector<std::size_t> actions;
    cluster.on_action = [&](const Action& action) { actions.push_back(action.index()); };
    CHECK(cluster.run(seconds(200)));
    actions.push_back(static_cast<std::size_t>(cluster.scheduler().now().count()));
    return actions;
  };
  for (const auto seed : seeds(50)) CHECK(run(seed, false) == run(seed, true));
}

TEST_CASE("a job whose coordinator is killed now and then goes on where it is") {
  const GraphShape graph = shape();
  std::uint64_t terms = 0;
  for (const auto seed : seeds(200)) {
    Random random(seed);
    Cluster::Settings with = settings(seed);
    with.search = seconds(30);
    with.chaos = {.until = seconds(5), .coordinator_kill = milliseconds(1'500)};
    Cluster cluster(with, workers(graph, 300));
    Referee referee(cluster);
    REQUIRE(cluster.run(seconds(200)));
    CHECK(cluster.finish()->code == 0);
    CHECK(cluster.coordinator().metadata().term == cluster.log().term);
    terms += cluster.log().term - 1;
  }
  CHECK((terms > 0 || tracing()));
}

TEST_CASE("whatever goes wrong beside it, a job whose coordinators are killed ends well") {
  const GraphShape graph = shape();
  for (const auto seed : seeds(500)) {
    Cluster::Settings with = settings(seed);
    with.search = seconds(30);
    with.chaos = everything(Random(seed));
    with.chaos.coordinator_kill = milliseconds(2'000);
    Cluster cluster(with, workers(graph, 200));
    Referee referee(cluster);
    REQUIRE(cluster.run(seconds(200)));
    INFO(cluster.finish()->why);
    CHECK(cluster.finish()->code == 0);
  }
}

TEST_CASE("processes that find no other coordinator end when they have looked for long enough") {
  const GraphShape graph = shape();
  for (const auto seed : seeds(20)) {
    Cluster::Settings with = settings(seed);
    with.search = milliseconds(500);
    Cluster cluster(with, workers(graph, 100'000));
    cluster.kill_coordinator_at(seconds(2), seconds(100));
    CHECK_FALSE(cluster.run(seconds(3)));
    CHECK(cluster.alive() == 0);
  }
}

}  // namespace piracema::sim
