#include "run/sending/source_budget.h"

#include <doctest/doctest.h>

using namespace piracema;
using namespace piracema::runtime;

TEST_CASE("a source gets its items in portions that grow, and no more than it may begin") {
  SourceBudget budget;
  std::int64_t given = budget.begin(10'000, Time(100));
  CHECK(given == 1);
  std::int64_t last = given;
  while (!budget.is_used_up()) {
    const std::int64_t more = budget.next(Time(1));
    CHECK(more >= 1);
    CHECK(more <= SourceBudget::items_a_look_max);
    CHECK((more >= last || budget.is_used_up()));
    last = more;
    given += more;
    CHECK(given + budget.later() == 10'000);
  }
  CHECK(given == 10'000);
}

TEST_CASE("a source gets nothing more when its time is over, or when its budget was dropped") {
  SourceBudget budget;
  budget.begin(100, Time(50));
  CHECK(budget.next(Time(49)) == 1);
  CHECK(budget.next(Time(50)) == 0);
  CHECK(budget.later() == 98);
  budget.drop();
  CHECK(budget.is_used_up());
  CHECK(budget.later() == 0);
}

TEST_CASE("a call that may begin no item gets none") {
  SourceBudget budget;
  CHECK(budget.begin(0, Time(50)) == 0);
  CHECK(budget.is_used_up());
}
