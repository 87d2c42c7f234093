#include "cluster/driver/door.h"

#include <doctest/doctest.h>
#include <sys/socket.h>

#include <optional>

#include "base/clock.h"
#include "net/session/handshake.h"
#include "net/socket/address.h"
#include "net/socket/frame_reader.h"

using namespace piracema;
using namespace piracema::cluster;

namespace {

const std::string door_token(32, 'a');

// A door on whose other side nobody is expected but slot 0.
struct House {
  net::Poller poller;
  std::optional<runtime::Hello> joined;
  std::optional<AgentHello> agent;
  int heard = 0;
  Door::Line line;
  std::unique_ptr<Door> door = *Door::open(
      poller, door_token,
      {.expected = [](const runtime::Hello& hello) -> Result<Done> {
         if (hello.slot != 0) return Error{Errc::refused, "nobody is expected there"};
         return Done{};
       },
       .joined =
           [this](const runtime::Hello& hello, Door::Line with) {
             joined = hello;
             line = with;
             return net::Connection::Events{.received = [this](wire::Frame) { heard += 1; },
                                            .lost = [](const Error&) {}};
           },
       .agent = [this](const AgentHello& hello,
                       Door::Line with) -> Result<net::Connection::Events> {
         if (hello.host != 1) return Error{Errc::refused, "there is no such host"};
         agent = hello;
         line = with;
         return net::Connection::Events{.received = [this](wire::Frame) { heard += 1; },
                                        .lost = [](const Error&) {}};
       }});

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
    const Time until = now() + std::chrono::seconds(100);
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

// Does what a caller with this key does; the socket is then to be greeted on.
Fd knock_with_key(House& house, const std::string& key = door_token) {
  Fd socket = house.knock();
  net::Handshake handshake(key, net::Purpose::control, net::draw_nonce());
  say(socket, handshake.call({}));
  net::FrameReader reader;
  while (true) {
    house.poller.run_once(std::chrono::milliseconds(5));
    auto room = reader.room();
    msghdr message{};
    message.msg_iov = room.data();
    message.msg_iovlen = room.size();
    const ssize_t count = ::recvmsg(socket.get(), &message, MSG_DONTWAIT);
    if (count < 0) continue;
    REQUIRE(count > 0);
    reader.filled(static_cast<std::size_t>(count));
    const auto answer = reader.next();
    REQUIRE(answer.ok());
    if (!*answer) continue;
    REQUIRE(handshake.take_answer(**answer).ok());
    say(socket, handshake.proof());
    return socket;
  }
}

}  // namespace

TEST_CASE("who says a right Hello is let in, and heard") {
  House house;
  const Fd socket = knock_with_key(house);
  const std::string large_graph(100'000, 'g');
  say(socket, frame(runtime::Hello{.slot = 0, .incarnation = 3, .graph = large_graph}));
  say(socket, frame(runtime::Heartbeat{}));

  while (house.heard == 0) house.poller.run_once(std::chrono::milliseconds(1'000));
  REQUIRE(house.joined.has_value());
  CHECK(house.joined->incarnation == 3);
  CHECK(house.joined->graph == large_graph);
}

TEST_CASE("an agent is let in by the same door, if it is of a host of the job") {
  House house;
  const Fd right = knock_with_key(house), wrong = knock_with_key(house);
  say(wrong, to_frame(FromAgent(AgentHello{7, 0})));
  CHECK(house.wait_for_end(wrong) == "");
  CHECK_FALSE(house.agent.has_value());
  say(right, to_frame(FromAgent(AgentHello{1, 2})));
  say(right, to_frame(FromAgent(AgentPulse{})));
  while (house.heard == 0) house.poller.run_once(std::chrono::milliseconds(1'000));
  CHECK(house.agent->attempt == 2);
}

TEST_CASE("who has the key and says anything but a right Hello is refused") {
  House house;
  const Fd socket = knock_with_key(house);
  SUBCASE("random bytes") {
    const std::string bytes(200, 'x');
    REQUIRE(::send(socket.get(), bytes.data(), bytes.size(), 0) == 200);
    CHECK(house.wait_for_end(socket) == "");
  }
  SUBCASE("another message first") {
    say(socket, frame(runtime::Heartbeat{}));
    CHECK(house.wait_for_end(socket) == "");
  }
  SUBCASE("nobody who is expected: it is told why") {
    say(socket, frame(runtime::Hello{.slot = 9}));
    CHECK(house.wait_for_end(socket).find("nobody is expected there") != std::string::npos);
  }
  CHECK_FALSE(house.joined.has_value());
}

TEST_CASE("who says anything else is refused") {
  House house;
  const Fd socket = house.knock();
  SUBCASE("random bytes") {
    const std::string bytes(200, 'x');
    REQUIRE(::send(socket.get(), bytes.data(), bytes.size(), 0) == 200);
    CHECK(house.wait_for_end(socket) == "");
  }
  SUBCASE("the key of another job") {
    net::Handshake handshake(std::string(32, 'b'), net::Purpose::control, net::draw_nonce());
    say(socket, handshake.call({}));
    CHECK(house.wait_for_end(socket) == "");
  }
  SUBCASE("a proof that is none") {
    net::Handshake handshake(door_token, net::Purpose::control, net::draw_nonce());
    say(socket, handshake.call({}));
    say(socket, handshake.proof());  // The answer is not waited for.
    house.wait_for_end(socket);
  }
  SUBCASE("a Hello without a handshake") {
    say(socket, frame(runtime::Hello{}));
    CHECK(house.wait_for_end(socket) == "");
  }
  SUBCASE("nothing, and leaves") {
    ::shutdown(socket.get(), SHUT_WR);
    CHECK(house.wait_for_end(socket) == "");
  }
  CHECK_FALSE(house.joined.has_value());
}

TEST_CASE("a door that is held lets nobody in, and says nothing to who stands there") {
  House house;
  const Fd socket = house.knock();
  house.poller.run_once(std::chrono::milliseconds(20));
  house.door->hold();
  net::Handshake handshake(door_token, net::Purpose::control, net::draw_nonce());
  say(socket, handshake.call({}));
  const Fd late = house.knock();
  say(late, handshake.call({}));
  for (int i = 0; i < 5; ++i) house.poller.run_once(std::chrono::milliseconds(10));
  for (const Fd* one : {&socket, &late}) {
    char byte = 0;
    CHECK(::recv(one->get(), &byte, 1, MSG_DONTWAIT) == -1);
    CHECK(errno == EAGAIN);
  }
  CHECK_FALSE(house.joined.has_value());
}

TEST_CASE("a door that is shut lets nobody in, and leaves who stands there") {
  House house;
  const Fd socket = house.knock();
  house.poller.run_once(std::chrono::milliseconds(20));
  const auto address = net::Address::parse(house.door->address());
  house.door->shut();
  CHECK(house.wait_for_end(socket) == "");
  const Fd late(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  CHECK(::connect(late.get(), address->data(), address->size()) != 0);
}
