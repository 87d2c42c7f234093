#include "control/restart_budget.h"

#include <doctest/doctest.h>

namespace piracema::cluster {

namespace {

Suspect suspect(std::uint32_t node, std::optional<std::uint64_t> item) {
  return {node, node, item};
}

}  // namespace

TEST_CASE("an item that fails as often as the budget allows uses it up") {
  RestartBudget budget(3, 10);
  budget.failed({suspect(1, 4711)});
  budget.failed({suspect(1, 4711)});
  CHECK_FALSE(budget.culprit());
  budget.failed({suspect(1, 4711)});
  REQUIRE(budget.culprit());
  CHECK(budget.culprit()->node == 1);
  CHECK(budget.culprit()->item == 4711);
}

TEST_CASE("failures within the window count together, those outside do not") {
  RestartBudget near(3, 10), far(3, 10);
  for (const std::uint64_t item : {100, 110, 105}) near.failed({suspect(1, item)});
  for (const std::uint64_t item : {100, 111, 122}) far.failed({suspect(1, item)});
  CHECK(near.culprit());
  CHECK_FALSE(far.culprit());
}

TEST_CASE("two items of one farm that fail in turn are both found") {
  RestartBudget budget(3, 10);
  for (int i = 0; i < 2; ++i) {
    budget.failed({suspect(1, 100)});
    budget.failed({suspect(1, 5000)});
  }
  CHECK_FALSE(budget.culprit());
  budget.failed({suspect(1, 100)});
  REQUIRE(budget.culprit());
  budget.reset(*budget.culprit());
  CHECK_FALSE(budget.culprit());
  budget.failed({suspect(1, 5000)});
  CHECK(budget.culprit());
}

TEST_CASE("each node has its own budget") {
  RestartBudget budget(2, 10);
  budget.failed({suspect(0, 5)});
  budget.failed({suspect(7, 5)});
  CHECK_FALSE(budget.culprit());
}

TEST_CASE("a process that dies with several replicas at work fails once, not once a replica") {
  RestartBudget budget(2, 10);
  budget.failed({suspect(1, 5), suspect(1, 6), suspect(1, 7)});
  CHECK_FALSE(budget.culprit());
}

TEST_CASE("of the replicas that went down together the one at the same item again is named") {
  RestartBudget budget(3, 10);
  budget.failed({suspect(0, 501), suspect(1, 471), suspect(2, 460)});
  budget.failed({suspect(0, 505), suspect(1, 471), suspect(2, 462)});
  budget.failed({suspect(0, 507), suspect(1, 471), suspect(2, 465)});
  REQUIRE(budget.culprit());
  CHECK(budget.culprit()->node == 1);
}

TEST_CASE("the item is the first of those that count: who goes on a little is noticed late") {
  RestartBudget budget(3, 10);
  budget.failed({suspect(1, 104)});
  budget.failed({suspect(1, 101)});
  budget.failed({suspect(1, 103)});
  REQUIRE(budget.culprit());
  CHECK(budget.culprit()->item == 101);
}

TEST_CASE("where others may be to blame only the very same item counts") {
  using Blame = RestartBudget::Blame;
  RestartBudget budget(3, 10);
  for (const std::uint64_t item : {100, 101, 102}) budget.failed({suspect(1, item)}, Blame::likely);
  CHECK_FALSE(budget.culprit());
  budget.failed({suspect(1, 101)}, Blame::likely);
  CHECK_FALSE(budget.culprit());
  budget.failed({suspect(1, 101)}, Blame::likely);
  REQUIRE(budget.culprit());
  CHECK(budget.culprit()->item == 101);
}

TEST_CASE("failures on no item count among themselves") {
  RestartBudget budget(2, 10);
  budget.failed({suspect(0, std::nullopt)});
  budget.failed({suspect(0, 3)});
  CHECK_FALSE(budget.culprit());
  budget.failed({suspect(0, std::nullopt)});
  CHECK(budget.culprit());
}

TEST_CASE("old failures are forgotten in the end") {
  RestartBudget budget(2, 10);
  budget.failed({suspect(1, 100)});
  for (std::uint64_t item = 1'000; item < 100'000; item += 100) budget.failed({suspect(1, item)});
  budget.failed({suspect(1, 100)});
  CHECK_FALSE(budget.culprit());
}

TEST_CASE("a window as large as an item number can be does not overflow") {
  RestartBudget budget(2, ~std::uint64_t{0});
  budget.failed({suspect(0, 0)});
  budget.failed({suspect(0, ~std::uint64_t{0})});
  CHECK(budget.culprit());
}

}  // namespace piracema::cluster
