#include "observe/status/job_status.h"

#include <doctest/doctest.h>

using namespace piracema;
using namespace piracema::observe;
using std::chrono::milliseconds;

namespace {

NodeStatus node(const std::string& name, std::uint32_t replicas, int busy_percent,
                double busiest = 0, std::uint32_t which = 0) {
  NodeStatus one{.name = name, .replicas = replicas};
  one.work.lately = {milliseconds(busy_percent), Time{}, milliseconds(100 - busy_percent)};
  one.busiest = which;
  one.busiest_share = busiest;
  return one;
}

}  // namespace

TEST_CASE("the node that is busy all the time holds the job back") {
  JobStatus status{.running = true};
  status.nodes = {node("in", 1, 20), node("primes", 4, 98), node("out", 1, 5)};
  CHECK(bottleneck(status) ==
        "primes holds the job back: its 4 replicas are busy 98 % of the time");
  status.nodes[1].replicas = 1;
  CHECK(bottleneck(status) ==
        "primes holds the job back: its only replica is busy 98 % of the time");
}

TEST_CASE("one replica that has most of the keys is named, which the average hides") {
  JobStatus status{.running = true};
  status.nodes = {node("in", 1, 20), node("count", 4, 30, 0.97, 2)};
  CHECK(bottleneck(status) ==
        "count/2 holds the job back: it is busy 97 % of the time, all replicas of count 30 %");
}

TEST_CASE("a replica at which event time stands still is named, if no node is busy") {
  JobStatus status{.running = true};
  status.nodes = {node("in", 2, 20), node("windows", 2, 10), node("out", 1, 5)};
  status.edges = {{.from = 0, .to = 1}, {.from = 1, .to = 2}};
  const auto replica = [&](std::uint32_t of, std::uint32_t index, std::optional<Time> come,
                           std::chrono::seconds still) {
    status.replicas.push_back({.node = of, .index = index});
    status.replicas.back().work.event_time = come;
    status.replicas.back().event_time_still = still;
    status.nodes[of].work += status.replicas.back().work;
  };
  using std::chrono::seconds;
  replica(0, 0, seconds(500), seconds(0));
  replica(0, 1, seconds(100), seconds(12));
  replica(1, 0, seconds(100), seconds(12));
  CHECK(bottleneck(status) == "event time stands still at in/1: it has come no further for 12.0 s");
  status.replicas[1].event_time_still = seconds(9);
  CHECK(bottleneck(status).starts_with("no node is busy"));
  status.replicas[1].work.event_time.reset();
  status.replicas[1].event_time_still = seconds(40);
  CHECK(bottleneck(status) == "event time stands still at in/1: it has given none for 40.0 s");
  status.replicas[1].ended = true;
  CHECK(bottleneck(status).starts_with("no node is busy"));
  status.replicas[1].ended = false;
  status.nodes[1].work.lately = {milliseconds(90), Time{}, milliseconds(10)};
  CHECK(bottleneck(status).starts_with("windows holds the job back"));
}

TEST_CASE("of a job that waits nobody is said to hold it back") {
  JobStatus status{.running = true};
  status.nodes = {node("in", 1, 20), node("out", 1, 10)};
  CHECK(bottleneck(status) == "no node is busy all the time; the busiest is in with 20 %");
  status.running = false;
  CHECK(bottleneck(status).empty());
  CHECK(bottleneck(JobStatus{.running = true}).empty());
}
