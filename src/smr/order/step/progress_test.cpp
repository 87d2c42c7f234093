#include "smr/order/step/progress.h"

#include <doctest/doctest.h>

#include "smr/order/messages/digest.h"

using namespace piracema;
using namespace piracema::smr;

TEST_CASE("the history depends on the batches and on their order") {
  const Digest one = digest_of(as_bytes("one")), two = digest_of(as_bytes("two"));
  Progress first, second;
  first.hand_out(one);
  first.hand_out(two);
  second.hand_out(two);
  second.hand_out(one);
  CHECK(first.decided() == 2);
  CHECK(first.executed() == 0);
  CHECK(first.history() != second.history());

  Progress jumped;
  jumped.jump_to(2, first.history());
  CHECK(jumped.decided() == 2);
  CHECK(jumped.executed() == 2);
  CHECK(jumped.history() == first.history());
}

TEST_CASE("the timer is that of the newest execution") {
  Progress progress;
  progress.hand_out({});
  progress.hand_out({});
  progress.executed(2, 700);
  progress.executed(1, 300);
  CHECK(progress.executed() == 2);
  CHECK(progress.timer() == 700);
  progress.executed(2, std::nullopt);
  CHECK_FALSE(progress.timer());
}
