#include "run/sending/batch_order.h"

#include <doctest/doctest.h>

using namespace piracema;
using namespace piracema::runtime;

namespace {

flow::ReplicaPlan plan_of(bool starts) {
  flow::ReplicaPlan plan;
  plan.outputs.push_back({.order = 0});
  plan.starts_order = starts;
  plan.window = starts ? 2 : 0;
  if (starts) plan.order_ends = {8, 9};
  return plan;
}

}  // namespace

TEST_CASE("a replica that starts an order numbers its batches, and waits for the ends") {
  BatchOrder order(3, plan_of(true));
  CHECK_FALSE(order.is_inherited());
  CHECK(order.part(0, 1).origin == 3);
  CHECK(order.part(0, 1).sequence == 0);
  order.batch_done();
  CHECK(order.part(0, 1).sequence == 1);
  CHECK_FALSE(order.is_window_full(0));
  order.batch_done();
  CHECK(order.is_window_full(0));
  CHECK_FALSE(order.is_window_full(1));
  order.on_release(8, 2);
  CHECK(order.is_window_full(0));
  order.on_release(9, 1);
  CHECK_FALSE(order.is_window_full(0));
  order.on_release(7, 100);  // No end of it.
  order.batch_done();
  CHECK(order.is_window_full(0));
}

TEST_CASE("what is made of a batch has the batch's place, and what comes from none has no place") {
  BatchOrder order(3, plan_of(false));
  CHECK(order.is_inherited());
  order.begin_batch({.origin = 1, .sequence = 6, .share = 100});
  CHECK(order.part(0, 1).origin == 1);
  CHECK(order.part(0, 1).sequence == 6);
  order.batch_done();
  CHECK(order.part(0, 1).sequence == 6);
  CHECK_FALSE(order.is_window_full(0));
  order.begin_finish();
  CHECK(order.part(0, 1).origin == 3);
  CHECK(order.part(0, 1).sequence == Order::no_sequence);
}

TEST_CASE("the parts of a batch have its weight together") {
  BatchOrder order(3, plan_of(false));
  order.begin_batch({.origin = 1, .sequence = 6, .share = 100});
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(order.part(i, 3).sequence == 6);
    sum += order.part(i, 3).share;
  }
  CHECK(sum == 100);
}
