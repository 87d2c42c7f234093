#include "run/sending/broadcast_pace.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <deque>

using namespace piracema;
using namespace piracema::runtime;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

/// A way that takes a while, and a link on it that lets one batch after the other through. Whoever
/// sends always has more, and credits for sixteen.
struct Way {
  Time takes, each;
  Time now{};
  Time free_at{};
  std::uint64_t next = 0;
  std::uint64_t done = 0;
  std::size_t longest = 0;
  std::deque<Time> arrivals;
  BroadcastPace pace{2};

  void fill() {
    while (pace.may_send() && arrivals.size() < 16) {
      free_at = std::max(free_at, now) + each;
      arrivals.push_back(free_at + takes);
      pace.sent(next++, now);
    }
    longest = std::max(longest, arrivals.size());
  }
  void run(Time until) {
    longest = 0;
    done = 0;
    fill();
    while (arrivals.front() <= until) {
      now = arrivals.front();
      arrivals.pop_front();
      pace.done(0, 1, now);
      pace.done(1, 1, now);
      done += 1;
      fill();
    }
    now = until;
  }
};

}  // namespace

TEST_CASE("as many are on the way as fill it, and hardly more") {
  Way way{milliseconds(300), milliseconds(200)};
  way.run(seconds(9));
  way.run(seconds(60));
  CHECK(way.longest <= 5);
  // Of the 255 that the link can carry in that time.
  CHECK(way.done >= 245);
}

TEST_CASE("when the link becomes slow no more than a few wait before it") {
  Way way{milliseconds(300), milliseconds(200)};
  way.run(seconds(9));
  way.each = seconds(2);
  way.run(seconds(30));
  CHECK(way.arrivals.size() <= 3);
  way.each = milliseconds(200);
  way.run(seconds(60));
  way.run(seconds(120));
  CHECK(way.done >= 290);
}

TEST_CASE("a way that becomes longer is filled, too") {
  Way way{milliseconds(100), milliseconds(200)};
  way.run(seconds(9));
  way.takes = milliseconds(800);
  way.run(seconds(60));
  way.run(seconds(120));
  CHECK(way.done >= 280);
}

TEST_CASE("what is done fast is not held up") {
  Way way{milliseconds(1), std::chrono::microseconds(10)};
  way.run(milliseconds(20));
  way.run(milliseconds(100));
  CHECK(way.longest == 16);
  CHECK(way.pace.allowed() >= 16);
}

TEST_CASE("a batch is done when the last receiver has done it") {
  BroadcastPace pace(3);
  CHECK(pace.done_before(0) == 0);
  pace.sent(0, seconds(1));
  pace.sent(2, seconds(1));  // Number 1 was no batch.
  CHECK(pace.done_before(3) == 0);
  pace.done(0, 2, seconds(2));
  pace.done(1, 1, seconds(2));
  CHECK(pace.done_before(3) == 0);
  pace.done(2, 1, seconds(3));
  CHECK(pace.done_before(3) == 2);
  pace.done(2, 9, seconds(3));
  pace.done(1, 1, seconds(4));
  CHECK(pace.done_before(3) == 3);
}
