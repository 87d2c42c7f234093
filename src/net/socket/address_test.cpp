#include "net/socket/address.h"

#include <doctest/doctest.h>

using namespace piracema;
using namespace piracema::net;

TEST_CASE("an address is written as it is read") {
  for (const char* text : {"127.0.0.1:4711", "[::1]:80", "local:piracema-12-7"}) {
    const auto address = Address::parse(text);
    REQUIRE(address.ok());
    CHECK(address->text() == text);
  }
}

TEST_CASE("a process has an address for all, and perhaps one for its own host") {
  const auto both = Addresses::parse("127.0.0.1:4711,local:piracema-12-7");
  REQUIRE(both.ok());
  CHECK(both->tcp.text() == "127.0.0.1:4711");
  REQUIRE(both->local.has_value());
  CHECK(both->local->text() == "local:piracema-12-7");
  CHECK_FALSE(Addresses::parse("127.0.0.1:4711")->local.has_value());
}

TEST_CASE("what is no address is said to be none") {
  for (const char* text : {"", "host:80", "127.0.0.1", "127.0.0.1:99999", "::1:80",
                           "local:", "local:a/b", "local:a b"}) {
    CHECK_FALSE(Address::parse(text).ok());
  }
  CHECK_FALSE(Address::parse("local:" + std::string(101, 'a')).ok());
  for (const char* text : {"local:a", "127.0.0.1:1,127.0.0.1:2", "127.0.0.1:1,", "127.0.0.1:1,x"}) {
    CHECK_FALSE(Addresses::parse(text).ok());
  }
}

TEST_CASE("a connection stays on its host if the other end has a loopback address, or ours") {
  const auto reach = [](const char* ours, const char* theirs) {
    return reach_of(*Address::parse(ours), *Address::parse(theirs));
  };
  CHECK(reach("127.0.0.1:1", "127.0.0.1:2") == Reach::this_host);
  CHECK(reach("[::1]:1", "[::1]:2") == Reach::this_host);
  CHECK(reach("10.0.0.1:1", "10.0.0.1:2") == Reach::this_host);
  CHECK(reach("[::ffff:10.0.0.1]:1", "10.0.0.1:2") == Reach::this_host);
  CHECK(reach("10.0.0.1:1", "10.0.0.2:2") == Reach::other_host);
  CHECK(reach("[fd00::1]:1", "[fd00::2]:2") == Reach::other_host);
  CHECK(reach("local:a", "local:b") == Reach::local_socket);
}
