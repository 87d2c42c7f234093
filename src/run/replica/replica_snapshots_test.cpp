#include <doctest/doctest.h>
#include <piracema/sequence.h>

#include "run/replica/replica_fixture.h"
#include "state/redistribution.h"
#include "store/snapshot/memory_store.h"
#include "wire/checksum.h"

using namespace piracema;
using namespace piracema::runtime;
using namespace piracema::runtime::testing;

TEST_CASE("what comes behind a barrier waits until all inputs have sent theirs") {
  Fixture f(1, 2);
  Replica& worker = f.make(2);
  worker.receive(0, Barrier{1});
  worker.receive(0, batch_of({10}));
  worker.receive(1, batch_of({20}));
  f.run();
  CHECK(f.port.values() == std::vector<std::int64_t>{40});
  CHECK(f.port.saved.empty());
  worker.receive(1, Barrier{1});
  f.run();
  CHECK(f.port.saved.contains(1));
  CHECK(f.port.values() == std::vector<std::int64_t>{40, 20});
}

TEST_CASE("a barrier leaves between the items before it and those after it") {
  Fixture f(1);
  Replica& source = f.make(0);
  f.run();
  source.trigger(7);
  f.run();
  source.receive(1, Credit{8, 1});
  f.run();
  std::int64_t before = 0;
  for (const auto& [to, packet] : f.port.sent) {
    if (std::holds_alternative<Barrier>(packet)) break;
    before += std::get<Batch>(packet).count;
  }
  // The state in the snapshot says that exactly the items before the barrier were emitted.
  Fixture again(1);
  ReplicaInit beginning;
  beginning.state = f.port.saved.at(7);
  beginning.snapshot = 7;
  again.make(0, std::move(beginning));
  again.run();
  REQUIRE(!again.port.values().empty());
  CHECK(again.port.values().front() == before);
}

TEST_CASE(
    "a source that is held sends its barrier and nothing after it, until it is told of another "
    "one") {
  Fixture f(1);
  Replica& source = f.make(0);
  f.run();
  source.receive(1, Credit{2, 1});
  f.run();
  source.trigger(7, 0, true);
  f.run();
  CHECK(f.port.saved.contains(7));
  REQUIRE(!f.port.sent.empty());
  source.receive(1, Credit{8, 2});
  f.run();
  CHECK(std::holds_alternative<Barrier>(f.port.sent.back().second));
  SUBCASE("the same, for a coordinator that has given it up") { source.trigger(7); }
  SUBCASE("the next one") { source.trigger(8); }
  const std::size_t before = f.port.values().size();
  f.run();
  CHECK(f.port.values().size() > before);
}

TEST_CASE("a sink goes on with the state that it had") {
  Fixture f(1);
  Replica& sink = f.make(2);
  sink.receive(1, batch_of({1, 2, 3}));
  sink.receive(1, Barrier{1});
  f.run();
  Fixture again(1);
  ReplicaInit beginning;
  beginning.state = f.port.saved.at(1);
  Replica& restored = again.make(2, std::move(beginning));
  restored.receive(1, batch_of({4}));
  restored.receive(1, Barrier{2});
  again.run();
  wire::Reader reader(again.port.saved.at(2));
  reader.number<std::uint8_t>();
  CHECK(Codec<std::int64_t>::decode(reader.bytes()) == 10);
}

TEST_CASE("a replica that had ended says so again after a recovery, and nothing else") {
  Fixture f(1);
  Replica& worker = f.make(1);
  worker.receive(0, EndOfStream{});
  f.run();
  worker.trigger(3);
  f.run();
  Fixture again(1);
  ReplicaInit beginning;
  beginning.state = f.port.saved.at(3);
  again.make(1, std::move(beginning));
  again.run();
  CHECK(again.port.has_ended);
  CHECK(again.port.sent_of<Batch>().empty());
  CHECK(again.port.sent_of<EndOfStream>().size() == 1);
}

TEST_CASE("what is to be saved or committed twice is answered twice and done once") {
  Fixture f(1);
  Replica& sink = f.make(2);
  sink.receive(1, EndOfStream{});
  f.run();
  sink.trigger(3);
  sink.commit(3);
  f.run();
  REQUIRE(f.port.saved.contains(3));
  f.port.saved.clear();
  sink.trigger(3);
  sink.commit(3);
  f.run();
  CHECK(f.port.saved.empty());
  CHECK(f.port.committed_snapshots == std::vector<SnapshotId>{3, 3});
}

TEST_CASE("what a replica was asked to save and to commit it saves first, and later ones after") {
  Fixture f(1);
  Replica& sink = f.make(2);
  sink.receive(1, EndOfStream{});
  f.run();
  sink.trigger(3);
  sink.trigger(4);
  sink.commit(3);
  sink.step();
  CHECK(f.port.saved.contains(3));
  CHECK(f.port.committed_snapshots.empty());
  sink.step();
  CHECK(f.port.committed_snapshots == std::vector<SnapshotId>{3});
  CHECK_FALSE(f.port.saved.contains(4));
  f.run();
  CHECK(f.port.saved.contains(4));
}

TEST_CASE("a part of a snapshot that is no state is an error, not a crash") {
  Fixture f(1);
  ReplicaInit beginning;
  beginning.state = Buffer(as_bytes("garbage"));
  f.make(1, std::move(beginning));
  REQUIRE(f.port.failures.size() == 1);
  CHECK(f.port.failures[0].second.find("not a state") != std::string::npos);
}

TEST_CASE("states by key are handed over in pieces, and no more while too many are not written") {
  const Graph graph = pipeline(
      source("in", Sequence{1, 10}),
      farm("count", 1, [](const std::int64_t& n, std::int64_t& count) { return count += n; })
          .by_key([](const std::int64_t& n) { return n; }, 16),
      sink("drop", [](const std::int64_t&) {}));
  const flow::Plan plan = flow::make_plan(graph.shape);
  Recorder port;
  Counters counters;
  ReplicaInit beginning;
  beginning.piece_bytes = 100;
  beginning.unwritten_bytes_max = 250;
  Replica replica(1, plan.replicas[1], graph, std::move(beginning), port, counters, nullptr);
  replica.begin();
  replica.start();
  const auto run = [&] {
    while (replica.step() == Replica::Next::again) {
    }
  };
  replica.receive(2, Credit{10'000, 0});
  std::vector<std::int64_t> numbers(500);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<std::int64_t>(i);
  replica.receive(0, batch_of(numbers));
  replica.receive(0, Barrier{1});
  run();
  REQUIRE(port.failures.empty());
  CHECK_FALSE(port.indexes.contains(1));
  const std::uint64_t first = port.unwritten_bytes;
  CHECK(first > 250);
  CHECK(first < 2'000);

  // Nobody has written anything: items go on, and nothing more is saved.
  replica.receive(0, batch_of({1, 2, 3}));
  run();
  CHECK(port.unwritten_bytes == first);
  CHECK(port.values().size() == 503);
  for (int writes = 0; writes < 1'000 && !port.indexes.contains(1); ++writes) {
    port.unwritten_bytes = 0;
    run();
  }
  REQUIRE(port.indexes.contains(1));
  CHECK(port.pieces[1] > 5);
  const store::PartIndex& index = port.indexes.at(1);
  std::uint64_t bytes = index.plain_bytes;
  for (const store::StateUnit& unit : index.units) {
    const Bytes state = Bytes(port.saved.at(1)).subspan(unit.offset, unit.bytes);
    CHECK(wire::checksum(state) == unit.checksum);
    bytes += unit.bytes;
  }
  CHECK(bytes == port.saved.at(1).size());
}

namespace {

/// Counts items by key in one replica or two, of which the first one is here, and a store.
struct Kept {
  static Graph graph_of(std::uint32_t replicas) {
    return pipeline(
        source("in", Sequence{1, 10}),
        farm("count", replicas, [](const std::int64_t&, std::int64_t& count) { return ++count; })
            .by_key([](const std::int64_t& n) { return n; }, 16),
        sink("drop", [](const std::int64_t&) {}));
  }

  Replica& make(ReplicaInit beginning = {}, std::uint32_t replicas = 1) {
    graph = graph_of(replicas);
    plan = flow::make_plan(graph.shape);
    replica = std::make_unique<Replica>(1, plan.replicas[1], graph, std::move(beginning), port,
                                        counters, nullptr);
    replica->begin();
    replica->start();
    replica->receive(replicas + 1, Credit{10'000, 0});
    return *replica;
  }
  void run() {
    while (replica->step() == Replica::Next::again) {
    }
    REQUIRE(port.failures.empty());
  }
  void save(SnapshotId snapshot) {
    replica->receive(0, Barrier{snapshot});
    run();
    REQUIRE(port.indexes.contains(snapshot));
    store::Manifest manifest{
        .snapshot = snapshot, .epoch = 1, .job = "job", .nodes = state::nodes_of(graph.shape)};
    for (ReplicaId id = 0; id < plan.replicas.size(); ++id) {
      const auto part = id == 1 ? store.put_indexed(snapshot, id, port.saved.at(snapshot),
                                                    port.indexes.at(snapshot))
                                : store.put(snapshot, id, Buffer(as_bytes("plain")));
      REQUIRE(part);
      manifest.parts.push_back(*part);
    }
    REQUIRE(store.commit(manifest));
  }
  /// What the replica that follows begins with.
  ReplicaInit from(SnapshotId snapshot, std::uint32_t replicas = 1) {
    auto kept = replica->keep();
    replica.reset();
    port.sent.clear();
    const Graph next = graph_of(replicas);
    ReplicaInit beginning;
    REQUIRE(beginning.restore(store, snapshot, next.shape, flow::make_plan(next.shape).replicas[1],
                              {std::move(kept), nullptr}));
    return beginning;
  }
  bool owns(std::int64_t key) const {
    const auto& of = plan.replicas[1];
    return of.owned.has(of.groups.group_of(mix(KeyHash<std::int64_t>::of(key))));
  }

  Graph graph;
  flow::Plan plan;
  Recorder port;
  Counters counters;
  store::MemoryStore store;
  std::unique_ptr<Replica> replica;
};

}  // namespace

TEST_CASE("a replica that stands as a snapshot has it keeps its states by key and reads none") {
  Kept f;
  f.make().receive(0, batch_of({1, 2, 3, 4, 5, 6, 7, 8}));
  f.save(1);
  auto beginning = f.from(1);
  CHECK(beginning.kept);
  CHECK(beginning.keys.units.empty());
  f.make(std::move(beginning));
  // Once more, before it has done anything.
  beginning = f.from(1);
  CHECK(beginning.keys.units.empty());
  f.make(std::move(beginning)).receive(0, batch_of({1, 2, 9}));
  f.run();
  CHECK(f.port.values() == std::vector<std::int64_t>{2, 2, 1});
}

TEST_CASE(
    "of a replica that gets fewer groups those are kept, and one that gets more reads those") {
  Kept f;
  std::vector<std::int64_t> numbers;
  for (std::int64_t n = 1; n <= 50; ++n) numbers.push_back(n);
  f.make().receive(0, batch_of(numbers));
  f.save(1);
  auto beginning = f.from(1, 2);
  CHECK(beginning.keys.units.empty());
  Replica& half = f.make(std::move(beginning), 2);
  std::vector<std::int64_t> own;
  for (const std::int64_t n : numbers) {
    if (f.owns(n)) own.push_back(n);
  }
  REQUIRE(own.size() < numbers.size());
  half.receive(0, batch_of(own));
  f.run();
  CHECK(f.port.values() == std::vector<std::int64_t>(own.size(), 2));
  // They have changed since: nothing of them is kept.
  beginning = f.from(1);
  CHECK_FALSE(beginning.kept);
  f.make(std::move(beginning), 1).receive(0, batch_of(numbers));
  f.run();
  CHECK(f.port.values() == std::vector<std::int64_t>(numbers.size(), 2));
}

TEST_CASE("states that are not those of the snapshot to go back to are read from there") {
  Kept f;
  f.make().receive(0, batch_of({1, 2, 3}));
  f.save(1);
  f.replica->receive(0, batch_of({1, 1}));
  SnapshotId to = 1;
  SUBCASE("items came after it") {}
  SUBCASE("another one was saved after it") { f.save(2); }
  SUBCASE("another one is being saved") {
    f.save(2);
    to = 2;
    f.replica->receive(0, batch_of({1}));
    f.port.unwritten_bytes = std::uint64_t{1} << 30;
    f.replica->receive(0, Barrier{3});
  }
  f.run();
  auto beginning = f.from(to);
  CHECK_FALSE(beginning.kept);
  CHECK_FALSE(beginning.keys.units.empty());
  f.make(std::move(beginning)).receive(0, batch_of({1}));
  f.run();
  CHECK(f.port.values() == std::vector<std::int64_t>{to == 1 ? 2 : 4});
}
