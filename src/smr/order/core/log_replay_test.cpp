#include <algorithm>

#include "smr/order/core/testing.h"

using namespace piracema;
using namespace piracema::smr;

namespace {

bool is_vote(const Message& m) {
  return std::holds_alternative<Accept>(m) || std::holds_alternative<Write>(m) ||
         std::holds_alternative<StopData>(m);
}

}  // namespace

TEST_CASE("a replica whose checkpoint cannot be read is silent until it has caught up") {
  // Its log begins behind the checkpoint: what it voted for there cannot be remembered.
  for (FaultModel model : both_models) {
    TestCluster cluster(model, members_of(model), one_request_a_batch(100));
    cluster.submit_some(1, 1, 450);
    cluster.run();
    cluster.crash(1);
    cluster.replicas[1].checkpoints.clear();
    int votes = 0;
    cluster.lose = [&](ReplicaId from, ReplicaId, const Message& m) {
      votes += from == 1 && is_vote(m) ? 1 : 0;
      return false;
    };
    cluster.start(1);
    cluster.submit_some(1, 451, 455);
    cluster.run();
    CHECK(votes == 0);
    cluster.pass(milliseconds(5'000));
    cluster.submit_some(1, 456, 460);
    cluster.pass(milliseconds(1'000));
    CHECK(votes > 0);
    CHECK(cluster.agreed().size() == 460);
  }
}

TEST_CASE("a replica that finds everything again votes at once") {
  for (FaultModel model : both_models) {
    TestCluster cluster(model, members_of(model), one_request_a_batch(100));
    cluster.submit_some(1, 1, 450);
    cluster.run();
    cluster.crash(1);
    int votes = 0;
    cluster.lose = [&](ReplicaId from, ReplicaId, const Message& m) {
      votes += from == 1 && is_vote(m) ? 1 : 0;
      return false;
    };
    cluster.start(1);
    cluster.submit_some(1, 451, 455);
    cluster.run();
    CHECK(votes > 0);
  }
}

TEST_CASE("a proof that was written again behind votes of the next view is known before them") {
  TestCluster cluster(FaultModel::byzantine, 5, one_request_a_batch(1'000));
  cluster.submit_some(1, 1, 20);
  cluster.run();
  cluster.submit(change_of_view(1, {.from = 0, .remove = {4}, .add = {}, .f = {}}));
  cluster.pass(milliseconds(1'000));
  REQUIRE(cluster.core(1).view().id == 1);
  cluster.kill(0);
  cluster.submit_some(1, 21, 30);
  cluster.pass(milliseconds(1'000));
  const Regency regency = cluster.core(1).regency();
  const Instance decided = cluster.core(1).decided();
  REQUIRE(regency > 0);

  cluster.crash(1);
  std::stable_partition(
      cluster.replicas[1].log.begin(), cluster.replicas[1].log.end(),
      [](const LogRecord& record) { return !std::holds_alternative<ProofKept>(record); });
  cluster.lose = [](ReplicaId, ReplicaId, const Message&) { return true; };
  cluster.start(1);
  CHECK(cluster.core(1).view().id == 1);
  CHECK(cluster.core(1).regency() == regency);
  CHECK(cluster.core(1).decided() == decided);
}
