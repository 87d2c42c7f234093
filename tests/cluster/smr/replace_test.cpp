// The members of a group change while its clients ask, in real processes: clients that know only
// the first members find the others, and what they saw was possible with one map that never fails.

#include <doctest/doctest.h>
#include <piracema/smr/administrator.h>

#include "cluster/smr/crowd.h"
#include "smr/link/keys.h"

using namespace piracema;
using namespace piracema::testing;

namespace {

std::unique_ptr<smr::Administrator> administrator_of(const tools::KvGroup& group) {
  auto administrator = smr::Administrator::open(
      group.configuration(), {.key_file = group.administrator_key(), .timeout = seconds(60)});
  REQUIRE(administrator.ok());
  return *std::move(administrator);
}

std::vector<std::uint32_t> ids(const smr::Members& members) {
  std::vector<std::uint32_t> ids;
  for (const auto& replica : members.replicas) ids.push_back(replica.id);
  return ids;
}

void replace_one_after_the_other(bool byzantine) {
  const GroupFolder folder;
  auto group = tools::KvGroup::make(
      {.byzantine = byzantine, .directory = folder.path(), .program = PIRACEMA_COMMAND});
  REQUIRE(group.ok());
  const std::size_t n = group->configuration().replicas.size();
  Crowd crowd(*group, 4);
  REQUIRE(crowd.wait_for(50));
  // Each of the first is killed, and a new one on an empty disk takes its place; whatever number
  // the leader has, it is among them. The last that the clients know by its file stays.
  for (std::size_t victim = 0; victim + 1 < n; ++victim) {
    CAPTURE(victim);
    REQUIRE(group->kill(victim).ok());
    const auto replaced = group->replace(victim);
    CAPTURE((replaced ? "" : replaced.error().message));
    REQUIRE(replaced.ok());
    REQUIRE(crowd.wait_for(50));
  }
  // None of them can be missed: f is 1, and one more goes.
  REQUIRE(group->kill(n).ok());
  REQUIRE(crowd.wait_for(50));
  const auto members = administrator_of(*group)->members();
  REQUIRE(members.ok());
  CHECK(members->view == n - 1);
  CHECK(ids(*members) ==
        (byzantine ? std::vector<std::uint32_t>{3, 4, 5, 6} : std::vector<std::uint32_t>{2, 3, 4}));
  CHECK(group->ended().empty());
  crowd.stop();
  const auto verdict = check(crowd.operations());
  CHECK(verdict.is == Verdict::Is::linearizable);
  CHECK(verdict.why == "");
  MESSAGE(crowd.operations().size(), " operations, ", crowd.answered(), " answered");
}

}  // namespace

TEST_CASE("killed replicas are replaced by new ones on empty disks while clients ask") {
  SUBCASE("three that crash") { replace_one_after_the_other(false); }
  SUBCASE("four of which one may lie") { replace_one_after_the_other(true); }
}

TEST_CASE("a group grows, and outlives more faults from then on") {
  const GroupFolder folder;
  auto group = tools::KvGroup::make({.directory = folder.path(), .program = PIRACEMA_COMMAND});
  REQUIRE(group.ok());
  Crowd crowd(*group, 2);
  REQUIRE(crowd.wait_for(50));
  REQUIRE(group->add().ok());
  REQUIRE(group->add().ok());
  const auto administrator = administrator_of(*group);
  const auto& replicas = group->configuration().replicas;
  const auto refused = administrator->change({.f = 2});
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().code == Errc::config);
  const auto members = administrator->change({.add = {replicas[3], replicas[4]}, .f = 2});
  REQUIRE(members.ok());
  CHECK(members->f == 2);
  CHECK(ids(*members) == std::vector<std::uint32_t>{0, 1, 2, 3, 4});
  REQUIRE(crowd.wait_for(50));
  REQUIRE(group->kill(0).ok());
  REQUIRE(group->kill(1).ok());
  REQUIRE(crowd.wait_for(50));
  // They come back, with what they know of the first view and of this one.
  REQUIRE(group->start(0).ok());
  REQUIRE(group->start(1).ok());
  REQUIRE(group->kill(3).ok());
  REQUIRE(group->kill(4).ok());
  REQUIRE(crowd.wait_for(50));
  CHECK(group->ended().empty());
  crowd.stop();
  CHECK(check(crowd.operations()).is == Verdict::Is::linearizable);
}

TEST_CASE("a client that no file names is admitted while the group runs, and dismissed again") {
  for (const bool byzantine : {false, true}) {
    CAPTURE(byzantine);
    const GroupFolder folder;
    auto group = tools::KvGroup::make(
        {.byzantine = byzantine, .directory = folder.path(), .program = PIRACEMA_COMMAND});
    REQUIRE(group.ok());
    const std::string key_file = folder.path() + "/new.key";
    const smr::KeyPair key = smr::KeyPair::generate();
    REQUIRE(smr::write_key(key_file, key).ok());
    const auto ask = [&](seconds patience) {
      auto client = smr::Client::open(group->configuration(),
                                      {.id = 77, .key_file = key_file, .timeout = patience});
      REQUIRE(client.ok());
      return (*client)->invoke_ordered(smr::kv::encode(smr::kv::Put{.key = "a", .value = "b"}));
    };
    const auto administrator = administrator_of(*group);
    CHECK(administrator->members().ok());
    CHECK_FALSE(ask(seconds(1)).ok());
    REQUIRE(administrator->admit(77, smr::hex_of(key.public_key())).ok());
    CHECK(ask(seconds(60)).ok());
    // One that was killed and comes back knows it, from its log.
    REQUIRE(group->kill(0).ok());
    REQUIRE(group->start(0).ok());
    REQUIRE(group->kill(1).ok());
    CHECK(ask(seconds(60)).ok());
    REQUIRE(group->start(1).ok());
    REQUIRE(administrator->dismiss(77).ok());
    CHECK_FALSE(ask(seconds(1)).ok());
  }
}
