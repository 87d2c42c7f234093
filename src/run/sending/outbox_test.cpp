#include "run/sending/outbox.h"

#include <doctest/doctest.h>
#include <piracema/blocks.h>

#include <chrono>
#include <optional>
#include <utility>
#include <vector>

#include "run/packet/recorder.h"
#include "run/sending/testing.h"

using namespace piracema;
using namespace piracema::runtime;
using namespace piracema::runtime::testing;

namespace {

/// The sending side of the source, replica 0, of source > farm, replicas 1 and 2 > sink.
struct SourceOutbox {
  explicit SourceOutbox(bool ordered = false)
      : graph(pipeline(source("numbers", nothing), farm("same", 2, same), make_sink(ordered))),
        plan(flow::make_plan(graph.shape)),
        outbox(0, plan.replicas[0], graph, {}, port, nullptr) {}

  static BuildingBlock<std::int64_t, void> make_sink(bool ordered) {
    auto block = sink("none", forget);
    return ordered ? std::move(block).ordered() : std::move(block);
  }

  Graph graph;
  flow::Plan plan;
  Recorder port;
  Outbox outbox;
};

}  // namespace

TEST_CASE("a source stops when a lane is full, whatever its budget") {
  SourceOutbox f;
  f.outbox.begin_produce(100, Time(1'000));
  CHECK_FALSE(f.outbox.full());
  f.outbox.begin_item(0);
  CHECK_FALSE(f.outbox.full());
  CHECK(f.outbox.left_to_produce() == 99);
  f.outbox.emit(std::int64_t{1});
  CHECK(f.outbox.full());
  CHECK(f.outbox.left_to_produce() == 0);
}

TEST_CASE("a source stops when its time is over") {
  SourceOutbox f;
  f.outbox.begin_produce(100, Time(1'000));
  f.outbox.begin_item(0);
  f.port.clock = Time(1'000);
  CHECK(f.outbox.full());
  CHECK(f.outbox.left_to_produce() == 99);
}

TEST_CASE("more waits than may wait until somebody asks") {
  SourceOutbox f;
  f.outbox.emit(std::int64_t{1});
  CHECK_FALSE(f.outbox.must_wait());
  f.outbox.emit(std::int64_t{2});
  CHECK(f.outbox.must_wait());
  f.outbox.on_credit(2, {.batches = 1});
  f.outbox.pump();
  CHECK_FALSE(f.outbox.must_wait());
  CHECK(f.port.values() == std::vector<std::int64_t>{1});
}

TEST_CASE("a watermark comes behind items that were still collecting") {
  SourceOutbox f;
  f.outbox.on_credit(1, {.batches = 4, .ns_per_item = 100});
  f.outbox.on_credit(2, {.batches = 4, .ns_per_item = 100});
  f.outbox.emit(std::int64_t{1});
  f.outbox.emit(std::int64_t{2});
  CHECK(f.port.sent.empty());
  f.outbox.watermark({EventTime(std::chrono::hours(1))});
  REQUIRE(f.port.sent.size() == 3);
  CHECK(f.port.values() == std::vector<std::int64_t>{1, 2});
  CHECK(std::holds_alternative<Batch>(f.port.sent[0].second));
}

TEST_CASE("an operator whose output is full waits, until its barrier is overdue") {
  SourceOutbox f;
  Outbox outbox(1, f.plan.replicas[1], f.graph, {}, f.port, nullptr);
  f.port.on_wait = [&](std::optional<Time> longest) {
    REQUIRE(longest == Time(50));
    f.port.clock += *longest;
    return true;
  };
  outbox.hurry(Time(50));
  outbox.emit(std::int64_t{1});
  CHECK(outbox.take_waited() == Time{});
  outbox.emit(std::int64_t{2});
  CHECK(outbox.take_waited() == Time(50));
  CHECK(outbox.take_waited() == Time{});
}

TEST_CASE("batches of an order are numbered, and no more leave than the window has") {
  SourceOutbox f(true);
  f.outbox.on_credit(1, {.batches = 1'000'000});
  std::uint64_t sent = 0;
  while (!f.outbox.must_wait()) {
    f.outbox.emit(std::int64_t{1});
    sent += 1;
  }
  CHECK(sent == f.plan.replicas[0].window);
  const auto batches = f.port.sent_of<Batch>();
  REQUIRE(batches.size() == sent);
  for (std::uint64_t i = 0; i < sent; ++i) CHECK(batches[i].second.order.sequence == i);
  f.outbox.on_release(3, 1);
  CHECK_FALSE(f.outbox.must_wait());
}

TEST_CASE("what was passed by a barrier goes back to its lane, if there is one") {
  SourceOutbox f;
  Batch batch;
  batch.add(0, std::int64_t{6});
  CHECK(f.outbox.restore(1, batch));
  CHECK_FALSE(f.outbox.restore(3, batch));
  f.outbox.on_credit(1, {.batches = 1});
  f.outbox.pump();
  CHECK(f.port.sent.empty());
  f.outbox.on_credit(2, {.batches = 1});
  f.outbox.pump();
  CHECK(f.port.values() == std::vector<std::int64_t>{6});
  Outbox of_sink(3, f.plan.replicas[3], f.graph, {}, f.port, nullptr);
  CHECK_FALSE(of_sink.restore(0, batch));
}

TEST_CASE("what is emitted behind the end is noticed, and not sent") {
  SourceOutbox f;
  f.outbox.end();
  CHECK_FALSE(f.outbox.emitted_after_end());
  f.outbox.emit(std::int64_t{1});
  CHECK(f.outbox.emitted_after_end());
  CHECK(f.port.values().empty());
}
