#include "cluster/driver/user_requests.h"

#include <doctest/doctest.h>

#include <string>
#include <thread>
#include <vector>

using namespace piracema;
using namespace piracema::cluster;

namespace {

/// A board where a user asks, and a coordinator that has heard of it.
struct Asked {
  net::Poller poller;
  observe::Board board{observe::JobFacts{}};
  std::vector<std::uint64_t> heard;
  int stops = 0;
  std::optional<UserRequests> requests;
  std::vector<std::string> answers;

  Asked() {
    requests.emplace(poller, &board,
                     UserRequests::Events{.stop = [this] { stops += 1; },
                                          .refusal =
                                              [](const UserRequest& request) {
                                                return std::holds_alternative<ScaleRequest>(request)
                                                           ? std::optional<std::string>("never")
                                                           : std::nullopt;
                                              },
                                          .asked = [this](UserAsked asked) {
                                            heard.push_back(asked.id);
                                          }});
  }
  /// In a thread of its own, as a page does; what it was told.
  std::string ask(UserRequest request, const std::function<void()>& meanwhile) {
    std::string told = "nothing";
    std::thread user([&] {
      const auto answer = board.ask(std::move(request), std::chrono::seconds(10));
      if (answer) told = answer->why;
    });
    poller.run_once(std::chrono::seconds(10));
    meanwhile();
    user.join();
    return told;
  }
};

}  // namespace

TEST_CASE("a user is told what the coordinator answers, or why it is not asked") {
  Asked asked;
  CHECK(asked.ask(SavepointRequest{"a"}, [&] {
    REQUIRE(asked.heard.size() == 1);
    asked.requests->answer({.id = asked.heard[0] + 7, .why = "somebody else's"});
    asked.requests->answer({.id = asked.heard[0], .why = "here it is"});
  }) == "here it is");
  CHECK(asked.ask(ScaleRequest{}, [] {}) == "never");
  CHECK(asked.heard.size() == 1);
}

TEST_CASE("who has no answer in the end hears of none, and nobody is heard after that") {
  Asked asked;
  CHECK(asked.ask(SavepointRequest{"a"}, [&] {
    asked.requests->close();
    asked.requests.reset();
  }) == "nothing");
  CHECK_FALSE(asked.board.ask(SavepointRequest{"b"}, std::chrono::seconds(10)).has_value());
  CHECK_FALSE(asked.board.ask_to_stop());
}
