// Barriers that overtake items: what leaves, what is saved, and what goes on from it.
#include <doctest/doctest.h>

#include "run/replica/replica_fixture.h"

using namespace piracema;
using namespace piracema::runtime;
using namespace piracema::runtime::testing;
using std::chrono::milliseconds;
using Numbers = std::vector<std::int64_t>;

namespace {

/// Goes on from what another one saved.
Replica& go_on(Fixture& f, ReplicaId id, const Fixture& from, SnapshotId snapshot) {
  ReplicaInit beginning;
  beginning.state = from.port.saved.at(snapshot);
  beginning.snapshot = snapshot;
  return f.make(id, std::move(beginning));
}

/// Which come before a barrier, and whether there was one.
Numbers before_barrier(const Recorder& port) {
  Numbers all;
  for (const auto& [to, packet] : port.sent) {
    if (std::holds_alternative<Barrier>(packet)) return all;
    const auto* batch = std::get_if<Batch>(&packet);
    if (batch == nullptr) continue;
    BatchReader items(*batch);
    for (std::uint32_t i = 0; i < batch->count; ++i) {
      all.push_back(Codec<std::int64_t>::decode(items.next()));
    }
  }
  FAIL("no barrier has left");
  return all;
}

std::uint32_t credits_to(const Recorder& port, ReplicaId sender) {
  std::uint32_t sum = 0;
  for (const auto& [to, credit] : port.sent_of<Credit>()) sum += to == sender ? credit.batches : 0;
  return sum;
}

}  // namespace

TEST_CASE("a barrier waits for as long as it may, and then goes ahead of what has come") {
  Fixture f(1, 2);
  Replica& worker = f.make(2);
  worker.receive(1, batch_of({20}));
  worker.receive(1, batch_of({30}));
  worker.receive(0, Barrier{1, 0, milliseconds(100)});
  f.port.clock = milliseconds(99);
  CHECK(worker.longest_wait() == milliseconds(1));
  f.port.clock = milliseconds(100);
  f.run();
  CHECK(before_barrier(f.port) == Numbers{});
  CHECK(f.port.values() == Numbers{40, 60});
  CHECK(f.port.saved.empty());
  CHECK_FALSE(worker.longest_wait());  // There is nothing that time would change.

  worker.receive(1, batch_of({35}));
  worker.receive(1, Barrier{1, 0, milliseconds(0)});
  worker.receive(1, batch_of({36}));
  f.run();
  REQUIRE(f.port.saved.contains(1));

  Fixture again(1, 2);
  go_on(again, 2, f, 1);
  again.run();
  again.replica->receive(3, Credit{4, 1});
  again.run();
  CHECK(again.port.values() == Numbers{40, 60, 70});
}

TEST_CASE("the barrier that comes late, of a snapshot that was taken, changes nothing") {
  Fixture f(1, 2);
  Replica& worker = f.make(2);
  worker.receive(0, Barrier{1, 0, milliseconds(0)});
  f.run();
  worker.receive(1, batch_of({20}));
  worker.receive(1, Barrier{1, 0, milliseconds(0)});
  worker.receive(1, batch_of({21}));
  worker.receive(0, batch_of({22}));
  f.run();
  worker.receive(3, Credit{4, 1});
  f.run();
  CHECK(f.port.values() == Numbers{40, 42, 44});
  CHECK(f.port.sent_of<Barrier>().size() == 1);
  worker.receive(0, Barrier{2});
  worker.receive(1, Barrier{2});
  f.run();
  CHECK(f.port.saved.contains(2));
}

TEST_CASE("nobody gets a credit for what a snapshot had") {
  Fixture f(1, 2);
  Replica& worker = f.make(2);
  for (const std::int64_t value : {20, 30}) worker.receive(1, batch_of({value}));
  worker.receive(0, Barrier{1, 0, milliseconds(0)});
  worker.step();
  worker.receive(1, Barrier{1, 0, milliseconds(0)});
  f.run();
  Fixture again(1, 2);
  go_on(again, 2, f, 1);
  again.run();
  CHECK(again.port.values() == Numbers{40, 60});
  CHECK(credits_to(again.port, 1) == CreditPace::batches_min);
  again.replica->receive(1, batch_of({40}));
  again.run();
  CHECK(credits_to(again.port, 1) > CreditPace::batches_min);
}

TEST_CASE("a barrier goes ahead of what waits for a credit, and the part has that") {
  Fixture f(1);
  Replica& worker = f.make(1);
  for (const std::int64_t value : {1, 2, 3}) {
    worker.receive(0, batch_of({value}));
    f.run();
  }
  CHECK(f.port.values() == Numbers{2, 4});
  worker.receive(0, Barrier{1, 0, milliseconds(50)});
  f.run();
  CHECK(f.port.saved.empty());  // It waits with the third, and for as long as it may.
  CHECK(worker.longest_wait() == milliseconds(50));
  f.port.clock = milliseconds(50);
  f.run();
  CHECK(before_barrier(f.port) == Numbers{2, 4});
  CHECK(f.port.sent_of<Barrier>()[0].second.patience == Time{});
  REQUIRE(f.port.saved.contains(1));

  Fixture again(1);
  go_on(again, 1, f, 1);
  again.run();
  CHECK(again.port.values() == Numbers{6});
}

TEST_CASE("a barrier that leaves in time passes nothing, and says how long it may still wait") {
  Fixture f(1);
  Replica& worker = f.make(1);
  for (const std::int64_t value : {1, 2, 3}) {
    worker.receive(0, batch_of({value}));
    f.run();
  }
  worker.receive(0, Barrier{1, 0, milliseconds(50)});
  f.run();
  f.port.clock = milliseconds(30);
  worker.receive(2, Credit{1, 1, 1});
  f.run();
  CHECK(before_barrier(f.port) == Numbers{2, 4, 6});
  CHECK(f.port.sent_of<Barrier>()[0].second.patience == milliseconds(20));
  REQUIRE(f.port.saved.contains(1));
  Fixture again(1);
  go_on(again, 1, f, 1);
  again.run();
  CHECK(again.port.values().empty());
}

TEST_CASE("a barrier that may wait for ever does, and its part does not wait for it") {
  Fixture f(1);
  Replica& worker = f.make(1);
  for (const std::int64_t value : {1, 2, 3}) {
    worker.receive(0, batch_of({value}));
    f.run();
  }
  worker.receive(0, Barrier{1});
  f.port.clock = std::chrono::hours(1);
  f.run();
  CHECK(f.port.saved.contains(1));
  CHECK(f.port.sent_of<Barrier>().empty());
}

TEST_CASE("who has ended and has not sent all puts its barrier before the end") {
  Fixture f(1);
  Replica& worker = f.make(1);
  for (const std::int64_t value : {1, 2, 3}) worker.receive(0, batch_of({value}));
  worker.receive(0, EndOfStream{});
  for (int i = 0; i < 3; ++i) {
    f.run();
    if (f.port.has_ended) break;
    worker.receive(2, Credit{1, 1});
  }
  REQUIRE(f.port.has_ended);
  const auto sent = f.port.values().size();
  worker.trigger(1, 0, false, milliseconds(0));
  f.run();
  CHECK(f.port.sent_of<Barrier>().size() == (sent < 3 ? 1 : 0));
  REQUIRE(f.port.saved.contains(1));
  Fixture again(1);
  go_on(again, 1, f, 1);
  again.run();
  CHECK(again.port.values().size() == 3 - sent);
  CHECK(again.port.sent_of<EndOfStream>().size() == 1);
}

TEST_CASE("who waits for nothing but ends takes a snapshot when it is told to and it is time") {
  Fixture f(1, 2);
  Replica& worker = f.make(2);
  worker.receive(0, EndOfStream{});
  worker.receive(1, batch_of({20}));
  worker.receive(1, EndOfStream{});
  worker.trigger(1, 0, false, milliseconds(0));
  f.run();
  CHECK(before_barrier(f.port) == Numbers{});
  REQUIRE(f.port.saved.contains(1));
  CHECK(f.port.has_ended);
  Fixture again(1, 2);
  go_on(again, 2, f, 1);
  again.run();
  CHECK(again.port.values() == Numbers{40});
  CHECK_FALSE(again.port.has_ended);  // Both inputs say once more that they have.
}

TEST_CASE("items that were under way are not read as those of another program") {
  Fixture f(1, 2);
  Replica& worker = f.make(2);
  worker.receive(1, batch_of({20}));
  worker.receive(0, Barrier{1, 0, milliseconds(0)});
  worker.receive(1, Barrier{1, 0, milliseconds(0)});
  f.run();
  Buffer& part = f.port.saved.at(1);
  const std::string_view text = as_text(part);
  const std::size_t at = text.find("i64 > i64");
  REQUIRE(at != std::string_view::npos);
  part.data()[at + 1] = std::byte{'3'};
  part.data()[at + 2] = std::byte{'2'};
  Fixture again(1, 2);
  go_on(again, 2, f, 1);
  REQUIRE(again.port.failures.size() == 1);
  CHECK(
      again.port.failures[0].second ==
      "start: its part of the snapshot is not a state: it has items that were under way, of other "
      "types: want i64 > i64, found i32 > i64");
}

TEST_CASE("a part with any bit turned is refused, or read as another one") {
  Fixture f(1, 2);
  Replica& worker = f.make(2);
  for (const std::int64_t value : {1, 2, 3, 4}) worker.receive(1, batch_of({value}));
  f.run();
  worker.receive(1, batch_of({20, 21}));
  worker.receive(0, Barrier{1, 0, milliseconds(0)});
  worker.receive(1, Barrier{1, 0, milliseconds(0)});
  f.run();
  const Buffer part = f.port.saved.at(1);
  REQUIRE(part.size() > 200);
  for (std::size_t at = 0; at < 8 * part.size(); ++at) {
    Fixture again(1, 2);
    ReplicaInit beginning;
    beginning.state = part;
    beginning.state->data()[at / 8] ^= static_cast<std::byte>(1 << at % 8);
    beginning.snapshot = 1;
    again.make(2, std::move(beginning));
    for (int i = 0; i < 20 && again.port.failures.empty(); ++i) again.replica->step();
    CHECK(again.port.failures.size() <= 1);
  }
}

TEST_CASE("in an order nothing is overtaken") {
  Fixture f(2, 1, true);
  Replica& worker = f.make(1);
  worker.receive(0, batch_of({1}));
  worker.receive(0, batch_of({2}, 1));
  worker.receive(0, Barrier{1, 0, milliseconds(0)});
  f.port.clock = milliseconds(1);
  CHECK_FALSE(worker.longest_wait());
  f.run();
  CHECK(before_barrier(f.port) == Numbers{2, 4});
}

TEST_CASE("an operator in the middle of a batch does not wait for room beyond a barrier's time") {
  const Graph graph = pipeline(source("numbers", Counting{0, 100}),
                               node("many",
                                    [](const std::int64_t& n, Emit<std::int64_t>& emit) {
                                      for (std::int64_t i = 0; i < 20; ++i) emit(n + i);
                                    })
                                   .batch({.items = 1}),
                               sink("total", Total{}));
  const flow::Plan plan = flow::make_plan(graph.shape);
  Recorder port;
  Counters counters;
  Replica replica(1, plan.replicas[1], graph, {}, port, counters, nullptr);
  replica.begin();
  replica.start();
  int waits = 0;
  port.on_wait = [&](std::optional<Time> longest) {
    if (++waits == 1) replica.receive(0, Barrier{1, 0, milliseconds(100)});
    if (waits == 2) {
      CHECK(longest == milliseconds(100));
      port.clock += *longest;
    }
    REQUIRE(waits <= 2);
    return true;
  };
  replica.receive(0, batch_of({1'000}));
  for (int i = 0; i < 20; ++i) replica.step();
  CHECK(port.sent_of<Batch>().empty());
  CHECK(port.sent_of<Barrier>().size() == 1);
  CHECK(port.saved.contains(1));
}
