#include "cluster/coordinator_line.h"

#include <doctest/doctest.h>

#include <optional>
#include <variant>

#include "cluster/driver/door.h"
#include "net/socket/listener.h"

using namespace piracema;
using namespace piracema::cluster;
using std::chrono::milliseconds;

namespace {

const std::string line_token(32, 'a');

/// A coordinator's side of it.
struct Coordinating {
  explicit Coordinating(net::Poller& poller, net::Sealed sealed = net::Sealed::between_hosts)
      : door(*Door::open(poller, line_token,
                         {.expected = [](const runtime::Hello&) -> Result<Done> { return Done{}; },
                          .joined =
                              [this](const runtime::Hello&, Door::Line with) {
                                hellos += 1;
                                line = std::move(with);
                                return net::Connection::Events{
                                    .received =
                                        [this](const wire::Frame& frame) {
                                          heard.push_back(*runtime::from_worker(frame));
                                        },
                                    .lost = [this](const Error&) { hung_up = true; }};
                              },
                          .agent = {}},
                         "127.0.0.1", 0, sealed)) {}
  ~Coordinating() { die(); }

  void say(const runtime::ToWorker& message) { line->send(runtime::to_frame(message)); }
  void die() {
    if (line) line->close();
    line.reset();
    door->shut();
  }

  int hellos = 0;
  bool hung_up = false;
  std::vector<runtime::FromWorker> heard;
  Door::Line line;
  std::unique_ptr<Door> door;
};

struct Working {
  Working(net::Poller& with, std::vector<std::string> addresses, milliseconds wait)
      : poller(with),
        line(poller, {line_token, std::move(addresses)}, wait,
             {.hello = [] { return runtime::Hello{.slot = 1}; },
              .received = [this](const runtime::ToWorker& message) { received.push_back(message); },
              .failed = [this](const Error& why) { failed = why; },
              .lost = [this](const Error& why) { lost = why; }}) {}

  template <class Condition>
  bool wait_for(Condition condition) {
    const Time until = now() + std::chrono::seconds(20);
    while (!condition() && now() < until) poller.run_once(milliseconds(20));
    return condition();
  }

  net::Poller& poller;
  std::vector<runtime::ToWorker> received;
  std::optional<Error> failed, lost;
  CoordinatorLine line;
};

runtime::Deploy deploy(Epoch epoch) {
  runtime::Deploy deploy;
  deploy.epoch = epoch;
  return deploy;
}

}  // namespace

TEST_CASE("a worker that loses its coordinator finds the next one, which hears what it missed") {
  net::Poller poller;
  Coordinating first(poller), second(poller);
  Working worker(poller, {first.door->address(), second.door->address()}, milliseconds(15'000));
  worker.line.open();
  REQUIRE(worker.wait_for([&] { return first.hellos == 1; }));
  first.say(runtime::Attach{1, 0});
  first.say(deploy(1));
  REQUIRE(worker.wait_for([&] { return worker.received.size() == 1; }));
  worker.line.say(runtime::Ready{1});
  REQUIRE(worker.wait_for([&] { return first.heard.size() == 2; }));
  CHECK(std::get<runtime::Attached>(first.heard[0]).epoch == 0);

  first.die();
  worker.line.say(runtime::Ended{1, 4});  // Nobody may hear it now.
  REQUIRE(worker.wait_for([&] { return second.hellos == 1; }));
  second.say(runtime::Attach{2, 1});
  REQUIRE(worker.wait_for([&] { return second.heard.size() >= 3; }));
  const auto& heard = second.heard;
  const auto& attached = std::get<runtime::Attached>(heard[heard.size() - 3]);
  CHECK(attached.term == 2);
  CHECK(attached.epoch == 1);
  CHECK(std::holds_alternative<runtime::Ready>(heard[heard.size() - 2]));
  CHECK(std::get<runtime::Ended>(heard.back()).replica == 4);
  CHECK_FALSE(worker.lost);
}

TEST_CASE("a worker finds a coordinator that has come since it was started") {
  net::Poller poller;
  Coordinating first(poller), newcomer(poller);
  Working worker(poller, {first.door->address()}, milliseconds(15'000));
  worker.line.open();
  REQUIRE(worker.wait_for([&] { return first.hellos == 1; }));
  first.say(runtime::Attach{1, 0});
  first.say(runtime::StillHere{60'000, {first.door->address(), newcomer.door->address()}});
  first.say(deploy(1));
  REQUIRE(worker.wait_for([&] { return worker.received.size() == 1; }));
  first.die();
  REQUIRE(worker.wait_for([&] { return newcomer.hellos == 1; }));
  CHECK_FALSE(worker.lost);
}

TEST_CASE("a coordinator of a lower term is left, and what it says after that is not heard") {
  net::Poller poller;
  Coordinating newer(poller), older(poller);
  Working worker(poller, {newer.door->address(), older.door->address()}, milliseconds(15'000));
  worker.line.open();
  REQUIRE(worker.wait_for([&] { return newer.hellos == 1; }));
  newer.say(runtime::Attach{7, 0});
  REQUIRE(worker.wait_for([&] { return !newer.heard.empty(); }));
  newer.die();
  REQUIRE(worker.wait_for([&] { return older.hellos == 1; }));
  older.say(runtime::Attach{6, 0});
  older.say(deploy(1));
  REQUIRE(worker.wait_for([&] { return older.hung_up; }));
  CHECK(worker.received.empty());
  CHECK(older.heard.empty());
}

TEST_CASE(
    "a worker that is not to wait ends with its coordinator, another one when it has waited") {
  for (const milliseconds wait : {milliseconds(0), milliseconds(300)}) {
    net::Poller poller;
    Coordinating only(poller);
    Working worker(poller, {only.door->address()}, wait);
    worker.line.open();
    REQUIRE(worker.wait_for([&] { return only.hellos == 1; }));
    const Time died = now();
    only.die();
    REQUIRE(worker.wait_for([&] { return worker.lost.has_value(); }));
    CHECK(now() - died >= wait);
    CHECK_FALSE(worker.failed);
  }
}

TEST_CASE("a coordinator that was never there is an error at once") {
  net::Poller poller;
  std::string address;
  {
    const Coordinating gone(poller);
    address = gone.door->address();
  }
  Working worker(poller, {address}, milliseconds(0));
  worker.line.open();
  REQUIRE(worker.wait_for([&] { return worker.failed.has_value(); }));
  CHECK_FALSE(worker.lost);
}

TEST_CASE("a coordinator is found while others are silent, whose hosts may be cut off") {
  net::Poller poller;
  std::vector<Fd> taken;
  const auto silent = net::Listener::open(
      poller, "127.0.0.1", 0,
      [&](Fd socket, const net::Address&) { taken.push_back(std::move(socket)); });
  REQUIRE(silent.ok());
  Coordinating coordinator(poller);
  std::shared_ptr<net::Connection> found;
  // Those that are silent have far longer to answer than this waits.
  CoordinatorSearch search(
      poller, KnownCoordinators(line_token, {(*silent)->address(), coordinator.door->address()}),
      [&](Result<std::shared_ptr<net::Connection>> line) { found = *std::move(line); },
      std::chrono::hours(1));
  search.begin(now() + std::chrono::hours(1));
  const Time until = now() + std::chrono::seconds(20);
  while (!found && now() < until) poller.run_once(milliseconds(20));
  REQUIRE(found);
  CHECK_FALSE(search.searches());
  // And again, by a search that begins with the one that was silent.
  found->close();
  found.reset();
  search.begin_again(now() + std::chrono::hours(1), Error{Errc::lost, "it is gone"});
  while (!found && now() < until) poller.run_once(milliseconds(20));
  CHECK(found);
}

TEST_CASE("a line is sealed as its coordinator says, and carries the same") {
  for (const net::Sealed sealed : {net::Sealed::everywhere, net::Sealed::nowhere}) {
    net::Poller poller;
    Coordinating coordinator(poller, sealed);
    Working worker(poller, {coordinator.door->address()}, milliseconds(15'000));
    worker.line.open();
    REQUIRE(worker.wait_for([&] { return coordinator.hellos == 1; }));
    coordinator.say(runtime::Attach{1, 0});
    coordinator.say(deploy(1));
    REQUIRE(worker.wait_for([&] { return worker.received.size() == 1; }));
    worker.line.say(runtime::Ready{1});
    REQUIRE(worker.wait_for([&] { return coordinator.heard.size() == 2; }));
    CHECK(std::get<runtime::Ready>(coordinator.heard[1]).epoch == 1);
    CHECK_FALSE(worker.failed);
  }
}
