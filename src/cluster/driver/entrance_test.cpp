#include "cluster/driver/entrance.h"

#include <doctest/doctest.h>

#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "cluster/driver/leading.h"
#include "host/coordinator_search.h"

using namespace piracema;
using namespace piracema::cluster;

namespace {

const std::string entrance_token(32, 'a');

/// A job where others come to.
struct Reachable {
  net::Poller poller;
  JobOptions options;
  Leading leading;
  std::vector<std::uint32_t> signals;
  std::unique_ptr<Entrance> entrance;

  void open() {
    auto opened = Entrance::open(poller, options, entrance_token,
                                 {.expected = [](const runtime::Hello&) -> Result<Done> {
                                    return Error{Errc::refused, "no workers here"};
                                  },
                                  .joined = {},
                                  .agent = {}});
    REQUIRE(opened);
    entrance = *std::move(opened);
  }
  void with_several_coordinators() {
    leading.host = "127.0.0.1";
    leading.handed_on = [this](const HandedOnSignal& signal) { signals.push_back(signal.number); };
    options.leading = &leading;
  }
};

/// Somebody with the key of the job who looks on.
struct Onlooker {
  net::Poller& poller;
  std::shared_ptr<net::Connection> line;
  std::vector<ToOnlooker> heard;
  bool lost = false;
  CoordinatorSearch search;

  Onlooker(Reachable& job)
      : poller(job.poller),
        search(
            poller, {entrance_token, {job.entrance->address()}},
            [this](Result<std::shared_ptr<net::Connection>> found) {
              REQUIRE(found);
              line = *std::move(found);
              line->trust({.received =
                               [this](const wire::Frame& frame) {
                                 auto message = to_onlooker(frame);
                                 REQUIRE(message);
                                 heard.push_back(*std::move(message));
                               },
                           .lost = [this](const Error&) { lost = true; }});
              say(OnlookerHello{});
            },
            std::chrono::seconds(2)) {
    search.begin(Time::max());
    while (!line) poller.run_once(std::chrono::seconds(10));
    search.stop();
  }
  ~Onlooker() { line->close(); }

  void say(const FromOnlooker& message) { line->send(to_frame(message)); }
  const ToOnlooker& hear() {
    while (heard.empty()) poller.run_once(std::chrono::seconds(10));
    return heard.front();
  }
};

}  // namespace

TEST_CASE("an entrance is on loopback, and where other hosts come if they are to") {
  Reachable job;
  job.open();
  CHECK(job.entrance->address() == job.entrance->door().address());
  CHECK(job.entrance->door().addresses().size() == 1);

  job.options.listen = "127.0.0.2";
  job.open();
  CHECK(job.entrance->address().starts_with("127.0.0.2:"));
  CHECK(job.entrance->door().address().starts_with("127.0.0.1:"));
  CHECK(job.entrance->door().addresses().size() == 2);
}

TEST_CASE("the command of a job with several coordinators hands on signals, and hears its end") {
  Reachable job;
  job.with_several_coordinators();
  job.open();
  Onlooker command(job);
  command.say(HandedOnSignal{.number = 15, .id = 1});
  while (job.signals.empty()) job.poller.run_once(std::chrono::seconds(10));
  CHECK(job.signals == std::vector<std::uint32_t>{15});

  job.entrance->over(75);
  const auto* over = std::get_if<JobOver>(&command.hear());
  REQUIRE(over != nullptr);
  CHECK(over->code == 75);
}

TEST_CASE("who looks on hears where all coordinators are") {
  Reachable job;
  job.with_several_coordinators();
  job.open();
  Onlooker cut_off(job);
  // It is let in when its first message has come.
  while (cut_off.heard.empty()) {
    job.entrance->show_life({"10.0.0.1:1", "10.0.0.2:1"});
    job.poller.run_once(std::chrono::milliseconds(20));
  }
  const auto* news = std::get_if<LeaderNews>(&cut_off.hear());
  REQUIRE(news != nullptr);
  CHECK(news->coordinators == std::vector<std::string>{"10.0.0.1:1", "10.0.0.2:1"});
}

TEST_CASE("the page of a job is answered for the command, if the job has one") {
  Reachable job;
  job.with_several_coordinators();
  std::optional<observe::Board> board;
  std::uint32_t code = 404;
  std::string body = "the job began without --http";
  SUBCASE("it has none") {}
  SUBCASE("it has one") {
    board.emplace(observe::JobFacts{});
    job.options.board = &*board;
    code = 200;
    body = "\"phase\"";
  }
  job.open();
  Onlooker command(job);
  command.say(
      PageAsked{.id = 9, .method = "GET", .path = "/api/v1/job", .accept = "", .arguments = {}});
  const auto* answer = std::get_if<PageAnswered>(&command.hear());
  REQUIRE(answer != nullptr);
  CHECK(answer->id == 9);
  CHECK(answer->code == code);
  CHECK(answer->body.find(body) != std::string::npos);
}

TEST_CASE("whoever looks on is left when another coordinator has the job") {
  Reachable job;
  job.with_several_coordinators();
  job.open();
  Onlooker command(job);
  command.say(HandedOnSignal{.number = 15, .id = 1});
  while (job.signals.empty()) job.poller.run_once(std::chrono::seconds(10));
  job.entrance->shut();
  while (!command.lost) job.poller.run_once(std::chrono::seconds(10));
  CHECK(command.heard.empty());
}

TEST_CASE("a job with one coordinator has nobody that looks on") {
  Reachable job;
  job.open();
  Onlooker somebody(job);
  while (!somebody.lost) job.poller.run_once(std::chrono::seconds(10));
  CHECK(job.signals.empty());
}
