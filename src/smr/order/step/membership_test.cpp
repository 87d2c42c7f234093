#include "smr/order/step/membership.h"

#include <doctest/doctest.h>

using namespace piracema::smr;

TEST_CASE("a replica has the place of its identity in the view, and none where it is no member") {
  View view;
  for (const ReplicaId id : {1, 4, 7}) view.members.push_back({id, "", ""});
  Membership members(4, view);
  CHECK(members.own() == 1);
  CHECK(members.index_of(7) == 2);
  CHECK_FALSE(members.index_of(2));
  CHECK(members.first() == 1);

  view.members.erase(view.members.begin() + 1);
  members.use(view, 33);
  CHECK_FALSE(members.own());
  CHECK(members.index_of(7) == 1);
  CHECK(members.first() == 33);
}
