#include "smr/replica/known_peers.h"

#include "smr/replica/local_client.h"
#include "smr/replica/testing.h"

using namespace piracema;
using namespace piracema::smr;
using namespace piracema::smr::testing;

namespace {

MemberInfo member(ReplicaId id) {
  return {id, "10.0.0." + std::to_string(id) + ":7000", hex_key_of(static_cast<std::uint8_t>(id))};
}

View view_of(ViewId id, const std::vector<ReplicaId>& members) {
  View view;
  view.id = id;
  for (const ReplicaId one : members) view.members.push_back(member(one));
  return view;
}

/// Replica `me` of a group that began as 1, 2 and 3, and to which 9 may have been added.
KnownPeers peers_of(ReplicaId me) {
  Configuration configuration;
  for (const ReplicaId id : {1u, 2u, 3u, 9u}) {
    const MemberInfo one = member(id);
    configuration.replicas.push_back({id, one.address, one.public_key, id == 9});
  }
  return KnownPeers(configuration, me, key_of(static_cast<std::uint8_t>(me)));
}

std::vector<ReplicaId> met(const KnownPeers& peers) {
  std::vector<ReplicaId> ids;
  for (const MemberInfo& one : peers.to_meet()) ids.push_back(one.id);
  return ids;
}

const PeerName replica_named(ReplicaId id) { return {PeerName::Role::replica, id}; }
const PeerName client_named(ClientId id) { return {PeerName::Role::client, id}; }

}  // namespace

TEST_CASE("a view that was proven is met before it rules, and the old members until it does") {
  auto peers = peers_of(1);
  CHECK(peers.prove(view_of(1, {1, 2, 4})));
  CHECK_FALSE(peers.prove(view_of(1, {1, 2, 4})));
  CHECK(met(peers) == std::vector<ReplicaId>{1, 2, 3, 4, 9});
  REQUIRE(peers.meet().ok());
  CHECK(peers.is_member_host("10.0.0.4"));
  CHECK(peers.key_of(replica_named(4)) == key_of(4).public_key());

  CHECK(peers.use(view_of(1, {1, 2, 4})));
  REQUIRE(peers.meet().ok());
  CHECK(met(peers) == std::vector<ReplicaId>{1, 2, 4, 9});
  CHECK_FALSE(peers.is_member_host("10.0.0.3"));
  CHECK_FALSE(peers.key_of(replica_named(3)));
}

TEST_CASE("a replica that was taken out meets nobody; one that was never in does") {
  auto peers = peers_of(1);
  CHECK_FALSE(peers.use(view_of(1, {2, 3, 4})));
  CHECK_FALSE(peers.is_member());
  CHECK(met(peers).empty());

  auto learner = peers_of(9);
  CHECK(learner.use(view_of(1, {1, 2, 4})));
  CHECK(met(learner) == std::vector<ReplicaId>{1, 2, 4, 9});
}

TEST_CASE("a learner is known by its key until it is dismissed, and never this replica itself") {
  auto peers = peers_of(1);
  CHECK(peers.admit({{learner_of(5), hex_key_of(5)}}).learners);
  REQUIRE(peers.meet().ok());
  CHECK(peers.key_of(replica_named(5)) == key_of(5).public_key());
  CHECK(peers.admit({{learner_of(5), ""}}).learners);
  CHECK_FALSE(peers.key_of(replica_named(5)));
  CHECK_FALSE(peers.admit({{learner_of(1), hex_key_of(7)}}).learners);
}

TEST_CASE("links of a client end when its key counts no more, and only then") {
  auto peers = peers_of(1);
  CHECK(peers.admit({{100, hex_key_of(50)}}).other_keys.empty());
  CHECK(peers.key_of(client_named(100)) == key_of(50).public_key());
  CHECK(peers.admit({{100, hex_key_of(50)}}).other_keys.empty());
  CHECK(peers.admit({{100, hex_key_of(51)}}).other_keys == std::vector<ClientId>{100});
  CHECK(peers.admit({{100, ""}}).other_keys == std::vector<ClientId>{100});
  CHECK_FALSE(peers.key_of(client_named(100)));
}

TEST_CASE("the process of a member is a client by the member's key, as long as it is a member") {
  auto peers = peers_of(1);
  REQUIRE(peers.meet().ok());
  CHECK(peers.key_of(client_named(local_client_of(2))) == key_of(2).public_key());
  peers.prove(view_of(1, {1, 3, 4}));
  peers.use(view_of(1, {1, 3, 4}));
  REQUIRE(peers.meet().ok());
  CHECK_FALSE(peers.key_of(client_named(local_client_of(2))));
}
