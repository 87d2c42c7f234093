#include "smr/order/core/divergence_search.h"

#include <algorithm>

#include "smr/order/core/testing.h"

using namespace piracema;
using namespace piracema::smr;

TEST_CASE("a replica whose state differs says so, does nothing else any more, and gives up") {
  TestCluster cluster(FaultModel::crash, 3, one_request_a_batch(view_delay));
  cluster.submit_some(1, 1, 3);
  cluster.run();
  cluster.replicas[2].executed.back() = "something else";
  cluster.submit_some(1, 4, view_delay + 3);
  cluster.run();
  const auto& notes = cluster.replicas[2].notes;
  CHECK(std::any_of(notes.begin(), notes.end(), [](const std::string& note) {
    return note.find("looking for the operation") != std::string::npos;
  }));
  const Instance parted_at = cluster.core(2).decided();
  cluster.submit_some(1, view_delay + 4, view_delay + 9);
  cluster.pass(milliseconds(100));
  CHECK(cluster.core(2).decided() == parted_at);
  CHECK(cluster.core(0).decided() > parted_at);
  // Nobody here knows a trail.
  cluster.pass(milliseconds(5'000));
  CHECK(cluster.replicas[2].halted.find("differ") != std::string::npos);
  CHECK(cluster.replicas[0].halted.empty());
}
