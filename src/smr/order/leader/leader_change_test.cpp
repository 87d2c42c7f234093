#include "smr/order/core/testing.h"

using namespace piracema;
using namespace piracema::smr;

namespace {

template <class M>
bool is(const Message& m) {
  return std::holds_alternative<M>(m);
}

}  // namespace

TEST_CASE("a leader whose process dies is replaced at once") {
  for (FaultModel model : both_models) {
    TestCluster cluster(model, members_of(model));
    cluster.submit_some(1, 1, 5);
    cluster.run();
    cluster.kill(0);
    cluster.submit_some(1, 6, 10);
    const Time before = cluster.now;
    cluster.run();
    CHECK(cluster.now == before);
    CHECK(cluster.agreed().size() == 10);
    CHECK(cluster.core(1).leader() == 1);
    CHECK(cluster.core(1).leads());
  }
}

TEST_CASE("a leader that falls silent is replaced within its time") {
  for (FaultModel model : both_models) {
    TestCluster cluster(model, members_of(model));
    cluster.submit_some(1, 1, 5);
    cluster.run();
    cluster.crash(0);
    cluster.submit_some(1, 6, 10);
    cluster.pass(cluster.settings.silence_timeout + milliseconds(1));
    CHECK(cluster.agreed().size() == 10);
    CHECK(cluster.core(1).regency() == 1);
  }
}

TEST_CASE("a leader that is idle, and one that is slow to find work, stay") {
  for (FaultModel model : both_models) {
    TestCluster cluster(model, members_of(model));
    cluster.pass(milliseconds(60'000));
    CHECK(cluster.core(1).regency() == 0);
  }
}

TEST_CASE("what was decided in regency 0 stays, though only the dead leader knows it") {
  // BFT-SMaRt takes "wrote nothing" for "wrote in epoch 0", and lets another batch take its place.
  for (FaultModel model : both_models) {
    TestCluster cluster(model, members_of(model));
    // The leader alone gets enough ACCEPTs; the last replica gets nothing at all.
    const ReplicaId last = members_of(model) - 1;
    cluster.lose = [&](ReplicaId, ReplicaId to, const Message& m) {
      return to == last || (is<Accept>(m) && to != 0);
    };
    cluster.submit_some(1, 1, 1);
    cluster.run();
    REQUIRE(cluster.replicas[0].executed == std::vector<std::string>{"1.1"});
    REQUIRE(cluster.replicas[1].executed.empty());
    cluster.lose = nullptr;
    cluster.kill(0);
    cluster.submit(operation(2, 1, "other"));
    cluster.pass(milliseconds(3'000));
    const auto all = cluster.agreed();
    REQUIRE(all.size() == 2);
    CHECK(all[0] == "1.1");
    CHECK(all[1] == "other");
  }
}

TEST_CASE("all open instances survive a change of the leader in their order") {
  for (FaultModel model : both_models) {
    Settings settings;
    settings.batch_requests = 1;
    TestCluster cluster(model, members_of(model), settings);
    // The first instance is decided nowhere; those behind it everywhere.
    cluster.lose = [](ReplicaId, ReplicaId, const Message& m) {
      const auto* accept = std::get_if<Accept>(&m);
      return accept && accept->instance == 1;
    };
    cluster.submit_some(1, 1, 6);
    cluster.run();
    CHECK(cluster.agreed().empty());
    cluster.lose = nullptr;
    cluster.kill(0);
    cluster.run();
    CHECK(cluster.agreed() == std::vector<std::string>{"1.1", "1.2", "1.3", "1.4", "1.5", "1.6"});
  }
}

TEST_CASE("a hole that nobody can fill is filled with nothing, so that the rest is executed") {
  for (FaultModel model : both_models) {
    Settings settings;
    settings.batch_requests = 1;
    TestCluster cluster(model, members_of(model), settings);
    cluster.lose = [](ReplicaId, ReplicaId, const Message& m) {
      const auto* propose = std::get_if<Propose>(&m);
      return propose && propose->instance == 1;
    };
    // Only the leader gets them; it dies with the first.
    for (Sequence s = 1; s <= 3; ++s) cluster.tell(0, Submitted{operation(1, s, "x")});
    cluster.run();
    cluster.lose = nullptr;
    cluster.kill(0);
    cluster.run();
    CHECK(cluster.agreed().size() == 2);
    CHECK(cluster.core(1).decided() == 3);
  }
}

TEST_CASE("a leader that is far behind catches up before it leads, and is of use then") {
  for (FaultModel model : both_models) {
    Settings settings;
    settings.batch_requests = 1;
    TestCluster cluster(model, members_of(model), settings);
    cluster.lose = [](ReplicaId from, ReplicaId to, const Message&) {
      return to == 1 || from == 1;
    };
    cluster.submit_some(1, 1, 200);
    cluster.pass(milliseconds(20'000));
    // It is the next leader, and without it there is no quorum.
    cluster.lose = nullptr;
    cluster.kill(0);
    cluster.submit_some(1, 201, 210);
    cluster.pass(milliseconds(2'000));
    CHECK(cluster.agreed().size() == 210);
  }
}

TEST_CASE("a leader that does not catch up gives the lead away") {
  for (FaultModel model : both_models) {
    Settings settings;
    settings.batch_requests = 1;
    TestCluster cluster(model, members_of(model) + (model == FaultModel::crash ? 2 : 3), settings);
    cluster.lose = [](ReplicaId from, ReplicaId to, const Message&) {
      return to == 1 || from == 1;
    };
    cluster.submit_some(1, 1, 200);
    cluster.run();
    cluster.lose = [](ReplicaId, ReplicaId, const Message& m) {
      return is<LogSuffix>(m) || is<StateOffer>(m);
    };
    cluster.kill(0);
    cluster.submit_some(1, 201, 210);
    cluster.pass(milliseconds(2'000));
    CHECK(cluster.core(2).leads());
    CHECK(cluster.replicas[2].executed.size() == 210);
  }
}

TEST_CASE("leaders that die one after the other are replaced while a quorum lives") {
  TestCluster cluster(FaultModel::byzantine, 7);
  cluster.submit_some(1, 1, 2);
  cluster.run();
  cluster.kill(0);
  cluster.kill(1);
  cluster.submit_some(1, 3, 4);
  cluster.pass(milliseconds(2'000));
  CHECK(cluster.agreed().size() == 4);
  CHECK(cluster.core(2).regency() == 2);
}

TEST_CASE("the new leader dies as well before it has begun") {
  TestCluster cluster(FaultModel::crash, 5);
  cluster.lose = [](ReplicaId from, ReplicaId, const Message& m) {
    return from == 1 && is<Sync>(m);
  };
  cluster.submit_some(1, 1, 2);
  cluster.run();
  cluster.kill(0);
  cluster.submit_some(1, 3, 4);
  cluster.pass(milliseconds(3'000));
  cluster.crash(1);
  CHECK(cluster.agreed().size() == 4);
  CHECK(cluster.core(2).regency() == 2);
}

TEST_CASE("liars: one replica alone brings no leader down") {
  TestCluster cluster(FaultModel::byzantine, 4);
  for (ReplicaId to : {0u, 1u, 2u}) cluster.tell(to, Received{3, message(Stop{0, 1})});
  for (ReplicaId to : {0u, 1u, 2u}) cluster.tell(to, Received{3, message(Stop{0, 900})});
  cluster.pass(milliseconds(100));
  for (ReplicaId id = 0; id < 3; ++id) CHECK(cluster.core(id).regency() == 0);
  cluster.tell(1, Received{2, message(Stop{0, 1})});
  cluster.run();
  CHECK(cluster.core(1).regency() == 1);
}

TEST_CASE("a leader that leaves out a client's request is replaced after the second timer") {
  TestCluster cluster(FaultModel::byzantine, 4);
  bool forwarded = false;
  cluster.lose = [&](ReplicaId, ReplicaId to, const Message& m) {
    forwarded |= is<Forward>(m);
    return is<Forward>(m) && to == 0;
  };
  for (ReplicaId id : {1u, 2u, 3u}) cluster.tell(id, Submitted{operation(1, 1, "wanted")});
  cluster.pass(cluster.settings.request_timeout - milliseconds(1));
  CHECK_FALSE(forwarded);
  cluster.pass(milliseconds(2));
  CHECK(forwarded);
  CHECK(cluster.core(1).regency() == 0);
  cluster.pass(cluster.settings.request_timeout);
  CHECK(cluster.agreed() == std::vector<std::string>{"wanted"});
  CHECK(cluster.core(1).regency() == 1);
}

TEST_CASE("a request that only one replica was told is forwarded to the others") {
  TestCluster cluster(FaultModel::crash, 3);
  cluster.tell(2, Submitted{operation(1, 1, "x")});
  cluster.pass(cluster.settings.request_timeout + milliseconds(1));
  CHECK(cluster.agreed().size() == 1);
  CHECK(cluster.core(2).regency() == 0);
}

TEST_CASE("a client that convinces the leader alone stalls it, and the group goes on without it") {
  TestCluster cluster(FaultModel::byzantine, 4);
  cluster.tell(0, Submitted{operation(66, 1, "bad", "0")});
  cluster.run();
  cluster.submit_some(1, 1, 3);
  cluster.pass(milliseconds(6'000));
  CHECK(cluster.agreed().size() == 3);
  CHECK(cluster.core(1).regency() == 1);
}

TEST_CASE("a leader that comes back does not lead the regency it may have forgotten") {
  for (FaultModel model : both_models) {
    TestCluster cluster(model, members_of(model));
    cluster.submit_some(1, 1, 3);
    cluster.run();
    cluster.crash(0);
    cluster.start(0);
    cluster.run();
    CHECK(cluster.core(1).regency() == 1);
    cluster.submit_some(1, 4, 6);
    cluster.pass(milliseconds(1'000));
    CHECK(cluster.agreed().size() == 6);
  }
}

TEST_CASE("a group that was stopped as a whole goes on from its logs") {
  for (FaultModel model : both_models) {
    TestCluster cluster(model, members_of(model));
    cluster.submit_some(1, 1, 50);
    cluster.run();
    for (ReplicaId id = 0; id < members_of(model); ++id) cluster.crash(id);
    for (ReplicaId id = 0; id < members_of(model); ++id) cluster.start(id);
    cluster.submit_some(1, 51, 60);
    cluster.pass(milliseconds(2'000));
    CHECK(cluster.agreed().size() == 60);
    // And again: now in a later regency, whose SYNC nobody remembers.
    for (ReplicaId id = 0; id < members_of(model); ++id) cluster.crash(id);
    for (ReplicaId id = 0; id < members_of(model); ++id) cluster.start(id);
    cluster.submit_some(1, 61, 70);
    cluster.pass(milliseconds(3'000));
    CHECK(cluster.agreed().size() == 70);
  }
}

TEST_CASE("a follower that comes back learns the regency and what it missed") {
  for (FaultModel model : both_models) {
    TestCluster cluster(model, members_of(model));
    cluster.submit_some(1, 1, 5);
    cluster.run();
    cluster.crash(2);
    cluster.submit_some(1, 6, 10);
    cluster.tell(1, LinkLost{0});
    if (model == FaultModel::byzantine) cluster.tell(3, LinkLost{0});
    cluster.pass(milliseconds(100));
    CHECK(cluster.core(1).regency() == 1);
    cluster.start(2);
    cluster.pass(milliseconds(1'000));
    CHECK(cluster.core(2).regency() == 1);
    CHECK(cluster.agreed().size() == 10);
  }
}

TEST_CASE("a replica that nobody hears asks for no more than one regency") {
  TestCluster cluster(FaultModel::crash, 3);
  cluster.lose = [](ReplicaId, ReplicaId to, const Message&) { return to == 2; };
  cluster.pass(milliseconds(30'000));
  CHECK(cluster.core(1).regency() == 1);
  CHECK(cluster.core(2).regency() == 0);
  cluster.lose = nullptr;
  cluster.submit_some(1, 1, 3);
  cluster.pass(milliseconds(1'000));
  CHECK(cluster.agreed().size() == 3);
}

// A machine that sleeps, a hypervisor that is busy.
TEST_CASE("a group that stood still as a whole goes on under its leader") {
  for (FaultModel model : both_models) {
    TestCluster cluster(model, members_of(model));
    for (int i = 0; i < 5; ++i) {
      cluster.submit_some(1, 10 * i + 1, 10 * i + 5);
      cluster.pass(milliseconds(100));
      cluster.submit_some(1, 10 * i + 6, 10 * i + 10);
      cluster.now += milliseconds(5'000);
      cluster.pass(milliseconds(100));
    }
    CHECK(cluster.agreed().size() == 50);
    for (ReplicaId id = 0; id < members_of(model); ++id) {
      CHECK(cluster.core(id).regency() == 0);
      for (const std::string& note : cluster.replicas[id].notes) CHECK(note == "");
    }
  }
}

TEST_CASE("replicas that are always late still replace a leader that is gone") {
  for (FaultModel model : both_models) {
    TestCluster cluster(model, members_of(model));
    cluster.submit_some(1, 1, 5);
    cluster.run();
    cluster.crash(0);
    for (int i = 0; i < 8; ++i) {
      cluster.now += milliseconds(2'000);
      cluster.run();
    }
    CHECK(cluster.core(1).regency() > 0);
  }
}

TEST_CASE("a leader that falls silent soon after another was killed is waited for no longer") {
  for (FaultModel model : both_models) {
    TestCluster cluster(model, members_of(model));
    cluster.submit_some(1, 1, 5);
    cluster.run();
    cluster.kill(0);
    cluster.start(0);
    cluster.submit_some(1, 6, 10);
    cluster.pass(milliseconds(50));
    REQUIRE(cluster.core(1).leads());
    cluster.submit_some(1, 11, 15);
    cluster.run();
    cluster.lose = [](ReplicaId from, ReplicaId, const Message&) { return from == 1; };
    cluster.pass(milliseconds(700));
    CHECK(cluster.core(2).regency() == 2);
  }
}

TEST_CASE("patience doubles for who waits in vain, beyond the first decision and not for ever") {
  for (const bool later : {false, true}) {
    TestCluster cluster(FaultModel::crash, 5);
    cluster.submit_some(1, 1, 5);
    cluster.run();
    ReplicaId silent = 0;
    cluster.lose = [&silent](ReplicaId from, ReplicaId, const Message&) {
      return from == 0 || from == silent;
    };
    cluster.pass(milliseconds(700));
    REQUIRE(cluster.core(1).leads());
    cluster.submit_some(1, 6, 10);
    cluster.pass(milliseconds(later ? 2'000 : 50));
    silent = 1;
    cluster.pass(milliseconds(700));
    CHECK(cluster.core(2).regency() == (later ? 2 : 1));
    cluster.pass(milliseconds(700));
    CHECK(cluster.core(2).regency() == 2);
  }
}
