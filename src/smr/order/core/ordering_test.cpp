#include "base/random.h"
#include "smr/order/core/testing.h"

using namespace piracema;
using namespace piracema::smr;

namespace {

std::size_t count_votes(const std::vector<LogRecord>& log, Instance instance) {
  std::size_t found = 0;
  for (const LogRecord& record : log) {
    const auto* taken = std::get_if<ProposalTaken>(&record);
    found += taken && taken->instance == instance;
  }
  return found;
}

}  // namespace

TEST_CASE("all replicas execute all requests in one order, in both models") {
  for (FaultModel model : both_models) {
    TestCluster cluster(model, members_of(model));
    for (ClientId client = 1; client <= 5; ++client) cluster.submit_some(client, 1, 20);
    cluster.run();
    CHECK(cluster.agreed().size() == 100);
    CHECK(cluster.core(0).waiting_requests() == 0);
    CHECK(cluster.core(0).history() == cluster.core(1).history());
  }
}

TEST_CASE("a group of one decides alone") {
  TestCluster cluster(FaultModel::crash, 1);
  cluster.submit_some(1, 1, 3);
  cluster.run();
  CHECK(cluster.agreed().size() == 3);
}

TEST_CASE("requests that came in the meantime share a batch, up to its bounds") {
  Settings settings;
  settings.batch_requests = 10;
  settings.window = 1;
  TestCluster cluster(FaultModel::crash, 3, settings);
  cluster.submit_some(1, 1, 25);
  cluster.run();
  CHECK(cluster.agreed().size() == 25);
  CHECK(cluster.core(0).decided() == 3);
}

TEST_CASE("several instances are open at once, and executed in order") {
  Settings settings;
  settings.batch_requests = 1;
  settings.window = 4;
  TestCluster cluster(FaultModel::crash, 3, settings);
  cluster.lose = [](ReplicaId, ReplicaId, const Message& m) {
    const auto* accept = std::get_if<Accept>(&m);
    return accept && accept->instance == 1;
  };
  cluster.submit_some(1, 1, 8);
  cluster.run();
  // Up to the fourth they were decided, but the first was not.
  CHECK(cluster.agreed().empty());
  cluster.lose = nullptr;
  cluster.pass(milliseconds(200));
  CHECK(cluster.agreed() ==
        std::vector<std::string>{"1.1", "1.2", "1.3", "1.4", "1.5", "1.6", "1.7", "1.8"});
}

TEST_CASE("a replica writes its vote down before it sends it") {
  for (FaultModel model : both_models) {
    TestAuthenticator auth(1);
    Core core({}, 1, auth, Recovered{.view = test_view(model, members_of(model))});
    std::vector<Action> actions;
    core.step(Time{1}, Tick{}, actions);
    actions.clear();
    core.step(Time{2}, Received{0, message(Propose{1, 0, make_batch(1, {operation(1, 1, "x")})})},
              actions);
    REQUIRE(actions.size() == 1 + members_of(model));
    const auto* persist = std::get_if<Persist>(&actions[0]);
    REQUIRE(persist);
    CHECK(std::get<ProposalTaken>(persist->record).instance == 1);
    for (std::size_t i = 1; i < actions.size(); ++i) CHECK(std::get<Send>(actions[i]).after_log);
  }
}

TEST_CASE("of two proposals for one place the first gets the vote") {
  TestCluster cluster(FaultModel::byzantine, 4);
  cluster.lose = [](ReplicaId, ReplicaId, const Message&) { return true; };
  const auto propose = [&](std::string_view text) {
    cluster.tell(1, Received{0, message(Propose{1, 0, make_batch(1, {operation(1, 1, text)})})});
  };
  propose("a");
  propose("b");
  CHECK(count_votes(cluster.replicas[1].log, 1) == 1);
}

TEST_CASE("only the leader's proposals are looked at") {
  TestCluster cluster(FaultModel::crash, 3);
  cluster.tell(1, Received{2, message(Propose{1, 0, make_batch(1, {operation(1, 1, "x")})})});
  cluster.run();
  CHECK(cluster.agreed().empty());
}

TEST_CASE("liars: ACCEPTs of f + 1 decide nothing, nor do several of one") {
  TestCluster cluster(FaultModel::byzantine, 4);
  const BatchPtr batch = make_batch(1, {operation(1, 1, "x")});
  cluster.lose = [](ReplicaId, ReplicaId, const Message&) { return true; };
  cluster.tell(1, Received{0, message(Propose{1, 0, batch})});
  for (int i = 0; i < 3; ++i) {
    cluster.tell(1, Received{0, message(Accept{1, 0, batch->digest})});
    cluster.tell(1, Received{2, message(Accept{1, 0, batch->digest})});
  }
  CHECK(cluster.core(1).decided() == 0);
  cluster.tell(1, Received{3, message(Accept{1, 0, batch->digest})});
  CHECK(cluster.core(1).decided() == 1);
}

TEST_CASE("a request that convinces f + 1 replicas is ordered, the others follow them") {
  TestCluster cluster(FaultModel::byzantine, 4);
  // Replicas 2 and 3 cannot verify it, so it does not wait there either.
  for (ReplicaId id : {0u, 1u}) {
    cluster.tell(id, Submitted{operation(1, 1, "half", "01")});
  }
  cluster.run();
  CHECK(cluster.agreed() == std::vector<std::string>{"half"});
}

TEST_CASE("a request whose proof was bad for some is saved by the same one with a better proof") {
  TestCluster cluster(FaultModel::byzantine, 4);
  cluster.tell(0, Submitted{operation(1, 1, "x", "0")});
  cluster.run();
  CHECK(cluster.agreed().empty());
  for (ReplicaId id : {1u, 2u, 3u}) cluster.tell(id, Submitted{operation(1, 1, "x", "123")});
  cluster.run();
  CHECK(cluster.agreed() == std::vector<std::string>{"x"});
}

TEST_CASE("liars: another operation under a number that is here convinces nobody") {
  TestCluster cluster(FaultModel::byzantine, 4);
  cluster.tell(0, Submitted{operation(1, 1, "forged", "0")});
  for (ReplicaId id : {1u, 2u, 3u}) cluster.tell(id, Submitted{operation(1, 1, "x", "123")});
  cluster.run();
  CHECK(cluster.agreed().empty());
}

TEST_CASE("a request that convinces the leader alone is not ordered") {
  TestCluster cluster(FaultModel::byzantine, 4);
  cluster.tell(0, Submitted{operation(1, 1, "bad", "0")});
  cluster.run();
  CHECK(cluster.agreed().empty());
}

TEST_CASE("a request that comes again after it was decided is not ordered again") {
  TestCluster cluster(FaultModel::crash, 3);
  cluster.submit_some(1, 1, 3);
  cluster.run();
  cluster.submit_some(1, 1, 3);
  cluster.run();
  CHECK(cluster.agreed().size() == 3);
}

TEST_CASE("a leader stops proposing while execution is far behind") {
  Settings settings;
  settings.batch_requests = 1;
  settings.backlog = view_delay;
  TestCluster cluster(FaultModel::crash, 3, settings);
  for (auto& replica : cluster.replicas) replica.slow_service = true;
  cluster.submit_some(1, 1, 100);
  cluster.run();
  CHECK(cluster.core(0).decided() >= view_delay);
  CHECK(cluster.core(0).decided() < 2 * view_delay);
  for (auto& replica : cluster.replicas) replica.slow_service = false;
  for (ReplicaId id = 0; id < 3; ++id) cluster.tell(id, Executed{cluster.core(id).decided()});
  cluster.run();
  CHECK(cluster.agreed().size() == 100);
}

TEST_CASE("the leader's clock goes on from batch to batch, with the time that passes") {
  TestCluster cluster(FaultModel::crash, 3);
  cluster.submit_some(1, 1, 1);
  cluster.pass(milliseconds(500));
  cluster.submit_some(1, 2, 2);
  cluster.run();
  const auto& times = cluster.replicas[1].times;
  REQUIRE(times.size() == 2);
  CHECK(times[1] - times[0] == 500'000'000);
}

// What is decided long after it was proposed says little of what the time is.
TEST_CASE(
    "after a time without a quorum the leader's next batch is not taken for one of the future") {
  Settings settings = one_request_a_batch();
  settings.request_timeout = milliseconds(60'000);  // No other leader comes to help.
  TestCluster cluster(FaultModel::byzantine, 4, settings);
  cluster.submit_some(1, 1, 5);
  cluster.run();
  cluster.lose = [](ReplicaId from, ReplicaId to, const Message& m) {
    const bool votes = std::holds_alternative<Write>(m) || std::holds_alternative<Accept>(m);
    return votes && from != to;
  };
  cluster.submit_some(1, 6, 6);
  cluster.pass(milliseconds(20'000));
  cluster.lose = nullptr;
  cluster.pass(milliseconds(2'000));  // What was lost is said again.
  CHECK(cluster.agreed().back() == "1.6");
  cluster.submit_some(1, 7, 9);
  cluster.pass(milliseconds(500));
  CHECK(cluster.agreed().back() == "1.9");
}

TEST_CASE("the leader serves the service's timer where nobody asks for anything, once") {
  for (FaultModel model : both_models) {
    TestCluster cluster(model, members_of(model), one_request_a_batch());
    cluster.submit_some(1, 1, 1);
    cluster.run();
    const std::uint64_t at = cluster.replicas[0].times.back() + 1'500'000'000;
    for (auto& replica : cluster.replicas) replica.timer = at;
    cluster.submit_some(1, 2, 2);
    cluster.pass(milliseconds(1'000));
    CHECK(cluster.replicas[0].instance == 2);
    cluster.pass(milliseconds(1'000));
    CHECK(cluster.replicas[0].instance == 3);
    CHECK(cluster.replicas[0].times.back() >= at);
    cluster.pass(milliseconds(60'000));
    for (const auto& replica : cluster.replicas) CHECK(replica.instance == 3);
    CHECK(cluster.core(0).regency() == 0);
  }
}

TEST_CASE("a timer is served though requests never cease, and by the next leader") {
  for (FaultModel model : both_models) {
    TestCluster cluster(model, members_of(model), one_request_a_batch());
    cluster.submit_some(1, 1, 1);
    cluster.run();
    const std::uint64_t at = cluster.replicas[0].times.back() + 200'000'000;
    for (auto& replica : cluster.replicas) replica.timer = at;
    for (Sequence s = 2; s < 100; ++s) {
      cluster.submit_some(1, s, s);
      cluster.pass(milliseconds(10));
      if (s == 10) cluster.kill(0);
    }
    for (ReplicaId id = 1; id < members_of(model); ++id) {
      CHECK_FALSE(cluster.replicas[id].timer.has_value());
      CHECK(cluster.replicas[id].instance == 100);  // One of them is the tick.
    }
  }
}

TEST_CASE("a leader that lies is replaced if it does not serve the timer") {
  TestCluster cluster(FaultModel::byzantine, 4, one_request_a_batch());
  cluster.submit_some(1, 1, 1);
  cluster.run();
  const std::uint64_t at = cluster.replicas[0].times.back() + 200'000'000;
  for (ReplicaId id = 1; id < 4; ++id) cluster.replicas[id].timer = at;
  cluster.submit_some(1, 2, 2);
  cluster.pass(milliseconds(2'000));
  CHECK(cluster.core(1).regency() == 0);
  cluster.pass(milliseconds(8'000));
  CHECK(cluster.core(1).regency() == 1);
  for (ReplicaId id = 1; id < 4; ++id) CHECK_FALSE(cluster.replicas[id].timer.has_value());
}
