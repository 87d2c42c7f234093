#include <doctest/doctest.h>

#include <cstdint>

#include "sim/jobs/run.h"
#include "sim/seeds.h"

namespace piracema::sim {

TEST_CASE(
    "of a job one attempt is alive at a time, each job is over in the end, and each machine that "
    "is "
    "lent is given back in time") {
  std::uint64_t parts = 0, parts_over = 0, told = 0, parts_asked = 0, forgotten = 0, given_back = 0;
  std::uint64_t beside = 0, beside_told = 0, resized = 0, forgiven = 0;
  std::uint64_t handed_over = 0, joined = 0, kept = 0, began_alike = 0;
  std::uint64_t stayed = 0, came_too_late = 0, suspended = 0, resumed = 0;
  for (const auto seed : seeds(5'000)) {
    Run run(seed);
    run.check();
    parts += run.parts();
    parts_over += run.parts_over();
    told += run.told();
    parts_asked += run.parts_asked();
    forgotten += run.forgotten();
    given_back += run.given_back();
    beside += run.beside();
    beside_told += run.beside_told();
    resized += run.resized();
    forgiven += run.forgiven();
    handed_over += run.handed_over();
    joined += run.joined();
    kept += run.kept();
    began_alike += seed % 4 == 1 ? run.began_alike() : 0;
    stayed += run.stayed();
    came_too_late += run.came_too_late();
    suspended += run.suspended();
    resumed += run.resumed();
    CHECK(run.late() == 0);
    CHECK(run.beside_user() == 0);
    CHECK(run.forgotten_still() == 0);
  }
  // Or else nothing was tried.
  CHECK(parts > 0);
  CHECK(parts_over > 0);
  CHECK(told > 0);
  CHECK(parts_asked > 0);
  CHECK(forgotten > 0);
  CHECK(given_back > 0);
  CHECK(beside > 0);
  CHECK(beside_told > 0);
  CHECK(resized > 0);
  CHECK(forgiven > 0);
  CHECK(is_exercised(handed_over, 20, 5'000));
  CHECK(joined > 0);
  CHECK(kept > 0);
  CHECK(is_exercised(began_alike, 500, 5'000));
  CHECK(is_exercised(stayed, 150, 5'000));
  CHECK(is_exercised(came_too_late, 150, 5'000));
  CHECK(is_exercised(suspended, 500, 5'000));
  CHECK(is_exercised(resumed, 150, 5'000));
}

TEST_CASE(
    "where homes become full nothing begins, what runs stays, and each job is over in the end") {
  std::uint64_t stayed = 0, came_too_late = 0;
  for (const auto seed : seeds(1'000)) {
    Run run(seed, Mistake::none, Faults::full_homes);
    run.check();
    CHECK(run.asked() == 0);
    stayed += run.stayed();
    came_too_late += run.came_too_late();
  }
  CHECK(is_exercised(stayed, 500, 1'000));
  CHECK(is_exercised(came_too_late, 50, 1'000));
}

TEST_CASE("a node that gives its jobs away as its home is full is found") {
  std::uint32_t asked = 0;
  for (const auto seed : seeds(20)) {
    Run run(seed, Mistake::leaves_when_full, Faults::full_homes);
    run.live();
    asked += run.asked();
  }
  CHECK(asked > 0);
}

TEST_CASE("a job that stands still when its user has gone is found") {
  std::uint32_t forgotten = 0;
  for (const auto seed : seeds(50)) {
    Run run(seed, Mistake::never_resumes);
    run.live();
    forgotten += run.forgotten_still();
  }
  CHECK(forgotten > 0);
}

TEST_CASE("a node that says too early that it has nothing of a part is found") {
  std::uint32_t broken = 0;
  for (const auto seed : seeds(200)) {
    Run run(seed, Mistake::says_too_early);
    run.live();
    broken += run.broken();
  }
  CHECK(broken > 0);
}

}  // namespace piracema::sim
