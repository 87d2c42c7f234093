// Four processes, one of which lies (liar_main.cpp): the others and the clients agree on what
// happened all the same, and go on.

#include <doctest/doctest.h>

#include <cstdlib>

#include "cluster/smr/crowd.h"

using namespace piracema;
using namespace piracema::testing;

namespace {

/// The first leader lies; in the end one more process is killed and comes back, which is no fault
/// too many: it has not lost anything.
void live_with(const char* lie) {
  CAPTURE(lie);
  ::setenv("LIE", lie, 1);
  const GroupFolder folder;
  auto group = tools::KvGroup::make({.byzantine = true,
                                     .directory = folder.path(),
                                     .program = PIRACEMA_COMMAND,
                                     .programs = {{0, SMR_LIAR}}});
  REQUIRE(group.ok());
  Crowd crowd(*group, 4);
  for (int i = 0; i < 3; ++i) {
    REQUIRE(crowd.wait_for(100));
    // Everybody has to lead, the liar as well.
    const auto leader = crowd.leader();
    const std::size_t victim = leader && *leader != 0 ? *leader : 1;
    REQUIRE(group->kill(victim).ok());
    REQUIRE(group->start(victim).ok());
  }
  REQUIRE(crowd.wait_for(100));
  for (const std::size_t replica : group->ended()) CHECK(replica == 0);
  crowd.stop();
  const auto verdict = check(crowd.operations());
  CHECK(verdict.is == Verdict::Is::linearizable);
  CHECK(verdict.why == "");
  MESSAGE(std::string(lie), ": ", crowd.operations().size(), " operations, ", crowd.answered(),
          " answered");
}

}  // namespace

TEST_CASE("a replica that says one thing to some and another to others splits nobody") {
  live_with("equivocate");
}
TEST_CASE("a replica that changes what clients asked for has nothing of it ordered") {
  live_with("corrupt");
}
TEST_CASE("a replica that leaves out a third of what it should say stops nobody") {
  live_with("silent");
}
TEST_CASE("a replica that answers wrongly is believed by no client") { live_with("replies"); }
TEST_CASE("a replica that does all of that is still only one") { live_with("all"); }
