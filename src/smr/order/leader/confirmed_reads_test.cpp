#include "smr/order/core/testing.h"

using namespace piracema;
using namespace piracema::smr;

TEST_CASE("crash: the leader answers a read once a quorum says that it leads") {
  TestCluster cluster(FaultModel::crash, 3);
  cluster.submit_some(1, 1, 3);
  cluster.run();
  cluster.tell(0, ReadAsked{7});
  CHECK(cluster.replicas[0].reads.empty());
  cluster.run();
  REQUIRE(cluster.replicas[0].reads.size() == 1);
  CHECK(cluster.replicas[0].reads[0].token == 7);
  CHECK(cluster.replicas[0].reads[0].instance == cluster.core(0).decided());
}

TEST_CASE("crash: who does not lead refuses a read") {
  TestCluster cluster(FaultModel::crash, 3);
  cluster.tell(1, ReadAsked{7});
  CHECK(cluster.replicas[1].refused == std::vector<std::uint64_t>{7});
}

TEST_CASE("crash: a leader that was replaced without knowing it answers no read") {
  TestCluster cluster(FaultModel::crash, 3);
  cluster.submit_some(1, 1, 1);
  cluster.run();
  cluster.lose = [](ReplicaId from, ReplicaId to, const Message&) { return from == 0 || to == 0; };
  cluster.pass(cluster.settings.silence_timeout + milliseconds(10));
  REQUIRE(cluster.core(1).leads());
  REQUIRE(cluster.core(0).leads());
  cluster.submit_some(1, 2, 2);
  cluster.run();
  cluster.tell(0, ReadAsked{7});
  cluster.pass(milliseconds(1'000));
  CHECK(cluster.replicas[0].reads.empty());
  // When it finds out, it says so.
  cluster.lose = nullptr;
  cluster.pass(milliseconds(3'000));
  CHECK(cluster.replicas[0].reads.empty());
  CHECK(cluster.replicas[0].refused == std::vector<std::uint64_t>{7});
}

TEST_CASE("crash: a read waits for what was proposed before it and may be acknowledged already") {
  TestCluster cluster(FaultModel::crash, 3);
  // Followers decide, the leader does not hear of it.
  cluster.lose = [](ReplicaId, ReplicaId to, const Message& m) {
    return to == 0 && std::holds_alternative<Accept>(m);
  };
  cluster.submit_some(1, 1, 1);
  cluster.run();
  REQUIRE(cluster.core(1).decided() == 1);
  REQUIRE(cluster.core(0).decided() == 0);
  cluster.tell(0, ReadAsked{7});
  cluster.run();
  CHECK(cluster.replicas[0].reads.empty());
  cluster.lose = nullptr;
  cluster.pass(milliseconds(500));
  REQUIRE(cluster.replicas[0].reads.size() == 1);
  CHECK(cluster.replicas[0].reads[0].instance == 1);
}

TEST_CASE("crash: a question that is lost is asked again") {
  TestCluster cluster(FaultModel::crash, 3);
  int lost = 0;
  cluster.lose = [&](ReplicaId, ReplicaId, const Message& m) {
    return std::holds_alternative<ConfirmLeader>(m) && ++lost <= 2;
  };
  cluster.tell(0, ReadAsked{7});
  cluster.pass(cluster.settings.resend_interval + milliseconds(1));
  CHECK(cluster.replicas[0].reads.size() == 1);
}

TEST_CASE("liars: every replica answers from what it has executed") {
  TestCluster cluster(FaultModel::byzantine, 4);
  cluster.submit_some(1, 1, 1);
  cluster.run();
  cluster.tell(3, ReadAsked{7});
  REQUIRE(cluster.replicas[3].reads.size() == 1);
  CHECK(cluster.replicas[3].reads[0].instance == 1);
}

// Each view begins at the same regency, so the leader of an older one has the number of the new.
TEST_CASE("crash: a leader of an older view than its group's answers no read") {
  TestCluster cluster(FaultModel::crash, 3);
  cluster.submit_some(1, 1, 1);
  cluster.run();
  // 0 orders the change, and does not hear of the last decisions of its view.
  cluster.lose = [](ReplicaId from, ReplicaId to, const Message& m) {
    if (to != 0 || from == 0 || std::holds_alternative<LeaderConfirmed>(m)) return false;
    const auto* accept = std::get_if<Accept>(&m);
    return accept == nullptr || accept->instance > view_delay;
  };
  cluster.submit(change_of_view(1, {.from = 0, .remove = {2}, .add = {{3, "new", ""}}, .f = {}}));
  cluster.pass(milliseconds(200));
  REQUIRE(cluster.core(1).view().id == 1);
  REQUIRE(cluster.core(2).view().id == 1);
  REQUIRE(cluster.core(0).view().id == 0);
  cluster.tell(0, ReadAsked{7});
  cluster.pass(milliseconds(200));
  CHECK(cluster.replicas[0].reads.empty());
}
