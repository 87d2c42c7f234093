#include "forecast/store/store_scout.h"

#include <doctest/doctest.h>
#include <poll.h>

#include <filesystem>

#include "base/testing.h"
#include "forecast/store/store_testing.h"

namespace piracema::ckpt {

namespace {

// The next look for which `wanted` holds.
template <class Wanted>
StoreLook wait_for(StoreScout& scout, Wanted wanted) {
  for (;;) {
    pollfd wait{scout.handle(), POLLIN, 0};
    REQUIRE(::poll(&wait, 1, 60'000) == 1);
    const auto look = scout.receive();
    REQUIRE(look.ok());
    if (wanted(*look)) return *look;
  }
}

// A scout hears of its keeper's end at its own time.
void wait_until_gone(const std::string& place) {
  const auto has_any = [&] {
    for (const auto& entry : std::filesystem::directory_iterator(place)) {
      const std::string name = entry.path().filename();
      if (name.starts_with("probe-") || name.starts_with("writer-")) return true;
    }
    return false;
  };
  for (int tries = 0; has_any() && tries < 6000; ++tries) ::poll(nullptr, 0, 10);
  CHECK_FALSE(has_any());
}

}  // namespace

TEST_CASE("a scout tells how fast a store is, and remembers dumps for those who come later") {
  const piracema::testing::ScratchDirectory scratch{testing::place_with_room()};
  auto scout = StoreScout::start(scratch.path());
  REQUIRE(scout.ok());
  const auto look = wait_for(*scout, [](const StoreLook& one) { return one.probe > 0; });
  CHECK(look.writers == 0);
  scout->remember({{.bytes = 1e8}, 2.5});
  scout->remember({{.bytes = 2e8}, 3.5});
  scout->finish(std::chrono::minutes(1));
  const auto past = read_past_dumps(scratch.path());
  REQUIRE(past.ok());
  REQUIRE(past->size() == 2);
  CHECK(past->back().seconds == 3.5);
  *scout = *StoreScout::start(scratch.path() + "/nowhere");
  wait_until_gone(scratch.path());
}

TEST_CASE("scouts tell each other of dumps that are meant at the same time, and of no others") {
  const piracema::testing::ScratchDirectory scratch{testing::place_with_room()};
  auto a = StoreScout::start(scratch.path()), b = StoreScout::start(scratch.path()),
       c = StoreScout::start(scratch.path());
  REQUIRE(a.ok());
  REQUIRE(b.ok());
  REQUIRE(c.ok());
  b->announce(95, 110, 3e8, true);
  c->announce(500, 510, 7e8, true);
  a->announce(90, 100, 1e8, true);
  const auto look = wait_for(*a, [](const StoreLook& one) { return one.writers > 0; });
  CHECK(look.writers == 1);
  CHECK(look.hosts == 1);
  CHECK(look.bytes == 3e8);
  // One that has gone is not counted.
  *b = *StoreScout::start(scratch.path() + "/nowhere");
  wait_for(*a, [](const StoreLook& one) { return one.writers == 0; });
  *a = *StoreScout::start(scratch.path() + "/nowhere");
  *c = *StoreScout::start(scratch.path() + "/nowhere");
  wait_until_gone(scratch.path());
}

TEST_CASE(
    "a sample is written once for all who save to a store, and leaves nothing but what it took") {
  const piracema::testing::ScratchDirectory scratch{testing::place_with_room()};
  auto a = StoreScout::start(scratch.path()), b = StoreScout::start(scratch.path());
  REQUIRE(a.ok());
  REQUIRE(b.ok());
  // Both have read the record by then, which is empty.
  for (StoreScout* one : {&*a, &*b}) wait_for(*one, [](const StoreLook& l) { return l.probe > 0; });
  const DumpFeatures known{.bytes = 3e6, .at = 1e9, .sample = 1};
  for (StoreScout* one : {&*a, &*b}) {
    one->sample(known);
    CHECK(one->sampling() == 1);
    const auto look = wait_for(*one, [](const StoreLook& l) { return l.samples == 1; });
    CHECK(one->sampling() == 0);
    CHECK_FALSE(look.sample_refused);
    REQUIRE(look.news.size() == 1);
    CHECK(look.news.front().features.sample == 1);
    CHECK(look.news.front().features.bytes == 3e6);
    CHECK(look.news.front().seconds > 0);
  }
  const auto past = read_past_dumps(scratch.path());
  REQUIRE(past.ok());
  CHECK(past->size() == 1);
  CHECK(learn_from(*past).learnt() == 0);
  for (const auto& entry : std::filesystem::directory_iterator(scratch.path())) {
    const std::string name = entry.path().filename();
    CHECK((!name.starts_with("sample-") || name == "sample-lock"));
  }
  // The next one is a new one, and what others have saved meanwhile is heard of with it.
  b->remember({{.bytes = 1e8, .at = 2e9}, 2.5});
  b->finish(std::chrono::minutes(1));
  a->sample(known);
  const auto look = wait_for(*a, [](const StoreLook& l) { return l.samples == 2; });
  REQUIRE(look.news.size() == 2);
  CHECK(look.news.front().seconds == 2.5);
  CHECK(look.news.back().features.sample == 1);
}

TEST_CASE("a scout goes with its keeper and leaves nothing but what it has remembered") {
  const piracema::testing::ScratchDirectory scratch{testing::place_with_room()};
  {
    auto scout = StoreScout::start(scratch.path());
    REQUIRE(scout.ok());
    scout->announce(1, 2, 3, true);
    wait_for(*scout, [](const StoreLook&) { return true; });
    wait_for(*scout, [](const StoreLook&) { return true; });
  }
  wait_until_gone(scratch.path());
  CHECK(std::filesystem::is_empty(scratch.path()));
}

}  // namespace piracema::ckpt
