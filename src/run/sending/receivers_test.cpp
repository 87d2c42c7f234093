#include "run/sending/receivers.h"

#include <doctest/doctest.h>

#include <vector>

using namespace piracema;
using namespace piracema::runtime;

namespace {

Credit ask(std::uint32_t batches) { return {.batches = batches}; }
Credit say_done(std::uint32_t batches) { return {.done = batches}; }

}  // namespace

TEST_CASE("nobody gets a batch without a credit") {
  Receivers receivers({false, false}, Receivers::Choice::least_busy);
  CHECK_FALSE(receivers.some_asked());
  CHECK_FALSE(receivers.take_any());
  receivers.on_credit(1, ask(1));
  CHECK(receivers.some_asked());
  CHECK_FALSE(receivers.take(0));
  CHECK(receivers.take_any() == 1);
  CHECK_FALSE(receivers.take(1));
  CHECK_FALSE(receivers.some_asked());
}

TEST_CASE("the receiver that has least to do gets the next batch, in turn among equals") {
  Receivers receivers({false, false, false}, Receivers::Choice::least_busy);
  for (std::size_t i = 0; i < 3; ++i) receivers.on_credit(i, ask(3));
  CHECK(receivers.take_any() == 0);
  CHECK(receivers.take_any() == 1);
  CHECK(receivers.take_any() == 2);
  receivers.on_credit(1, say_done(1));
  CHECK(receivers.is_idle(1));
  CHECK(receivers.take_any() == 1);
  CHECK(receivers.take_any() == 2);
  CHECK(receivers.take_any() == 0);
}

TEST_CASE("with as little to do the receiver of the same process goes first") {
  Receivers receivers({false, true}, Receivers::Choice::least_busy);
  receivers.on_credit(0, ask(2));
  receivers.on_credit(1, ask(2));
  CHECK(receivers.take_any() == 1);
  CHECK(receivers.take_any() == 0);
}

TEST_CASE("by round robin those of the same process have a turn of their own, and go first") {
  Receivers receivers({false, true, false, true}, Receivers::Choice::round_robin);
  receivers.on_credit(0, ask(2));
  receivers.on_credit(1, ask(2));
  receivers.on_credit(2, ask(2));
  receivers.on_credit(3, ask(1));
  std::vector<std::size_t> got;
  while (const auto next = receivers.take_any()) got.push_back(*next);
  CHECK(got == std::vector<std::size_t>{1, 3, 1, 0, 2, 0, 2});
}

TEST_CASE("what all get takes a credit of each, or of none") {
  Receivers receivers({false, false}, Receivers::Choice::least_busy);
  receivers.on_credit(0, ask(1));
  CHECK_FALSE(receivers.take_all());
  CHECK(receivers.is_idle(0));
  receivers.on_credit(1, ask(1));
  CHECK(receivers.take_all());
  CHECK_FALSE(receivers.some_asked());
}

TEST_CASE("who claims to have done more than it got is idle, and no more than that") {
  Receivers receivers({false}, Receivers::Choice::least_busy);
  receivers.on_credit(0, ask(2));
  CHECK(receivers.take(0));
  CHECK(receivers.some_busy());
  receivers.on_credit(0, say_done(7));
  CHECK_FALSE(receivers.some_busy());
  CHECK(receivers.is_idle(0));
}
