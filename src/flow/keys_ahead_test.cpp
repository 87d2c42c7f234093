// Keys that are fetched before their items come.
#include <doctest/doctest.h>
#include <piracema/blocks.h>

#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
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
 public:
  NowhereToGo() { at_work_ = &at_work; }
  void pass_by(std::string text) {
    skips_ = true;
    passed_by_ = std::move(text);
  }
  std::atomic<std::uint64_t> at_work = 0;

 private:
  void lane_full(std::size_t) override {}
  bool skip(Bytes item) override { return as_text(item) == passed_by_; }
  std::string passed_by_;
};

/// An item that does not lie in its batch as it does in memory.
struct Name {
  std::string text;

  explicit Name(std::uint64_t number) : text(std::to_string(number) + " is a long name") {}
  explicit Name(std::string said) : text(std::move(said)) {}
  bool operator==(const Name&) const = default;

  static inline std::size_t decoded = 0;
};

}  // namespace

template <>
struct piracema::Codec<Name> {
  static constexpr std::size_t fixed_bytes = 0;
  static void encode(const Name& name, Buffer& out) {
    out.append(name.text.data(), name.text.size());
  }
  static Name decode(Bytes in) {
    Name::decoded += 1;
    if (as_text(in) == "none") throw DecodeError("not a name");
    return Name(std::string(as_text(in)));
  }
};

namespace {

/// A sink of items that are made of numbers, which has seen `before` of them, its states in memory
/// as in a job.
template <class Item>
struct CountedSink {
  template <class KeyOf>
  CountedSink(std::uint64_t before, KeyOf key_of)
      : graph(pipeline(source("none_comes", [] { return std::optional<Item>(); }),
                       sink("count",
                            [this](const Item& item, LargeValue& value) {
                              if (counts.empty() && at_first) at_first();
                              value[0] += 1;
                              counts.emplace_back(item, value[0]);
                            })
                           .by_key(key_of))),
        code(graph.code[1]()) {
    code->keyed_states(nullptr)->own(KeyGroups(1'024), {0, 1'024});
    for (std::uint64_t number = 0; number < before; ++number) process({Item(number)});
    counts.clear();
  }
  void process(const std::vector<Item>& items) {
    Batch batch;
    for (const Item& item : items) batch.add(batch.count, item);
    code->process(batch, nowhere);
  }

  std::vector<std::pair<Item, std::uint64_t>> counts;
  /// Called when an item comes and none has been counted.
  std::function<void()> at_first;
  Graph graph;
  std::unique_ptr<Operator> code;
  NowhereToGo nowhere;
};

std::string name_text(const Name& name) { return name.text; }

}  // namespace

TEST_CASE("to fetch keys changes nothing, whether they are there or not") {
  LargeTable table;
  REQUIRE(table.bytes() > (std::size_t{4} << 20));
  const std::uint64_t sum = table.sum(), size = table.size();
  Random random(1);
  for (int i = 0; i < 1'000; ++i) {
    std::vector<std::uint64_t> hashes(random.below(2 * detail::HashesAhead::most));
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
  for (std::uint64_t key = 0; key < detail::HashesAhead::most; ++key) hashes.push_back(mixed(key));
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
    CountedSink<std::uint64_t> sink(large ? many_keys : 100, key_of);
    sink.at_first = [&] { found_at_first = found; };
    found = 0;
    sink.process(std::vector<std::uint64_t>(100, 1));
    CHECK(found_at_first == (large ? detail::HashesAhead::most + 1 : 1));
    CHECK(sink.counts.size() == 100);
  }
}

TEST_CASE("each item of a batch meets the state of its key, however many keys there are") {
  CountedSink<std::uint64_t> sink(many_keys, [](std::uint64_t number) { return number; });
  std::vector<std::uint64_t> numbers;
  for (std::uint64_t i = 0; i < 100; ++i) numbers.push_back(i * 37 % many_keys);
  sink.process(numbers);
  REQUIRE(sink.counts.size() == numbers.size());
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    CHECK(sink.counts[i] == std::pair(numbers[i], std::uint64_t{2}));
  }
}

TEST_CASE("few items that have to be decoded are looked at too, and each meets its own state") {
  constexpr std::uint64_t few = 1'000;
  CountedSink<Name> sink(few, name_text);
  std::vector<Name> names;
  for (std::uint64_t i = 0; i < 100; ++i) names.emplace_back(i * 37 % few);
  std::size_t decoded_at_first = 0;
  sink.at_first = [&] { decoded_at_first = Name::decoded; };
  Name::decoded = 0;
  sink.process(names);
  CHECK(decoded_at_first == detail::HashesAhead::most);
  // One that comes by itself, from a fused operator, is none of those that were looked at.
  const Name alone(3);
  static_cast<detail::Takes<Name>*>(sink.code->takes())->take(alone, sink.nowhere);
  names.push_back(alone);
  REQUIRE(sink.counts.size() == names.size());
  for (std::size_t i = 0; i < names.size(); ++i) {
    CHECK(sink.counts[i] == std::pair(names[i], std::uint64_t{2}));
  }
}

TEST_CASE("an item whose key cannot be found is named when it comes, not with one before it") {
  CountedSink<std::uint64_t> sink(many_keys, [](std::uint64_t number) {
    if (number == many_keys + 7) throw std::runtime_error("no key");
    return number;
  });
  CHECK_THROWS_WITH(sink.process({1, 2, 3, many_keys + 7, 4}), "no key");
  CHECK(sink.counts.size() == 3);
}

TEST_CASE("items that have to be decoded are, each once, before the first of them comes") {
  CountedSink<Name> sink(many_keys, name_text);
  std::vector<Name> names;
  for (std::uint64_t i = 0; i < 100; ++i) names.emplace_back(i * 37 % many_keys);
  std::size_t decoded_at_first = 0;
  sink.at_first = [&] { decoded_at_first = Name::decoded; };
  Name::decoded = 0;
  sink.process(names);
  CHECK(decoded_at_first == detail::HashesAhead::most);
  CHECK(Name::decoded == names.size());
  REQUIRE(sink.counts.size() == names.size());
  for (std::size_t i = 0; i < names.size(); ++i) {
    CHECK(sink.counts[i] == std::pair(names[i], std::uint64_t{2}));
  }
}

TEST_CASE("long items are decoded ahead only as far as the caches have room for them") {
  CountedSink<Name> sink(many_keys, name_text);
  std::size_t decoded_at_first = 0;
  sink.at_first = [&] { decoded_at_first = Name::decoded; };
  Name::decoded = 0;
  sink.process(std::vector<Name>(100, Name(std::string(5'000, 'x'))));
  CHECK(decoded_at_first == 4);
  CHECK(sink.counts.size() == 100);
  CHECK(sink.counts.back().second == 100);
}

TEST_CASE("an item that cannot be decoded is named when it comes, not with one before it") {
  CountedSink<Name> sink(many_keys, name_text);
  const std::vector<Name> names{Name(1), Name(2), Name("none"), Name(4)};
  CHECK_THROWS_WITH(sink.process(names), "not a name");
  CHECK(sink.counts.size() == 2);
}

TEST_CASE("an item that is passed by is not decoded, nor any other before it comes") {
  CountedSink<Name> sink(many_keys, name_text);
  sink.nowhere.pass_by(Name(2).text);
  std::size_t decoded_at_first = 0;
  sink.at_first = [&] { decoded_at_first = Name::decoded; };
  Name::decoded = 0;
  sink.process({Name(1), Name(2), Name(3)});
  CHECK(decoded_at_first == 1);
  CHECK(Name::decoded == 2);
  REQUIRE(sink.counts.size() == 2);
  CHECK(sink.counts[1].first == Name(3));
}

TEST_CASE("an item that is looked at before it comes is the one that the process is at work on") {
  NowhereToGo* nowhere = nullptr;
  std::vector<std::uint64_t> at_work;
  const auto note = [&] { at_work.push_back(nowhere == nullptr ? 0 : nowhere->at_work.load()); };
  const std::vector<std::uint64_t> twice{0, 1, 2, 3, 4, 0, 1, 2, 3, 4};
  SUBCASE("where it lies as it does in memory") {
    CountedSink<std::uint64_t> sink(many_keys, [&](std::uint64_t number) {
      note();
      return number;
    });
    nowhere = &sink.nowhere;
    at_work.clear();
    sink.process({5, 6, 7, 8, 9});
    CHECK(at_work == twice);
  }
  SUBCASE("where it is decoded") {
    CountedSink<Name> sink(many_keys, [&](const Name& name) {
      note();
      return name.text;
    });
    nowhere = &sink.nowhere;
    at_work.clear();
    sink.process({Name(5), Name(6), Name(7), Name(8), Name(9)});
    CHECK(at_work == twice);
  }
}
