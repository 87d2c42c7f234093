#include "run/replica.h"

#include <doctest/doctest.h>
#include <piracema/blocks.h>

#include <map>
#include <stdexcept>
#include <string>

#include "wire/reader.h"

using namespace piracema;
using namespace piracema::runtime;

namespace {

/// Keeps what a replica does; time stands still.
class Recorder final : public Port {
 public:
  void send(ReplicaId to, Packet packet) override { sent.emplace_back(to, std::move(packet)); }
  void save(SnapshotId snapshot, Buffer state) override { saved[snapshot] = std::move(state); }
  void ended() override { has_ended = true; }
  void committed(SnapshotId snapshot) override { committed_snapshots.push_back(snapshot); }
  void first_output() override { first_outputs += 1; }
  void failed(std::optional<std::uint64_t> item, std::string why) override {
    failures.emplace_back(item, std::move(why));
  }
  void skipped(std::uint64_t item, Bytes) override { skipped_items.push_back(item); }
  bool wait() override { return false; }
  std::function<void()> waker() override {
    return [] {};
  }
  Time now() override { return Time{}; }

  template <class P>
  std::vector<std::pair<ReplicaId, P>> sent_of() const {
    std::vector<std::pair<ReplicaId, P>> all;
    for (const auto& [to, packet] : sent) {
      if (const P* p = std::get_if<P>(&packet)) all.emplace_back(to, *p);
    }
    return all;
  }
  std::vector<std::int64_t> values() const {
    std::vector<std::int64_t> all;
    for (const auto& [to, batch] : sent_of<Batch>()) {
      BatchReader items(batch);
      for (std::uint32_t i = 0; i < batch.count; ++i) {
        all.push_back(Codec<std::int64_t>::decode(items.next()));
      }
    }
    return all;
  }

  std::vector<std::pair<ReplicaId, Packet>> sent;
  std::map<SnapshotId, Buffer> saved;
  std::vector<SnapshotId> committed_snapshots;
  std::vector<std::pair<std::optional<std::uint64_t>, std::string>> failures;
  std::vector<std::uint64_t> skipped_items;
  bool has_ended = false;
  int first_outputs = 0;
};

struct Counting {
  std::int64_t next = 0, end = 0;
  std::optional<std::int64_t> operator()() {
    return next < end ? std::optional(next++) : std::nullopt;
  }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(next);
  }
};

std::int64_t twice(const std::int64_t& n) {
  if (n == 13) throw std::runtime_error("unlucky");
  return 2 * n;
}

struct Total {
  std::int64_t total = 0;
  void operator()(const std::int64_t& n) { total += n; }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(total);
  }
};

/// source 0 (of `sources`) > farm of `workers` > sink.
struct Fixture {
  explicit Fixture(std::uint32_t workers = 2, std::uint32_t sources = 1, bool ordered = false)
      : graph(pipeline(source("numbers", Counting{0, 100}).replicas(sources),
                       farm("twice", workers, twice), make_sink(ordered))),
        plan(flow::make_plan(graph.shape)) {}

  static BuildingBlock<std::int64_t, void> make_sink(bool ordered) {
    auto block = sink("total", Total{});
    return ordered ? std::move(block).ordered() : std::move(block);
  }

  Replica& make(ReplicaId id, Beginning beginning = {}) {
    replica = std::make_unique<Replica>(id, plan.replicas[id], graph, std::move(beginning), port,
                                        counters, nullptr);
    replica->begin();
    replica->start();
    for (const auto& output : plan.replicas[id].outputs) {
      for (const ReplicaId to : output.targets) {
        replica->receive(to, Credit{CreditPace::batches_min, 0});
      }
    }
    return *replica;
  }
  void run() {
    while (replica->step() == Replica::Next::again) {
    }
  }

  Graph graph;
  flow::Plan plan;
  Recorder port;
  Counters counters;
  std::unique_ptr<Replica> replica;
};

Batch batch_of(std::vector<std::int64_t> values, std::uint64_t sequence = 0,
               std::uint32_t origin = 0) {
  Batch batch;
  for (const std::int64_t value : values) batch.add(static_cast<std::uint64_t>(value), value);
  batch.order = {origin, sequence, Order::whole};
  return batch;
}

}  // namespace

TEST_CASE("a source sends no more than was asked for") {
  Fixture f(2);
  f.make(0);
  f.run();
  CHECK(f.port.sent_of<Batch>().size() == 2 * CreditPace::batches_min);
  CHECK_FALSE(f.port.has_ended);
}

TEST_CASE("no more batches are asked for than a user allows on the way") {
  Fixture f(2);
  f.make(3, {.on_the_way = {{1, 1}, {2, 64}}});
  const auto granted = [&f](ReplicaId from) {
    std::uint32_t batches = 0;
    for (const auto& [to, credit] : f.port.sent_of<Credit>())
      batches += to == from ? credit.batches : 0;
    return batches;
  };
  CHECK(granted(1) == 1);
  CHECK(granted(2) == CreditPace::batches_min);
  // It is never busy here: one that is not bounded would get more and more.
  for (std::uint32_t done = 1; done <= 200; ++done) {
    f.replica->receive(1, batch_of({1}));
    f.replica->receive(2, batch_of({1}));
    f.run();
    CHECK(granted(1) == done + 1);
  }
  CHECK(granted(2) == 200 + 64);
}

TEST_CASE("a replica asks each sender for its first items when it starts") {
  Fixture f(1, 3);
  f.make(3);
  const auto credits = f.port.sent_of<Credit>();
  REQUIRE(credits.size() == 3);
  CHECK(credits[2].first == 2);
  CHECK(credits[2].second.batches == CreditPace::batches_min);
}

TEST_CASE("of those that have asked the one with the least to do gets the next batch") {
  Fixture f(2);
  Replica& source = f.make(0);
  f.run();
  f.port.sent.clear();
  source.receive(1, Credit{14, 1'000'000, 2});  // Asks for much in advance, and is idle.
  source.receive(2, Credit{2, 1'000'000, 2});
  f.run();
  std::vector<ReplicaId> first_four;
  for (const auto& [to, batch] : f.port.sent_of<Batch>()) {
    if (first_four.size() < 4) first_four.push_back(to);
  }
  CHECK(std::count(first_four.begin(), first_four.end(), 1u) == 2);
  CHECK(std::count(first_four.begin(), first_four.end(), 2u) == 2);
}

TEST_CASE("of two that have as little to do the one of the same process gets the next batch") {
  for (const ReplicaId near : {1u, 2u}) {
    Fixture f(2);
    Beginning beginning;
    beginning.neighbours = {near};
    Replica& source = f.make(0, std::move(beginning));
    f.run();
    const auto first = f.port.sent_of<Batch>();
    REQUIRE(first.size() == 4);
    CHECK(first[0].first == near);
    // No more than that: the other one is not left idle.
    CHECK(first[1].first != near);
    f.port.sent.clear();
    source.receive(1, Credit{1, 5'000'000, 2});
    source.receive(2, Credit{1, 5'000'000, 2});
    f.run();
    REQUIRE(!f.port.sent_of<Batch>().empty());
    CHECK(f.port.sent_of<Batch>()[0].first == near);
  }
}

TEST_CASE("work goes to the replica that asks for it") {
  Fixture f(2);
  Replica& source = f.make(0);
  f.run();
  f.port.sent.clear();
  source.receive(2, Credit{1, 5'000'000});
  source.receive(2, Credit{1, 5'000'000});
  f.run();
  const auto batches = f.port.sent_of<Batch>();
  REQUIRE(batches.size() == 2);
  CHECK(batches[0].first == 2);
  CHECK(batches[1].first == 2);
}

TEST_CASE("batches grow while receivers are fast, and items travel alone while they are slow") {
  for (const auto& [ns_per_item, largest] : {std::pair{100u, 16u}, std::pair{10'000'000u, 1u}}) {
    Fixture f(1);
    Replica& source = f.make(0);
    std::uint32_t seen = 0;
    for (int round = 0; round < 10; ++round) {
      f.run();
      source.receive(1, Credit{1, ns_per_item});
    }
    for (const auto& [to, batch] : f.port.sent_of<Batch>()) seen = std::max(seen, batch.count);
    CHECK(seen >= largest);
    if (largest == 1) CHECK(seen == 1);
  }
}

TEST_CASE("the end of a stream follows the last item, after all inputs have ended") {
  Fixture f(1, 2);
  Replica& worker = f.make(2);
  worker.receive(3, Credit{8, 1});
  worker.receive(0, batch_of({1, 2}));
  worker.receive(0, EndOfStream{});
  f.run();
  CHECK_FALSE(f.port.has_ended);
  worker.receive(1, batch_of({3}));
  worker.receive(1, EndOfStream{});
  f.run();
  CHECK(f.port.values() == std::vector<std::int64_t>{2, 4, 6});
  CHECK(f.port.has_ended);
  CHECK(std::holds_alternative<EndOfStream>(f.port.sent.back().second));
}

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
  Beginning beginning;
  beginning.state = f.port.saved.at(7);
  beginning.snapshot = 7;
  again.make(0, std::move(beginning));
  again.run();
  REQUIRE(!again.port.values().empty());
  CHECK(again.port.values().front() == before);
}

TEST_CASE("a sink goes on with the state that it had") {
  Fixture f(1);
  Replica& sink = f.make(2);
  sink.receive(1, batch_of({1, 2, 3}));
  sink.receive(1, Barrier{1});
  f.run();
  Fixture again(1);
  Beginning beginning;
  beginning.state = f.port.saved.at(1);
  Replica& restored = again.make(2, std::move(beginning));
  restored.receive(1, batch_of({4}));
  restored.receive(1, Barrier{2});
  again.run();
  wire::Reader reader(again.port.saved.at(2));
  reader.number<std::uint8_t>();
  CHECK(Codec<std::int64_t>::decode(reader.bytes()) == 10);
}

TEST_CASE("an operator that throws is an error that names the item, and stops its replica") {
  Fixture f(1);
  Replica& worker = f.make(1);
  worker.receive(0, batch_of({12, 13, 14}));
  f.run();
  REQUIRE(f.port.failures.size() == 1);
  CHECK(f.port.failures[0].first == 13);
  CHECK(f.port.failures[0].second == "process: unlucky");
  CHECK(worker.step() == Replica::Next::wait);
}

TEST_CASE("an item on the list of those to skip is passed by and noted") {
  Fixture f(1);
  Beginning beginning;
  beginning.skips = {13};
  Replica& worker = f.make(1, std::move(beginning));
  worker.receive(0, batch_of({12, 13, 14}));
  f.run();
  CHECK(f.port.failures.empty());
  CHECK(f.port.skipped_items == std::vector<std::uint64_t>{13});
  worker.receive(0, EndOfStream{});
  f.run();
  CHECK(f.port.values() == std::vector<std::int64_t>{24, 28});
}

TEST_CASE("an ordered sink takes batches in the order of their source") {
  Fixture f(2, 1, true);
  Replica& sink = f.make(3);
  sink.receive(2, batch_of({30}, 1));
  f.run();
  CHECK(f.counters.items_in == 1);
  CHECK(f.port.first_outputs == 0);
  sink.receive(1, batch_of({20}, 0));
  f.run();
  CHECK(f.port.first_outputs == 1);
}

TEST_CASE("a source of an order waits when too much is on its way") {
  Fixture f(2, 1, true);
  Replica& source = f.make(0);
  for (int round = 0; round < 200; ++round) {
    f.run();
    source.receive(1, Credit{1, 5'000'000});
  }
  const auto window = f.plan.replicas[0].window;
  CHECK(f.port.sent_of<Batch>().size() <= window);
  const std::size_t before = f.port.sent_of<Batch>().size();
  source.receive(3, Release{window});
  f.run();
  CHECK(f.port.sent_of<Batch>().size() > before);
}

TEST_CASE("a replica that had ended says so again after a recovery, and nothing else") {
  Fixture f(1);
  Replica& worker = f.make(1);
  worker.receive(0, EndOfStream{});
  f.run();
  worker.trigger(3);
  f.run();
  Fixture again(1);
  Beginning beginning;
  beginning.state = f.port.saved.at(3);
  again.make(1, std::move(beginning));
  again.run();
  CHECK(again.port.has_ended);
  CHECK(again.port.sent_of<Batch>().empty());
  CHECK(again.port.sent_of<EndOfStream>().size() == 1);
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
  Beginning beginning;
  beginning.state = Buffer(as_bytes("garbage"));
  f.make(1, std::move(beginning));
  REQUIRE(f.port.failures.size() == 1);
  CHECK(f.port.failures[0].second.find("not a state") != std::string::npos);
}
