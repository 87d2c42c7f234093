// Real processes that are killed and frozen under load; what clients saw is held to the rule that
// it was possible with a single map that never fails.

#include <doctest/doctest.h>
#include <sys/mount.h>

#include <cstdlib>
#include <filesystem>

#include "base/random.h"
#include "cluster/smr/crowd.h"

using namespace piracema;
using namespace piracema::testing;

namespace {

std::uint64_t rounds() {
  const char* text = std::getenv("PIRACEMA_KILLS");
  return text == nullptr ? 12 : std::strtoull(text, nullptr, 10);
}

void kill_and_freeze(bool byzantine) {
  const GroupFolder folder;
  {
    auto group = tools::KvGroup::make(
        {.byzantine = byzantine, .directory = folder.path(), .program = PIRACEMA_COMMAND});
    REQUIRE(group.ok());
    Crowd crowd(*group, 4);
    Random random(byzantine ? 2 : 1);
    for (std::uint64_t i = 0; i < rounds(); ++i) {
      REQUIRE(crowd.wait_for(50));
      // One at a time, as f is 1; every second time the leader.
      const auto leader = crowd.leader();
      const std::size_t victim =
          i % 2 == 0 && leader ? *leader : random.below(group->configuration().replicas.size());
      const bool freeze = random.chance(0.4);
      CAPTURE(i);
      CAPTURE(victim);
      REQUIRE((freeze ? group->freeze(victim) : group->kill(victim)).ok());
      REQUIRE(crowd.wait_for(50));
      REQUIRE((freeze ? group->thaw(victim) : group->start(victim)).ok());
    }
    REQUIRE(crowd.wait_for(50));
    CHECK(group->ended().empty());
    crowd.stop();
    const auto verdict = check(crowd.operations());
    CHECK(verdict.is == Verdict::Is::linearizable);
    CHECK(verdict.why == "");
    MESSAGE(crowd.operations().size(), " operations, ", crowd.answered(), " answered");
  }
}

}  // namespace

TEST_CASE("replicas that are killed and frozen lose nothing and contradict nobody") {
  SUBCASE("three that crash") { kill_and_freeze(false); }
  SUBCASE("four of which one may lie") { kill_and_freeze(true); }
}

TEST_CASE("a group that was killed as a whole goes on with all that it had answered") {
  const GroupFolder folder;
  const tools::KvGroup::Options options{.directory = folder.path(), .program = PIRACEMA_COMMAND};
  const auto ask = [](const tools::KvGroup& group, const Buffer& operation) {
    auto client = smr::Client::open(
        group.configuration(), {.id = 1, .key_file = group.client_key(), .timeout = seconds(30)});
    REQUIRE(client.ok());
    const auto answer = (*client)->invoke_ordered(operation);
    REQUIRE(answer.ok());
    return *smr::kv::decode_reply(*answer);
  };
  for (int life = 0; life < 3; ++life) {
    auto group = tools::KvGroup::make(options);
    REQUIRE(group.ok());
    if (life > 0) {
      const auto reply = ask(*group, smr::kv::encode(smr::kv::Get{"life"}));
      REQUIRE(reply.entries.size() == 1);
      CHECK(reply.entries[0].value == std::to_string(life - 1));
    }
    ask(*group, smr::kv::encode(smr::kv::Put{.key = "life", .value = std::to_string(life)}));
  }
}

TEST_CASE("a replica whose disk is full ends and says so, the others go on, and it can come back") {
  const GroupFolder folder;
  const std::string disk = folder.path() + "/replica-2";
  {
    auto group = tools::KvGroup::make({.directory = folder.path(), .program = PIRACEMA_COMMAND});
    REQUIRE(group.ok());
    auto client = smr::Client::open(
        group->configuration(), {.id = 1, .key_file = group->client_key(), .timeout = seconds(30)});
    REQUIRE(client.ok());
    const auto put = [&](const std::string& value) {
      const auto answer =
          (*client)->invoke_ordered(smr::kv::encode(smr::kv::Put{.key = "k", .value = value}));
      REQUIRE(answer.ok());
    };
    put("before");
    // Its disk is exchanged for one with room for the first file of its log alone.
    REQUIRE(group->kill(2).ok());
    const bool mounted = ::mount("tmpfs", disk.c_str(), "tmpfs", 0, "size=20m") == 0;
    if (mounted) {
      REQUIRE(group->start(2).ok());
      const std::string large(20'000, 'x');
      bool full = false;
      for (int i = 0; i < 20'000 && !full; ++i) {
        put(large);
        full = group->ended() == std::vector<std::size_t>{2};
      }
      CHECK(full);
      put("while it is gone");
      // A new disk, without what it had promised: it catches up, and is needed when another goes.
      REQUIRE(::umount(disk.c_str()) == 0);
      std::filesystem::remove_all(disk);
      REQUIRE(group->start(2).ok());
      put("again");
      // It may have voted for what it forgot, and has to hear from both others before it counts: so
      // often as it takes, the other one goes.
      bool counts = false;
      for (int i = 0; i < 20 && !counts; ++i) {
        REQUIRE(group->kill(1).ok());
        auto brief = smr::Client::open(
            group->configuration(),
            {.id = 1, .key_file = group->client_key(), .timeout = seconds(3 + i)});
        REQUIRE(brief.ok());
        counts = (*brief)->invoke_ordered(smr::kv::encode(smr::kv::Get{"k"})).ok();
        REQUIRE(group->start(1).ok());
        put("with all of them");
      }
      CHECK(counts);
    } else {
      MESSAGE("SKIPPED: this machine does not let us mount a tmpfs");
    }
  }
}
