#include "smr/order/agreement/binding.h"

#include <doctest/doctest.h>

#include "smr/order/core/testing.h"

using namespace piracema;
using namespace piracema::smr;

namespace {

const Digest of_a = digest_of(as_bytes("a"));
const Digest of_b = digest_of(as_bytes("b"));

Collect collect(ReplicaId from, std::vector<CollectEntry> entries, Instance proven = 0) {
  Collect one{from, 0, 5, {}, std::move(entries), {}};
  one.proof.instance = proven;
  return one;
}
CollectEntry certified(Instance instance, Vote vote) { return {instance, vote, {vote}}; }
CollectEntry written(Instance instance, Vote vote) { return {instance, {}, {vote}}; }

const View crash = test_view(FaultModel::crash, 3);
const View liars = test_view(FaultModel::byzantine, 4);

}  // namespace

TEST_CASE("a value that was accepted in regency 0 is bound, though others accepted nothing") {
  // BFT-SMaRt's own classes answer: bound to nothing, any other batch may be proposed.
  const auto three = bind(crash, {collect(0, {certified(1, {0, of_a})}), collect(1, {})});
  REQUIRE(three);
  CHECK(three->values.at(1) == of_a);

  const auto four = bind(liars, {collect(0, {certified(1, {0, of_a})}),
                                 collect(1, {certified(1, {0, of_a})}), collect(2, {})});
  REQUIRE(four);
  CHECK(four->values.at(1) == of_a);
}

TEST_CASE("collects of fewer than a quorum bind nothing") {
  CHECK_FALSE(bind(crash, {collect(0, {})}));
  CHECK_FALSE(bind(liars, {collect(0, {}), collect(1, {})}));
}

TEST_CASE("crash: of two accepted values the newer one is bound") {
  const auto binding =
      bind(crash, {collect(0, {certified(1, {0, of_a})}), collect(1, {certified(1, {2, of_b})})});
  REQUIRE(binding);
  CHECK(binding->values.at(1) == of_b);
}

TEST_CASE("where nobody has accepted anything everything is allowed, holes included") {
  const auto binding = bind(crash, {collect(0, {certified(3, {0, of_a})}), collect(1, {})});
  REQUIRE(binding);
  CHECK(binding->top == 3);
  CHECK(binding->values.size() == 1);
}

TEST_CASE("liars: a value that nobody correct can have written is not bound") {
  const auto lie = bind(liars, {collect(0, {certified(1, {9, of_b})}), collect(1, {}),
                                collect(2, {}), collect(3, {})});
  REQUIRE(lie);
  CHECK(lie->values.empty());
}

TEST_CASE("liars: whoever lists a value many times counts once") {
  Collect stuffed = collect(0, {{1, Vote{3, of_b}, {{3, of_b}, {3, of_b}, {3, of_b}, {3, of_b}}}});
  const auto binding = bind(liars, {stuffed, collect(1, {}), collect(2, {}), collect(3, {})});
  REQUIRE(binding);
  CHECK(binding->values.empty());
}

TEST_CASE("liars: three collects of which one lies may not tell, a fourth does") {
  const Collect lie = collect(0, {certified(1, {9, of_b})});
  const Collect honest_1 = collect(1, {certified(1, {2, of_a})});
  const Collect honest_2 = collect(2, {written(1, {2, of_a})});
  const Collect honest_3 = collect(3, {written(1, {2, of_a})});
  CHECK_FALSE(bind(liars, {lie, honest_1, honest_2}));
  const auto binding = bind(liars, {lie, honest_1, honest_2, honest_3});
  REQUIRE(binding);
  CHECK(binding->values.at(1) == of_a);
}

TEST_CASE(
    "liars: what was written again in a later regency still counts for an older certificate") {
  const auto binding = bind(liars, {collect(0, {certified(1, {1, of_a})}),
                                    collect(1, {written(1, {2, of_a})}), collect(2, {})});
  REQUIRE(binding);
  CHECK(binding->values.at(1) == of_a);
}

TEST_CASE("what is proven needs no binding, and the highest proof is the base") {
  const auto binding = bind(
      liars, {collect(0, {certified(33, {0, of_a}), written(34, {0, of_b})}), collect(1, {}, 32),
              collect(2, {certified(33, {0, of_a}), certified(34, {0, of_b})}, 32)});
  REQUIRE(binding);
  CHECK(binding->base.instance == 32);
  CHECK(binding->top == 34);
  CHECK_FALSE(binding->values.contains(32));
  CHECK(binding->values.at(33) == of_a);
}

TEST_CASE("a collect that goes back, or reaches further than anybody votes, is not well formed") {
  CHECK(well_formed(collect(0, {certified(1, {0, of_a}), certified(2, {0, of_a})}),
                    FaultModel::crash));
  CHECK_FALSE(well_formed(collect(0, {certified(2, {0, of_a}), certified(1, {0, of_a})}),
                          FaultModel::crash));
  CHECK_FALSE(well_formed(collect(0, {certified(1, {0, of_a}), certified(1, {0, of_b})}),
                          FaultModel::crash));
  CHECK_FALSE(well_formed(collect(0, {certified(view_delay + 1, {0, of_a})}), FaultModel::crash));
  CHECK_FALSE(well_formed(collect(0, {certified(5, {0, of_a})}, 5), FaultModel::crash));
  CHECK_FALSE(well_formed(collect(0, {certified(unproven_max + view_delay + 1, {0, of_a})}),
                          FaultModel::byzantine));
}
