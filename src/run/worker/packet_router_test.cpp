#include "run/worker/packet_router.h"

#include <doctest/doctest.h>
#include <piracema/blocks.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

using namespace piracema;
using namespace piracema::runtime;

namespace {

class Sent final : public net::Transport {
 public:
  std::string address() const override { return {}; }
  void connect(Slot peer, std::uint32_t, std::string) override { connected.push_back(peer); }
  void send(Slot to, wire::Frame frame) override { frames.emplace_back(to, std::move(frame)); }

  std::vector<Slot> connected;
  std::vector<std::pair<Slot, wire::Frame>> frames;
};

/// The router of a process, slot 9, that has no replicas; those of source > farm of 2 > sink are in
/// slots 1, 2, 2 and 3.
struct RoutingProcess {
  RoutingProcess() {
    Deploy deploy;
    deploy.epoch = 5;
    deploy.placement = {1, 2, 2, 3};
    layouts.add(std::make_unique<Layout>(deploy, graph, 9));
    router.set_transport(&transport);
    router.begin(*layouts.newest(), 5);
    start.begin(5, 0, {});
  }

  Graph graph = pipeline(source("numbers", [] { return std::optional<std::int64_t>(); }),
                         farm("same", 2, [](const std::int64_t& n) { return n; }),
                         sink("none", [](const std::int64_t&) {}));
  Sent transport;
  Layouts layouts;
  EpochStart start{[](Epoch) {}};
  PacketRouter router{9, layouts, start};
};

}  // namespace

TEST_CASE("a packet to a replica elsewhere goes to its process") {
  RoutingProcess f;
  f.router.route(5, 0, 3, Packet(EndOfStream{}));
  REQUIRE(f.transport.frames.size() == 1);
  CHECK(f.transport.frames[0].first == 3);
  CHECK(f.transport.frames[0].second.from == 0);
  CHECK(f.transport.frames[0].second.to == 3);
  CHECK(f.transport.frames[0].second.epoch == 5);
}

TEST_CASE("several packets leave in their order") {
  RoutingProcess f;
  std::vector<Addressed> packets;
  for (const ReplicaId to : {ReplicaId{1}, ReplicaId{2}, ReplicaId{3}, ReplicaId{1}}) {
    packets.push_back({to, Packet(EndOfStream{})});
  }
  f.router.route(5, 0, std::move(packets));
  std::vector<std::pair<Slot, ReplicaId>> sent;
  for (const auto& [slot, frame] : f.transport.frames) sent.emplace_back(slot, frame.to);
  CHECK(sent == std::vector<std::pair<Slot, ReplicaId>>{{2, 1}, {2, 2}, {3, 3}, {2, 1}});
}

TEST_CASE("what a replica does by a plan that is over is dropped") {
  RoutingProcess f;
  f.router.route(4, 0, 3, Packet(EndOfStream{}));
  CHECK(f.transport.frames.empty());
}

TEST_CASE("a frame of an epoch to come is kept, and one of an older epoch or for nobody dropped") {
  RoutingProcess f;
  for (const Epoch epoch : {4, 5, 6}) {
    wire::Frame frame = to_frame(Packet(EndOfStream{}), epoch, 0, 3);
    f.router.on_frame(1, std::move(frame));
  }
  const auto early = f.start.take_early();
  REQUIRE(early.size() == 1);
  CHECK(early[0].second.epoch == 6);
}

TEST_CASE("the other processes are connected, where there are any") {
  RoutingProcess f;
  f.router.connect({{.slot = 1}, {.slot = 2}});
  CHECK(f.transport.connected == std::vector<Slot>{1, 2});
  f.router.set_transport(nullptr);
  f.router.connect({{.slot = 3}});
  CHECK(f.transport.connected.size() == 2);
}
