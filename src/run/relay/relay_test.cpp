#include "run/relay/relay.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <deque>
#include <string>

#include "base/random.h"

using namespace piracema;
using namespace piracema::runtime;

namespace {

constexpr Epoch relay_epoch = 3;
constexpr std::uint32_t shown = 1;

/// One source in process 0, and five replicas of a node in processes 0 to 4.
GraphShape shape() {
  GraphShape shape;
  shape.nodes.resize(2);
  shape.nodes[0].replicas = 1;
  shape.nodes[1].replicas = 5;
  return shape;
}
const std::vector<Slot> relay_placement{0, 0, 1, 2, 3, 4};
const std::vector<ReplicaId> receivers{1, 2, 3, 4, 5};

ToAll to_all(std::uint64_t number) {
  return {.node = shown, .number = number, .receivers = receivers};
}

Packet packet_of(const std::string& text) {
  Batch batch;
  batch.count = 1;
  batch.item_bytes = static_cast<std::uint32_t>(text.size());
  batch.data.append(text.data(), text.size());
  return batch;
}
std::string text_of(const wire::Frame& frame) {
  auto packet = to_packet(frame);
  REQUIRE(packet.ok());
  const auto& data = std::get<Batch>(*packet).data;
  return {reinterpret_cast<const char*>(data.data()), data.size()};
}

/// Processes, and frames on their way between them.
struct Network {
  Network() {
    for (Slot slot = 0; slot < 5; ++slot) {
      relays.push_back(std::make_unique<Relay>(slot));
      relays.back()->begin(relay_epoch, shape(), relay_placement);
    }
  }
  void send(std::uint64_t number, Packet packet) {
    ToAll to = to_all(number);
    to.done_before = done_before;
    leave(relays[0]->send(relay_epoch, 0, to, std::move(packet)));
  }
  void leave(std::vector<Relay::Leaving> leaving) {
    for (Relay::Leaving& one : leaving) {
      sent += 1;
      on_the_way.push_back(std::move(one));
    }
  }
  /// The frame with this place among those on the way arrives.
  void arrive(std::size_t which) {
    Relay::Leaving one = std::move(on_the_way[which]);
    on_the_way.erase(on_the_way.begin() + static_cast<std::ptrdiff_t>(which));
    auto coming = relays[one.to]->receive(std::move(one.frame));
    REQUIRE(coming.ok());
    leave(std::move(coming->onward));
    for (const wire::Frame& frame : coming->packets) {
      CHECK(frame.from == 0);
      CHECK(frame.to == shown);
      came[one.to].push_back(text_of(frame));
    }
  }
  void follow(std::vector<TreeBranch> branches) {
    leave(relays[0]->follow({relay_epoch, {{shown, std::move(branches)}}, 0}));
  }

  std::vector<std::unique_ptr<Relay>> relays;
  std::deque<Relay::Leaving> on_the_way;
  std::size_t sent = 0;
  std::uint64_t done_before = 0;
  std::map<Slot, std::vector<std::string>> came;
};

}  // namespace

TEST_CASE("without a tree a packet goes to each other process with a receiver, once") {
  Network network;
  network.send(0, packet_of("a"));
  REQUIRE(network.on_the_way.size() == 4);
  std::vector<Slot> slots;
  for (const auto& one : network.on_the_way) slots.push_back(one.to);
  CHECK(slots == std::vector<Slot>{1, 2, 3, 4});
  while (!network.on_the_way.empty()) network.arrive(0);
  CHECK(network.sent == 4);
  CHECK(network.came.size() == 4);
}

TEST_CASE("by a tree it goes to the first ones, and from them to the others") {
  Network network;
  network.follow({{0, 4}, {3, 2}, {1, 1}, {4, 0}, {2, 0}});
  network.send(0, packet_of("a"));
  REQUIRE(network.on_the_way.size() == 2);
  CHECK(network.on_the_way[0].to == 3);
  CHECK(network.on_the_way[1].to == 2);
  network.arrive(0);
  CHECK(network.came[3] == std::vector<std::string>{"a"});
  CHECK(network.on_the_way.back().to == 1);
  while (!network.on_the_way.empty()) network.arrive(0);
  for (const Slot slot : {1, 2, 3, 4}) CHECK(network.came[slot] == std::vector<std::string>{"a"});
  CHECK(network.sent == 4);
}

TEST_CASE("a packet that comes before an earlier one waits for it, but is passed on at once") {
  Network network;
  network.follow({{0, 4}, {1, 3}, {2, 2}, {3, 1}, {4, 0}});
  network.send(0, packet_of("first"));
  const auto only_once = network.on_the_way;
  network.follow({{0, 4}, {2, 3}, {1, 0}, {3, 0}, {4, 0}});
  network.on_the_way = only_once;
  network.send(1, packet_of("second"));
  network.arrive(1);
  CHECK(network.came[2].empty());
  CHECK(network.on_the_way.size() == 4);
  while (!network.on_the_way.empty()) network.arrive(network.on_the_way.size() - 1);
  for (const Slot slot : {1, 2, 3, 4}) {
    CHECK(network.came[slot] == std::vector<std::string>{"first", "second"});
  }
}

TEST_CASE("whatever trees follow each other and whatever overtakes what, all come once in order") {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    Random random(seed);
    Network network;
    std::vector<std::string> wanted;
    for (std::uint64_t number = 0; number < 20; ++number) {
      // Process i hangs on one of those before it, in an order of its own.
      std::vector<Slot> slots{1, 2, 3, 4};
      for (std::size_t i = 3; i > 0; --i) std::swap(slots[i], slots[random.below(i + 1)]);
      coll::Tree tree(5, 0);
      for (std::size_t i = 0; i < 4; ++i) {
        const std::size_t by = random.below(i + 1);
        tree.adopt(by == 0 ? 0 : slots[by - 1], slots[i]);
      }
      std::vector<TreeBranch> branches;
      for (const coll::Branch& branch : coll::to_branches(tree)) {
        branches.push_back({branch.rank, branch.below});
      }
      network.follow(branches);
      wanted.push_back(std::to_string(number));
      network.send(number, packet_of(wanted.back()));
      for (auto some = random.below(4); some > 0 && !network.on_the_way.empty(); --some) {
        network.arrive(random.below(network.on_the_way.size()));
      }
    }
    while (!network.on_the_way.empty()) {
      network.arrive(random.below(network.on_the_way.size()));
    }
    CHECK(network.sent >= 80);
    for (const Slot slot : {1, 2, 3, 4}) CHECK(network.came[slot] == wanted);
  }
}

TEST_CASE("what is not done when the tree changes goes once more to those it reaches otherwise") {
  Network network;
  network.follow({{0, 4}, {1, 1}, {2, 0}, {3, 1}, {4, 0}});
  network.send(0, packet_of("done"));
  network.send(1, packet_of("first"));
  network.done_before = 1;
  network.send(2, packet_of("second"));
  // The link to 1 is dead slow; all but what waits for it arrives.
  for (std::size_t i = 0; i < network.on_the_way.size();) {
    network.on_the_way[i].to == 1 ? void(++i) : network.arrive(i);
  }
  CHECK(network.came[4] == std::vector<std::string>{"done", "first", "second"});
  const auto stuck = std::exchange(network.on_the_way, {});
  network.follow({{0, 4}, {3, 3}, {4, 0}, {1, 1}, {2, 0}});
  CHECK(network.on_the_way.size() == 2);
  while (!network.on_the_way.empty()) network.arrive(0);
  CHECK(network.came[1].empty());  // The one that was said to be done is not sent again.
  network.on_the_way = stuck;
  while (!network.on_the_way.empty()) network.arrive(0);
  for (const Slot slot : {1, 2, 3, 4}) {
    CHECK(network.came[slot] == std::vector<std::string>{"done", "first", "second"});
  }
}

TEST_CASE("a tree that does not reach just the receivers' processes is none") {
  Network network;
  network.follow({{0, 3}, {3, 2}, {1, 1}, {4, 0}});
  network.follow({{0, 5}, {3, 2}, {1, 1}, {4, 0}, {2, 0}, {7, 0}});
  network.follow({{1, 4}, {3, 2}, {0, 1}, {4, 0}, {2, 0}});
  network.follow({{0, 4}, {3, 9}, {1, 1}, {4, 0}, {2, 0}});
  network.relays[0]->follow(
      {relay_epoch + 1, {{shown, {{0, 4}, {1, 3}, {2, 2}, {3, 1}, {4, 0}}}}, 0});
  network.relays[0]->follow({relay_epoch, {{9, {{0, 4}, {1, 3}, {2, 2}, {3, 1}, {4, 0}}}}, 0});
  network.send(0, packet_of("a"));
  CHECK(network.on_the_way.size() == 4);
}

TEST_CASE("what was sent before an epoch comes to nothing in it") {
  Network network;
  network.send(0, packet_of("of old"));
  for (auto& relay : network.relays) relay->begin(relay_epoch + 1, shape(), relay_placement);
  CHECK(network.relays[0]->send(relay_epoch, 0, to_all(1), packet_of("late")).empty());
  while (!network.on_the_way.empty()) network.arrive(0);
  CHECK(network.came.empty());
  network.leave(network.relays[0]->send(relay_epoch + 1, 0, to_all(0), packet_of("new")));
  while (!network.on_the_way.empty()) network.arrive(0);
  CHECK(network.came[4] == std::vector<std::string>{"new"});
}

TEST_CASE("the one that gets a packet's share gets what is left of it") {
  Batch batch;
  batch.order.share = 100;
  std::uint64_t shares = 0;
  for (std::uint32_t i = 0; i < 7; ++i) {
    shares += std::get<Batch>(copy_for(batch, i, 7)).order.share;
  }
  CHECK(shares == 100);
}

TEST_CASE("bytes that are no packet for all are refused") {
  Network network;
  network.send(0, packet_of("a"));
  const wire::Frame right = network.on_the_way[0].frame;
  Relay& relay = *network.relays[1];
  SUBCASE("for another process") {
    CHECK(network.relays[2]->receive(right).error().code == Errc::corrupt);
  }
  SUBCASE("a way that is no tree") {
    wire::Frame wrong = right;
    RelayedFrame relayed = *to_relayed(right, 1);
    relayed.way = {{1, 1}, {1, 0}};
    CHECK(relay.receive(to_frame(relayed, relayed.way)).error().code == Errc::corrupt);
  }
  SUBCASE("a node that is not there") {
    wire::Frame wrong = right;
    wrong.to = 2;
    CHECK(relay.receive(std::move(wrong)).error().code == Errc::corrupt);
  }
  SUBCASE("a number that is far away; one that is over is no news") {
    CHECK(relay.receive(right)->packets.size() == 1);
    CHECK(relay.receive(right)->packets.empty());
    RelayedFrame relayed = *to_relayed(right, 1);
    relayed.number = 1'000'000;
    CHECK(relay.receive(to_frame(relayed, relayed.way)).error().code == Errc::corrupt);
  }
  SUBCASE("any bytes") {
    Random random(7);
    for (int i = 0; i < 20'000; ++i) {
      wire::Frame wrong = right;
      if (random.chance(0.5)) {
        wrong.head.resize(random.below(wrong.head.size() + 1));
      }
      for (auto changes = 1 + random.below(4); changes > 0 && !wrong.head.empty(); --changes) {
        wrong.head.data()[random.below(wrong.head.size())] =
            static_cast<std::byte>(random.below(256));
      }
      const auto coming = relay.receive(std::move(wrong));
      if (!coming) CHECK(coming.error().code == Errc::corrupt);
    }
  }
}
