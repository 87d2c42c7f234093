// How long an item waits for others to share a batch with.
#include <doctest/doctest.h>
#include <piracema/blocks.h>
#include <piracema/sequence.h>

#include <memory>
#include <utility>
#include <vector>

#include "run/packet/recorder.h"
#include "run/replica/replica.h"

using namespace piracema;
using namespace piracema::runtime;
using piracema::runtime::testing::Recorder;

namespace {

using Sizes = std::vector<std::uint32_t>;

/// A source whose items take so long each, and a sink that is fast and has said so.
struct SlowSource {
  explicit SlowSource(std::uint32_t sinks = 1, BatchLimits limits = {}, ReplicaInit beginning = {})
      : graph(pipeline(source("numbers",
                              [this] {
                                if (late_items-- <= 0) port.clock += item_takes;
                                made += 1;
                                return std::optional<std::int64_t>(1);
                              }),
                       sink("drop", [](const std::int64_t&) {}).replicas(sinks).batch(limits))),
        plan(flow::make_plan(graph.shape)),
        replica(0, plan.replicas[0], graph, std::move(beginning), port, counters, nullptr) {
    replica.begin();
    replica.start();
    // Each time the batch doubles at most.
    for (int i = 0; i < 20; ++i) credit(1, 0, 0);
  }

  void credit(ReplicaId from, std::uint32_t batches, std::uint32_t done) {
    replica.receive(from, Credit{batches, 1, done});
  }
  /// The sizes of the batches.
  Sizes sent_by_step() {
    port.sent.clear();
    replica.step();
    Sizes sizes;
    for (const auto& [to, batch] : port.sent_of<Batch>()) sizes.push_back(batch.count);
    return sizes;
  }
  /// By the first of so many steps that sends something.
  Sizes sent_by_steps(int most) {
    Sizes sent;
    for (int i = 0; i < most && sent.empty(); ++i) sent = sent_by_step();
    return sent;
  }

  Time item_takes = std::chrono::microseconds(100);
  /// So many of the next ones are there at once.
  int late_items = 0;
  int made = 0;
  Graph graph;
  flow::Plan plan;
  Recorder port;
  Counters counters;
  Replica replica;
};

}  // namespace

TEST_CASE("items that trickle leave at once, one by one, as long as somebody has asked") {
  SlowSource f;
  f.credit(1, 3, 0);
  for (int i = 0; i < 3; ++i) CHECK(f.sent_by_step() == Sizes{1});
  CHECK(f.sent_by_step().empty());
  CHECK(f.sent_by_step().empty());
  f.credit(1, 1, 1);
  CHECK(f.sent_by_step() == Sizes{2});
}

TEST_CASE(
    "items that a message would cost more than leave while their receiver has nothing to do") {
  SlowSource f;
  f.item_takes = std::chrono::microseconds(5);
  f.credit(1, 4, 0);
  CHECK_FALSE(f.sent_by_steps(10).empty());
  // Busy from here on: what comes meanwhile travels together.
  CHECK(f.sent_by_step().empty());
  CHECK(f.sent_by_step().empty());
  f.credit(1, 1, 1);
  const Sizes sent = f.sent_by_step();
  REQUIRE(sent.size() == 1);
  CHECK(sent[0] > 20);
}

TEST_CASE("one of several receivers that has nothing to do is enough for an item to leave") {
  SlowSource f(2);
  f.item_takes = std::chrono::microseconds(5);
  f.credit(1, 4, 0);
  CHECK_FALSE(f.sent_by_steps(10).empty());
  CHECK(f.sent_by_step().empty());
  f.credit(2, 1, 0);
  CHECK(f.sent_by_step().size() == 1);
}

TEST_CASE("items wait about a millisecond for company, if somebody has asked") {
  SlowSource f;
  f.item_takes = std::chrono::microseconds(5);
  f.credit(1, 4, 0);
  CHECK_FALSE(f.sent_by_steps(10).empty());
  const Sizes sent = f.sent_by_steps(20);
  REQUIRE(sent.size() == 1);
  CHECK(sent[0] >= 160);
  CHECK(sent[0] <= 240);
}

TEST_CASE("a source that becomes slow is not asked for as many items as when it was fast") {
  SlowSource f;
  f.credit(1, 1'000, 0);
  f.item_takes = std::chrono::nanoseconds(10);
  for (int i = 0; i < 20; ++i) f.sent_by_step();
  REQUIRE(f.made > 10'000);
  f.item_takes = std::chrono::milliseconds(1);
  const int before = f.made;
  f.sent_by_step();
  CHECK(f.made > before);
  CHECK(f.made - before <= 256);
}

TEST_CASE("a source that was late and has caught up does not keep its next items back") {
  SlowSource f;
  f.credit(1, 1'000, 0);
  f.item_takes = std::chrono::nanoseconds(10);
  for (int i = 0; i < 20; ++i) f.sent_by_step();
  f.late_items = 40;
  f.item_takes = std::chrono::microseconds(100);
  const int before = f.made;
  f.sent_by_step();
  CHECK(f.made - before > 40);
  CHECK(f.made - before <= 40 + 5);
}

TEST_CASE("a source that has two items at a time keeps none of them back for its next two") {
  SlowSource f;
  f.credit(1, 1'000, 0);
  f.item_takes = std::chrono::microseconds(200);
  for (int pair = 0; pair < 20; ++pair) {
    CHECK(f.sent_by_step() == Sizes{1});
    f.late_items = 1;
    CHECK(f.sent_by_step() == Sizes{1});
  }
}

TEST_CASE("an edge may say how many items share a batch, and how many bytes") {
  SlowSource by_items(1, {.items = 7});
  by_items.credit(1, 100, 0);
  by_items.item_takes = Time{};
  for (int i = 0; i < 20; ++i) {
    for (const std::uint32_t size : by_items.sent_by_step()) CHECK(size == 7);
  }
  REQUIRE(by_items.made > 70);

  SlowSource by_bytes(1, {.bytes = 80});
  by_bytes.credit(1, 100, 0);
  by_bytes.item_takes = Time{};
  for (int i = 0; i < 20; ++i) {
    for (const std::uint32_t size : by_bytes.sent_by_step()) CHECK(size == 10);
  }
  REQUIRE(by_bytes.made > 70);
}

TEST_CASE(
    "the file of groups may say how many items share a batch to a group, whatever its edge has") {
  ReplicaInit beginning;
  beginning.batches = {{1, 7}, {2, 5}};
  SlowSource one(1, {.items = 9}, beginning), two(2, {}, beginning);
  for (SlowSource* f : {&one, &two}) {
    f->credit(1, 100, 0);
    f->item_takes = Time{};
    // A batch that any of two may get has the lesser size.
    for (int i = 0; i < 20; ++i) {
      for (const std::uint32_t size : f->sent_by_step()) CHECK(size == (f == &one ? 7 : 5));
    }
    REQUIRE(f->made > 70);
  }
}

TEST_CASE("an edge may say how long an item waits for company") {
  SlowSource f(1, {.linger = std::chrono::microseconds(300)});
  f.item_takes = std::chrono::microseconds(5);
  f.credit(1, 4, 0);
  CHECK_FALSE(f.sent_by_steps(10).empty());
  const Sizes sent = f.sent_by_steps(20);
  REQUIRE(sent.size() == 1);
  CHECK(sent[0] <= 80);
}

TEST_CASE("limits of a batch that make no sense are told") {
  const auto why_not = [](BatchLimits limits) {
    const Graph graph = pipeline(source("numbers", Sequence{1, 2}),
                                 sink("drop", [](const std::int64_t&) {}).batch(limits));
    const auto valid = validate(graph.shape);
    return valid ? "" : valid.error().message;
  };
  CHECK(why_not({.items = 1 << 20, .bytes = 1 << 30}).empty());
  CHECK(why_not({.items = (1 << 20) + 1}).find("found 1048577") != std::string::npos);
  CHECK(why_not({.bytes = (std::uint64_t{1} << 30) + 1}).find("bytes") != std::string::npos);
  CHECK(why_not({.linger = std::chrono::microseconds(-1)}).find("linger") != std::string::npos);
}
