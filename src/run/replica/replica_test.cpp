#include "run/replica/replica.h"

#include <doctest/doctest.h>

#include "run/replica/replica_fixture.h"

using namespace piracema;
using namespace piracema::runtime;
using namespace piracema::runtime::testing;

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
    ReplicaInit beginning;
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

TEST_CASE(
    "round robin goes to the same process while that asks for more, and then in turn elsewhere") {
  Graph graph = pipeline(source("numbers", Counting{0, 1'000}),
                         farm("twice", 4, twice).round_robin(), sink("total", Total{}));
  const flow::Plan plan = flow::make_plan(graph.shape);
  Recorder port;
  Counters counters;
  ReplicaInit beginning;
  beginning.neighbours = {2, 4};  // Of the replicas 1 to 4.
  Replica source(0, plan.replicas[0], graph, std::move(beginning), port, counters, nullptr);
  source.begin();
  source.start();
  const auto receivers_after = [&](std::vector<std::pair<ReplicaId, Credit>> credits) {
    port.sent.clear();
    for (const auto& [from, credit] : credits) source.receive(from, credit);
    while (source.step() == Replica::Next::again) {
    }
    std::vector<ReplicaId> receivers;
    for (const auto& [to, batch] : port.sent_of<Batch>()) receivers.push_back(to);
    return receivers;
  };
  using Turns = std::vector<ReplicaId>;
  const auto credits = [](std::uint32_t batches) { return Credit{batches, 1'000'000, batches}; };

  CHECK(receivers_after({{1, credits(2)}, {2, credits(2)}, {3, credits(2)}, {4, credits(2)}}) ==
        Turns{2, 4, 2, 4, 1, 3, 1, 3});
  // On demand 1 would be next: it has less to do than 2, which has not said to have done anything.
  CHECK(receivers_after({{1, credits(2)}, {2, Credit{1, 1'000'000, 0}}}) == Turns{2, 1, 1});
  CHECK(receivers_after({{3, credits(1)}}) == Turns{3});
  CHECK(receivers_after({{2, credits(1)}, {4, credits(1)}}) == Turns{4, 2});
}

TEST_CASE("strict round robin is the turn of each, wherever it is") {
  for (const std::vector<ReplicaId>& near : {std::vector<ReplicaId>{}, {2}, {1, 2, 3}}) {
    Graph graph = pipeline(source("numbers", Counting{0, 6}),
                           farm("twice", 3, twice).strict_round_robin(), sink("total", Total{}));
    const flow::Plan plan = flow::make_plan(graph.shape);
    Recorder port;
    Counters counters;
    ReplicaInit beginning;
    beginning.neighbours = {near.begin(), near.end()};
    Replica source(0, plan.replicas[0], graph, std::move(beginning), port, counters, nullptr);
    source.begin();
    source.start();
    for (const ReplicaId to : {1u, 2u, 3u}) source.receive(to, Credit{16, 1'000'000, 0});
    while (source.step() == Replica::Next::again) {
    }
    std::vector<ReplicaId> receiver_of(6);
    for (const auto& [to, batch] : port.sent_of<Batch>()) {
      BatchReader items(batch);
      for (std::uint32_t i = 0; i < batch.count; ++i) {
        receiver_of[static_cast<std::size_t>(Codec<std::int64_t>::decode(items.next()))] = to;
      }
    }
    CHECK(receiver_of == std::vector<ReplicaId>{1, 2, 3, 1, 2, 3});
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
  ReplicaInit beginning;
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
