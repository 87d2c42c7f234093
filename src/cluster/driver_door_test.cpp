#include "cluster/driver_door.h"

#include <doctest/doctest.h>
#include <sys/socket.h>

#include <optional>

#include "base/clock.h"
#include "net/address.h"
#include "net/handshake.h"

using namespace piracema;
using namespace piracema::cluster;

namespace {

const std::string token(32, 'a');

// A door on whose other side nobody is expected but slot 0.
struct House {
  net::Poller poller;
  std::optional<runtime::Hello> joined;
  int heard = 0;
  Door::Line line;
  std::unique_ptr<Door> door = *Door::open(
      poller, token,
      [](const runtime::Hello& hello) -> Result<Done> {
        if (hello.slot != 0) return Error{Errc::refused, "nobody is expected there"};
        return Done{};
      },
      [this](const runtime::Hello& hello, Door::Line with) {
        joined = hello;
        line = with;
        return net::Connection::Events{.received = [this](wire::Frame) { heard += 1; },
                                       .lost = [](const Error&) {}};
      });

  ~House() {
    if (line) line->close();
  }

  Fd knock() {
    const auto address = net::Address::parse(door->address());
    Fd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    REQUIRE(::connect(socket.get(), address->data(), address->size()) == 0);
    return socket;
  }

  // What the other end says until it closes.
  std::string wait_for_end(const Fd& socket) {
    std::string said;
    char some[512];
    const Time until = now() + std::chrono::seconds(10);
    while (now() < until) {
      poller.run_once(std::chrono::milliseconds(5));
      const ssize_t count = ::recv(socket.get(), some, sizeof some, MSG_DONTWAIT);
      if (count == 0 || (count < 0 && errno != EAGAIN)) return said;
      if (count > 0) said.append(some, static_cast<std::size_t>(count));
    }
    FAIL("the connection stays open");
    return said;
  }
};

void say(const Fd& socket, const wire::Frame& frame) {
  Buffer bytes;
  wire::write_header(frame, bytes.extend(wire::frame_header_bytes));
  bytes.append(frame.head.data(), frame.head.size());
  REQUIRE(::send(socket.get(), bytes.data(), bytes.size(), 0) ==
          static_cast<ssize_t>(bytes.size()));
}

wire::Frame frame(runtime::FromWorker message) { return runtime::to_frame(message); }

}  // namespace

TEST_CASE("who says a right Hello is let in, and heard") {
  House house;
  const Fd socket = house.knock();
  const std::string large_graph(100'000, 'g');
  say(socket,
      frame(runtime::Hello{.token = token, .slot = 0, .incarnation = 3, .graph = large_graph}));
  say(socket, frame(runtime::Heartbeat{}));

  while (house.heard == 0) house.poller.run_once(std::chrono::milliseconds(1'000));
  REQUIRE(house.joined.has_value());
  CHECK(house.joined->incarnation == 3);
  CHECK(house.joined->graph == large_graph);
}

TEST_CASE("who says anything else is refused") {
  House house;
  const Fd socket = house.knock();
  SUBCASE("random bytes") {
    const std::string bytes(200, 'x');
    REQUIRE(::send(socket.get(), bytes.data(), bytes.size(), 0) == 200);
    CHECK(house.wait_for_end(socket) == "");
  }
  SUBCASE("another token") {
    say(socket, frame(runtime::Hello{.token = std::string(32, 'b')}));
    CHECK(house.wait_for_end(socket) == "");
  }
  SUBCASE("another message first") {
    say(socket, frame(runtime::Heartbeat{}));
    CHECK(house.wait_for_end(socket) == "");
  }
  SUBCASE("nobody who is expected: it is told why") {
    say(socket, frame(runtime::Hello{.token = token, .slot = 9}));
    CHECK(house.wait_for_end(socket).find("nobody is expected there") != std::string::npos);
  }
  SUBCASE("nothing, and leaves") {
    ::shutdown(socket.get(), SHUT_WR);
    CHECK(house.wait_for_end(socket) == "");
  }
  CHECK_FALSE(house.joined.has_value());
}

TEST_CASE("tokens differ and are such that the transport takes them") {
  const auto one = Door::make_token();
  const auto other = Door::make_token();
  REQUIRE(one.ok());
  CHECK(net::is_token(*one));
  CHECK(*one != *other);
}
