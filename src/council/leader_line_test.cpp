#include "council/leader_line.h"

#include <doctest/doctest.h>

#include <optional>

#include "council/testing.h"

using namespace piracema;
using namespace piracema::council;
using namespace piracema::council::testing;
using std::chrono::milliseconds;

namespace {

/// Whoever looks on.
struct LooksOn {
  LooksOn(net::Poller& with, std::vector<std::string> doors)
      : poller(with),
        line(poller, key_of_job, std::move(doors),
             {.over = [this](int with_code) { code = with_code; },
              .are = [this](const std::vector<std::string>& all) { heard = all; }}) {}

  template <class Condition>
  bool wait_for(Condition condition) {
    const Time until = now() + std::chrono::seconds(20);
    while (!condition() && now() < until) poller.run_once(milliseconds(20));
    return condition();
  }

  net::Poller& poller;
  std::optional<int> code;
  std::vector<std::string> heard;
  LeaderLine line;
};

}  // namespace

TEST_CASE("who looks on hands signals on, and hears how the job has ended") {
  net::Poller poller;
  Leads leader(poller);
  LooksOn command(poller, {leader.door->address()});
  CHECK_FALSE(command.line.say({15, 1}));
  REQUIRE(command.wait_for([&] { return leader.came == 1; }));
  CHECK(command.line.say({15, 2}));
  REQUIRE(command.wait_for([&] { return leader.signals.size() == 1; }));
  CHECK(leader.signals.front().number == 15);
  CHECK(leader.signals.front().id == 2);
  leader.onlookers.over(75);
  REQUIRE(command.wait_for([&] { return command.code.has_value(); }));
  CHECK(command.code == 75);
}

TEST_CASE("one that nobody knew at the beginning is found when the one that led is gone") {
  net::Poller poller;
  Leads first(poller), newcomer(poller);
  const std::vector<std::string> both{first.door->address(), newcomer.door->address()};
  LooksOn command(poller, {first.door->address()});
  REQUIRE(command.wait_for([&] { return first.came == 1; }));
  first.onlookers.show_life(both);
  REQUIRE(command.wait_for([&] { return command.heard == both; }));
  first.die();
  REQUIRE(command.wait_for([&] { return newcomer.came == 1; }));
  CHECK(command.line.is_there());
  newcomer.onlookers.over(0);
  REQUIRE(command.wait_for([&] { return command.code.has_value(); }));
}

TEST_CASE("several look on at a time, and one that talks nonsense is sent away") {
  net::Poller poller;
  Leads leader(poller);
  LooksOn command(poller, {leader.door->address()});
  LooksOn coordinator(poller, {leader.door->address()});
  REQUIRE(command.wait_for([&] { return leader.came == 2; }));
  leader.onlookers.show_life({leader.door->address()});
  REQUIRE(command.wait_for([&] { return !command.heard.empty() && !coordinator.heard.empty(); }));

  std::shared_ptr<net::Connection> line;
  bool was_sent_away = false;
  cluster::CoordinatorCall call(
      poller, leader.door->address(), key_of_job,
      [&](Result<std::shared_ptr<net::Connection>> called) { line = *std::move(called); });
  REQUIRE(command.wait_for([&] { return line != nullptr; }));
  line->trust(
      {.received = [](const wire::Frame&) {}, .lost = [&](const Error&) { was_sent_away = true; }});
  line->send(to_frame(cluster::FromOnlooker(cluster::OnlookerHello{})));
  line->send(wire::Frame{.kind = 211});
  REQUIRE(command.wait_for([&] { return was_sent_away; }));
  CHECK(command.line.is_there());
}
