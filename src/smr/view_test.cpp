#include "smr/view.h"

#include <doctest/doctest.h>

using namespace piracema;
using namespace piracema::smr;

namespace {

View view_of(FaultModel model, std::uint32_t f, std::uint32_t n) {
  View view{.model = model, .f = f};
  for (ReplicaId id = 0; id < n; ++id) {
    view.members.push_back({id, "host:" + std::to_string(7000 + id), ""});
  }
  return view;
}

}  // namespace

TEST_CASE("two quorums have a correct replica in common, and the correct ones make one") {
  for (std::uint32_t f = 0; f <= 3; ++f) {
    for (std::uint32_t n = 2 * f + 1; n <= 3 * f + 4; ++n) {
      const View crash = view_of(FaultModel::crash, f, n);
      CHECK(2 * crash.quorum() >= n + 1);
      CHECK(crash.quorum() <= n - f);
      CHECK(crash.one_correct() == 1);
      if (n < 3 * f + 1) continue;
      const View liars = view_of(FaultModel::byzantine, f, n);
      CHECK(2 * liars.quorum() >= n + f + 1);
      CHECK(liars.quorum() <= n - f);
      CHECK(liars.one_correct() == f + 1);
    }
  }
}

TEST_CASE("the regencies go round the members") {
  View view = view_of(FaultModel::crash, 1, 3);
  view.members[2].id = 9;
  CHECK(view.leader(0) == 0);
  CHECK(view.leader(2) == 9);
  CHECK(view.leader(3) == 0);
  CHECK(view.has(9));
  CHECK_FALSE(view.has(2));
}

TEST_CASE("the regencies begin with whom it is said of, and leave nobody out") {
  View view = view_of(FaultModel::crash, 1, 3);
  view.begin_with(1);
  CHECK(view.leader(0) == 1);
  CHECK(view.leader(1) == 2);
  CHECK(view.leader(2) == 0);
  CHECK(view.leader(3) == 1);
}

TEST_CASE("too few replicas for f, none, or one twice are refused in one line") {
  CHECK(validate(view_of(FaultModel::crash, 1, 3)).ok());
  CHECK(validate(view_of(FaultModel::byzantine, 1, 4)).ok());
  const auto few = validate(view_of(FaultModel::byzantine, 1, 3));
  REQUIRE_FALSE(few.ok());
  CHECK(few.error().message == "f = 1 Byzantine faults need 4 replicas, the view has 3");
  CHECK_FALSE(validate(View{}).ok());

  View twice = view_of(FaultModel::crash, 1, 3);
  twice.members[2].id = 1;
  CHECK_FALSE(validate(twice).ok());
  twice = view_of(FaultModel::crash, 1, 3);
  twice.members[2].address = twice.members[0].address;
  CHECK_FALSE(validate(twice).ok());
}

TEST_CASE("a view's members are put in the order of their identities") {
  View view = view_of(FaultModel::crash, 1, 3);
  std::swap(view.members[0], view.members[2]);
  const auto valid = validate(view);
  REQUIRE(valid.ok());
  CHECK(valid->members[0].id == 0);
  CHECK(valid->members[2].id == 2);
}
