#include "run/barrier/watermarks.h"

#include <doctest/doctest.h>

#include <chrono>

using namespace piracema;
using namespace piracema::runtime;
using std::chrono::seconds;

namespace {

EventTime mark_at(int second) { return EventTime(seconds(second)); }

flow::ReplicaPlan with_inputs(std::size_t count) {
  flow::ReplicaPlan plan;
  plan.inputs.resize(count);
  return plan;
}

}  // namespace

TEST_CASE("event time has come as far as the input that is furthest behind") {
  Watermarks marks(with_inputs(2));
  marks.on_watermark(0, mark_at(10));
  CHECK(marks.come() == no_event_time);
  marks.on_watermark(1, mark_at(5));
  CHECK(marks.come() == mark_at(5));
  marks.on_watermark(1, mark_at(12));
  CHECK(marks.come() == mark_at(10));
}

TEST_CASE("event time does not go back") {
  Watermarks marks(with_inputs(1));
  marks.on_watermark(0, mark_at(10));
  marks.on_watermark(0, mark_at(4));
  CHECK(marks.come() == mark_at(10));
}

TEST_CASE("an input that has ended holds nobody up, and says nothing for the others") {
  Watermarks marks(with_inputs(3));
  marks.on_watermark(0, mark_at(10));
  marks.on_watermark(1, mark_at(7));
  marks.on_end(2);
  CHECK(marks.come() == mark_at(7));
  marks.on_end(1);
  CHECK(marks.come() == mark_at(10));
  marks.on_end(0);
  CHECK(marks.come() == mark_at(10));
}

TEST_CASE("back edges say nothing of event time") {
  flow::ReplicaPlan plan = with_inputs(2);
  plan.inputs[1].back = true;
  Watermarks marks(plan);
  marks.on_watermark(0, mark_at(3));
  CHECK(marks.come() == mark_at(3));
}
