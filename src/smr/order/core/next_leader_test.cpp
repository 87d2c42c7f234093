// Who leads when members come and go.
#include "smr/order/core/testing.h"

using namespace piracema;
using namespace piracema::smr;

using std::chrono::milliseconds;

namespace {

/// Of a group whose first leader is gone: 1 leads, 0 is down, and the last member is replaced.
void replace_last(TestCluster& cluster) {
  const auto n = static_cast<ReplicaId>(cluster.view.n());
  cluster.submit_some(1, 1, 20);
  cluster.run();
  cluster.kill(0);
  cluster.submit_some(1, 21, 30);
  cluster.pass(milliseconds(2'000));
  REQUIRE(cluster.core(1).leads());
  REQUIRE(cluster.core(1).regency() == 1);
  cluster.replicas.emplace_back();
  cluster.submit(change_of_view(
      1, {.from = 0, .remove = {n - 1}, .add = {{n, "new", ""}}, .f = {}, .leader = 1}));
  cluster.pass(milliseconds(100));
  cluster.start(n);
  cluster.pass(milliseconds(3'000));
  cluster.crash(n - 1);
}

}  // namespace

TEST_CASE("the leader leads on when another member is replaced") {
  for (const FaultModel model : both_models) {
    const std::uint32_t n = members_of(model);
    TestCluster cluster(model, n, one_request_a_batch(100));
    replace_last(cluster);
    cluster.submit_some(1, 31, 40);
    cluster.pass(milliseconds(3'000));
    CHECK(cluster.core(1).view().id == 1);
    CHECK(cluster.core(1).leads());
    CHECK(cluster.core(1).regency() == 0);
    CHECK(cluster.core(n).leader() == 1);
    CHECK(cluster.agreed().back() == "1.40");
  }
}

TEST_CASE("who was away when the leader was kept, or comes back, knows of the same one") {
  for (const FaultModel model : both_models) {
    for (const Instance checkpoint_interval : {100, 20}) {
      CAPTURE(checkpoint_interval);
      const std::uint32_t n = members_of(model);
      TestCluster cluster(model, n, one_request_a_batch(checkpoint_interval));
      replace_last(cluster);
      cluster.submit_some(1, 31, 90);
      cluster.pass(milliseconds(3'000));
      // By the batches, or by a checkpoint.
      cluster.start(0);
      cluster.pass(milliseconds(5'000));
      CHECK(cluster.core(0).view().id == 1);
      CHECK(cluster.core(0).leader() == 1);
      // By the log, or by a checkpoint of its own.
      cluster.kill(n);
      cluster.start(n);
      cluster.pass(milliseconds(5'000));
      CHECK(cluster.core(n).view().id == 1);
      CHECK(cluster.core(n).leader() == 1);
      CHECK(cluster.core(1).leads());
      CHECK(cluster.core(1).regency() == 0);
    }
  }
}

TEST_CASE("a view comes though its change's leader dies before it and nobody asks for anything") {
  for (const FaultModel model : both_models) {
    const std::uint32_t n = members_of(model);
    TestCluster cluster(model, n + 1, one_request_a_batch(100));
    cluster.submit_some(1, 1, 20);
    cluster.run();
    cluster.lose = [](ReplicaId, ReplicaId, const Message& m) {
      const auto* propose = std::get_if<Propose>(&m);
      return propose != nullptr && propose->instance > 25;
    };
    cluster.submit(change_of_view(1, {.from = 0, .remove = {n}, .add = {}, .f = {}, .leader = 0}));
    cluster.run();
    cluster.kill(0);
    cluster.lose = nullptr;
    cluster.pass(milliseconds(3'000));
    CHECK(cluster.core(1).view().id == 1);
    CHECK(cluster.core(2).leader() == 1);
  }
}

TEST_CASE("a leader that was kept and is gone is followed by the next one, for all alike") {
  for (const FaultModel model : both_models) {
    const std::uint32_t n = members_of(model);
    TestCluster cluster(model, n, one_request_a_batch(100));
    replace_last(cluster);
    cluster.start(0);
    cluster.pass(milliseconds(5'000));
    cluster.kill(1);
    cluster.submit_some(1, 31, 40);
    cluster.pass(milliseconds(3'000));
    const ReplicaId next = model == FaultModel::crash ? n : 2;
    CHECK(cluster.core(next).leads());
    CHECK(cluster.core(0).leader() == next);
    CHECK(cluster.agreed().back() == "1.40");
  }
}
