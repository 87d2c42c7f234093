#include "run/sending/output_queue.h"

#include <doctest/doctest.h>

#include <chrono>
#include <utility>
#include <vector>

#include "run/packet/recorder.h"

using namespace piracema;
using namespace piracema::runtime;
using piracema::runtime::testing::Recorder;

namespace {

Batch single_item(std::int64_t value) {
  Batch batch;
  batch.add(static_cast<std::uint64_t>(value), value);
  return batch;
}

/// One output to replicas 4 and 5.
struct TwoReceivers {
  explicit TwoReceivers(Delivery delivery = Delivery::on_demand, bool in_cycle = false)
      : plan{.targets = {4, 5}, .in_cycle = in_cycle},
        queue(plan, {.to = 2, .delivery = delivery}, {}, port) {}

  void ask(std::size_t receiver, std::uint32_t batches) {
    queue.on_credit(receiver, {.batches = batches});
    queue.pump();
  }

  flow::OutputPlan plan;
  Recorder port;
  OutputQueue queue;
  const std::size_t any = 2;
};

}  // namespace

TEST_CASE("a batch waits for a credit, and a barrier for the batches before it") {
  TwoReceivers f;
  f.queue.add(f.any, single_item(1));
  f.queue.add(Barrier{.snapshot = 3}, Barrier::forever);
  f.queue.add(1, single_item(2));
  f.queue.pump();
  CHECK(f.port.sent.empty());
  CHECK(f.queue.batches() == 2);
  CHECK(f.queue.bytes() == 16);
  CHECK(f.queue.holds_barrier(3));
  CHECK_FALSE(f.queue.holds_barrier(2));
  f.ask(0, 2);
  CHECK(f.port.values() == std::vector<std::int64_t>{1});
  CHECK(f.port.sent_of<Barrier>().size() == 2);
  CHECK_FALSE(f.queue.holds_barrier(3));
  CHECK(f.queue.batches() == 1);
  f.ask(1, 1);
  CHECK(f.port.sent.back().first == 5);
  CHECK(f.queue.is_empty());
  CHECK(f.queue.bytes() == 0);
}

TEST_CASE("a barrier goes ahead of an end that waits, and is dropped behind one that has left") {
  TwoReceivers f;
  f.queue.add(f.any, single_item(1));
  f.queue.end();
  f.queue.end();
  f.queue.add(Barrier{.snapshot = 3}, Barrier::forever);
  f.ask(0, 1);
  REQUIRE(f.port.sent.size() == 5);
  CHECK(std::holds_alternative<Barrier>(f.port.sent[1].second));
  CHECK(std::holds_alternative<EndOfStream>(f.port.sent[4].second));
  f.queue.add(Barrier{.snapshot = 4}, Barrier::forever);
  CHECK(f.queue.is_empty());
}

TEST_CASE("a watermark waits for the batches before it, and for no credit of its own") {
  TwoReceivers f;
  const EventTime noon{std::chrono::hours(12)};
  f.queue.add(f.any, single_item(1));
  f.queue.add(Watermark{noon - std::chrono::hours(1)});
  f.queue.add(Watermark{noon});
  f.queue.pump();
  CHECK(f.port.sent.empty());
  f.ask(0, 1);
  REQUIRE(f.port.sent.size() == 3);
  const auto marks = f.port.sent_of<Watermark>();
  REQUIRE(marks.size() == 2);  // The last one, to both.
  CHECK((marks[0].second.come == noon && marks[1].second.come == noon));
}

TEST_CASE("a barrier that overtakes passes watermarks, of which nothing is saved") {
  TwoReceivers f;
  f.queue.add(f.any, single_item(1));
  f.queue.add(Watermark{EventTime(std::chrono::hours(1))});
  f.queue.add(f.any, single_item(2));
  f.queue.add(Barrier{.snapshot = 3}, Barrier::forever);
  std::size_t passed = 0;
  f.queue.overtake(3, [&](std::size_t, const Batch&) { passed += 1; });
  CHECK(passed == 2);
  f.queue.pump();
  CHECK(f.port.sent_of<Barrier>().size() == 2);
  CHECK(f.port.sent_of<Watermark>().empty());
}

TEST_CASE("no watermark goes into a cycle, or behind the end") {
  TwoReceivers round(Delivery::on_demand, true);
  round.queue.add(Watermark{EventTime(std::chrono::hours(1))});
  CHECK(round.queue.is_empty());
  TwoReceivers f;
  f.queue.end();
  f.queue.pump();
  f.queue.add(Watermark{EventTime(std::chrono::hours(1))});
  CHECK(f.queue.is_empty());
}

TEST_CASE("in a cycle an end stands for barriers even while it waits") {
  TwoReceivers f(Delivery::on_demand, true);
  f.queue.add(f.any, single_item(1));
  f.queue.end();
  f.queue.add(Barrier{.snapshot = 3}, Barrier::forever);
  CHECK_FALSE(f.queue.holds_barrier(3));
}

TEST_CASE("a barrier brings the patience that is left when it leaves") {
  TwoReceivers f;
  f.queue.add(f.any, single_item(1));
  f.queue.add(Barrier{.snapshot = 3}, Time(100));
  f.port.clock = Time(30);
  f.ask(0, 1);
  REQUIRE(f.port.sent_of<Barrier>().size() == 2);
  CHECK(f.port.sent_of<Barrier>()[0].second.patience == Time(70));
}

TEST_CASE("a barrier that overtakes names what it passes, and not what came behind it") {
  TwoReceivers f;
  f.queue.add(f.any, single_item(1));
  f.queue.add(1, single_item(2));
  f.queue.add(Barrier{.snapshot = 3}, Time(100));
  f.queue.add(f.any, single_item(3));
  std::vector<std::size_t> passed;
  f.queue.overtake(3, [&](std::size_t receiver, const Batch&) { passed.push_back(receiver); });
  CHECK(passed == std::vector<std::size_t>{f.any, 1});
  f.queue.pump();
  CHECK(f.port.sent_of<Barrier>().size() == 2);
  CHECK(f.queue.batches() == 3);
  f.ask(1, 3);
  CHECK(f.port.values() == std::vector<std::int64_t>{1, 2, 3});
}

TEST_CASE("what all receivers get waits until each of them has asked") {
  TwoReceivers f(Delivery::broadcast);
  f.queue.add(f.any, single_item(1));
  f.ask(0, 1);
  CHECK(f.port.sent.empty());
  f.ask(1, 1);
  CHECK(f.port.values() == std::vector<std::int64_t>{1, 1});
}
