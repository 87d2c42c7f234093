#include "observe/status/board.h"

#include <doctest/doctest.h>

#include <chrono>
#include <thread>

using namespace piracema;
using namespace piracema::observe;
using std::chrono::seconds;

TEST_CASE("who asks a job that ends without an answer is told so, and at once") {
  Board board{JobFacts{}};
  board.when_asked([&](cluster::UserRequest, Board::Answer answer) {
    // The job has it, and ends on another thread.
    std::thread([answer = std::move(answer)] {}).join();
  });
  const Time begun = now();
  CHECK_FALSE(board.ask(cluster::SavepointRequest{"one"}, seconds(60)).has_value());
  CHECK(now() - begun < seconds(60));
}

TEST_CASE("a job that is not there answers nobody, and one that is there answers once") {
  Board board{JobFacts{}};
  CHECK_FALSE(board.ask(cluster::SavepointRequest{"one"}, seconds(60)).has_value());
  board.when_asked([](cluster::UserRequest, const Board::Answer& answer) {
    answer({.accepted = true});
    answer({.accepted = false});
  });
  const auto answer = board.ask(cluster::SavepointRequest{"one"}, seconds(60));
  REQUIRE(answer.has_value());
  CHECK(answer->accepted);
}
