#include "smr/order/core/retransmission.h"

#include "base/random.h"
#include "smr/order/core/testing.h"

using namespace piracema;
using namespace piracema::smr;

TEST_CASE("a replica that missed messages is told them again") {
  for (FaultModel model : both_models) {
    TestCluster cluster(model, members_of(model));
    cluster.lose = [](ReplicaId, ReplicaId to, const Message&) { return to == 2; };
    cluster.submit_some(1, 1, 10);
    cluster.run();
    CHECK(cluster.core(2).decided() == 0);
    cluster.lose = nullptr;
    cluster.pass(milliseconds(500));
    CHECK(cluster.agreed().size() == 10);
  }
}

TEST_CASE("nothing is lost for good while three of ten messages are") {
  for (FaultModel model : both_models) {
    Settings settings;
    settings.batch_requests = 2;
    TestCluster cluster(model, members_of(model), settings);
    Random random(1);
    cluster.lose = [&](ReplicaId, ReplicaId, const Message&) { return random.chance(0.3); };
    for (Sequence s = 1; s <= 100; ++s) {
      cluster.submit_some(1, s, s);
      cluster.pass(milliseconds(20));
    }
    cluster.pass(milliseconds(20'000));
    CHECK(cluster.agreed().size() == 100);
  }
}

TEST_CASE("who was cut off when its view ended is told so if it says that it lives") {
  TestCluster cluster(FaultModel::crash, 3);
  cluster.submit(change_of_view(1, {.from = 0, .remove = {2}, .add = {}, .f = 0}));
  cluster.pass(milliseconds(100));
  REQUIRE(cluster.core(0).view().id == 1);
  std::size_t told = 0;
  cluster.lose = [&](ReplicaId from, ReplicaId to, const Message& m) {
    const auto* beat = std::get_if<Heartbeat>(&m);
    told += beat && from == 0 && to == 2 && beat->view == 1;
    return false;
  };
  cluster.tell(0, Received{2, message(Heartbeat{0, 0, 0})});
  CHECK(told == 1);
  cluster.tell(0, Received{2, message(Heartbeat{1, 0, 0})});
  CHECK(told == 1);
}

TEST_CASE("a batch is given to who asks for it by its digest") {
  TestCluster cluster(FaultModel::crash, 3);
  cluster.submit_some(1, 1, 1);
  cluster.run();
  std::vector<FetchedBatch> given;
  cluster.lose = [&](ReplicaId, ReplicaId to, const Message& m) {
    if (const auto* one = std::get_if<FetchedBatch>(&m); one && to == 2) given.push_back(*one);
    return true;
  };
  cluster.tell(0, Received{2, message(FetchBatch{1, Digest{}})});
  CHECK(given.empty());
  const auto* decided = std::get_if<InstanceDecided>(&cluster.replicas[0].log.back());
  REQUIRE(decided);
  cluster.tell(0, Received{2, message(FetchBatch{1, decided->digest})});
  REQUIRE(given.size() == 1);
  CHECK(given[0].batch->requests.size() == 1);
}
