#include "net/socket/host_port.h"

#include <doctest/doctest.h>

#include <optional>

using namespace piracema;
using namespace piracema::net;

TEST_CASE("hosts are taken by number and by name, and come back as text") {
  for (const char* text :
       {"10.0.0.1:7000", "[::1]:7000", "localhost:1", "db-1.example.org:65535"}) {
    CAPTURE(text);
    const auto parsed = HostPort::parse(text);
    REQUIRE(parsed.ok());
    CHECK(parsed->text() == text);
  }
  for (const char* text : {"", ":7000", "localhost", "localhost:", "localhost:70000", "1.2.3:7000",
                           "300.0.0.1:7000", "a b:7000", "-a:7000", "::1:7000", "local:x"}) {
    CAPTURE(text);
    CHECK_FALSE(HostPort::parse(text).ok());
  }
}

TEST_CASE("a name is looked up without waiting, and one that nobody knows is said so") {
  Poller poller;
  std::optional<Result<std::vector<Address>>> known, unknown;
  Lookup first(poller, *HostPort::parse("localhost:7000"), [&](auto a) { known = a; });
  Lookup second(poller, *HostPort::parse("no-such-host.invalid:1"), [&](auto a) { unknown = a; });
  while (!known || !unknown) poller.run_once(std::chrono::milliseconds(50));
  REQUIRE(known->ok());
  REQUIRE_FALSE((*known)->empty());
  CHECK((*known)->front().port() == 7000);
  REQUIRE_FALSE(unknown->ok());
  CHECK(unknown->error().message.find("looking up 'no-such-host.invalid': ") == 0);
}

TEST_CASE("who gives a look-up up is not called") {
  Poller poller;
  bool called = false;
  {
    const Lookup gone(poller, *HostPort::parse("localhost:1"), [&](auto) { called = true; });
  }
  std::optional<Result<std::vector<Address>>> other;
  const Lookup next(poller, *HostPort::parse("localhost:1"), [&](auto a) { other = a; });
  while (!other) poller.run_once(std::chrono::milliseconds(50));
  CHECK_FALSE(called);
}
