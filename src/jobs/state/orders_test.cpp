#include "jobs/state/orders.h"

#include <doctest/doctest.h>

#include "jobs/state/cluster_fixture.h"

using namespace piracema;
using namespace piracema::jobs;
using namespace piracema::jobs::testing;

TEST_CASE("whoever awaits orders is told once there are others, and by no replica that is behind") {
  Cluster cluster;
  const Answer joined = cluster.join("a");
  const auto news = [&](std::uint64_t mark, std::uint64_t now_ms, std::uint64_t incarnation = 1) {
    const Buffer reply =
        cluster.state.query(encode(Operation(AwaitOrders{"a", incarnation, mark, now_ms})));
    const auto answer = decode_answer(reply);
    REQUIRE(answer.ok());
    CHECK(cluster.state.has_news(reply) == (answer->mark != 0));
    return answer->mark;
  };
  CHECK(joined.mark != 0);
  CHECK(news(joined.mark, joined.now_ms) == 0);
  cluster.clock += 10;
  const JobId id = cluster.submit();
  const std::uint64_t begun = news(joined.mark, joined.now_ms);
  CHECK(begun != 0);
  CHECK(news(joined.mark, joined.now_ms + 11) == 0);
  CHECK(news(joined.mark, joined.now_ms, 2) == 0);
  const Answer told = cluster.report("a");
  CHECK(told.mark == begun);
  CHECK(news(told.mark, told.now_ms) == 0);
  cluster.report("a", {{id, 1}});
  CHECK(news(told.mark, told.now_ms) == 0);
  cluster(Cancel{id});
  CHECK(news(told.mark, told.now_ms) != 0);
}
