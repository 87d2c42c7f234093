// Replicas with several outputs, and those of cycles.
#include <doctest/doctest.h>
#include <piracema/blocks.h>

#include <map>
#include <string>

#include "run/packet/recorder.h"
#include "run/replica/replica.h"
#include "run/sending/testing.h"

using namespace piracema;
using namespace piracema::runtime;
using namespace piracema::runtime::testing;

namespace {

using Number = std::int64_t;
using Numbers = std::vector<Number>;

/// Sums what comes back. A negative number makes it break the rules.
struct Master {
  Number sum = 0;
  void operator()(const Number& n, Emit<Number>& tasks, Emit<Number>&) const { tasks(n); }
  void back(const Number& n, Emit<Number>& tasks, Emit<Number>&) {
    sum += n;
    if (n < 0) tasks(n);
  }
  void finish(Emit<Number>&, Emit<Number>& out) const { out(sum); }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(sum);
  }
};

constexpr ReplicaId reader = 0, master = 1, worker = 2, writer = 3;

struct MasterReplica {
  explicit MasterReplica(ReplicaInit beginning = {})
      : graph(pipeline(source("reader", nothing),
                       master_worker(node("master", Master{}), node("worker", same)),
                       sink("writer", forget))),
        plan(flow::make_plan(graph.shape)),
        replica(master, plan.replicas[master], graph, std::move(beginning), port, counters,
                nullptr) {
    replica.begin();
    replica.start();
    replica.receive(worker, Credit{16, 0});
    replica.receive(writer, Credit{16, 0});
  }
  void run() {
    while (replica.step() == Replica::Next::again) {
    }
  }
  void give(ReplicaId from, Numbers numbers) {
    Batch batch;
    for (const Number n : numbers) batch.add(0, n);
    replica.receive(from, std::move(batch));
  }
  Numbers numbers_to(ReplicaId receiver) const {
    Numbers all;
    for (const auto& [to, batch] : port.sent_of<Batch>()) {
      if (to != receiver) continue;
      BatchReader items(batch);
      for (std::uint32_t i = 0; i < batch.count; ++i) {
        all.push_back(Codec<Number>::decode(items.next()));
      }
    }
    return all;
  }
  template <class P>
  int count_sent(ReplicaId receiver) const {
    int count = 0;
    for (const auto& [to, packet] : port.sent)
      count += to == receiver && std::holds_alternative<P>(packet);
    return count;
  }
  template <class P>
  bool has_sent(ReplicaId receiver) const {
    return count_sent<P>(receiver) > 0;
  }

  Graph graph;
  flow::Plan plan;
  Recorder port;
  Counters counters;
  Replica replica;
};

}  // namespace

TEST_CASE("each output has its receivers, and items from a back edge have code of their own") {
  MasterReplica f;
  f.give(reader, {1, 2});
  f.run();
  CHECK(f.numbers_to(worker) == Numbers{1, 2});
  CHECK(f.numbers_to(writer).empty());
}

TEST_CASE("a cycle ends when a probe has met nothing, and the node after it at the very end") {
  MasterReplica f;
  f.give(reader, {1, 2});
  f.replica.receive(reader, EndOfStream{});
  f.run();
  CHECK(f.has_sent<Probe>(worker));
  CHECK_FALSE(f.has_sent<Probe>(writer));
  f.give(worker, {1, 2});
  f.replica.receive(worker, Probe{1, 0});
  f.run();
  CHECK_FALSE(f.has_sent<EndOfStream>(worker));
  f.replica.receive(worker, Probe{2, 0});
  f.run();
  CHECK(f.has_sent<EndOfStream>(worker));
  CHECK_FALSE(f.port.has_ended);
  // What the worker had left comes yet.
  f.give(worker, {10});
  f.replica.receive(worker, EndOfStream{});
  f.run();
  CHECK(f.port.has_ended);
  CHECK(f.numbers_to(writer) == Numbers{13});
}

TEST_CASE("after a round that met items a head waits until what it sent is done") {
  MasterReplica f;
  const auto probes = [&f] { return f.count_sent<Probe>(worker); };
  f.give(reader, {1, 2});
  f.replica.receive(reader, EndOfStream{});
  f.run();
  CHECK(probes() == 1);
  f.give(worker, {1, 2});
  f.replica.receive(worker, Probe{1, 0});
  f.run();
  CHECK(probes() == 1);
  f.replica.receive(worker, Credit{2, 0, 2});
  f.run();
  CHECK(probes() == 2);
  f.replica.receive(worker, Probe{2, 0});
  f.run();
  CHECK(f.has_sent<EndOfStream>(worker));
}

TEST_CASE("who emits into a cycle that has ended is told so by name") {
  MasterReplica f;
  f.replica.receive(reader, EndOfStream{});
  f.run();
  f.replica.receive(worker, Probe{1, 0});
  f.run();
  f.give(worker, {-1});
  f.run();
  REQUIRE_FALSE(f.port.failures.empty());
  CHECK(f.port.failures.back().second == "'master' emits into its cycle, which has ended");
}

TEST_CASE("the part of a head is its state and what was under way, and both come back") {
  MasterReplica f;
  f.give(worker, {100});
  f.run();
  f.replica.receive(reader, Barrier{1});
  f.run();
  CHECK(f.port.saved.empty());
  CHECK(f.has_sent<Barrier>(worker));
  f.give(worker, {5});
  f.replica.receive(worker, Barrier{1});
  f.give(worker, {7});
  f.run();
  REQUIRE(f.port.saved.contains(1));

  ReplicaInit beginning;
  beginning.state = f.port.saved.at(1);
  beginning.snapshot = 1;
  MasterReplica again(std::move(beginning));
  again.replica.receive(reader, EndOfStream{});
  again.replica.receive(worker, Probe{1, 0});
  again.run();
  again.replica.receive(worker, EndOfStream{});
  again.run();
  CHECK(again.numbers_to(writer) == Numbers{105});
}

TEST_CASE("a head to which no barrier can come any more begins the snapshot itself") {
  MasterReplica f;
  f.replica.trigger(1);
  f.run();
  CHECK_FALSE(f.has_sent<Barrier>(worker));
  f.replica.receive(reader, EndOfStream{});
  f.run();
  CHECK(f.has_sent<Barrier>(worker));
  f.replica.receive(worker, Barrier{1});
  f.run();
  CHECK(f.port.saved.contains(1));
}

TEST_CASE("what comes back gets its credit at once, up to a bound that is an error") {
  ReplicaInit beginning;
  beginning.back_bytes_max = 10'000;
  MasterReplica f(std::move(beginning));
  f.port.sent.clear();
  f.give(worker, {1});
  CHECK(f.has_sent<Credit>(worker));
  for (int i = 0; i < 100 && f.port.failures.empty(); ++i) f.give(worker, {1});
  REQUIRE_FALSE(f.port.failures.empty());
  CHECK(f.port.failures.back().second.find("the cycle of 'master'") == 0);
}

TEST_CASE("a vector is scattered in equal slices over the replicas that follow") {
  const Graph graph =
      pipeline(source("reader", [] { return std::optional<Numbers>(); }),
               node("pass", [](const Numbers& all) { return all; }),
               farm("worker", 3, [](const Numbers& all) { return static_cast<Number>(all.size()); })
                   .scatter(),
               sink("writer", forget));
  const auto plan = flow::make_plan(graph.shape);
  Recorder port;
  Counters counters;
  Replica pass(1, plan.replicas[1], graph, {}, port, counters, nullptr);
  pass.begin();
  pass.start();
  for (const ReplicaId to : {2u, 3u, 4u}) pass.receive(to, Credit{4, 0});
  Batch batch;
  batch.add(0, Numbers{1, 2, 3, 4, 5, 6, 7});
  pass.receive(0, std::move(batch));
  while (pass.step() == Replica::Next::again) {
  }
  std::map<ReplicaId, Numbers> slices;
  for (const auto& [to, packet] : port.sent) {
    if (const Batch* sent = std::get_if<Batch>(&packet)) {
      BatchReader items(*sent);
      slices[to] = Codec<Numbers>::decode(items.next());
    }
  }
  CHECK((slices == std::map<ReplicaId, Numbers>{{2, {1, 2, 3}}, {3, {4, 5}}, {4, {6, 7}}}));
}
