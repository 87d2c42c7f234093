// A job gets other numbers of replicas and processes while it runs: what comes out is what one
// process with one map gives, in the same order.
#include <doctest/doctest.h>
#include <piracema/map_state.h>

#include <algorithm>
#include <map>

#include "flow/states.h"
#include "sim/seeds.h"
#include "sim/stream_parts.h"
#include "sim/test_place.h"

namespace piracema::sim {

using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

constexpr std::uint64_t keys = 90, items = 700;
std::uint64_t key_of(const std::uint64_t& item) { return item * 7 % keys; }

/// How often its key was seen before, and the sum of what was.
struct Seen {
  std::uint64_t times = 0, all = 0;
  std::uint64_t count() const { return times; }
  std::uint64_t sum() const { return all; }
  void add(std::uint64_t item) {
    times += 1;
    all += item;
  }
};
/// The same with a row for each item.
struct SeenInRows {
  MapState<std::uint64_t, std::uint64_t> items;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(items);
  }
  std::uint64_t count() const { return items.size(); }
  std::uint64_t sum() const {
    std::uint64_t sum = 0;
    items.for_each([&](std::uint64_t, std::uint64_t item) { sum += item; });
    return sum;
  }
  void add(std::uint64_t item) { items.put(item, item); }
};

/// Says what it has seen of a key; now and then the key is forgotten. At the end it says what it
/// has.
template <class S>
struct CountKeysAs {
  Outside* outside = nullptr;
  static bool is_last(const std::uint64_t& item) { return item % 5 == 2; }
  static std::uint64_t says(const std::uint64_t& item, const S& seen) {
    return item * 1'000'000 + seen.count() * 100'000 + seen.sum();
  }
  static constexpr std::uint64_t at_end = 1'000'000'000'000;

  void operator()(const std::uint64_t& item, KeyedState<S>& state, Emit<std::uint64_t>& emit) {
    if (outside->throwing > 0) {
      outside->throwing -= 1;
      throw std::runtime_error("bad luck");
    }
    S& seen = state.edit();
    seen.add(item);
    emit(says(item, seen));
    if (is_last(item)) state.erase();
  }
  void finish(const std::uint64_t& key, S& seen, Emit<std::uint64_t>& emit) {
    emit(at_end + says(key, seen));
  }
};
using CountKeys = CountKeysAs<Seen>;

std::vector<std::uint64_t> expected() {
  std::vector<std::uint64_t> all;
  std::map<std::uint64_t, Seen> seen;
  for (std::uint64_t item = 0; item < items; ++item) {
    Seen& one = seen[key_of(item)];
    one.add(item);
    all.push_back(CountKeys::says(item, one));
    if (CountKeys::is_last(item)) seen.erase(key_of(item));
  }
  for (const auto& [key, one] : seen) all.push_back(CountKeys::at_end + CountKeys::says(key, one));
  return all;
}

// What a replica says at its end has no place in the order: another one may not be as far.
std::vector<std::uint64_t> in_order(std::vector<std::uint64_t> output) {
  const auto ends = std::stable_partition(
      output.begin(), output.end(), [](std::uint64_t said) { return said < CountKeys::at_end; });
  std::sort(ends, output.end());
  return output;
}

/// The node in front is scaled as well, so that the numbers of those behind it become others'. By
/// key, or items of one key could pass each other there.
template <class Code>
Graph graph_with(Outside& outside) {
  return pipeline(source("count", Count{items}),
                  farm("pass", 2, [](const std::uint64_t& item) { return item; }).by_key(key_of),
                  farm("tally", 2, Code{&outside}).by_key(key_of, 64),
                  sink("write", Write{&outside}).ordered());
}
Graph graph_of(Outside& outside, std::uint64_t seed) {
  return seed % 4 == 0 ? graph_with<CountKeysAs<SeenInRows>>(outside)
                       : graph_with<CountKeys>(outside);
}

struct Scaled {
  Scaled(std::uint64_t seed, Cluster::Settings& with)
      : graph(graph_of(outside, seed)), cluster(with, [this, seed](Slot slot, ProcessHost& host) {
          return make_stream_worker(graph, slot, host, seed % 3, &counts, test_place());
        }) {
    cluster.on_action = [this](const cluster::Action& action) {
      const auto* tell = std::get_if<cluster::Tell>(&action);
      if (tell == nullptr) return;
      if (std::holds_alternative<cluster::ScaleSwitched>(tell->note)) switched += 1;
      if (std::holds_alternative<cluster::ProcessesMoved>(tell->note)) moved += 1;
      const auto* ended = std::get_if<cluster::ScaleEnded>(&tell->note);
      if (ended != nullptr && !ended->done) given_up += 1;
    };
  }

  Outside outside;
  Graph graph;
  Cluster cluster;
  std::uint64_t switched = 0, moved = 0, given_up = 0;
  StreamCounts counts;
};

cluster::ScaleRequest drawn(Random& random) {
  const auto upto = [&random](std::uint64_t most) {
    return 1 + static_cast<std::uint32_t>(random.below(most));
  };
  cluster::ScaleRequest request;
  if (random.chance(0.9)) request.replicas.push_back({"tally", upto(5)});
  if (random.chance(0.4)) request.replicas.push_back({"pass", upto(3)});
  if (random.chance(0.5) || request.replicas.empty()) request.slots = upto(5);
  return request;
}

/// Some of them the job may not have.
std::vector<Slot> drawn_slots(Random& random) {
  std::vector<Slot> slots;
  for (Slot slot = 0; slot < 5; ++slot) {
    if (random.chance(0.3)) slots.push_back(slot);
  }
  return slots;
}

// States on disk are not.
bool reads_ahead(std::uint64_t count, std::uint64_t least, std::uint64_t of) {
  return test_place() != nullptr ? count == 0 : is_exercised(count, least, of);
}

Cluster::Settings scalable(std::uint64_t seed) {
  Outside outside;
  const Graph graph = graph_of(outside, 1);
  Cluster::Settings with = settings_of(seed, graph);
  with.layouts = flow::state_types_of(graph).layouts;
  return with;
}

}  // namespace

TEST_CASE(
    "a stream that grows, shrinks and moves under load gives what it would have given, in order") {
  std::uint64_t switched = 0, moved = 0, kept = 0, ahead = 0;
  for (const auto seed : seeds(100)) {
    Random random(seed);
    Cluster::Settings with = scalable(seed);
    with.chaos.until = Time{};
    Scaled job(seed, with);
    for (Time at{}; at < seconds(6); at += random.below(1'500) * milliseconds(1)) {
      job.cluster.ask_at(at, drawn(random));
      job.cluster.move_at(at + random.below(1'000) * milliseconds(1), drawn_slots(random),
                          random.below(2) == 0);
    }
    REQUIRE(job.cluster.run(seconds(200)));
    CHECK(job.cluster.finish()->code == 0);
    CHECK((in_order(job.outside.output) == expected()));
    CHECK(job.given_up <= 1);  // For the job may end.
    switched += job.switched;
    moved += job.moved;
    kept += job.counts.kept;
    ahead += job.counts.ahead;
  }
  CHECK(is_exercised(switched, 100, 100));
  CHECK(is_exercised(moved, 50, 100));
  CHECK(is_exercised(kept, 100, 100));
  CHECK(reads_ahead(ahead, 100, 100));
}

TEST_CASE("a stream that is scaled and moved comes through whatever goes wrong on the way") {
  std::uint64_t switched = 0, moved = 0, lost = 0, kept = 0, ahead = 0;
  for (const auto seed : seeds(200)) {
    Random random(seed);
    Cluster::Settings with = scalable(seed);
    with.chaos = everything(Random(seed));
    Scaled job(seed, with);
    for (Time at{}; at < with.chaos.until; at += random.below(1'500) * milliseconds(1)) {
      job.cluster.ask_at(at, drawn(random));
      job.cluster.move_at(at + random.below(1'000) * milliseconds(1), drawn_slots(random),
                          random.below(2) == 0);
      job.cluster.scheduler().at(at + random.below(2'000) * milliseconds(1),
                                 [&job] { job.outside.throwing = 1; });
    }
    REQUIRE(job.cluster.run(seconds(300)));
    CHECK(job.cluster.finish()->code == 0);
    CHECK((in_order(job.outside.output) == expected()));
    switched += job.switched;
    moved += job.moved;
    lost += job.cluster.coordinator().epoch() - 1 - job.switched - job.moved;
    kept += job.counts.kept;
    ahead += job.counts.ahead;
  }
  CHECK(is_exercised(switched, 100, 200));
  CHECK(is_exercised(moved, 50, 200));
  CHECK(is_exercised(lost, 100, 200));
  CHECK(is_exercised(kept, 100, 200));
  CHECK(reads_ahead(ahead, 100, 200));
}

TEST_CASE(
    "a stream is scaled by a coordinator that takes the job over, at whatever step the other one "
    "died") {
  std::uint64_t switched = 0, moved = 0, terms = 0, kept = 0, ahead = 0;
  for (const auto seed : seeds(200)) {
    Random random(seed);
    Cluster::Settings with = scalable(seed);
    with.search = seconds(10);
    with.twice = random.chance(0.3);
    with.chaos.until = seconds(6);
    with.chaos.coordinator_kill = milliseconds(400);
    if (random.chance(0.5)) with.chaos.kill = milliseconds(900);
    if (random.chance(0.3)) with.chaos.slow = milliseconds(1'000);
    Scaled job(seed, with);
    for (Time at{}; at < with.chaos.until; at += random.below(1'500) * milliseconds(1)) {
      job.cluster.ask_at(at, drawn(random));
      job.cluster.move_at(at + random.below(1'000) * milliseconds(1), drawn_slots(random),
                          random.below(2) == 0);
    }
    REQUIRE(job.cluster.run(seconds(300)));
    CHECK(job.cluster.finish()->code == 0);
    CHECK((in_order(job.outside.output) == expected()));
    switched += job.switched;
    moved += job.moved;
    terms += job.cluster.log().term - 1;
    kept += job.counts.kept;
    ahead += job.counts.ahead;
  }
  CHECK(is_exercised(switched, 100, 200));
  CHECK(is_exercised(moved, 10, 200));
  CHECK(is_exercised(terms, 200, 200));
  CHECK(is_exercised(kept, 100, 200));
  CHECK(reads_ahead(ahead, 100, 200));
}

}  // namespace piracema::sim
