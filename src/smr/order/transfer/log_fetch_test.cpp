#include "smr/order/transfer/log_fetch.h"

#include "smr/order/transfer/state_testing.h"

namespace piracema::smr {

using std::chrono::milliseconds;

TEST_CASE("a source of which nothing is heard is left for another one, however slow answers were") {
  const Others others(FaultModel::crash, 40, 100, 1'000);
  StateKeys keys(0);
  const Reconfiguration views(0, keys, others.view, milliseconds(100));
  Instance decided = 50;
  const auto at = [&] { return Position{views, decided, {}}; };
  Pace pace(milliseconds(100));
  pace.answered(std::chrono::seconds(3), false);
  LogFetch fetch(Sources({1, 2}), pace);
  std::vector<Action> out;
  Time now{};
  const auto asked_next = [&] {
    const auto questions = sent<LogRequest>(std::exchange(out, {}));
    REQUIRE(questions.size() == 1);
    return questions[0];
  };
  fetch.begin(now, at(), out);
  CHECK(asked_next().first == 1);
  now += milliseconds(300);
  fetch.heard(now, 1);
  REQUIRE(*fetch.next_deadline() == now + quiet_after);
  now += quiet_after;
  fetch.tick(now, at(), out);
  const auto question = asked_next();
  CHECK(question.first == 2);
  // Whoever answers goes on being asked, and the other one not.
  const auto learned = fetch.on_suffix(now, 2, others.log.suffix(question.second), at(), out);
  REQUIRE(!learned.empty());
  decided += learned.size();
  fetch.heard(now, 2);
  fetch.go_on(now, at(), out);
  CHECK(asked_next().first == 2);
  // Where nothing is heard of anybody the last one gets a short question, and then patience counts
  // again.
  const Time asked = now;
  now += quiet_after;
  fetch.tick(now, at(), out);
  const auto [whom, probe] = asked_next();
  CHECK(whom == 2);
  CHECK(probe.from == decided + 1);
  CHECK(probe.bytes <= 4'096);
  CHECK(*fetch.next_deadline() == asked + pace.patience(0));
}

// Where answers come twice, two questions for each would never end.
TEST_CASE("an answer that is of no use yet is not asked for again at once") {
  const Others others(FaultModel::crash, 40, 100, 1'000);
  StateKeys keys(0);
  const Reconfiguration views(0, keys, others.view, milliseconds(100));
  const Position at{views, 50, {}};
  Pace pace(milliseconds(100));
  LogFetch fetch(Sources({1, 2}), pace);
  std::vector<Action> out;
  fetch.begin(Time{}, at, out);
  const LogRequest asked = sent<LogRequest>(std::exchange(out, {}))[0].second;
  CHECK(!fetch.on_suffix(Time{}, 1, others.log.suffix(asked), at, out).empty());
  fetch.go_on(Time{}, at, out);
  CHECK(out.empty());
  REQUIRE(fetch.next_deadline());
  fetch.tick(*fetch.next_deadline(), at, out);
  CHECK(sent<LogRequest>(out).size() == 1);
}

}  // namespace piracema::smr
