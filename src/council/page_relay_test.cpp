#include "council/page_relay.h"

#include <doctest/doctest.h>

#include <atomic>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <thread>

#include "cluster/driver/page_desk.h"
#include "council/testing.h"

using namespace piracema;
using namespace piracema::council;
using namespace piracema::council::testing;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

/// A coordinator that leads, and answers questions or keeps them.
struct AnswersPages : Leads {
  using Reply = std::function<void(cluster::PageAnswered)>;

  explicit AnswersPages(net::Poller& poller)
      : Leads(poller, [this](const cluster::PageAsked& question, const Reply& reply) {
          asked.push_back(question);
          if (!answers) return;
          reply({.id = question.id,
                 .code = 202,
                 .type = "text/plain",
                 .body = question.path,
                 .headers = {{"Allow", "POST"}}});
        }) {}

  std::vector<cluster::PageAsked> asked;
  bool answers = true;
};

/// The command, whose HTTP server has a thread of its own.
struct Command {
  explicit Command(net::Poller& with) : poller(with) {}
  ~Command() { relay.end(); }

  void look_for(std::vector<std::string> doors) {
    line.emplace(
        poller, key_of_job, std::move(doors),
        LeaderLine::Events{
            .over = [](int) {},
            .came = [this] { relay.came(); },
            .left = [this] { relay.left(); },
            .answered = [this](cluster::PageAnswered answer) { relay.answered(std::move(answer)); },
            .past =
                [this](cluster::PastOfJob past) {
                  heard_past = true;
                  relay.told(std::move(past));
                }});
    relay.begin(poller, *line);
  }
  std::future<observe::Response> get(std::string path) {
    return std::async(std::launch::async, [this, path = std::move(path)] {
      return relay.get({.method = "GET", .path = path, .node = "count"}, now());
    });
  }
  std::future<observe::Response> post(std::string path) {
    return std::async(std::launch::async, [this, path = std::move(path)] {
      return relay.post({.method = "POST", .path = path, .name = "one"});
    });
  }
  template <class Condition>
  bool wait_for(Condition condition) {
    const Time until = now() + seconds(20);
    while (!condition() && now() < until) poller.run_once(milliseconds(20));
    return condition();
  }
  bool is_answered(const std::future<observe::Response>& answer) {
    return wait_for([&] { return answer.wait_for(seconds(0)) == std::future_status::ready; });
  }

  net::Poller& poller;
  PageRelay relay;
  std::optional<LeaderLine> line;
  bool heard_past = false;
};

}  // namespace

TEST_CASE("what the command is asked is answered by whoever leads") {
  net::Poller poller;
  AnswersPages leader(poller);
  Command command(poller);
  auto before = command.get("/before");
  command.look_for({leader.door->address()});
  auto after = command.post("/after");
  REQUIRE(command.is_answered(before));
  REQUIRE(command.is_answered(after));
  const observe::Response response = before.get();
  CHECK(response.code == 202);
  CHECK(response.body == "/before");
  CHECK(response.headers == std::vector<std::pair<std::string, std::string>>{{"Allow", "POST"}});
  CHECK(after.get().body == "/after");
  REQUIRE(leader.asked.size() == 2);
  for (const cluster::PageAsked& asked : leader.asked) {
    const bool looks = asked.path == "/before";
    CHECK(asked.method == (looks ? "GET" : "POST"));
    CHECK(asked.arguments == std::map<std::string, std::string>{
                                 looks ? std::pair<const std::string, std::string>("node", "count")
                                       : std::pair<const std::string, std::string>("name", "one")});
  }
}

TEST_CASE("what only looks is asked of the next one, and what changes something is not") {
  net::Poller poller;
  AnswersPages first(poller), second(poller);
  first.answers = false;
  Command command(poller);
  command.look_for({first.door->address()});
  REQUIRE(command.wait_for([&] { return first.came == 1; }));
  first.onlookers.show_life({first.door->address(), second.door->address()});
  auto looks = command.get("/look");
  auto changes = command.post("/change");
  REQUIRE(command.wait_for([&] { return first.asked.size() == 2; }));
  first.die();
  REQUIRE(command.is_answered(looks));
  REQUIRE(command.is_answered(changes));
  CHECK(looks.get().code == 202);
  const observe::Response lost = changes.get();
  CHECK(lost.code == 503);
  CHECK(lost.body.find("is lost") != std::string::npos);
  REQUIRE(second.asked.size() == 1);
  CHECK(second.asked.front().path == "/look");
}

TEST_CASE("whoever leads next is told what the page has shown of the past") {
  net::Poller poller;
  AnswersPages first(poller), second(poller);
  Command command(poller);
  command.look_for({first.door->address()});
  REQUIRE(command.wait_for([&] { return first.came == 1; }));
  CHECK(first.pasts.empty());
  first.onlookers.show_life({first.door->address(), second.door->address()});
  first.onlookers.tell({Buffer(as_bytes("first"))});
  first.onlookers.tell({Buffer(as_bytes("then"))});
  REQUIRE(command.wait_for([&] { return command.heard_past; }));
  auto asked = command.get("/after");
  REQUIRE(command.is_answered(asked));
  first.die();
  REQUIRE(command.wait_for([&] { return !second.pasts.empty(); }));
  CHECK(second.pasts == std::vector<std::string>{"then"});
}

TEST_CASE("where nobody leads, or nobody answers, the question ends in bounded time") {
  net::Poller poller;
  AnswersPages leader(poller);
  leader.answers = false;
  Command command(poller);
  auto nobody = command.get("/nobody");
  REQUIRE(command.is_answered(nobody));
  CHECK(nobody.get().code == 503);
  command.look_for({leader.door->address()});
  auto silent = command.get("/silent");
  REQUIRE(command.is_answered(silent));
  CHECK(silent.get().code == 503);
}

TEST_CASE("when the job is over, all that was asked and will be is answered at once") {
  net::Poller poller;
  AnswersPages leader(poller);
  leader.answers = false;
  Command command(poller);
  command.look_for({leader.door->address()});
  auto asked = command.get("/before");
  REQUIRE(command.wait_for([&] { return leader.asked.size() == 1; }));
  command.relay.end();
  CHECK(asked.get().body == "the job is over\n");
  CHECK(command.get("/after").get().body == "the job is over\n");
}

TEST_CASE("a desk answers of the job on its board, and not more than it can hold") {
  observe::Board board{observe::JobFacts{.command = {"app"}}};
  std::atomic<int> looked = 0, held = 0, refused = 0;
  std::promise<void> go_on;
  auto may = go_on.get_future().share();
  board.when_asked([may](cluster::UserRequest, const observe::Board::Answer& answer) {
    may.wait();
    answer({.accepted = true});
  });
  {
    cluster::PageDesk desk(board);
    desk.ask(cluster::to_message(1, {.method = "GET", .path = "/api/v1/job"}),
             [&](const cluster::PageAnswered& answer) { looked += answer.code == 200; });
    for (std::uint64_t id = 2; id < 100; ++id) {
      desk.ask(
          cluster::to_message(id, {.method = "POST", .path = "/api/v1/savepoint", .name = "one"}),
          [&](const cluster::PageAnswered& answer) { (answer.code == 202 ? held : refused) += 1; });
    }
    CHECK(refused >= 98 - 64);
    go_on.set_value();
    while (held + refused != 98) std::this_thread::yield();
  }
  CHECK(looked == 1);
  CHECK(held >= 63);
}
