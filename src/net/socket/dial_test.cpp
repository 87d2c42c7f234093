#include "net/socket/dial.h"

#include <doctest/doctest.h>

#include <optional>

#include "base/hint.h"
#include "loop/test_support.h"
#include "net/socket/listener.h"

using namespace piracema;
using namespace piracema::net;
using std::chrono::seconds;

namespace {

Result<Fd> dial(Poller& poller, const std::string& address) {
  std::optional<Result<Fd>> result;
  Dial attempt(poller, *Address::parse(address), now() + seconds(5),
               [&](Result<Fd> socket) { result = std::move(socket); });
  REQUIRE(run_until(poller, [&] { return result.has_value(); }));
  return std::move(*result);
}

}  // namespace

TEST_CASE("an address is a number and a port, and anything else is named in the error") {
  for (const char* text : {"127.0.0.1:4711", "0.0.0.0:0", "[::1]:65535"}) {
    auto address = Address::parse(text);
    REQUIRE(address.ok());
    CHECK(address->text() == text);
  }
  for (const char* text : {"", ":", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:1x",
                           "127.0.0.1:-1", "localhost:1", "::1:80", "[127.0.0.1]:80", "[::1:80"}) {
    CAPTURE(text);
    auto address = Address::parse(text);
    REQUIRE_FALSE(address.ok());
    CHECK(address.error().code == Errc::config);
    CHECK(address.error().message.find("'" + std::string(text) + "'") != std::string::npos);
  }
}

TEST_CASE("who dials a listener gets a socket, and the listener the other end") {
  Poller poller;
  Fd accepted;
  auto listener = Listener::open(poller, "127.0.0.1", 0,
                                 [&](Fd socket, const Address&) { accepted = std::move(socket); });
  REQUIRE(listener.ok());
  auto socket = dial(poller, (*listener)->address());
  REQUIRE(socket.ok());
  CHECK(run_until(poller, [&] { return bool(accepted); }));
}

TEST_CASE("a port that is taken is an error that names it") {
  Poller poller;
  auto first = Listener::open(poller, "127.0.0.1", 0, [](Fd, const Address&) {});
  REQUIRE(first.ok());
  const auto port = Address::parse((*first)->address())->port();
  auto second = Listener::open(poller, "127.0.0.1", port, [](Fd, const Address&) {});
  REQUIRE_FALSE(second.ok());
  CHECK(split_hint(second.error().message).message ==
        "listening on " + (*first)->address() + ": Address already in use");
}

TEST_CASE("nobody listening, and a host that is a name, are errors that name them") {
  Poller poller;
  std::string address;
  {
    auto gone = Listener::open(poller, "127.0.0.1", 0, [](Fd, const Address&) {});
    address = (*gone)->address();
  }
  auto socket = dial(poller, address);
  REQUIRE_FALSE(socket.ok());
  CHECK(socket.error().message == "connecting to " + address + ": Connection refused");

  auto named = Listener::open(poller, "localhost", 0, [](Fd, const Address&) {});
  REQUIRE_FALSE(named.ok());
  CHECK(named.error().code == Errc::config);
}

TEST_CASE("an attempt that has no answer ends at its deadline") {
  Poller poller;
  // A listener whose line is full answers nobody.
  const Fd silent(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_storage name{};
  name.ss_family = AF_INET;
  socklen_t size = sizeof name;
  REQUIRE(::bind(silent.get(), reinterpret_cast<sockaddr*>(&name), Address(name).size()) == 0);
  REQUIRE(::getsockname(silent.get(), reinterpret_cast<sockaddr*>(&name), &size) == 0);
  REQUIRE(::listen(silent.get(), 0) == 0);
  const auto address = Address::make("127.0.0.1", Address(name).port());

  std::vector<Fd> in_line;
  std::optional<Error> error;
  while (!error) {
    std::optional<Result<Fd>> result;
    Dial attempt(poller, *address, now() + std::chrono::milliseconds(50),
                 [&](Result<Fd> socket) { result = std::move(socket); });
    REQUIRE(run_until(poller, [&] { return result.has_value(); }));
    if (result->ok()) {
      in_line.push_back(std::move(**result));
      REQUIRE(in_line.size() < 10);
    } else {
      error = result->error();
    }
  }
  CHECK(error->code == Errc::timeout);
}
