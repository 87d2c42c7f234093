#include "sim/network.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "sim/seeds.h"

namespace piracema::sim {

using std::chrono::milliseconds;

namespace {

/// Two nodes, of which the second notes what arrives.
struct Pair {
  explicit Pair(Link link = {}, std::uint64_t seed = 1)
      : scheduler(seed), network(scheduler, link) {}

  void send(int value) {
    network.send(a, b, "a number", [this, value] { got.push_back(value); });
  }
  void settle() {
    while (scheduler.step()) {
    }
  }

  Scheduler scheduler;
  Network network;
  Node a = network.add("a"), b = network.add("b");
  std::vector<int> got;
};

const std::vector<int> one_to_five = {1, 2, 3, 4, 5};

}  // namespace

TEST_CASE("a link in order keeps the order, another one loses it") {
  bool reordered = false;
  for (const auto seed : seeds(50)) {
    Pair fifo({}, seed), any({.in_order = false}, seed);
    for (const int i : one_to_five) {
      fifo.send(i);
      any.send(i);
    }
    fifo.settle();
    any.settle();
    CHECK(fifo.got == one_to_five);
    CHECK(std::is_permutation(any.got.begin(), any.got.end(), one_to_five.begin()));
    reordered = reordered || any.got != one_to_five;
  }
  CHECK(reordered);
}

TEST_CASE("messages are lost and doubled as often as the link says") {
  Pair lossy({.loss = 0.5}), doubling({.duplication = 0.5});
  for (int i = 0; i < 1'000; ++i) {
    lossy.send(i);
    doubling.send(i);
  }
  lossy.settle();
  doubling.settle();
  CHECK(lossy.got.size() > 400);
  CHECK(lossy.got.size() < 600);
  CHECK(doubling.got.size() > 1'400);
  CHECK(doubling.got.size() < 1'600);
}

TEST_CASE("a crash loses what is on the way to a node and what it wanted to do, not what it sent") {
  Pair pair;
  pair.send(1);
  pair.network.after(pair.b, milliseconds(1), [&] { pair.got.push_back(2); });
  pair.network.crash(pair.b);
  pair.network.restart(pair.b);
  pair.settle();
  CHECK(pair.got.empty());

  pair.send(3);
  pair.network.crash(pair.a);
  pair.send(4);
  pair.settle();
  CHECK(pair.got == std::vector<int>{3});
}

TEST_CASE("a frozen node does later what came meanwhile, in order") {
  Pair pair;
  pair.network.freeze(pair.b);
  for (const int i : one_to_five) pair.send(i);
  pair.settle();
  CHECK(pair.got.empty());
  pair.network.thaw(pair.b);
  CHECK(pair.got == one_to_five);
}

TEST_CASE("a node that freezes again in the middle of its work keeps the rest") {
  Pair pair;
  pair.network.freeze(pair.b);
  pair.send(1);
  pair.network.send(pair.a, pair.b, "freeze", [&] { pair.network.freeze(pair.b); });
  pair.send(2);
  pair.settle();
  pair.network.thaw(pair.b);
  CHECK(pair.got == std::vector<int>{1});
  pair.network.thaw(pair.b);
  CHECK(pair.got == std::vector<int>{1, 2});
}

TEST_CASE("a slow node gets everything later") {
  Pair pair;
  pair.network.slow_down(pair.b, milliseconds(100));
  pair.send(1);
  pair.settle();
  CHECK(pair.scheduler.now() >= milliseconds(100));
}

TEST_CASE("a blocked link loses one direction, a partition both, until it heals") {
  Pair pair;
  int back = 0;
  const auto both = [&] {
    pair.send(1);
    pair.network.send(pair.b, pair.a, "back", [&] { back += 1; });
    pair.settle();
  };
  pair.network.block(pair.a, pair.b);
  both();
  CHECK(pair.got.empty());
  CHECK(back == 1);
  pair.network.partition({pair.a});
  both();
  CHECK(back == 1);
  pair.network.heal();
  both();
  CHECK(pair.got.size() == 1);
  CHECK(back == 2);
}

}  // namespace piracema::sim
