#include "flow/placement.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <vector>

#include "base/random.h"
#include "flow/graph_testing.h"

using namespace piracema;
using flow::make_plan;
using flow::testing::pipeline_of;

namespace {

using Ids = std::vector<std::uint32_t>;

std::vector<double> loads(const GraphShape& shape, const Ids& placement, std::uint32_t slots) {
  const auto work = flow::declared_work(shape);
  const auto plan = make_plan(shape);
  std::vector<double> load(slots);
  for (std::size_t i = 0; i < placement.size(); ++i) {
    load[placement[i]] += work[plan.replicas[i].node];
  }
  return load;
}

std::size_t remote_channels(const GraphShape& shape, const Ids& placement) {
  const auto plan = make_plan(shape);
  std::size_t count = 0;
  for (std::size_t from = 0; from < placement.size(); ++from) {
    for (const auto& output : plan.replicas[from].outputs) {
      for (const auto to : output.targets) count += placement[from] != placement[to];
    }
  }
  return count;
}

}  // namespace

TEST_CASE("the replicas of a farm come to lie on different processes") {
  const GraphShape shape = pipeline_of({1, 4, 1});
  const auto placement = flow::place(shape, make_plan(shape), 4);
  Ids farm(placement.begin() + 1, placement.begin() + 5);
  std::sort(farm.begin(), farm.end());
  CHECK(farm == Ids{0, 1, 2, 3});
}

TEST_CASE("replicas that are balanced anyhow lie where their neighbours are") {
  // Three workers that are pipelines of two, on two processes more than would come out even.
  GraphShape shape = pipeline_of({1, 3, 3, 1});
  shape.edges[1].parts = 3;
  const auto plan = make_plan(shape);
  const auto placement = flow::place(shape, plan, 5);
  std::vector<std::uint32_t> load(5);
  for (const std::uint32_t slot : placement) load[slot] += 1;
  CHECK(*std::max_element(load.begin(), load.end()) == 2);
  std::size_t near = 0;
  for (std::uint32_t i = 0; i < 3; ++i) near += placement[1 + i] == placement[4 + i];
  CHECK(near == 1);  // Two of the second node went to processes that had nothing.
  CHECK(placement[7] == placement[4 + 0]);
}

TEST_CASE("all replicas find a place when processes are few, and when they are many") {
  const GraphShape shape = pipeline_of({1, 3, 1});
  CHECK(flow::place(shape, make_plan(shape), 1) == Ids{0, 0, 0, 0, 0});
  for (const std::uint32_t slot : flow::place(shape, make_plan(shape), 9)) CHECK(slot < 9);
}

TEST_CASE("a pipeline is cut where that leaves as much to do on both sides") {
  // 90 in all: the heavy one is a half of it.
  const GraphShape shape = pipeline_of({1, 1, 1, 1, 1}, {10, 15, 20, 40, 5});
  const Ids placement = flow::place(shape, make_plan(shape), 2);
  CHECK(placement ==
        Ids{placement[0], placement[0], placement[0], 1 - placement[0], 1 - placement[0]});
  CHECK(remote_channels(shape, placement) == 1);
}

TEST_CASE("equal stages are cut into runs, not into every second one") {
  const GraphShape shape = pipeline_of({1, 1, 1, 1, 1, 1, 1, 1});
  const Ids placement = flow::place(shape, make_plan(shape), 2);
  CHECK(remote_channels(shape, placement) == 1);
  CHECK(std::count(placement.begin(), placement.end(), 0u) == 4);
}

TEST_CASE("a long pipeline leaves each process once") {
  for (const std::uint32_t stages : {6, 12, 17, 32, 100}) {
    for (const std::uint32_t slots : {2, 3, 5}) {
      CAPTURE(stages);
      CAPTURE(slots);
      const GraphShape shape = pipeline_of(Ids(stages, 1));
      CHECK(remote_channels(shape, flow::place(shape, make_plan(shape), slots)) == slots - 1);
    }
  }
}

TEST_CASE("a pipeline goes from site to site and from host to host as seldom as it can") {
  // Two sites with two hosts each, and two processes on each host; named in any order.
  std::vector<flow::Location> locations{{0, 0}, {0, 0}, {1, 0}, {1, 0},
                                        {2, 1}, {2, 1}, {3, 1}, {3, 1}};
  Random random(4);
  for (int round = 0; round < 20; ++round) {
    for (std::size_t i = locations.size(); i > 1; --i) {
      std::swap(locations[i - 1], locations[random.below(i)]);
    }
    const GraphShape shape = pipeline_of(Ids(16, 1));
    const auto plan = make_plan(shape);
    const Ids placement = flow::place(shape, plan, 8, {flow::declared_work(shape), {}, locations});
    std::size_t sites = 0, hosts = 0;
    for (std::size_t i = 1; i < placement.size(); ++i) {
      const flow::Location from = locations[placement[i - 1]], to = locations[placement[i]];
      sites += from.site != to.site;
      hosts += from.host != to.host;
    }
    CHECK(sites == 1);
    CHECK(hosts == 3);
    CHECK(remote_channels(shape, placement) == 7);
  }
}

TEST_CASE("workers that are pipelines lie within a site, and are spread all the same") {
  GraphShape shape = pipeline_of({1, 4, 4, 1});
  shape.edges[1].parts = 4;
  const auto plan = make_plan(shape);
  const std::vector<flow::Location> locations{{0, 0}, {1, 1}, {2, 0}, {3, 1}};
  const Ids placement = flow::place(shape, plan, 4, {{0.1, 1, 1, 0.1}, {}, locations});
  for (std::uint32_t i = 0; i < 4; ++i) {
    CHECK(locations[placement[1 + i]].site == locations[placement[5 + i]].site);
  }
  Ids farm(placement.begin() + 1, placement.begin() + 5);
  std::sort(farm.begin(), farm.end());
  CHECK(farm == Ids{0, 1, 2, 3});
}

TEST_CASE("a pipeline is cut where least was sent, as far as that leaves as much to do") {
  const GraphShape shape = pipeline_of({1, 1, 1, 1});
  const auto plan = make_plan(shape);
  const std::vector<flow::Location> apart{{0, 0}, {1, 1}};
  // Most goes from the second to the third; the first and the last have next to nothing to do.
  const flow::Work work{0.01, 1, 1, 0.01};
  const auto cut = [&](std::vector<double> sent) {
    const Ids placement = flow::place(shape, plan, 2, {work, std::move(sent), apart});
    CHECK(placement[1] != placement[2]);
    return std::pair(placement[0] != placement[1], placement[2] != placement[3]);
  };
  CHECK(cut({}) == std::pair(false, false));
  CHECK(cut({1e6, 1e9, 1e6, 0}) == std::pair(false, false));
  // Where all of them have as much to do, four places for two: what is sent says who is where.
  const std::vector<flow::Location> two{{0, 0}, {0, 0}, {1, 0}, {1, 0}};
  const Ids placement = flow::place(shape, plan, 4, {{1, 1, 1, 1}, {1, 1e9, 1, 0}, two});
  CHECK(two[placement[1]] == two[placement[2]]);
  CHECK_FALSE(two[placement[0]] == two[placement[1]]);
}

TEST_CASE("what costs next to nothing lies with those it talks to, and counts for nothing") {
  // A farm of four heavy workers, on four processes: each has one; source and sink are guests.
  const GraphShape shape = pipeline_of({1, 4, 1}, {10, 400'000, 10});
  const Ids placement = flow::place(shape, make_plan(shape), 4);
  Ids farm(placement.begin() + 1, placement.begin() + 5);
  std::sort(farm.begin(), farm.end());
  CHECK(farm == Ids{0, 1, 2, 3});
  CHECK(remote_channels(shape, placement) == 6);
}

TEST_CASE("who said nothing of its costs counts as the average of the others") {
  const auto work = flow::declared_work(pipeline_of({1, 2, 1}, {30, 240, 0}));
  CHECK(work == flow::Work{30, 120, 90});
  CHECK(flow::declared_work(pipeline_of({1, 2, 1})) == flow::Work{1, 1, 1});
}

TEST_CASE("times of an earlier run are shared by the replicas, and wanted of every node") {
  const GraphShape shape = pipeline_of({1, 4, 1});
  const std::map<std::string, double> busy{{"n0", 1.0}, {"n1", 8.0}, {"n2", 0.0}, {"else", 3.0}};
  CHECK(flow::known_of(shape, {busy, {}}, {})->work == flow::Work{1, 2, 0});
  CHECK(flow::known_of(shape, {}, {})->work == flow::Work{1, 1, 1});
  const auto refused = flow::known_of(shape, {{{"n0", 1.0}, {"n2", 0.0}}, {}}, {});
  CHECK(refused.error().message.find("'n1'") != std::string::npos);
  CHECK_FALSE(flow::known_of(shape, {busy, {{"n0", 7.0}}}, {}).ok());
  // All of the work in one replica: the others keep out of its process, and together.
  const Ids placement = flow::place(shape, make_plan(shape), 2, {{5, 0, 0}, {}, {}});
  CHECK(
      std::all_of(placement.begin(), placement.end(), [](std::uint32_t slot) { return slot < 2; }));
}

TEST_CASE("whatever the graph and its costs are, no process has much more than it must") {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    Ids replicas;
    std::vector<std::uint64_t> costs;
    for (std::uint64_t i = 0, nodes = 2 + random.below(5); i < nodes; ++i) {
      replicas.push_back(1 + static_cast<std::uint32_t>(random.below(6)));
      costs.push_back(random.below(3) == 0 ? 0 : 1 + random.below(10'000));
    }
    const GraphShape shape = pipeline_of(replicas, costs);
    const std::uint32_t slots = 1 + static_cast<std::uint32_t>(random.below(8));
    const auto plan = make_plan(shape);
    const Ids placement = flow::place(shape, plan, slots);
    CHECK(placement == flow::place(shape, plan, slots));
    const auto work = flow::declared_work(shape);
    std::vector<flow::Location> locations;
    for (std::uint32_t slot = 0, known = static_cast<std::uint32_t>(random.below(slots + 1));
         slot < known; ++slot) {
      const auto host = static_cast<std::uint32_t>(random.below(4));
      locations.push_back({host, host / 2});
    }
    const Ids there = flow::place(shape, plan, slots, {work, {}, locations});
    CHECK(there == flow::place(shape, plan, slots, {work, {}, locations}));
    const auto load_there = loads(shape, there, slots);
    const auto load = loads(shape, placement, slots);
    double all = 0;
    for (const double part : load) all += part;
    // Who goes to where least is finds no more than the average there (Graham 1969), and nothing is
    // below the average or the heaviest replica.
    const double least = std::max(all / slots, *std::max_element(work.begin(), work.end()));
    CHECK(*std::max_element(load.begin(), load.end()) <= 2 * least);
    CHECK(*std::max_element(load_there.begin(), load_there.end()) <= 2 * least);
  }
}

TEST_CASE("a plan that follows another one leaves replicas where they are, as far as it can be") {
  const GraphShape before = pipeline_of({1, 2, 1}), after = pipeline_of({1, 3, 1});
  const auto plan = make_plan(before), next = make_plan(after);
  const Ids was = {0, 0, 1, 1};
  const flow::Known work{flow::declared_work(after), {}, {}};
  // The new one of the farm goes to the new process, and nobody moves.
  CHECK(flow::place_again({before, plan, was}, after, next, 3, work) == Ids{0, 0, 1, 2, 1});
  // Two of whose process goes find another one.
  const Ids is = {0, 2, 1, 2, 1};
  const Ids back = flow::place_again({after, next, is}, before, plan, 2, work);
  CHECK(back == Ids{0, 0, 1, 1});
  // A process that comes gets some of what others have.
  const Ids alone = flow::place_again({before, plan, Ids{0, 0, 0, 0}}, before, plan, 2, work);
  CHECK(std::count(alone.begin(), alone.end(), 1u) == 2);
  // Of two processes with nothing to do the one that is near.
  const flow::Known apart{work.work, {}, {{0, 0}, {0, 0}, {1, 1}, {2, 0}}};
  CHECK(flow::place_again({before, plan, was}, after, next, 4, apart)[3] == 3);
}

TEST_CASE("whatever plan follows another one, no process has a replica more than it may") {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    const auto draw = [&random](std::uint64_t most) {
      return 1 + static_cast<std::uint32_t>(random.below(most));
    };
    const std::size_t nodes = 1 + draw(5);
    Ids first, second;
    std::vector<std::uint64_t> costs;
    for (std::size_t i = 0; i < nodes; ++i) {
      first.push_back(draw(6));
      second.push_back(draw(6));
      costs.push_back(draw(10'000));
    }
    const GraphShape before = pipeline_of(first, costs), after = pipeline_of(second, costs);
    const auto plan = make_plan(before), next = make_plan(after);
    const std::uint32_t slots = draw(8);
    const Ids was = flow::place(before, plan, draw(8));
    const auto work = flow::declared_work(after);
    const Ids placed = flow::place_again({before, plan, was}, after, next, slots, {work, {}, {}});
    CHECK(placed == flow::place_again({before, plan, was}, after, next, slots, {work, {}, {}}));
    const auto load = loads(after, placed, slots);
    const double spread =
        *std::max_element(load.begin(), load.end()) - *std::min_element(load.begin(), load.end());
    CHECK(spread <= *std::max_element(work.begin(), work.end()) * 1.000'001);
  }
}
