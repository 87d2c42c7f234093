#include "smr/order/transfer/milestones.h"

#include <doctest/doctest.h>

#include "smr/order/leader/regencies.h"
#include "smr/order/messages/digest.h"
#include "smr/order/messages/settings.h"

using namespace piracema;
using namespace piracema::smr;

namespace {
constexpr Instance first = milestone_interval;
Milestone word(Instance instance, std::string_view history, std::string_view by = "s") {
  return {instance, digest_of(as_bytes(history)), Buffer(as_bytes(by))};
}
}  // namespace

TEST_CASE("f + 1 equal words are a proof, different ones are none") {
  Milestones milestones;
  CHECK_FALSE(milestones.add(0, word(first, "x"), 2));
  CHECK_FALSE(milestones.add(0, word(first, "x"), 2));
  CHECK_FALSE(milestones.add(1, word(first, "y"), 2));
  const auto proof = milestones.add(2, word(first, "x"), 2);
  REQUIRE(proof);
  CHECK(proof->instance == first);
  CHECK(proof->history == word(first, "x").history);
  CHECK(proof->signatures.size() == 2);
}

TEST_CASE("words about what is proven, or about no milestone, are not wanted") {
  Milestones milestones;
  milestones.proven(2 * first);
  CHECK_FALSE(milestones.wants(2 * first));
  CHECK_FALSE(milestones.wants(2 * first + 1));
  CHECK(milestones.wants(3 * first));
}

TEST_CASE("a replica that names ever higher milestones keeps nobody else's word out") {
  Milestones milestones;
  CHECK_FALSE(milestones.add(1, word(first, "x"), 2));
  for (Instance i = 2; i < 1'000; ++i) CHECK_FALSE(milestones.add(0, word(i * first, "lie"), 2));
  CHECK(milestones.add(2, word(first, "x"), 2));
}

TEST_CASE("this replica's own history is kept until it is proven") {
  Milestones milestones;
  milestones.passed(word(first, "x"));
  CHECK(milestones.history_at(first) == word(first, "x").history);
  CHECK_FALSE(milestones.history_at(2 * first));
  milestones.proven(first);
  CHECK_FALSE(milestones.history_at(first));
  CHECK(milestones.own()->instance == first);
}

TEST_CASE("a regency is joined with f + 1 and entered with a quorum, of each the highest counts") {
  Regencies regencies(4, 0);
  CHECK(regencies.heard(3, 7));
  CHECK_FALSE(regencies.heard(3, 6));
  CHECK_FALSE(regencies.to_join(2));
  regencies.heard(2, 3);
  CHECK(regencies.to_join(2) == 3u);
  regencies.want(3);
  CHECK_FALSE(regencies.to_join(2));
  CHECK_FALSE(regencies.to_enter(3));
  regencies.heard(0, 3);
  CHECK(regencies.to_enter(3) == 3u);
  regencies.enter(3);
  CHECK(regencies.entered() == 3);
  CHECK_FALSE(regencies.to_enter(3));
}
