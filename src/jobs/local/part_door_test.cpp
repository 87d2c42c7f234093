#include "jobs/local/part_door.h"

#include <doctest/doctest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/testing.h"

using namespace piracema;
using namespace piracema::jobs;

namespace {

/// A node that keeps what it was asked.
struct Asked {
  piracema::testing::ScratchDirectory folder;
  // Longer than an address has room for.
  std::string path = folder.path() + "/" + std::string(120, 'd') + "/parts";
  net::Poller poller;
  std::map<std::uint32_t, PartRequest> requests;
  std::vector<std::uint32_t> dropped;
  bool is_open = true;
  std::unique_ptr<PartDoor> door;

  Asked() {
    ::mkdir(path.substr(0, path.rfind('/')).c_str(), 0700);
    auto opened =
        PartDoor::open(poller, path, false,
                       {.knows = [this](uid_t user) { return user == ::geteuid() && is_open; },
                        .asked =
                            [this](std::uint32_t number, uid_t user, PartRequest request) {
                              CHECK(user == ::geteuid());
                              requests[number] = std::move(request);
                            },
                        .dropped = [this](std::uint32_t number) { dropped.push_back(number); }});
    REQUIRE(opened.ok());
    door = *std::move(opened);
  }
  template <class Right>
  void wait_until(Right right) {
    while (!right()) poller.run_once(std::chrono::milliseconds(10));
  }
};

}  // namespace

TEST_CASE("a part is asked for, and its end is told") {
  Asked node;
  const auto asked = ask_for_part(node.path, {7, 2, "b", {"echo", "hello"}, "a line\n"});
  REQUIRE(asked.ok());
  node.wait_until([&] { return !node.requests.empty(); });
  const auto& [number, request] = *node.requests.begin();
  CHECK(request.job == 7);
  CHECK(request.attempt == 2);
  CHECK(request.node == "b");
  CHECK(request.command == std::vector<std::string>{"echo", "hello"});
  CHECK(request.input == "a line\n");
  node.door->answer(number, {{7, 2, number}, End::exited, 3, "ended with status 3"});
  const auto ended = wait_for_part(*asked);
  REQUIRE(ended.ok());
  CHECK(ended->code == 3);
  CHECK(ended->why == "ended with status 3");
  CHECK(node.dropped.empty());
}

TEST_CASE("whoever is gone does not want his part any more") {
  Asked node;
  {
    const auto asked = ask_for_part(node.path, {1, 1, "b", {"x"}, ""});
    REQUIRE(asked.ok());
    node.wait_until([&] { return !node.requests.empty(); });
  }
  node.wait_until([&] { return !node.dropped.empty(); });
  CHECK(node.dropped.front() == node.requests.begin()->first);
}

TEST_CASE("bytes that are no request are not asked for, and end the call") {
  Asked node;
  auto asked = ask_for_part(node.path, {1, 1, "b", {std::string(5 * part_bytes_max, 'x')}, ""});
  CHECK_FALSE(asked.ok());
  const auto call = ask_for_part(node.path, {1, 1, "b", {"x"}, ""});
  REQUIRE(call.ok());
  node.wait_until([&] { return node.requests.size() == 1; });
  REQUIRE(::send(call->get(), "nonsense", 8, 0) == 8);
  node.wait_until([&] { return !node.dropped.empty(); });
  CHECK_FALSE(wait_for_part(*call).ok());
}

TEST_CASE("without a node it is said where one was looked for") {
  const auto asked = ask_for_part("/nowhere/parts", {1, 1, "b", {"x"}, ""});
  REQUIRE_FALSE(asked.ok());
  CHECK(asked.error().message.find("/nowhere/parts") != std::string::npos);
}
