// The memory of an item from the source that gives it away to the sink that takes it.
#include <doctest/doctest.h>

#include "run/replica/replica_fixture.h"

using namespace piracema;
using namespace piracema::runtime;
using namespace piracema::runtime::testing;

namespace {

using Places = std::vector<const std::byte*>;

struct Give {
  Places* places;
  std::optional<Buffer> operator()() const {
    if (places->size() == 3) return std::nullopt;
    Buffer item;
    item.resize(handed_over_bytes_min);
    places->push_back(item.data());
    return item;
  }
};

struct Take {
  Places* places;
  void operator()(Buffer item) const { places->push_back(item.data()); }
};

/// What the source of such a graph sends.
std::vector<Packet> sent_by_source(const Graph& graph, const flow::Plan& plan) {
  Recorder port;
  Counters counters;
  Replica source(0, plan.replicas[0], graph, {}, port, counters, nullptr);
  source.begin();
  source.start();
  for (const ReplicaId to : plan.replicas[0].outputs[0].targets) source.receive(to, Credit{8, 0});
  while (source.step() == Replica::Next::again) {
  }
  std::vector<Packet> batches;
  for (auto& [to, packet] : port.sent) {
    if (std::holds_alternative<Batch>(packet)) batches.push_back(std::move(packet));
  }
  return batches;
}

}  // namespace

TEST_CASE("from a source to a sink an item stays where it is, but for the wire") {
  for (const bool ordered : {false, true}) {
    Places given, taken;
    auto take = sink("take", Take{&taken});
    const Graph graph = pipeline(source("give", Give{&given}),
                                 ordered ? std::move(take).ordered() : std::move(take));
    const flow::Plan plan = flow::make_plan(graph.shape);
    Recorder port;
    Counters counters;
    Replica sink(1, plan.replicas[1], graph, {}, port, counters, nullptr);
    sink.begin();
    sink.start();
    for (Packet& packet : sent_by_source(graph, plan)) {
      // The body of the frame is what a transport writes from, and what it reads into.
      auto received = to_packet(to_frame(std::move(packet), 0, 0, 1));
      REQUIRE(received.ok());
      sink.receive(0, *std::move(received));
    }
    while (sink.step() == Replica::Next::again) {
    }
    CHECK(port.failures.empty());
    CHECK(given.size() == 3);
    CHECK(taken == given);
    CHECK(counters.bytes_in == 3 * handed_over_bytes_min);
  }
}

TEST_CASE("each receiver of a broadcast has the item for itself") {
  Places given;
  const Graph graph =
      pipeline(source("give", Give{&given}), sink("take", Take{nullptr}).replicas(2).broadcast());
  const auto sent = sent_by_source(graph, flow::make_plan(graph.shape));
  REQUIRE(sent.size() == 6);
  const Batch &first = std::get<Batch>(sent[0]), &second = std::get<Batch>(sent[1]);
  CHECK(first.data.data() != second.data.data());
  CHECK(std::equal(first.data.data(), first.data.data() + first.data.size(), second.data.data()));
}
