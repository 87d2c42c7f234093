// Changes of the map are pushed to those who watch it, in real processes: each once, in order, and
// also when the replica that would have told is killed.

#include <doctest/doctest.h>
#include <piracema/smr/watcher.h>

#include <thread>

#include "base/clock.h"
#include "base/text.h"
#include "cluster/smr/crowd.h"

using namespace piracema;
using namespace piracema::testing;

namespace {

std::unique_ptr<smr::Client> client_of(const tools::KvGroup& group) {
  auto client = smr::Client::open(
      group.configuration(), {.id = 1, .key_file = group.client_key(), .timeout = seconds(60)});
  REQUIRE(client.ok());
  return *std::move(client);
}

void put(smr::Client& client, const std::string& key, const std::string& value) {
  const auto answer =
      client.invoke_ordered(smr::kv::encode(smr::kv::Put{.key = key, .value = value}));
  REQUIRE(answer.ok());
  REQUIRE(smr::kv::decode_reply(*answer)->status == smr::kv::Status::ok);
}

/// Until so many events are there.
std::vector<std::string> values_of(smr::kv::Watcher& watcher, std::size_t count) {
  std::vector<std::string> values;
  const Time deadline = now() + seconds(120);
  while (values.size() < count && now() < deadline) {
    const auto events = watcher.next(seconds(5));
    REQUIRE(events.ok());
    for (const auto& event : *events) values.push_back(event.value);
  }
  return values;
}

void watch_while_replicas_die(bool byzantine) {
  const GroupFolder folder;
  auto group = tools::KvGroup::make(
      {.byzantine = byzantine, .directory = folder.path(), .program = PIRACEMA_COMMAND});
  REQUIRE(group.ok());
  const auto writer = client_of(*group), reader = client_of(*group);
  put(*writer, "other", "before");
  std::vector<std::string> seen;
  std::thread watching([&] {
    smr::kv::Watcher watcher(*reader, "color", false, 0);
    seen = values_of(watcher, 40);
  });
  std::vector<std::string> written;
  for (std::size_t i = 0; i < 40; ++i) {
    if (i % 10 == 5) REQUIRE(group->kill(i / 10 % 3).ok());
    put(*writer, "color", std::to_string(i));
    put(*writer, "other", std::to_string(i));
    written.push_back(std::to_string(i));
    if (i % 10 == 9) REQUIRE(group->start(i / 10 % 3).ok());
  }
  watching.join();
  CHECK(seen == written);
}

}  // namespace

TEST_CASE("who watches a key sees each change once and in order, whichever replica is killed") {
  SUBCASE("three that crash") { watch_while_replicas_die(false); }
  SUBCASE("four of which one may lie") { watch_while_replicas_die(true); }
}

TEST_CASE("a change is pushed, and where nothing happens nothing is") {
  const GroupFolder folder;
  auto group = tools::KvGroup::make({.directory = folder.path(), .program = PIRACEMA_COMMAND});
  REQUIRE(group.ok());
  const auto writer = client_of(*group), reader = client_of(*group);
  smr::kv::Watcher watcher(*reader, "jobs/", true, 0);
  const auto nothing = watcher.next(std::chrono::milliseconds(300));
  REQUIRE(nothing.ok());
  CHECK(nothing->empty());
  put(*writer, "jobs/1", "a");
  CHECK(values_of(watcher, 1) == std::vector<std::string>{"a"});
  // What waits on the way is not lost when the watcher looks late, nor told again.
  put(*writer, "jobs/2", "b");
  put(*writer, "color", "blue");
  put(*writer, "jobs/1", "c");
  CHECK(values_of(watcher, 2) == std::vector<std::string>{"b", "c"});
  CHECK(watcher.next(std::chrono::milliseconds(300))->empty());
}
