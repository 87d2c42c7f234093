#include "smr/order/core/peer_progress.h"

#include <doctest/doctest.h>

using namespace piracema::smr;

TEST_CASE("what one member alone says is not what two have reached") {
  PeerProgress peers(4);
  peers.told(1, 900);
  peers.told(2, 40);
  peers.told(2, 30);  // Late.
  peers.told(3, 50);
  CHECK(peers.reached_by(1) == 900);
  CHECK(peers.reached_by(2) == 50);
  CHECK(peers.reached_by(3) == 40);
  CHECK(peers.reached_by(4) == 0);
  peers.begin_view(3);
  CHECK(peers.reached_by(1) == 0);
}

TEST_CASE("a vote says where a member is, and is no word of what it has decided") {
  PeerProgress peers(3);
  CHECK(peers.newest_of(1) == 0);
  peers.voted(1, 70);
  peers.voted(1, 60);  // Late.
  CHECK(peers.newest_of(1) == 70);
  CHECK(peers.reached_by(1) == 0);
  peers.told(1, 80);
  CHECK(peers.newest_of(1) == 80);
  peers.begin_view(3);
  CHECK(peers.newest_of(1) == 0);
}
