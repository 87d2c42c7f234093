// States that live by event time: which of them an item finds, and when each ends, depends on the
// items alone, whatever is lost, moved or slow on the way.
#include <doctest/doctest.h>
#include <piracema/event_time.h>

#include <algorithm>
#include <map>

#include "sim/pieces.h"
#include "sim/seeds.h"
#include "sim/stream_parts.h"
#include "sim/test_place.h"
#include "sim/timed_items.h"

namespace piracema::sim {

using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

constexpr std::uint64_t keys = 24;
constexpr seconds wait(6), ttl(40);

// No key is of two sources, whose items come in another order each time. Some keys come seldom.
std::uint64_t key_of(const std::uint64_t& item) {
  const std::uint64_t number = item % of_a_source;
  const std::uint64_t key = number % 5 == 0 ? number * 7 % keys : number % 3;
  return key + item / of_a_source * 100;
}

/// What came of a key while its state was there.
struct Life {
  std::uint64_t first = 0, count = 0, sum = 0;
};
std::uint64_t number_of(std::uint64_t key, const Life& life) {
  return (key * 1'000 + life.first % 1'000) * 10'000'000 + life.count * 100'000 +
         life.sum % 100'000;
}

struct Lives {
  Outside* outside = nullptr;
  seconds state_ttl() const { return ttl; }
  EventTime event_time_of(const std::uint64_t& item) const { return time_of(item); }
  void operator()(const std::uint64_t& item, Life& life, Emit<std::uint64_t>&) const {
    if (outside->throwing > 0) {
      outside->throwing -= 1;
      throw std::runtime_error("bad luck");
    }
    if (life.count == 0) life.first = item;
    life.count += 1;
    life.sum += item;
  }
  void finish(const std::uint64_t& key, Life& life, Emit<std::uint64_t>& emit) const {
    emit(number_of(key, life));
  }
};

Graph graph_of(Outside& outside, std::uint32_t replicas) {
  return pipeline(combine(source("count", Count{timed_items}).replicas(timed_sources),
                          event_time("times", time_of, wait, drop_late).replicas(timed_sources)),
                  farm("lives", replicas, Lives{&outside}).by_key(key_of),
                  sink("write", Write{&outside}));
}

// The same by one map, one source after the other.
std::vector<std::uint64_t> expected() {
  std::vector<std::uint64_t> all;
  struct Kept {
    std::int64_t latest = 0;
    Life life;
  };
  std::map<std::uint64_t, Kept> kept;
  const auto in_time = [&](std::uint64_t item, std::int64_t second) {
    Kept& of = kept.try_emplace(key_of(item), Kept{second, {}}).first->second;
    if (second - of.latest >= ttl / seconds(1)) {
      all.push_back(number_of(key_of(item), of.life));
      of = {second, {}};
    }
    of.latest = std::max(of.latest, second);
    if (of.life.count == 0) of.life.first = item;
    of.life.count += 1;
    of.life.sum += item;
  };
  for_each_timed(wait, in_time, [](std::uint64_t) {});
  for (const auto& [key, of] : kept) all.push_back(number_of(key, of.life));
  std::sort(all.begin(), all.end());
  return all;
}

void check_output(const Outside& outside) {
  auto found = outside.output;
  std::sort(found.begin(), found.end());
  CHECK((found == expected()));
}

std::uint32_t some_replicas(Random& random) {
  return 1 + static_cast<std::uint32_t>(random.below(4));
}

}  // namespace

TEST_CASE("states end where those of one process with one map do, whatever goes wrong") {
  // Some keys live more than once.
  REQUIRE(expected().size() > 2 * keys + 20);
  std::uint64_t recoveries = 0;
  for (const auto seed : seeds(150)) {
    Outside outside;
    Random random(seed);
    const Graph graph = *fuse(graph_of(outside, some_replicas(random)), false);
    recoveries += come_through(graph, outside, seed);
    check_output(outside);
  }
  CHECK(is_exercised(recoveries, 300, 150));
}

TEST_CASE("and where a job is stopped and goes on with other numbers of replicas") {
  std::uint64_t changes = 0;
  for (const auto seed : seeds(100)) {
    Pieces job(seed);
    job.next = [&job] { return *fuse(graph_of(job.outside, some_replicas(job.random)), false); };
    job.stopped_after = [] { return milliseconds(700); };
    job.stopped = [&changes](bool resumes) { changes += resumes; };
    job.run();
    check_output(job.outside);
  }
  CHECK(is_exercised(changes, 50, 100));
}

}  // namespace piracema::sim
