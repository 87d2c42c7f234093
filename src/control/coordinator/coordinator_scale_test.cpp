// A job gets other numbers of replicas and processes while it runs.
#include "control/coordinator/coordinator_testing.h"

namespace piracema::cluster {

namespace {

/// Nobody's state but the reader's.
struct ScalableWorld : World {
  ScalableWorld() { layouts = {"i64", "nothing", "nothing"}; }
};

/// The two that work have a state for each key.
GraphShape keyed_shape() {
  GraphShape shape = test_shape();
  shape.nodes[1].keyed = true;
  shape.edges[0].delivery = Delivery::by_key;
  shape.edges[0].items_may_have_keys = true;
  shape.edges[0].key_groups = 64;
  return shape;
}

struct KeyedWorld : World {
  KeyedWorld() {
    layouts = {"i64", "keys(i64 to i64)", "nothing"};
    for (Slot slot = 0; slot < settings.slots; ++slot)
      join(slot, runtime::encode_shape(keyed_shape()));
    ready();
  }
  /// What is to be read ahead now, by whom.
  std::vector<std::pair<Slot, SnapshotId>> reads() const {
    std::vector<std::pair<Slot, SnapshotId>> found;
    for (const auto& [slot, ahead] : sent<runtime::ReadAhead>()) {
      CHECK(ahead.epoch == epoch());
      found.emplace_back(slot, ahead.snapshot);
    }
    return found;
  }
  void have_read(SnapshotId snapshot) {
    for (Slot slot = 0; slot < settings.slots; ++slot) {
      say(slot, runtime::HasReadAhead{epoch(), snapshot});
    }
  }
};
using Reads = std::vector<std::pair<Slot, SnapshotId>>;

AnswerRequest ask(World& world, std::vector<std::pair<std::string, std::uint32_t>> replicas,
                  std::optional<std::uint32_t> slots = std::nullopt) {
  world.tell(UserAsked{7, ScaleRequest{std::move(replicas), slots}});
  const auto answers = world.done<AnswerRequest>();
  REQUIRE(!answers.empty());
  CHECK(answers.back().id == 7);
  return answers.back();
}

std::vector<runtime::Trigger> triggers(const World& world) {
  std::vector<runtime::Trigger> found;
  for (const auto& [slot, trigger] : world.sent<runtime::Trigger>()) found.push_back(trigger);
  return found;
}

void save(World& world, SnapshotId id) {
  const auto replicas = static_cast<ReplicaId>(world.coordinator->job()->replicas());
  for (ReplicaId replica = 0; replica < replicas; ++replica) {
    world.say_of(replica, runtime::Saved{world.epoch(), id, replica, 10, replica});
  }
}

}  // namespace

TEST_CASE(
    "a job that is scaled stops its sources at a snapshot and goes on from it by the next plan") {
  ScalableWorld world;
  world.start();
  world.clear();
  CHECK(ask(world, {{"work", 3}}).accepted);
  REQUIRE(triggers(world).size() == 1);
  CHECK(triggers(world)[0].hold);
  CHECK(world.sent<runtime::Deploy>().empty());
  save(world, 1);
  CHECK(world.sent<runtime::Deploy>().empty());
  world.tell(SnapshotCommitted{1});
  const auto deploys = world.sent<runtime::Deploy>();
  REQUIRE(deploys.size() == 2);
  CHECK(deploys[0].second.epoch == 2);
  CHECK(deploys[0].second.restore == 1);
  CHECK((deploys[0].second.replicas == std::vector<std::uint32_t>{1, 3, 1}));
  CHECK(deploys[0].second.placement.size() == 5);
  CHECK_FALSE(deploys[0].second.started_before);  // One replica more was not.
  CHECK(world.told<Recovering>().empty());
  world.ready();
  CHECK(world.coordinator->phase() == Phase::running);
  REQUIRE(world.told<ScaleEnded>().size() == 1);
  CHECK(world.told<ScaleEnded>()[0].done);
  CHECK(world.told<ScaleEnded>()[0].change == "work: 2 -> 3 replicas");
  // And on from there, with snapshots and losses as ever.
  world.pass(world.settings.snapshot_interval);
  save(world, 2);
  world.tell(SnapshotCommitted{2});
  world.exit(1);
  world.join(1);
  CHECK(world.sent<runtime::Deploy>().back().second.restore == 2);
  CHECK(world.sent<runtime::Deploy>().back().second.placement.size() == 5);
  CHECK(world.sent<runtime::Deploy>().back().second.started_before);
  CHECK(ask(world, {{"work", 3}}).done);
}

TEST_CASE("states that move are read ahead, twice, before a source stops") {
  KeyedWorld world;
  REQUIRE(world.coordinator->phase() == Phase::running);
  world.take_snapshot(1);
  world.clear();
  CHECK(ask(world, {{"work", 3}}).accepted);
  CHECK(world.reads() == Reads{{0, 1}, {1, 1}});
  CHECK(
      (world.sent<runtime::ReadAhead>()[0].second.replicas == std::vector<std::uint32_t>{1, 3, 1}));
  CHECK(world.sent<runtime::ReadAhead>()[0].second.placement.size() == 5);
  // What is read is not dropped meanwhile, and nobody asks for a Tick all the time.
  world.clear();
  world.pass(3 * world.settings.snapshot_interval);
  CHECK(triggers(world).empty());
  CHECK(*world.coordinator->next_deadline() > world.now);
  world.say(0, runtime::HasReadAhead{1, 1});
  CHECK(triggers(world).empty());
  world.say(1, runtime::HasReadAhead{1, 1});
  REQUIRE(triggers(world).size() == 1);
  CHECK(!triggers(world)[0].hold);
  save(world, 2);
  world.tell(SnapshotCommitted{2});
  CHECK(world.reads() == Reads{{0, 2}, {1, 2}});
  world.have_read(1);  // That was said before.
  CHECK(triggers(world).size() == 1);
  world.have_read(2);
  REQUIRE(triggers(world).size() == 2);
  CHECK(triggers(world)[1].hold);
  save(world, 3);
  world.tell(SnapshotCommitted{3});
  CHECK(world.sent<runtime::Deploy>().back().second.restore == 3);
  world.ready();
  CHECK(world.told<ScaleEnded>().back().done);
}

TEST_CASE("a job that has no snapshot yet takes one to read ahead from") {
  KeyedWorld world;
  world.clear();
  CHECK(ask(world, {{"work", 3}}).accepted);
  CHECK(world.reads().empty());
  REQUIRE(triggers(world).size() == 1);
  CHECK(!triggers(world)[0].hold);
  save(world, 1);
  world.tell(SnapshotCommitted{1});
  CHECK(world.reads() == Reads{{0, 1}, {1, 1}});
}

TEST_CASE("reading ahead is a help that a change of the plan can do without") {
  KeyedWorld world;
  world.take_snapshot(1);
  world.clear();
  CHECK(ask(world, {{"work", 3}}).accepted);
  SUBCASE("a worker that takes too long is not waited for") {
    world.pass(world.settings.snapshot_timeout);
    REQUIRE(!triggers(world).empty());
    CHECK(!triggers(world)[0].hold);
    save(world, 2);
    world.tell(SnapshotCommitted{2});
    world.pass(world.settings.snapshot_timeout);
    CHECK(triggers(world).back().hold);
  }
  SUBCASE("a snapshot that fails is not taken once more for it") {
    world.have_read(1);
    world.say_of(reader, runtime::SaveFailed{1, 2, reader, "the disk is full"});
    CHECK(triggers(world).back().hold);
  }
  SUBCASE("a loss goes back to before, and all is read once more") {
    world.say(0, runtime::HasReadAhead{1, 1});
    world.exit(1);
    world.join(1, runtime::encode_shape(keyed_shape()));
    world.clear();
    world.ready();
    CHECK(world.reads() == Reads{{0, 1}, {1, 1}});
  }
  SUBCASE("a coordinator that takes over has it read by all") {
    take_over(world);
    for (Slot slot = 0; slot < 2; ++slot) {
      world.join(slot, runtime::encode_shape(keyed_shape()));
      world.say(slot, runtime::Attached{2, 1});
      world.say(slot, runtime::Ready{1});
    }
    CHECK(world.reads() == Reads{{0, 1}, {1, 1}});
  }
  SUBCASE("what was read goes when the change is given up") {
    world.clear();
    world.tell(StopRequested{});
    CHECK(world.reads() == Reads{{0, 0}, {1, 0}});
  }
}

TEST_CASE("a job that goes on may begin with other numbers of replicas than its program says") {
  ScalableWorld world;
  const auto join = [&](Slot slot, std::uint32_t replicas) {
    world.tell(Joined{.slot = slot,
                      .incarnation = world.incarnations[slot],
                      .address = "address",
                      .graph = runtime::encode_shape(test_shape()),
                      .layouts = world.layouts,
                      .replicas = {{"work", replicas}}});
  };
  join(0, 3);
  // Who comes later is of the same program, and what it says of numbers says nothing any more.
  join(1, 4);
  const auto deploys = world.sent<runtime::Deploy>();
  REQUIRE(deploys.size() == 2);
  CHECK((deploys[0].second.replicas == std::vector<std::uint32_t>{1, 3, 1}));
  world.ready();
  CHECK(world.coordinator->phase() == Phase::running);
  CHECK(world.told<ScaleEnded>().empty());
  CHECK(ask(world, {{"work", 3}}).done);
}

TEST_CASE("numbers that a job cannot begin with end it") {
  ScalableWorld world;
  world.tell(Joined{.slot = 0,
                    .incarnation = world.incarnations[0],
                    .address = "address",
                    .graph = runtime::encode_shape(test_shape()),
                    .layouts = world.layouts,
                    .replicas = {{"reader", 2}}});
  REQUIRE(!world.done<Finish>().empty());
  CHECK(world.done<Finish>().back().code == 3);
  CHECK(world.done<Finish>().back().why.find("'reader'") != std::string::npos);
}

TEST_CASE("new workers are there before a source stops, and nobody waits for them") {
  ScalableWorld world;
  world.start();
  world.clear();
  CHECK(ask(world, {{"work", 3}}, 3).accepted);
  REQUIRE(world.done<Spawn>().size() == 1);
  CHECK(world.done<Spawn>()[0].slot == 2);
  CHECK(triggers(world).empty());
  world.incarnations.resize(3);
  world.pass(world.settings.snapshot_interval);
  REQUIRE(triggers(world).size() == 1);
  CHECK(!triggers(world)[0].hold);
  save(world, 1);
  world.tell(SnapshotCommitted{1});
  world.join(2);
  REQUIRE(triggers(world).size() == 2);
  CHECK(triggers(world)[1].hold);
  save(world, 2);
  world.tell(SnapshotCommitted{2});
  REQUIRE(world.sent<runtime::Deploy>().size() == 3);
  CHECK(world.sent<runtime::Deploy>()[0].second.peers.size() == 3);
  world.settings.slots = 3;
  world.ready();
  CHECK(world.coordinator->phase() == Phase::running);

  SUBCASE("and leave when they are not wanted any more") {
    world.clear();
    CHECK(ask(world, {}, 1).accepted);
    save(world, 3);
    world.tell(SnapshotCommitted{3});
    CHECK(world.sent<runtime::Deploy>().size() == 1);
    REQUIRE(world.sent<runtime::Shutdown>().size() == 2);
    world.settings.slots = 1;
    world.ready();
    CHECK(world.coordinator->phase() == Phase::running);
    // One leaves, the other one does not.
    world.exit(1, "ended with status 0");
    CHECK(world.told<Lost>().empty());
    world.pass(milliseconds(6'000));
    REQUIRE(world.done<Kill>().size() == 1);
    CHECK(world.done<Kill>()[0].slot == 2);
    CHECK(world.log.may_live.size() == 1);
    CHECK(world.told<Lost>().empty());
    // The slot is another process's when it comes back.
    world.clear();
    CHECK(ask(world, {}, 3).accepted);
    REQUIRE(world.done<Spawn>().size() == 2);
    CHECK(world.done<Spawn>()[1].incarnation == 1);
  }
  SUBCASE("and are lost as any other") {
    world.exit(2);
    CHECK(world.told<Lost>().size() == 1);
    world.join(2);
    CHECK(world.sent<runtime::Deploy>().back().second.epoch == 3);
  }
}

TEST_CASE("a new worker that never comes leaves the job as it is") {
  ScalableWorld world;
  world.start();
  world.incarnations.resize(3);
  CHECK(ask(world, {}, 3).accepted);
  for (int i = 0; i < 3; ++i) {
    world.exit(2, "ended with status 1", false);
    world.pass(milliseconds(200));
  }
  REQUIRE(world.told<ScaleEnded>().size() == 1);
  CHECK(!world.told<ScaleEnded>()[0].done);
  CHECK(has(world.told<ScaleEnded>()[0].why, "ended with status 1"));
  CHECK(world.epoch() == 1);
  CHECK(world.coordinator->phase() == Phase::running);
  CHECK(world.told<Lost>().empty());
}

TEST_CASE("a loss while a job is scaled goes back to before, and then it is scaled") {
  ScalableWorld world;
  world.start();
  world.take_snapshot(1);
  CHECK(ask(world, {{"work", 1}}).accepted);
  world.say_of(reader, runtime::Saved{1, 2, reader});
  world.clear();
  world.exit(1);
  world.join(1);
  REQUIRE(world.sent<runtime::Deploy>().size() == 2);
  CHECK(world.sent<runtime::Deploy>()[0].second.restore == 1);
  CHECK(world.sent<runtime::Deploy>()[0].second.placement.size() == 4);
  world.ready();
  REQUIRE(triggers(world).size() == 1);
  CHECK(triggers(world)[0].hold);
  save(world, 3);
  world.tell(SnapshotCommitted{3});
  CHECK(world.sent<runtime::Deploy>().back().second.placement.size() == 3);
}

TEST_CASE("a loss while the snapshot is written that a job is scaled by goes on by the next plan") {
  ScalableWorld world;
  world.start();
  CHECK(ask(world, {{"work", 1}}).accepted);
  save(world, 1);
  world.exit(0);
  world.clear();
  world.tell(SnapshotCommitted{1});
  world.join(0);
  REQUIRE(world.sent<runtime::Deploy>().size() == 2);
  CHECK(world.sent<runtime::Deploy>()[0].second.restore == 1);
  CHECK(world.sent<runtime::Deploy>()[0].second.placement.size() == 3);
}

TEST_CASE("a snapshot that fails lets sources go on, and the third one leaves the job as it is") {
  ScalableWorld world;
  world.start();
  CHECK(ask(world, {{"work", 3}}).accepted);
  for (SnapshotId id = 1; id <= 3; ++id) {
    world.clear();
    world.say_of(reader, runtime::SaveFailed{1, id, reader, "the disk is full"});
    REQUIRE(triggers(world).size() == 1);
    CHECK(triggers(world)[0].hold == (id < 3));
  }
  REQUIRE(world.told<ScaleEnded>().size() == 1);
  CHECK(has(world.told<ScaleEnded>()[0].why, "the disk is full"));
  CHECK(world.coordinator->metadata().scale == std::nullopt);
}

TEST_CASE("a coordinator that takes over scales the job that its predecessor was to scale") {
  ScalableWorld world;
  world.start();
  CHECK(ask(world, {{"work", 3}}).accepted);
  const auto attach = [&world] {
    for (Slot slot = 0; slot < 2; ++slot) {
      world.join(slot);
      world.say(slot, runtime::Attached{2, 1});
      world.say(slot, runtime::Ready{1});
    }
  };
  SUBCASE("before all have saved: with another snapshot") {
    world.say_of(reader, runtime::Saved{1, 1, reader});
    take_over(world);
    attach();
    const auto asked = triggers(world);
    REQUIRE(asked.size() == 2);  // First whose barriers may be under way.
    CHECK(asked.front().snapshot == 1);
    CHECK(!asked.front().hold);
    CHECK(asked.back().snapshot == 2);
    CHECK(asked.back().hold);
    save(world, 2);
    world.tell(SnapshotCommitted{2});
  }
  SUBCASE("while the manifest was written: with this one") {
    save(world, 1);
    take_over(world);
    CHECK(world.done<CommitSnapshot>().size() == 1);
    attach();
    world.tell(SnapshotCommitted{1});
  }
  SUBCASE("while workers are looked for: with this one, once they are there") {
    save(world, 1);
    take_over(world);
    world.tell(SnapshotCommitted{1});
    CHECK(world.sent<runtime::Deploy>().empty());
    attach();
  }
  SUBCASE("after it was decided: by the next plan, although workers know of the former one only") {
    save(world, 1);
    world.tell(SnapshotCommitted{1});
    take_over(world);
    attach();
  }
  REQUIRE(world.sent<runtime::Deploy>().size() == 2);
  CHECK(world.sent<runtime::Deploy>()[0].second.placement.size() == 5);
  world.ready();
  CHECK(world.coordinator->phase() == Phase::running);
  CHECK(world.coordinator->metadata().scale == std::nullopt);
}

TEST_CASE("what cannot be scaled is refused with a sentence, and nothing changes") {
  ScalableWorld world;
  CHECK(ask(world, {{"work", 3}}).later);
  CHECK(has(ask(world, {{"work", 3}}).why, "has not begun"));
  world.start();
  const auto why = [&](std::vector<std::pair<std::string, std::uint32_t>> replicas,
                       std::optional<std::uint32_t> slots = std::nullopt) {
    const AnswerRequest answer = ask(world, std::move(replicas), slots);
    CHECK(!answer.accepted);
    CHECK(!answer.later);
    return answer.why;
  };
  CHECK(why({{"wrok", 3}}) ==
        "there is no operator 'wrok'; operators and their replicas are reader (1), work (2), "
        "writer (1)");
  CHECK(has(why({{"work", 0}}), "want at least 1 replica, found 0"));
  CHECK(has(why({{"work", 10'001}}), "want 1 to 10000 replicas, found 10001"));
  CHECK(has(why({{"reader", 2}}), "it is a source, and each replica has read a part of its own"));
  CHECK(has(why({}, 0), "want 1 to 4096 workers, found 0"));
  CHECK(world.coordinator->metadata().scale == std::nullopt);
  CHECK(world.epoch() == 1);
  // One at a time.
  CHECK(ask(world, {{"work", 3}}).accepted);
  const AnswerRequest second = ask(world, {{"work", 4}});
  CHECK(second.later);
  CHECK(has(second.why, "scaled already (work: 2 -> 3 replicas)"));
  world.tell(StopRequested{});
  CHECK(has(ask(world, {{"work", 4}}).why, "the job is ending"));
  CHECK(has(world.told<ScaleEnded>().back().why, "asked to stop"));
}

TEST_CASE("a job without snapshots, and a state for each replica, cannot be scaled") {
  JobSettings settings = test_settings();
  SUBCASE("no snapshots") {
    settings.snapshots = false;
    World world(settings);
    world.start();
    CHECK(has(ask(world, {{"work", 3}}).why, "start it with --snapshots DIR"));
  }
  SUBCASE("a state for each replica") {
    World world(settings);
    world.layouts = {"i64", "{i64}", "nothing"};
    world.start();
    CHECK(has(ask(world, {{"work", 3}}).why, "it has a state for each replica ({i64})"));
  }
  SUBCASE("placed by hand") {
    settings.placement = {0, 0, 1, 1};
    World world(settings);
    world.start();
    CHECK(has(ask(world, {{"work", 3}}).why, "its groups say where each replica runs"));
  }
}

}  // namespace piracema::cluster
