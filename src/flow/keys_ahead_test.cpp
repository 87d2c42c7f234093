// Keys that are fetched before their items come.
#include <doctest/doctest.h>
#include <piracema/blocks.h>

#include <array>
#include <functional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "base/random.h"
#include "flow/keyed_testing.h"

using namespace piracema;
using namespace piracema::flow::testing;

namespace {

/// So large that some thousands of them are in no cache.
using LargeValue = std::array<std::uint64_t, 64>;
constexpr std::uint64_t many_keys = 10'000;

struct LargeTable : KeyedTable<std::uint64_t, LargeValue> {
  explicit LargeTable(GroupRange owned = {0, sixteen.count()}) {
    own(sixteen, owned);
    for (std::uint64_t key = 0; key < many_keys; ++key) {
      if (owned.has(sixteen.group_of(mixed(key)))) edit(key, mixed(key))[0] = key;
    }
  }
  std::uint64_t sum() {
    std::uint64_t all = 0;
    for_each([&](std::uint64_t key, const LargeValue& value) {
      all += key;
      CHECK(value[0] == key);
    });
    return all;
  }
};

/// Where nothing is emitted.
class NowhereToGo final : public Output {
  void lane_full(std::size_t) override {}
  bool skip(Bytes) override { return false; }
};

std::optional<std::uint64_t> none_comes() { return std::nullopt; }

/// A sink of numbers, which has seen `before` of them, its states in memory as in a job.
struct CountedSink {
  template <class KeyOf>
  CountedSink(std::uint64_t before, KeyOf key_of)
      : graph(pipeline(source("none_comes", none_comes),
                       sink("count",
                            [this](const std::uint64_t& number, LargeValue& value) {
                              if (counts.empty() && at_first) at_first();
                              value[0] += 1;
                              counts.emplace_back(number, value[0]);
                            })
                           .by_key(key_of))),
        code(graph.code[1]()) {
    code->keyed_states(nullptr)->own(KeyGroups(1'024), {0, 1'024});
    for (std::uint64_t number = 0; number < before; ++number) process({number});
    counts.clear();
  }
  void process(const std::vector<std::uint64_t>& numbers) {
    Batch batch;
    for (const std::uint64_t number : numbers) batch.add(batch.count, number);
    code->process(batch, nowhere);
  }

  std::vector<std::pair<std::uint64_t, std::uint64_t>> counts;
  /// Called when an item comes and none has been counted.
  std::function<void()> at_first;
  Graph graph;
  std::unique_ptr<Operator> code;
  NowhereToGo nowhere;
};

}  // namespace

TEST_CASE("to fetch keys changes nothing, whether they are there or not") {
  LargeTable table;
  REQUIRE(table.is_large());
  const std::uint64_t sum = table.sum(), size = table.size();
  Random random(1);
  for (int i = 0; i < 1'000; ++i) {
    std::vector<std::uint64_t> hashes(random.below(2 * LargeTable::fetched_max));
    for (std::uint64_t& hash : hashes) hash = mixed(random.below(2 * many_keys));
    table.fetch(hashes);
  }
  CHECK(table.size() == size);
  CHECK(table.sum() == sum);
}

TEST_CASE("keys of other replicas, and of groups without keys, are passed over") {
  LargeTable half({4, 12});
  LargeTable none({0, 0});
  std::vector<std::uint64_t> hashes;
  for (std::uint64_t key = 0; key < LargeTable::fetched_max; ++key) hashes.push_back(mixed(key));
  half.fetch(hashes);
  none.fetch(hashes);
  KeyedTable<std::uint64_t, LargeValue> empty;
  empty.own(sixteen, {0, sixteen.count()});
  empty.fetch(hashes);
  CHECK(empty.size() == 0);
}

TEST_CASE("keys of the next items are found before the first of them comes, if there are many") {
  std::size_t found = 0, found_at_first = 0;
  const auto key_of = [&](std::uint64_t number) {
    found += 1;
    return number;
  };
  for (const bool large : {false, true}) {
    CountedSink sink(large ? many_keys : 100, key_of);
    sink.at_first = [&] { found_at_first = found; };
    found = 0;
    sink.process(std::vector<std::uint64_t>(100, 1));
    CHECK(found_at_first == (large ? LargeTable::fetched_max + 1 : 1));
    CHECK(sink.counts.size() == 100);
  }
}

TEST_CASE("each item of a batch meets the state of its key, however many keys there are") {
  CountedSink sink(many_keys, [](std::uint64_t number) { return number; });
  std::vector<std::uint64_t> numbers;
  for (std::uint64_t i = 0; i < 100; ++i) numbers.push_back(i * 37 % many_keys);
  sink.process(numbers);
  REQUIRE(sink.counts.size() == numbers.size());
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    CHECK(sink.counts[i] == std::pair(numbers[i], std::uint64_t{2}));
  }
}

TEST_CASE("an item whose key cannot be found is named when it comes, not with one before it") {
  CountedSink sink(many_keys, [](std::uint64_t number) {
    if (number == many_keys + 7) throw std::runtime_error("no key");
    return number;
  });
  CHECK_THROWS_WITH(sink.process({1, 2, 3, many_keys + 7, 4}), "no key");
  CHECK(sink.counts.size() == 3);
}
