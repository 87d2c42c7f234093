#include "smr/order/core/testing.h"

using namespace piracema;
using namespace piracema::smr;

TEST_CASE("a replica that missed more than others repeat fetches the log") {
  for (FaultModel model : both_models) {
    TestCluster cluster(model, members_of(model), one_request_a_batch());
    cluster.lose = [](ReplicaId from, ReplicaId to, const Message&) {
      return to == 2 || from == 2;
    };
    cluster.submit_some(1, 1, 500);
    cluster.run();
    cluster.lose = nullptr;
    cluster.pass(milliseconds(3'000));
    cluster.submit_some(1, 501, 510);
    cluster.pass(milliseconds(3'000));
    CHECK(cluster.agreed().size() == 510);
  }
}

TEST_CASE("a replica that missed what a checkpoint has replaced fetches the checkpoint") {
  for (FaultModel model : both_models) {
    TestCluster cluster(model, members_of(model), one_request_a_batch(100));
    cluster.lose = [](ReplicaId from, ReplicaId to, const Message&) {
      return to == 2 || from == 2;
    };
    cluster.submit_some(1, 1, 470);
    cluster.run();
    cluster.lose = nullptr;
    cluster.pass(milliseconds(3'000));
    cluster.submit_some(1, 471, 480);
    cluster.pass(milliseconds(3'000));
    CHECK(cluster.agreed().size() == 480);
    CHECK(cluster.replicas[2].checkpoints.contains(400));
  }
}

TEST_CASE("a log is truncated at a checkpoint, and recovery begins there") {
  for (FaultModel model : both_models) {
    TestCluster cluster(model, members_of(model), one_request_a_batch(100));
    cluster.submit_some(1, 1, 450);
    cluster.run();
    CHECK(cluster.replicas[1].log.size() < 400);
    for (ReplicaId id = 0; id < members_of(model); ++id) cluster.crash(id);
    for (ReplicaId id = 0; id < members_of(model); ++id) cluster.start(id);
    cluster.submit_some(1, 451, 460);
    cluster.pass(milliseconds(3'000));
    CHECK(cluster.agreed().size() == 460);
  }
}

TEST_CASE("a replica that lost its disk stays silent until it has what it may have voted for") {
  for (FaultModel model : both_models) {
    TestCluster cluster(model, members_of(model), one_request_a_batch(100));
    cluster.submit_some(1, 1, 150);
    cluster.run();
    cluster.lose_disk(1);
    cluster.start(1, true);
    int votes = 0;
    cluster.lose = [&](ReplicaId from, ReplicaId, const Message& m) {
      votes += from == 1 && (std::holds_alternative<Accept>(m) || std::holds_alternative<Write>(m));
      return false;
    };
    cluster.submit_some(1, 151, 155);
    cluster.run();
    CHECK(votes == 0);
    cluster.pass(milliseconds(5'000));
    cluster.submit_some(1, 156, 160);
    cluster.pass(milliseconds(1'000));
    CHECK(votes > 0);
    CHECK(cluster.agreed().size() == 160);
  }
}

TEST_CASE("a replica is added while requests are ordered, catches up and counts") {
  for (FaultModel model : both_models) {
    const std::uint32_t n = members_of(model);
    TestCluster cluster(model, n, one_request_a_batch(100));
    cluster.submit_some(1, 1, 250);
    cluster.run();
    cluster.submit(change_of_view(1, {.from = 0, .add = {{n, "new", ""}}}));
    cluster.submit_some(1, 251, 260);
    cluster.pass(milliseconds(1'000));
    CHECK(cluster.core(0).view().n() == n + 1);
    cluster.replicas.emplace_back();
    cluster.start(n);
    cluster.pass(milliseconds(5'000));
    CHECK(cluster.core(n).view().id == 1);
    // It is needed now: n + 1 members without another one.
    cluster.kill(0);
    cluster.submit_some(1, 261, 270);
    cluster.pass(milliseconds(5'000));
    for (ReplicaId id = 1; id <= n; ++id) CHECK(cluster.replicas[id].instance > 260);
    CHECK(cluster.agreed().back() == "1.270");
  }
}

TEST_CASE("the leader is removed, and a replica takes another's place") {
  for (FaultModel model : both_models) {
    const std::uint32_t n = members_of(model);
    TestCluster cluster(model, n, one_request_a_batch(100));
    cluster.submit_some(1, 1, 20);
    cluster.run();
    cluster.submit(change_of_view(1, {.from = 0, .remove = {0}, .add = {{n, "new", ""}}}));
    cluster.pass(milliseconds(1'000));
    cluster.replicas.emplace_back();
    cluster.start(n);
    cluster.crash(0);
    cluster.submit_some(1, 21, 30);
    cluster.pass(milliseconds(8'000));
    CHECK(cluster.core(1).view().id == 1);
    CHECK(cluster.core(1).leads());
    CHECK(cluster.agreed().back() == "1.30");
    CHECK(cluster.replicas[n].executed.size() == cluster.replicas[1].executed.size());
  }
}

TEST_CASE("a leader that waits for the end of its view to be proven is not behind, and stays") {
  TestCluster cluster(FaultModel::byzantine, 4, one_request_a_batch(1'000));
  cluster.submit_some(1, 1, 20);
  cluster.run();
  cluster.lose = [](ReplicaId, ReplicaId, const Message& m) {
    return std::holds_alternative<Milestone>(m);
  };
  cluster.submit(change_of_view(1, {.from = 0, .remove = {3}, .add = {{4, "new", ""}}, .f = {}}));
  cluster.pass(milliseconds(300));
  CHECK(cluster.core(0).view().id == 0);
  for (const std::string& note : cluster.replicas[0].notes) {
    CHECK(note.find("asks for regency") == std::string::npos);
  }
  cluster.lose = nullptr;
  cluster.pass(milliseconds(3'000));
  CHECK(cluster.core(0).view().id == 1);
}

TEST_CASE("a replica that missed the proof of its view's end asks for it, and follows") {
  TestCluster cluster(FaultModel::byzantine, 4, one_request_a_batch(1'000));
  cluster.submit_some(1, 1, 20);
  cluster.run();
  // The others' words about it are lost, and for themselves they need not say them again.
  cluster.lose = [](ReplicaId, ReplicaId to, const Message& m) {
    return to == 1 && (std::holds_alternative<Milestone>(m) || std::holds_alternative<Sync>(m) ||
                       std::holds_alternative<Propose>(m));
  };
  cluster.submit(change_of_view(1, {.from = 0, .remove = {3}, .add = {{4, "new", ""}}, .f = {}}));
  cluster.pass(milliseconds(1'000));
  cluster.lose = nullptr;
  cluster.replicas.emplace_back();
  REQUIRE(cluster.core(2).view().id == 1);
  cluster.crash(3);
  cluster.pass(milliseconds(5'000));
  CHECK(cluster.core(1).view().id == 1);
  // It is needed: the new one has yet to come.
  cluster.submit_some(1, 21, 25);
  cluster.pass(milliseconds(5'000));
  CHECK(cluster.agreed().back() == "1.25");
}

TEST_CASE("a group in a later view goes on from its logs") {
  for (FaultModel model : both_models) {
    const std::uint32_t n = members_of(model);
    TestCluster cluster(model, n, one_request_a_batch(1'000));
    cluster.submit_some(1, 1, 20);
    cluster.run();
    cluster.submit(change_of_view(1, {.from = 0, .add = {{n, "new", ""}}}));
    cluster.pass(milliseconds(1'000));
    cluster.replicas.emplace_back();
    cluster.start(n);
    cluster.submit_some(1, 21, 30);
    cluster.pass(milliseconds(3'000));
    for (ReplicaId id = 0; id <= n; ++id) cluster.crash(id);
    for (ReplicaId id = 0; id <= n; ++id) cluster.start(id);
    cluster.submit_some(1, 31, 40);
    cluster.pass(milliseconds(5'000));
    for (ReplicaId id = 0; id <= n; ++id) CHECK(cluster.core(id).view().id == 1);
    CHECK(cluster.agreed().back() == "1.40");
  }
}

// A part of the log that is longer than what may wait for the service came again and again, and a
// few of its batches were used each time: on a narrow way that is never done.
TEST_CASE("batches that came wait for the service, and are not asked for again") {
  for (FaultModel model : both_models) {
    Settings settings = one_request_a_batch();
    settings.backlog = view_delay;
    TestCluster cluster(model, members_of(model), settings);
    cluster.lose = [](ReplicaId from, ReplicaId to, const Message&) {
      return to == 2 || from == 2;
    };
    cluster.submit_some(1, 1, 500);
    cluster.run();
    std::size_t came = 0;
    cluster.lose = [&came](ReplicaId, ReplicaId to, const Message& m) {
      const auto* suffix = std::get_if<LogSuffix>(&m);
      if (suffix && to == 2) came += suffix->batches.size();
      return false;
    };
    cluster.pass(milliseconds(3'000));
    CHECK(cluster.replicas[2].instance == cluster.replicas[0].instance);
    CHECK(came >= 500);
    CHECK(came < 600);
  }
}

// The others take a checkpoint every 100 instances, and this one's way is slow: when it has one,
// three newer ones are stable.
TEST_CASE(
    "a replica that fetches for longer than from one checkpoint to the next arrives under load") {
  for (FaultModel model : both_models) {
    TestCluster cluster(model, members_of(model), one_request_a_batch(100));
    const auto cut = [](ReplicaId from, ReplicaId to, const Message&) {
      return to == 2 || from == 2;
    };
    cluster.lose = cut;
    cluster.submit_some(1, 1, 450);
    cluster.run();
    std::deque<TestCluster::InFlight> slow;
    cluster.lose = [&slow](ReplicaId from, ReplicaId to, const Message& m) {
      const auto* chunk = std::get_if<Chunk>(&m);
      if (chunk) slow.push_back({from, to, message(*chunk)});
      return chunk != nullptr;
    };
    Sequence next = 451;
    for (int round = 0; round < 60; ++round, next += 60) {
      cluster.submit_some(1, next, next + 59);
      cluster.pass(milliseconds(10));
      for (int i = 0; i < 8 && !slow.empty(); ++i) {
        const auto one = slow.front();
        slow.pop_front();
        cluster.tell(one.to, Received{one.from, one.message});
      }
      cluster.run();
    }
    // It stays as far as the others, who have not stopped.
    CHECK(cluster.replicas[0].instance + 1 >= next);
    CHECK(cluster.replicas[2].instance + 200 > cluster.replicas[0].instance);
    cluster.lose = nullptr;
    cluster.pass(milliseconds(1'000));
    CHECK(cluster.agreed().size() == next - 1);
    CHECK(cluster.replicas[2].instance == cluster.replicas[0].instance);
  }
}

// The others keep an old log, for somebody else, and have no checkpoint of that time any more.
TEST_CASE("a replica that comes by the log waits for no checkpoint that nobody has any more") {
  for (FaultModel model : both_models) {
    TestCluster cluster(model, members_of(model), one_request_a_batch(100));
    cluster.submit_some(1, 1, 150);
    cluster.run();
    cluster.lose = [](ReplicaId from, ReplicaId to, const Message&) {
      return to == 2 || from == 2;
    };
    for (Sequence next = 151; next < 3'151; next += 50) {
      cluster.tell(0, Received{1, message(ManifestRequest{100})});
      cluster.submit_some(1, next, next + 49);
      cluster.run();
    }
    int pieces = 0;
    cluster.lose = [&pieces](ReplicaId, ReplicaId to, const Message& m) {
      pieces += to == 2 && std::holds_alternative<Chunk>(m);
      return false;
    };
    cluster.submit_some(1, 3'151, 3'160);
    cluster.pass(milliseconds(20'000));
    CHECK(pieces == 0);
    CHECK(cluster.replicas[2].instance == cluster.replicas[0].instance);
    CHECK(cluster.agreed().size() == 3'160);
  }
}

// Found by real processes: whoever has an empty disk then knew nobody who lived.
TEST_CASE("a replica that lost its disk catches up when all that its group began with are gone") {
  for (FaultModel model : both_models) {
    const std::uint32_t n = members_of(model);
    TestCluster cluster(model, n, one_request_a_batch(100));
    cluster.submit_some(1, 1, 150);
    cluster.run();
    for (ReplicaId gone = 0; gone < n; ++gone) {
      const auto made = static_cast<ReplicaId>(n + gone);
      cluster.replicas.emplace_back();
      cluster.submit(change_of_view(
          gone + 1,
          {.from = gone, .remove = {gone}, .add = {{made, "r" + std::to_string(made), ""}}}));
      cluster.pass(milliseconds(1'000));
      cluster.start(made);
      cluster.pass(milliseconds(5'000));
      cluster.crash(gone);
    }
    REQUIRE(cluster.core(n).view().id == n);
    cluster.lose_disk(n + 1);
    cluster.start(n + 1, true);
    cluster.submit_some(1, 151, 160);
    cluster.pass(milliseconds(20'000));
    CHECK(cluster.core(n + 1).view().id == n);
    CHECK_FALSE(cluster.core(n + 1).is_silent());
    CHECK(cluster.replicas[n + 1].instance == cluster.replicas[n].instance);
  }
}
