#include "net/session/sealing.h"

#include <doctest/doctest.h>

#include <string>

using namespace piracema;
using namespace piracema::net;

namespace {

constexpr Sealing all[] = {Sealing::never, Sealing::possible, Sealing::preferred,
                           Sealing::required};

bool sealed(Sealing ours, Sealing theirs) {
  const auto agreed = agree(ours, theirs);
  return agreed.ok() && *agreed;
}

}  // namespace

TEST_CASE("one end that sees another host is enough for a seal") {
  CHECK(sealed(Sealing::possible, Sealing::required));
  CHECK(sealed(Sealing::preferred, Sealing::possible));
  CHECK(sealed(Sealing::required, Sealing::required));
  CHECK_FALSE(sealed(Sealing::possible, Sealing::possible));
}

TEST_CASE("one that is told whether it is plain follows the one that tells") {
  CHECK_FALSE(sealed(Sealing::preferred, Sealing::never));
  CHECK(agree(Sealing::preferred, Sealing::never).ok());
  CHECK(sealed(Sealing::preferred, Sealing::required));
}

TEST_CASE("a plain end and one that wants a seal refuse each other, and each says why") {
  const auto wants = agree(Sealing::required, Sealing::never);
  REQUIRE_FALSE(wants.ok());
  CHECK(wants.error().code == Errc::refused);
  CHECK(wants.error().message ==
        "handshake: want a sealed connection to another host, found a peer that sends plain "
        "(--plain)");
  const auto plain = agree(Sealing::never, Sealing::required);
  REQUIRE_FALSE(plain.ok());
  CHECK(plain.error().message ==
        "handshake: want a plain connection (--plain), found a peer that wants it sealed");
}

TEST_CASE("both ends come to the same") {
  for (const Sealing one : all) {
    for (const Sealing other : all) {
      CHECK(agree(one, other).ok() == agree(other, one).ok());
      CHECK(sealed(one, other) == sealed(other, one));
    }
  }
}

TEST_CASE("what a process wants follows from how far the connection goes") {
  CHECK(sealing_for(Reach::other_host, Sealed::between_hosts) == Sealing::required);
  CHECK(sealing_for(Reach::this_host, Sealed::between_hosts) == Sealing::possible);
  CHECK(sealing_for(Reach::this_host, Sealed::everywhere) == Sealing::required);
  for (const Reach reach : {Reach::other_host, Reach::this_host, Reach::local_socket}) {
    CHECK(sealing_for(reach, Sealed::nowhere) == Sealing::never);
  }
  for (const Sealed where : {Sealed::between_hosts, Sealed::everywhere}) {
    CHECK(sealing_for(Reach::local_socket, where) == Sealing::never);
  }
  CHECK(sealing_as_told(Reach::other_host) == Sealing::preferred);
  CHECK(sealing_as_told(Reach::this_host) == Sealing::possible);
}
