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

TEST_CASE("of a job that waits nobody is said to hold it back") {
  JobStatus status{.running = true};
  status.nodes = {node("in", 1, 20), node("out", 1, 10)};
  CHECK(bottleneck(status) == "no node is busy all the time; the busiest is in with 20 %");
  status.running = false;
  CHECK(bottleneck(status).empty());
  CHECK(bottleneck(JobStatus{.running = true}).empty());
}
