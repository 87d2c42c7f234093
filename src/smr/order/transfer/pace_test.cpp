#include "smr/order/transfer/pace.h"

#include <doctest/doctest.h>

namespace piracema::smr {

using std::chrono::milliseconds;

namespace {

constexpr Time resend = milliseconds(100);

constexpr std::uint32_t piece = 256 << 10;

// A way on which one piece takes so long, and the pieces that are asked for wait for each other.
void answer(Pace& pace, Time one, int times) {
  for (int i = 0; i < times; ++i) {
    pace.answered(one * static_cast<std::int64_t>(pace.pieces(piece)), true);
  }
}

}  // namespace

TEST_CASE("a fast way is filled, by so many pieces at most") {
  Pace pace(resend);
  CHECK(pace.pieces(piece) == 2);
  answer(pace, milliseconds(1), 100);
  CHECK(pace.pieces(piece) == chunks_in_flight);
  CHECK(pace.patience(0) == 2 * resend);
}

TEST_CASE("of an unknown way little is asked at once, and it is waited for as on a slow one") {
  const Pace pace(resend);
  CHECK(pace.bytes() == 16 << 10);
  CHECK(pace.patience(0) == milliseconds(1'000));
}

TEST_CASE("on a slow way so little is open that an answer takes about a tenth of a second") {
  Pace pace(resend);
  answer(pace, milliseconds(20), 100);
  CHECK(pace.pieces(piece) >= 2);
  CHECK(pace.pieces(piece) <= 5);
  answer(pace, milliseconds(300), 100);
  CHECK(pace.pieces(piece) == 2);
  CHECK(pace.bytes() < piece);
}

TEST_CASE("an answer is waited for as long as answers take, and not for longer than a while") {
  Pace pace(resend);
  answer(pace, milliseconds(300), 100);
  CHECK(pace.patience(0) == milliseconds(2'400));
  CHECK(pace.patience(1) == milliseconds(4'800));
  CHECK(pace.patience(60) == std::chrono::seconds(15));
  answer(pace, milliseconds(1), 200);
  CHECK(pace.patience(0) == 2 * resend);
}

TEST_CASE("what comes from who was asked earlier has taken since then") {
  Question question = Question::asked(milliseconds(10), 1);
  question.again(milliseconds(210), 2);
  CHECK(question.took(milliseconds(250), 2) == milliseconds(40));
  CHECK(question.took(milliseconds(250), 1) == milliseconds(240));
}

}  // namespace piracema::smr
