#include "smr/replica/peer_lives.h"

#include <doctest/doctest.h>

using namespace piracema;
using namespace piracema::smr;
using Heard = PeerLives::Heard;

TEST_CASE("a replica with another memory is found out unless it says that it has lost the first") {
  PeerLives lives;
  CHECK(lives.hear(1, {10, false, false}) == Heard::fresh);
  CHECK(lives.hear(1, {10, false, false}) == Heard::known);
  CHECK(lives.hear(1, {11, false, false}) == Heard::forgetful);
  CHECK(lives.is_forgetful(1));
  CHECK(lives.hear(2, {11, false, false}) == Heard::fresh);

  CHECK(lives.hear(1, {12, true, true}) == Heard::fresh);
  CHECK_FALSE(lives.is_forgetful(1));
  CHECK(lives.is_silent(1));
  CHECK(lives.hear(1, {12, true, false}) == Heard::known);
  CHECK_FALSE(lives.is_silent(1));
}

TEST_CASE("what is remembered comes back from its bytes, and damage is noticed") {
  PeerLives lives;
  lives.hear(1, {10, false, false});
  lives.hear(7, {70, true, true});
  PeerLives again;
  REQUIRE(again.restore(lives.encode()).ok());
  CHECK(again.hear(7, {71, false, false}) == Heard::forgetful);
  CHECK(again.hear(1, {10, false, false}) == Heard::known);
  Buffer bytes = lives.encode();
  bytes.data()[9] ^= std::byte{1};
  CHECK_FALSE(again.restore(bytes).ok());
  CHECK_FALSE(again.restore({}).ok());
}

TEST_CASE("with Byzantine faults one refusal is not believed") {
  View view{.model = FaultModel::byzantine, .f = 1};
  for (ReplicaId id = 0; id < 4; ++id) view.members.push_back({id, "", ""});
  PeerLives lives;
  CHECK_FALSE(lives.refused_by(1, view));
  CHECK_FALSE(lives.refused_by(1, view));
  CHECK_FALSE(lives.refused_by(9, view));
  CHECK(lives.refused_by(2, view));
  view.model = FaultModel::crash;
  view.members.pop_back();
  PeerLives others;
  CHECK(others.refused_by(1, view));
}
