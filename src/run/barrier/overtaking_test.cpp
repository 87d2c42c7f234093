#include "run/barrier/overtaking.h"

#include <doctest/doctest.h>

#include "run/barrier/testing.h"

using namespace piracema;
using namespace piracema::runtime;
using namespace piracema::runtime::testing;
using std::chrono::milliseconds;

namespace {

std::vector<std::uint64_t> values(const BatchLog& log) {
  Buffer bytes;
  log.write_to(bytes);
  return logged_values(bytes);
}

}  // namespace

TEST_CASE("a snapshot is due when a barrier of it has waited for as long as it may") {
  Overtaking overtaking(2);
  CHECK_FALSE(overtaking.next_deadline());
  overtaking.expect(4, milliseconds(30));
  overtaking.expect(4, milliseconds(20));  // By another input, and it has waited elsewhere.
  CHECK(overtaking.next_deadline() == milliseconds(20));
  CHECK_FALSE(overtaking.due(milliseconds(19)));
  CHECK(overtaking.due(milliseconds(20)) == 4);
  overtaking.taken(4);
  CHECK_FALSE(overtaking.due(milliseconds(90)));
  CHECK(overtaking.idle());
}

TEST_CASE("one that may wait for ever is never due by itself, but goes before one that is") {
  Overtaking overtaking(1);
  overtaking.expect(4, Barrier::forever);
  CHECK_FALSE(overtaking.next_deadline());
  overtaking.expect(5, milliseconds(20));
  CHECK(overtaking.due(milliseconds(20)) == 4);
  overtaking.taken(4);
  CHECK(overtaking.due(milliseconds(20)) == 5);
}

TEST_CASE("a part has what comes by an input before its barrier, or its end") {
  Overtaking overtaking(3);
  overtaking.cut(7, some_state());
  overtaking.miss(0);
  overtaking.miss(1);
  overtaking.received(0, 10, batch_with(1));
  overtaking.received(2, 12, batch_with(2));  // Its barrier had come.
  overtaking.received(0, 10, Barrier{6});     // That of one that was given up.
  overtaking.received(0, 10, batch_with(3));
  overtaking.received(0, 10, Barrier{7});
  overtaking.received(0, 10, batch_with(4));
  CHECK_FALSE(overtaking.take());
  overtaking.received(1, 11, batch_with(5));
  overtaking.add_unsent(0, batch_with(6));
  overtaking.received(1, 11, EndOfStream{});
  const auto part = overtaking.take();
  REQUIRE(part);
  CHECK(part->snapshot == 7);
  CHECK(values(part->received) == std::vector<std::uint64_t>{1, 3, 5});
  CHECK(values(part->unsent) == std::vector<std::uint64_t>{6});
  CHECK_FALSE(overtaking.take());
}

TEST_CASE("a part with nothing under way is the state alone") {
  Overtaking overtaking(1);
  overtaking.cut(7, some_state());
  const auto part = overtaking.take();
  REQUIRE(part);
  CHECK(part->state.size() == 1);
  CHECK_FALSE(part->has_overtaken());
}

TEST_CASE("the next snapshot gives up one that was not complete") {
  Overtaking overtaking(1);
  overtaking.cut(7, some_state());
  overtaking.miss(0);
  overtaking.received(0, 10, batch_with(1));
  overtaking.cut(8, some_state());
  const auto part = overtaking.take();
  REQUIRE(part);
  CHECK(part->snapshot == 8);
  CHECK_FALSE(part->has_overtaken());
}
