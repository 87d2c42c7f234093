#include "jobs/protocol/users.h"

#include <doctest/doctest.h>

#include "jobs/state/cluster_fixture.h"

using namespace piracema;
using namespace piracema::jobs;
using namespace piracema::jobs::testing;

TEST_CASE("a job belongs to whoever has asked for it, and its node is told of the account") {
  SharedCluster cluster;
  const JobId id = cluster.submit(alice), own = cluster.submit(first_client);
  CHECK(cluster.state.jobs().at(id).owner == Owner{"alice", "al"});
  CHECK(cluster.state.jobs().at(own).owner == Owner{"admin", ""});
  const auto told = cluster.ask(client_of("a"), Report{.node = "a", .incarnation = 1});
  REQUIRE(told.orders.size() == 2);
  CHECK(told.orders[0].owner == Owner{"alice", "al"});
  CHECK(told.orders[1].owner == Owner{"admin", ""});
}

TEST_CASE("a name has one key and a key one name, and the first user stays") {
  SharedCluster cluster;
  const auto put = [&](const User& user) { return cluster.says(first_client, PutUser{user}); };
  CHECK(put({"alice", 99, Role::submit, ""}) == "the cluster has a user alice already");
  CHECK(cluster.says(first_client, PutUser{{"alice", 99, Role::submit, ""}, true}) ==
        "there is a user alice already, with another key");
  CHECK(cluster.says(first_client, PutUser{{"eve", 99, Role::submit, ""}, true}) ==
        "the cluster has no user eve");
  CHECK(put({"dave", alice, Role::submit, ""}) ==
        "want a key for each user, found that of the user alice");
  CHECK(cluster.says(first_client, PutUser{{"admin", 1, Role::look, ""}, true}) ==
        "the user admin has made the cluster and stays as it is");
  CHECK(cluster.says(first_client, DropUser{"admin"}) ==
        "the user admin has made the cluster and stays");
  CHECK(put({"-x", 99, Role::submit, ""}).starts_with("want a name of 1 to 64 letters"));
  CHECK(put({"dave", 99, Role::submit, "../root"}).starts_with("want an account of at most 32"));
}

TEST_CASE("the jobs of a user who is removed stay, and another key may have the name") {
  SharedCluster cluster;
  const JobId id = cluster.submit(alice);
  CHECK(cluster.says(first_client, DropUser{"alice"}).empty());
  CHECK(cluster.says(first_client, DropUser{"alice"}).empty());
  CHECK(cluster.state.jobs().at(id).owner.user == "alice");
  CHECK(cluster.says(alice, Cancel{id}) ==
        "want the key of a user for that (user.key), found a node's");
  CHECK(cluster.says(first_client, PutUser{{"alice", 99, Role::submit, ""}}).empty());
  CHECK(cluster.says(99, Cancel{id}).empty());
}
