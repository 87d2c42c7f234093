#include "smr/order/agreement/amnesia.h"

#include "smr/order/messages/settings.h"
#include "smr/order/transfer/state_testing.h"

namespace piracema::smr {

namespace {

StateOffer offer(Instance voted, Regency regency, ViewId view = 0) {
  StateOffer one;
  one.view = view;
  one.regency = regency;
  one.decided = voted - 1;
  one.voted = voted;
  return one;
}

}  // namespace

TEST_CASE("so many have to answer that every quorum of the others has a correct one among them") {
  // n, of which the one without its disk is one of the f: all quorums that it may have been in.
  CHECK(Amnesia::needed(state_view(FaultModel::crash, 3)) == 2);
  CHECK(Amnesia::needed(state_view(FaultModel::crash, 5)) == 3);
  CHECK(Amnesia::needed(state_view(FaultModel::byzantine, 4)) == 2);
  CHECK(Amnesia::needed(state_view(FaultModel::byzantine, 7)) == 4);
  for (std::uint32_t n = 3; n <= 20; ++n) {
    for (const FaultModel model : {FaultModel::crash, FaultModel::byzantine}) {
      const View view = state_view(model, n);
      if (view.f == 0) continue;
      const std::size_t liars = model == FaultModel::byzantine ? view.f - 1 : 0;
      // Others in the quorum, and those that answer: more than there are others and liars.
      CHECK(view.quorum() - 1 + Amnesia::needed(view) > n - 1 + liars);
      // And it does not wait for more than are sure to answer.
      CHECK(Amnesia::needed(view) <= n - view.f);
    }
  }
}

TEST_CASE("a replica without memory stays silent up to what the others may have voted for") {
  const View view = state_view(FaultModel::crash, 3);
  Amnesia amnesia;
  amnesia.on_offer(1, offer(100, 2), view);
  CHECK_FALSE(amnesia.fence(view));
  amnesia.on_offer(1, offer(100, 2), view);  // The same one again.
  CHECK_FALSE(amnesia.fence(view));
  amnesia.on_offer(2, offer(90, 3), view);
  const auto fence = amnesia.fence(view);
  REQUIRE(fence);
  CHECK(fence->instance == 100 + view_delay);
  CHECK(fence->regency == 3);
}

TEST_CASE("a liar cannot silence it for ever, nor make it speak too early") {
  const View view = state_view(FaultModel::byzantine, 7);
  Amnesia amnesia;
  amnesia.on_offer(1, offer(~Instance{0} / 2, ~Regency{0}), view);
  for (ReplicaId honest = 2; honest < 6; ++honest) amnesia.on_offer(honest, offer(50, 1), view);
  REQUIRE(amnesia.fence(view));
  CHECK(amnesia.fence(view)->instance == 50 + view_delay);
  CHECK(amnesia.fence(view)->regency == 1);
}

TEST_CASE("only members that rule in the same view are heard, and all again in another one") {
  const View view = state_view(FaultModel::crash, 3);
  Amnesia amnesia;
  amnesia.on_offer(9, offer(1, 0), view);
  amnesia.on_offer(1, offer(1, 0, 1), view);
  amnesia.on_offer(2, offer(1, 0), view);
  CHECK_FALSE(amnesia.fence(view));
  amnesia.on_offer(1, offer(1, 0), view);
  CHECK(amnesia.fence(view));
  amnesia.forget();
  CHECK_FALSE(amnesia.fence(view));
}

}  // namespace piracema::smr
