#include "linearizability/key_history.h"

#include <doctest/doctest.h>

#include "linearizability/key_model.h"

namespace piracema::linearizability {

namespace {

using Kind = KeyModel::Kind;
using History = KeyHistory<KeyModel>;
using Is = History::Is;

constexpr Time at(std::int64_t ms) { return std::chrono::milliseconds(ms); }

std::size_t lines_in(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

}  // namespace

TEST_CASE("a history is checked as soon as all that was asked before is known, and forgotten") {
  History history;
  const auto slow = history.called(1, {Kind::put, 7}, at(0));
  const auto quick = history.called(2, {Kind::get}, at(1));
  history.answered(quick, {true, 7}, at(2));
  CHECK(history.checked() == 0);
  history.answered(slow, {}, at(3));
  CHECK(history.checked() == 2);
  CHECK(history.waiting() == 0);
  CHECK(history.verdict() == Is::possible);
}

TEST_CASE("an operation that is given up may have happened before or after that") {
  History history;
  const auto lost = history.called(1, {Kind::put, 7}, at(0));
  const auto before = history.called(2, {Kind::get}, at(1));
  history.answered(before, {true, 0}, at(2));
  history.lost(lost);
  const auto after = history.called(2, {Kind::get}, at(9));
  history.answered(after, {true, 7}, at(10));
  CHECK(history.verdict() == Is::possible);
  CHECK(history.open() == 0);
}

TEST_CASE("what ends by itself is expected when its holder has given it up, and no sooner") {
  History history;
  const auto held = history.called(1, {Kind::create, 7}, at(0));
  const auto end = history.expects({Kind::remove_if, 0, 7}, at(20));
  history.answered(held, {}, at(1));
  history.put_off(end, at(50));
  SUBCASE("gone after its time") {
    const auto other = history.called(2, {Kind::create, 8}, at(51));
    history.answered(other, {}, at(52));
    history.lost(end);
    CHECK(history.verdict() == Is::possible);
    CHECK(history.waiting() == 0);
  }
  SUBCASE("gone before") {
    const auto other = history.called(2, {Kind::create, 8}, at(48));
    history.answered(other, {}, at(49));
    history.lost(end);
    CHECK(history.verdict() == Is::impossible);
  }
  SUBCASE("gone although its holder never gave it up") {
    const auto other = history.called(2, {Kind::create, 8}, at(51));
    history.answered(other, {}, at(52));
    history.cancel(end);
    CHECK(history.verdict() == Is::impossible);
  }
}

TEST_CASE("a counterexample has what is needed, the times, and what was before") {
  History history;
  const auto do_now = [&](std::int64_t time, const KeyModel::Input& input,
                          const KeyModel::Output& output) {
    history.answered(history.called(3, input, at(time)), output, at(time + 1));
  };
  for (std::int64_t i = 1; i <= 2'000; ++i) {
    do_now(10 * i, {Kind::put, static_cast<std::uint64_t>(i)}, {});
  }
  // Two of them see it, a third one that began later does not; one looks on.
  const auto write = history.called(1, {Kind::put, 5'000}, at(30'000));
  const auto looks_on = history.called(9, {Kind::get}, at(30'001));
  const auto sees = history.called(2, {Kind::get}, at(30'002));
  history.answered(sees, {true, 5'000}, at(30'003));
  const auto misses = history.called(4, {Kind::get}, at(30'004));
  history.answered(looks_on, {true, 5'000}, at(30'005));
  history.answered(misses, {true, 2'000}, at(30'006));
  history.answered(write, {}, at(30'007));
  REQUIRE(history.verdict() == Is::impossible);
  const std::string& why = history.why();
  CAPTURE(why);
  const auto has = [&](const char* part) { return why.find(part) != std::string::npos; };
  CHECK(has("it held 2000, and 0 unanswered"));
  CHECK(has("30000.000 to      30007.000 ms  client 1: put 5000 -> done"));
  CHECK(has("30002.000 to      30003.000 ms  client 2: get -> 5000"));
  CHECK(has("there is no place for:      30004.000 to      30006.000 ms  client 4: get -> 2000"));
  CHECK(has("client 3: put 1999"));
  // The one that looks on adds nothing.
  CHECK_FALSE(has("client 9"));
  CHECK(lines_in(why) < 20);
}

}  // namespace piracema::linearizability
