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
