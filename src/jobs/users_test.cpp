#include "jobs/users.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <random>

#include "jobs/cluster_image.h"
#include "jobs/cluster_state.h"
#include "jobs/testing.h"

using namespace piracema;
using namespace piracema::jobs;

namespace {

constexpr std::uint64_t alice = 11, bob = 12, carol = 13;

/// A cluster of one node, with a user of each role.
struct Shared {
  ClusterState state;
  std::uint64_t time = 1'000'000'000;

  Shared() {
    CHECK(says(first_client, PutUser{{"alice", alice, Role::submit, "al"}}).empty());
    CHECK(says(first_client, PutUser{{"bob", bob, Role::look, ""}}).empty());
    CHECK(says(first_client, PutUser{{"carol", carol, Role::administer, ""}}).empty());
    CHECK(says(testing::client_of("a"), Join{"a", 1, 4, "/d", ""}).empty());
  }
  Answer ask(std::uint64_t client, const Operation& operation) {
    time += 1'000'000;
    const auto answer =
        decode_answer(state.apply(encode(operation), {.time = time, .client = client}));
    REQUIRE(answer.ok());
    return *answer;
  }
  /// Why not; empty: it was done.
  std::string says(std::uint64_t client, const Operation& operation) {
    const Answer answer = ask(client, operation);
    return answer.verdict == Answer::Verdict::done ? "" : answer.why;
  }
  JobId submit(std::uint64_t client) {
    return ask(client, Submit{{.name = "j", .command = {"true"}}}).job;
  }
};

}  // namespace

TEST_CASE("a job belongs to whoever has asked for it, and its node is told of the account") {
  Shared cluster;
  const JobId id = cluster.submit(alice), own = cluster.submit(first_client);
  CHECK(cluster.state.jobs().at(id).owner == Owner{"alice", "al"});
  CHECK(cluster.state.jobs().at(own).owner == Owner{"admin", ""});
  const auto told = cluster.ask(testing::client_of("a"), Report{.node = "a", .incarnation = 1});
  REQUIRE(told.orders.size() == 2);
  CHECK(told.orders[0].owner == Owner{"alice", "al"});
  CHECK(told.orders[1].owner == Owner{"admin", ""});
}

TEST_CASE("a user who looks sees all, and changes nothing") {
  Shared cluster;
  const JobId id = cluster.submit(alice);
  CHECK(cluster.ask(bob, ListJobs{}).jobs.size() == 1);
  CHECK(cluster.ask(bob, ShowJob{id}).jobs.size() == 1);
  CHECK(cluster.ask(bob, ListNodes{}).nodes.size() == 1);
  CHECK(cluster.ask(bob, ListUsers{}).users.size() == 4);
  const std::string wants_submit = "the user bob has the role look: want submit for that";
  CHECK(cluster.says(bob, Submit{{.name = "j", .command = {"true"}}}) == wants_submit);
  CHECK(cluster.says(bob, Cancel{id}) == wants_submit);
  CHECK(cluster.says(bob, RunBeside{id, {"true"}}) == wants_submit);
  CHECK(cluster.says(bob, Drain{"a", true}) ==
        "the user bob has the role look: want administer for that");
}

TEST_CASE("a user who submits does what it likes with its own jobs alone") {
  Shared cluster;
  const JobId id = cluster.submit(alice), other = cluster.submit(carol);
  CHECK(cluster.says(alice, RunBeside{id, {"true"}}).empty());
  CHECK(cluster.says(alice, Cancel{id}).empty());
  const std::string not_hers =
      "job 2 is of the user carol, found the user alice: want that one, or one who administers the "
      "cluster";
  CHECK(cluster.says(alice, Cancel{other}) == not_hers);
  CHECK(cluster.says(alice, RunBeside{other, {"true"}}) == not_hers);
  CHECK(cluster.says(alice, Cancel{77}) == "there is no job 77");
  const std::string wants_more = "the user alice has the role submit: want administer for that";
  CHECK(cluster.says(alice, Drain{"a", true}) == wants_more);
  CHECK(cluster.says(alice, Forget{"a"}) == wants_more);
  CHECK(cluster.says(alice, PutUser{{"alice", alice, Role::administer, "root"}}) == wants_more);
  CHECK(cluster.says(alice, DropUser{"bob"}) == wants_more);
}

TEST_CASE("a user who administers may do all, also with the jobs of others") {
  Shared cluster;
  const JobId id = cluster.submit(alice);
  CHECK(cluster.says(carol, RunBeside{id, {"true"}}).empty());
  CHECK(cluster.says(carol, Cancel{id}).empty());
  CHECK(cluster.says(carol, Drain{"a", true}).empty());
  CHECK(cluster.says(carol, PutUser{{"alice", alice, Role::look, ""}, true}).empty());
  CHECK(cluster.says(alice, Submit{{.name = "j", .command = {"true"}}}) ==
        "the user alice has the role look: want submit for that");
}

TEST_CASE("the key of a user is no node's, and the other way round") {
  Shared cluster;
  CHECK(cluster.says(alice, Join{"b", 1, 1, "/d", ""}) ==
        "want the key of a node for that, found that of the user alice");
  CHECK(cluster.says(first_client, PutUser{{"dave", testing::client_of("a"), Role::submit, ""}}) ==
        "want a key for each user, found that of the node a");
}

TEST_CASE("a name has one key and a key one name, and the first user stays") {
  Shared cluster;
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
  Shared cluster;
  const JobId id = cluster.submit(alice);
  CHECK(cluster.says(first_client, DropUser{"alice"}).empty());
  CHECK(cluster.says(first_client, DropUser{"alice"}).empty());
  CHECK(cluster.state.jobs().at(id).owner.user == "alice");
  CHECK(cluster.says(alice, Cancel{id}) ==
        "want the key of a user for that (user.key), found a node's");
  CHECK(cluster.says(first_client, PutUser{{"alice", 99, Role::submit, ""}}).empty());
  CHECK(cluster.says(99, Cancel{id}).empty());
}

TEST_CASE("a replica that comes late knows the same users and owners") {
  Shared cluster;
  const JobId id = cluster.submit(alice);
  const Buffer image = smr::bytes_of(cluster.state.snapshot());
  ClusterState other;
  REQUIRE(other.restore(image));
  CHECK(other.users().all() == cluster.state.users().all());
  CHECK(other.jobs().at(id).owner == Owner{"alice", "al"});
  CHECK(as_text(smr::bytes_of(other.snapshot())) == as_text(image));
}

// As commit aa0568c wrote it: a node, a job that has said "hello", and one that waits.
constexpr const char* image_of_version_1 =
    "0200000000000000010000000000000001000000000000006a02000000000000000400000000000000747275"
    "6501000000000000007801000000000000000300000000000000413d62000000000000000001000000020000"
    "0000000000000000000000000001010000000000000061000000000000000000000000000000000001000000"
    "00000000000000000000000000000000000000000042420f000000000042420f000000000000000000000000"
    "00050000000000000068656c6c6f0000000000000000020000000000000001000000000000006b0100000000"
    "0000000400000000000000747275650000000000000000000000000000000001000000010000000000000000"
    "0000000000000000000000000000000000000000000000000000000000000000000000000000000000000000"
    "0000000000003700000000000000776169747320666f72203120736c6f743a2061206861732030206f662032"
    "20667265652c20616e64206973206b65707420666f7220697443420f00000000000000000000000000000000"
    "0000000000000000000000000000000000000000000100000000000000010000000000000061010000000000"
    "0000020000000300000000000000682d61010000000000000002000000000000002f64000001000000000000"
    "0000000000000000000001731700000000000044420f00000000000200000000000000020000000200000000"
    "0000000019e2d4e8000000eb03000000000000";

Buffer from_hex(const std::string& text) {
  Buffer bytes;
  for (std::size_t i = 0; i < text.size(); i += 2) {
    const auto byte =
        static_cast<std::uint8_t>(std::strtoul(text.substr(i, 2).c_str(), nullptr, 16));
    bytes.append(&byte, 1);
  }
  return bytes;
}

TEST_CASE("an image from before there were users is read: all jobs are the first user's") {
  ClusterState state;
  REQUIRE(state.restore(from_hex(image_of_version_1)));
  CHECK(state.jobs().size() == 2);
  CHECK(state.jobs().at(1).output == "hello");
  CHECK(state.jobs().at(2).spec.name == "k");
  CHECK(state.jobs().at(2).owner == Owner{"admin", ""});
  CHECK(state.nodes().at("a").slots == 2);
  CHECK(state.users().all().size() == 1);
}

TEST_CASE("an image of a later version, or cut, or changed, is no image") {
  Shared cluster;
  cluster.submit(alice);
  const Buffer image = smr::bytes_of(cluster.state.snapshot());
  Buffer later(image);
  later.data()[8] = std::byte{3};
  CHECK(decode_image(later).error().message ==
        "want an image of a cluster of version 1 or 2, found 3");
  for (std::size_t size = 0; size < image.size(); ++size) {
    CHECK_FALSE(decode_image(Bytes(image).first(size)).ok());
  }
  std::mt19937_64 random(1);
  for (int i = 0; i < 2'000; ++i) {
    Buffer changed(image);
    changed.data()[random() % changed.size()] = static_cast<std::byte>(random());
    ClusterState state;
    (void)state.restore(changed);
  }
}

TEST_CASE("an answer of another version of the protocol is named as one") {
  const Buffer first = from_hex("0300");
  CHECK(decode_answer(first).error().message ==
        "want an answer of the control plane of version 3, found 1: all machines want the same "
        "piracema");
}
