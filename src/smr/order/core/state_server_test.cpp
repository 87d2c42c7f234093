#include "smr/order/core/state_server.h"

#include <algorithm>

#include "smr/order/core/testing.h"

using namespace piracema;
using namespace piracema::smr;

namespace {

constexpr Instance checkpoints_every = view_delay;
/// No further without a stable checkpoint.
constexpr Instance mark = unstable_checkpoints_max * checkpoints_every + view_delay;

bool is_vote_for_checkpoint(const Message& m) { return std::holds_alternative<CheckpointVote>(m); }

// What replica 0 tells replica 2 that it no longer has goes there, too.
void note_gone(TestCluster& cluster, std::vector<Gone>& gone) {
  cluster.lose = [&gone](ReplicaId from, ReplicaId to, const Message& m) {
    if (const auto* one = std::get_if<Gone>(&m); one && from == 0 && to == 2) gone.push_back(*one);
    return false;
  };
}

}  // namespace

TEST_CASE(
    "nothing is ordered far above the last stable checkpoint, and more when there is another") {
  for (FaultModel model : both_models) {
    TestCluster cluster(model, members_of(model), one_request_a_batch(checkpoints_every));
    cluster.lose = [](ReplicaId, ReplicaId, const Message& m) { return is_vote_for_checkpoint(m); };
    cluster.submit_some(1, 1, 500);
    cluster.run();
    CHECK(cluster.agreed().size() == mark);
    CHECK(cluster.core(1).footprint().batches == mark);
    cluster.lose = nullptr;
    cluster.pass(milliseconds(1'000));
    CHECK(cluster.agreed().size() == 500);
    CHECK(cluster.core(1).footprint().batches < checkpoints_every);
  }
}

TEST_CASE("a replica alone whose checkpoints are not stable falls behind, and fetches one") {
  for (FaultModel model : both_models) {
    TestCluster cluster(model, members_of(model), one_request_a_batch(checkpoints_every));
    cluster.lose = [](ReplicaId, ReplicaId to, const Message& m) {
      return to == 2 && is_vote_for_checkpoint(m);
    };
    cluster.submit_some(1, 1, 400);
    cluster.run();
    CHECK(cluster.replicas[0].executed.size() == 400);
    cluster.pass(milliseconds(10'000));
    CHECK(cluster.agreed().size() == 400);
    const auto& notes = cluster.replicas[2].notes;
    CHECK(std::any_of(notes.begin(), notes.end(), [](const std::string& note) {
      return note.find("fetching the checkpoint") != std::string::npos;
    }));
    // Nor does it blame the leader for what was decided while it was behind.
    CHECK(cluster.core(2).regency() == 0);
  }
}

TEST_CASE("votes that were lost for good are not missed where others have a proof") {
  for (FaultModel model : both_models) {
    TestCluster cluster(model, members_of(model), one_request_a_batch(checkpoints_every));
    cluster.lose = [](ReplicaId, ReplicaId to, const Message& m) {
      return to == 2 && is_vote_for_checkpoint(m);
    };
    // The others still have all batches that it lacks, so no checkpoint is fetched.
    cluster.submit_some(1, 1, mark + 10);
    cluster.pass(milliseconds(10'000));
    CHECK(cluster.agreed().size() == mark + 10);
    CHECK(cluster.core(2).footprint().batches < checkpoints_every);
    CHECK(cluster.replicas[2].received.empty());
  }
}

TEST_CASE("who asks what there is in the middle of a fetch does not lose what it fetches") {
  TestCluster cluster(FaultModel::crash, 3, one_request_a_batch(100));
  cluster.submit_some(1, 1, 150);
  cluster.run();
  std::vector<Gone> gone;
  note_gone(cluster, gone);
  cluster.tell(0, Received{2, message(ManifestRequest{100})});
  cluster.submit_some(1, 151, 250);
  cluster.run();
  cluster.tell(0, Received{2, message(StateRequest{77, 0, 0})});
  cluster.submit_some(1, 251, 350);
  cluster.run();
  cluster.tell(0, Received{2, message(ChunkRequest{100, 0})});
  cluster.run();
  CHECK(gone.empty());
}

TEST_CASE("who is asked for what it no longer has says so at once") {
  TestCluster cluster(FaultModel::crash, 3, one_request_a_batch(100));
  cluster.submit_some(1, 1, 450);
  cluster.run();
  std::vector<Gone> gone;
  note_gone(cluster, gone);
  cluster.tell(0, Received{2, message(ManifestRequest{100})});
  cluster.tell(0, Received{2, message(ChunkRequest{200, 0})});
  cluster.tell(0, Received{2, message(LogRequest{7, false})});
  cluster.run();
  REQUIRE(gone.size() == 3);
  CHECK(gone[0].instance == 100);
  CHECK(gone[1].instance == 200);
  CHECK(gone[2].instance == 7);
  for (const Gone& one : gone) CHECK(one.newest == 400);
}
