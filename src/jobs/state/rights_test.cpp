#include "jobs/state/rights.h"

#include <doctest/doctest.h>

#include "jobs/state/cluster_fixture.h"

using namespace piracema;
using namespace piracema::jobs;
using namespace piracema::jobs::testing;

using Verdict = Answer::Verdict;

TEST_CASE("a node speaks for itself alone, and asks for no jobs") {
  Cluster cluster;
  cluster.join("a");
  cluster.join("b");
  const JobId id = cluster.submit();
  const std::string where = cluster.job(id).node;
  const std::uint64_t other = client_of(where == "a" ? "b" : "a");
  const auto refused = [&](std::uint64_t client, const Operation& operation) {
    const Buffer before = smr::bytes_of(cluster.state.snapshot());
    const Answer answer = cluster.ask(client, operation);
    CHECK(as_text(smr::bytes_of(cluster.state.snapshot())) == as_text(before));
    return answer.verdict == Verdict::refused ? answer.why : "it was done";
  };
  const std::string has_another = "the node " + where + " has another key";
  CHECK(refused(other, Report{.node = where, .incarnation = 1, .ended = {exited(id, 1, 0)}}) ==
        has_another);
  CHECK(refused(other, Leave{where, 1}) == has_another);
  CHECK(refused(other, Join{where, 2, 2, "/d", ""}) == has_another);
  CHECK(refused(client_of("a"), Join{"c", 1, 2, "/d", ""}) ==
        "want one node for a key, found that of the node a");
  const std::string of_user = "want the key of a user for that (user.key), found a node's";
  CHECK(refused(other, Submit{{.name = "j", .command = {"true"}}}) == of_user);
  CHECK(refused(other, Cancel{id}) == of_user);
  CHECK(refused(other, Drain{"a", true}) == of_user);
  CHECK(refused(other, Forget{"a"}) == of_user);
  CHECK(refused(first_client, Join{"c", 1, 2, "/d", ""}) ==
        "want the key of a node for that, found that of the user admin");
}

TEST_CASE("a user who looks sees all, and changes nothing") {
  SharedCluster cluster;
  const JobId id = cluster.submit(alice);
  CHECK(cluster.ask(bob, ListJobs{}).jobs.size() == 1);
  CHECK(cluster.ask(bob, ShowJob{id}).jobs.size() == 1);
  CHECK(cluster.ask(bob, ListNodes{}).nodes.size() == 1);
  CHECK(cluster.ask(bob, ListUsers{}).users.size() == 4);
  const std::string wants_submit = "the user bob has the role look: want submit for that";
  CHECK(cluster.says(bob, Submit{{.name = "j", .command = {"true"}}}) == wants_submit);
  CHECK(cluster.says(bob, Cancel{id}) == wants_submit);
  CHECK(cluster.says(bob, RunBeside{id, {"true"}}) == wants_submit);
  CHECK(cluster.says(bob, Resize{id, 2}) == wants_submit);
  CHECK(cluster.says(bob, Drain{"a", true}) ==
        "the user bob has the role look: want administer for that");
}

TEST_CASE("a user who submits does what it likes with its own jobs alone") {
  SharedCluster cluster;
  const JobId id = cluster.submit(alice), other = cluster.submit(carol);
  CHECK(cluster.says(alice, RunBeside{id, {"true"}}).empty());
  CHECK(cluster.says(alice, Cancel{id}).empty());
  const std::string not_hers =
      "job 2 is of the user carol, found the user alice: want that one, or one who administers the "
      "cluster";
  CHECK(cluster.says(alice, Cancel{other}) == not_hers);
  CHECK(cluster.says(alice, RunBeside{other, {"true"}}) == not_hers);
  CHECK(cluster.says(alice, Resize{other, 2}) == not_hers);
  CHECK(cluster.says(alice, Cancel{77}) == "there is no job 77");
  const std::string wants_more = "the user alice has the role submit: want administer for that";
  CHECK(cluster.says(alice, Drain{"a", true}) == wants_more);
  CHECK(cluster.says(alice, Forget{"a"}) == wants_more);
  CHECK(cluster.says(alice, PutUser{{"alice", alice, Role::administer, "root"}}) == wants_more);
  CHECK(cluster.says(alice, DropUser{"bob"}) == wants_more);
}

TEST_CASE("a user who administers may do all, also with the jobs of others") {
  SharedCluster cluster;
  const JobId id = cluster.submit(alice);
  CHECK(cluster.says(carol, RunBeside{id, {"true"}}).empty());
  CHECK(cluster.says(carol, Cancel{id}).empty());
  CHECK(cluster.says(carol, Drain{"a", true}).empty());
  CHECK(cluster.says(carol, PutUser{{"alice", alice, Role::look, ""}, true}).empty());
  CHECK(cluster.says(alice, Submit{{.name = "j", .command = {"true"}}}) ==
        "the user alice has the role look: want submit for that");
}

TEST_CASE("the key of a user is no node's, and the other way round") {
  SharedCluster cluster;
  CHECK(cluster.says(alice, Join{"b", 1, 1, "/d", ""}) ==
        "want the key of a node for that, found that of the user alice");
  CHECK(cluster.says(first_client, PutUser{{"dave", client_of("a"), Role::submit, ""}}) ==
        "want a key for each user, found that of the node a");
}
