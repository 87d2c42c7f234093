#include "smr/order/step/step.h"

#include <doctest/doctest.h>

#include "smr/testing.h"

using namespace piracema;
using namespace piracema::smr;

TEST_CASE("a message to the others does not go to this replica, and one to all does") {
  const Membership members(1, test_view());
  Step step(members);
  std::vector<Action> out;
  step.begin(Time(1), out);
  step.send_others(message(Behind{3, 0}));
  REQUIRE(out.size() == 2);
  CHECK(std::get<Send>(out[0]).to == 0);
  CHECK(std::get<Send>(out[1]).to == 2);
  step.send_all(message(Behind{3, 0}), true);
  REQUIRE(out.size() == 5);
  CHECK(std::get<Send>(out[3]).to == 1);
  CHECK(std::get<Send>(out[3]).after_log);
}

TEST_CASE("what is replayed is not persisted again") {
  const Membership members(1, test_view());
  Step step(members);
  std::vector<Action> out;
  step.begin(Time(1), out);
  step.set_replaying(true);
  step.persist(StopSaid{1, 0});
  CHECK(out.empty());
  step.set_replaying(false);
  step.persist(StopSaid{1, 0});
  CHECK(out.size() == 1);
}

TEST_CASE("a replica that halts says why, and stays halted") {
  const Membership members(1, test_view());
  Step step(members);
  std::vector<Action> out;
  step.begin(Time(1), out);
  CHECK_FALSE(step.halted());
  step.halt("two decisions");
  CHECK(std::get<Halt>(out.back()).why == "two decisions");
  step.begin(Time(2), out);
  CHECK(step.halted());
}
