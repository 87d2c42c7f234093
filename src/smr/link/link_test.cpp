#include "smr/link/link.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <deque>
#include <string>

#include "base/random.h"
#include "net/socket/dial.h"
#include "smr/link/caller.h"
#include "smr/link/door.h"
#include "smr/replica/testing.h"

using namespace piracema;
using namespace piracema::smr;
using namespace piracema::smr::testing;

namespace {

/// A replica's door, a client who calls, and what happened.
struct Fixture {
  explicit Fixture(Link::Limits with = {}) : limits(with) {
    Door::Host host;
    host.key_of = [](const PeerName& name) {
      if (name.id != 7 && name.id != 8) return std::optional<PublicKey>();
      return std::optional(key_of(static_cast<std::uint8_t>(name.id)).public_key());
    };
    host.known = [this](std::shared_ptr<Link> link) {
      if (in_turn) link->read_in_turn(&turns, to_text(link->peer()));
      inside.push_back(std::move(link));
    };
    host.received = [this](Link& link, std::uint8_t kind, Bytes message) {
      heard.push_back(std::to_string(kind) + ":" + std::string(as_text(message)));
      if (echo) link.send(kind, message);
    };
    host.lost = [this](Link&, const Error& why) { ends.push_back(why.message); };
    auto opened = Door::open(poller, flush_list, turns, replica, "127.0.0.1:0", host, limits);
    REQUIRE(opened.ok());
    door = *std::move(opened);
  }

  std::unique_ptr<Caller> call() { return call_as(client); }
  std::unique_ptr<Caller> call_as(const Self& who) {
    Link::Events events;
    events.received = [this](Link&, std::uint8_t, Bytes message) {
      answers.push_back(std::string(as_text(message)));
    };
    events.lost = [this](Link&, const Error& why) { lost.push_back(why.message); };
    return std::make_unique<Caller>(
        poller, flush_list, who,
        Caller::Whom{replica.name, key_of(1).public_key(), *net::Address::parse(door->address())},
        std::move(events), limits);
  }
  Fd plain_socket(const std::string& from = "127.0.0.1") {
    const auto address = *net::Address::parse(door->address());
    const auto own = *net::Address::make(from, 0);
    Fd socket(::socket(AF_INET, SOCK_STREAM, 0));
    REQUIRE(::bind(socket.get(), own.data(), own.size()) == 0);
    REQUIRE(::connect(socket.get(), address.data(), address.size()) == 0);
    return socket;
  }

  template <class Condition>
  void run_until(Condition condition) {
    const Time deadline = now() + std::chrono::seconds(100);
    while (!condition()) {
      REQUIRE(now() < deadline);
      poller.run_once(std::chrono::milliseconds(50));
      turns.run(std::chrono::milliseconds(5));
      flush_list.flush();
    }
  }

  Link::Limits limits;
  net::Poller poller;
  FlushList flush_list;
  ReadTurns turns;
  Self replica{"g", {PeerName::Role::replica, 1}, key_of(1)};
  Self client{"g", {PeerName::Role::client, 7}, key_of(7)};
  Self other_client{"g", {PeerName::Role::client, 8}, key_of(8)};
  std::unique_ptr<Door> door;
  std::vector<std::shared_ptr<Link>> inside;
  std::vector<std::string> heard, answers, ends, lost;
  bool echo = false, in_turn = false;
};

enum class Spoil { nothing, flip, drop, repeat };

/// A client's link to a replica, and somebody between the two who passes bytes on and keeps them.
struct Between {
  Between(Fixture& f, bool sealed) {
    int ends[2], far_ends[2];
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends) == 0);
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, far_ends) == 0);
    middle_near = Fd(ends[1]);
    middle_far = Fd(far_ends[1]);
    Link::Events quiet{[](Link&) {}, [](Link&, std::uint8_t, Bytes) {}, [](Link&, const Error&) {}};
    Link::Events told{[](Link&) {},
                      [this](Link&, std::uint8_t, Bytes m) { heard.emplace_back(as_text(m)); },
                      [this](Link&, const Error& error) { why = error.message; }};
    Handshake calls(f.client, f.replica.name, key_of(1).public_key());
    if (sealed) calls.want_seal();
    near = Link::open(f.poller, f.flush_list, Fd(ends[0]), std::move(calls), true, quiet, {});
    far = Link::open(f.poller, f.flush_list, Fd(far_ends[0]),
                     Handshake(f.replica, [](const PeerName&) { return key_of(7).public_key(); }),
                     false, told, {});
    f.run_until([this] {
      pass();
      return near->is_known() && far->is_known();
    });
  }
  ~Between() {
    near->close();
    far->close();
  }

  void pass(Spoil spoil = Spoil::nothing) {
    std::string bytes(1 << 16, '\0');
    for (const auto& [from, to] :
         {std::pair(&middle_near, &middle_far), std::pair(&middle_far, &middle_near)}) {
      const ssize_t count = ::read(from->get(), bytes.data(), bytes.size());
      if (count <= 0 || spoil == Spoil::drop) continue;
      const auto size = static_cast<std::size_t>(count);
      if (spoil == Spoil::flip) bytes[size / 2] ^= 1;
      passed.append(bytes, 0, size);
      for (int i = 0; i < (spoil == Spoil::repeat ? 2 : 1); ++i) {
        REQUIRE(::write(to->get(), bytes.data(), size) == count);
      }
    }
  }

  Fd middle_near, middle_far;
  std::shared_ptr<Link> near, far;
  std::vector<std::string> heard;
  std::string why, passed;
};

bool is_hung_up(const Fd& socket) {
  char byte = 0;
  const ssize_t count = ::recv(socket.get(), &byte, 1, MSG_DONTWAIT);
  return count == 0 || (count < 0 && errno == ECONNRESET);
}

}  // namespace

TEST_CASE("messages of all sizes come in order, with their kinds") {
  Fixture f;
  f.echo = true;
  auto caller = f.call();
  f.run_until([&] { return caller->link() != nullptr; });
  std::vector<std::string> said;
  for (const std::size_t size : {0u, 1u, 1'000u, 300'000u, 3'000'000u, 5u}) {
    said.emplace_back(size, static_cast<char>('a' + said.size()));
    REQUIRE(caller->link()->send(3, as_bytes(said.back()).first(size / 2),
                                 as_bytes(said.back()).subspan(size / 2)));
  }
  f.run_until([&] { return f.answers.size() == said.size(); });
  CHECK(f.answers == said);
  CHECK(f.heard[1] == "3:b");
}

TEST_CASE("a caller calls until somebody is there, and again") {
  Fixture f;
  auto caller = f.call();
  f.run_until([&] { return f.inside.size() == 1; });
  f.inside[0]->close();
  f.run_until([&] { return f.inside.size() == 2 && caller->link() != nullptr; });
  CHECK(f.lost.size() == 1);
}

TEST_CASE("random bytes are refused, and the others do not notice") {
  Fixture f;
  f.echo = true;
  auto caller = f.call();
  f.run_until([&] { return caller->link() != nullptr; });
  Random random(2);
  for (int i = 0; i < 40; ++i) {
    const Fd stranger = f.plain_socket();
    Buffer noise;
    noise.resize(600 + random.below(4'000));
    for (std::size_t k = 0; k < noise.size(); ++k) {
      noise.data()[k] = static_cast<std::byte>(random.next());
    }
    // Half of them with a length that makes sense.
    if (i % 2 == 0) std::fill_n(noise.data() + 1, 11, std::byte{0});
    REQUIRE(::send(stranger.get(), noise.data(), noise.size(), MSG_NOSIGNAL) > 0);
    f.run_until([&] { return is_hung_up(stranger); });
  }
  REQUIRE(caller->link()->send(1, as_bytes("still here")));
  f.run_until([&] { return f.answers.size() == 1; });
  CHECK(f.inside.size() == 1);
}

TEST_CASE("strangers who say nothing are sent away, by time or by those behind them") {
  Fixture f({.stranger_time = std::chrono::milliseconds(300)});
  std::vector<Fd> silent;
  for (std::size_t i = 0; i < StrangerPlaces::of_address_max + 10; ++i)
    silent.push_back(f.plain_socket());
  f.run_until([&] { return is_hung_up(silent[9]); });  // Pushed out by the ten behind.
  auto caller = f.call();
  f.run_until([&] { return caller->link() != nullptr; });
  f.run_until([&] { return is_hung_up(silent.back()); });
  CHECK(caller->link() != nullptr);
}

TEST_CASE("an address that sends strangers without end keeps nobody of another one out") {
  Fixture f;
  Fd far = f.plain_socket("127.0.0.2");
  std::vector<Fd> silent;
  for (int i = 0; i < 600; ++i) {
    silent.push_back(f.plain_socket());
    if (i % 50 == 0) f.poller.run_once(std::chrono::milliseconds(0));
  }
  f.run_until([&] { return is_hung_up(silent[400]); });
  // What it says comes late: it is far away.
  REQUIRE(::fcntl(far.get(), F_SETFL, O_NONBLOCK) == 0);
  Link::Events quiet{[](Link&) {}, [](Link&, std::uint8_t, Bytes) {}, [](Link&, const Error&) {}};
  const auto link =
      Link::open(f.poller, f.flush_list, std::move(far),
                 Handshake(f.client, f.replica.name, key_of(1).public_key()), true, quiet, {});
  f.run_until([&] { return link->is_known() || !link->is_open(); });
  CHECK(link->is_known());
  link->close();
}

TEST_CASE("who has many connections is read no more often than who has one") {
  Fixture f;
  f.in_turn = true;
  std::vector<std::unique_ptr<Caller>> many;
  for (int i = 0; i < 10; ++i) many.push_back(f.call());
  const auto one = f.call_as(f.other_client);
  f.run_until([&] {
    return f.inside.size() == 11 && one->link() != nullptr &&
           std::all_of(many.begin(), many.end(),
                       [](const auto& c) { return c->link() != nullptr; });
  });
  for (const auto& each : many) REQUIRE(each->link()->send(1, as_bytes("flood")));
  f.flush_list.flush();
  REQUIRE(one->link()->send(1, as_bytes("one")));
  f.flush_list.flush();
  while (f.turns.waiting() < 11) f.poller.run_once(std::chrono::milliseconds(50));
  CHECK(f.heard.empty());
  f.turns.run(Time{});
  f.turns.run(Time{});
  CHECK(f.heard.size() == 2);
  CHECK(std::count(f.heard.begin(), f.heard.end(), "1:one") == 1);
  f.run_until([&] { return f.heard.size() == 11; });
}

TEST_CASE("who is known and sends a message above the limit is hung up on") {
  Fixture f({.message_bytes = 1'000});
  auto caller = f.call();
  f.run_until([&] { return caller->link() != nullptr; });
  const std::string large(1'001, 'x');
  REQUIRE(caller->link()->send(1, as_bytes(large)));
  f.run_until([&] { return !f.ends.empty(); });
  CHECK(f.heard.empty());
}

TEST_CASE("a record that was changed, dropped or repeated on its way ends the link") {
  for (const bool sealed : {false, true}) {
    for (const Spoil spoil : {Spoil::nothing, Spoil::flip, Spoil::drop, Spoil::repeat}) {
      Fixture f;
      Between between(f, sealed);
      for (const std::string word : {"one", "two", "three"}) {
        REQUIRE(between.near->send(1, as_bytes(word)));
        f.flush_list.flush();
        if (!between.far->is_open()) break;
        between.pass(word == "two" ? spoil : Spoil::nothing);
        f.poller.run_once(std::chrono::milliseconds(10));
      }
      f.run_until([&] { return between.heard.size() == 3 || !between.far->is_open(); });
      if (spoil == Spoil::nothing) {
        CHECK(between.heard == std::vector<std::string>{"one", "two", "three"});
      } else {
        CHECK(between.why == "a record that the peer did not send as it came");
        CHECK(between.heard.size() <= 2);
      }
    }
  }
}

TEST_CASE("a sealed link carries messages of all sizes, and who stands between reads none") {
  for (const bool sealed : {false, true}) {
    Fixture f;
    Between between(f, sealed);
    std::vector<std::string> said;
    for (const std::size_t size : {20u, 1'000u, 300'000u, 1'000'000u, 12u}) {
      said.emplace_back(size, static_cast<char>('a' + said.size()));
      REQUIRE(between.near->send(1, as_bytes(said.back())));
    }
    f.flush_list.flush();
    f.run_until([&] {
      between.pass();
      return between.heard.size() == said.size();
    });
    CHECK(between.heard == said);
    CHECK((between.passed.find(std::string(10, 'c')) != std::string::npos) == !sealed);
    CHECK((between.passed.find(std::string(12, 'e')) != std::string::npos) == !sealed);
  }
}

TEST_CASE("what a paused link is sent waits with the sender, whose queue has a bound") {
  Fixture f({.waiting_bytes = 1'000'000});
  auto caller = f.call();
  f.run_until([&] { return f.inside.size() == 1; });
  f.inside[0]->pause(true);
  const std::string block(100'000, 'x');
  std::size_t sent = 0;
  // The system's buffers take some megabytes.
  for (; sent < 1'000 && caller->link()->send(1, as_bytes(block)); ++sent) f.flush_list.flush();
  CHECK(sent < 1'000);
  f.poller.run_once(std::chrono::milliseconds(50));
  CHECK(f.heard.empty());
  f.inside[0]->pause(false);
  f.run_until([&] { return f.heard.size() == sent; });
}
