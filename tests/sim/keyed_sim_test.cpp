// States by key that the runtime keeps: saved in pieces while items come, in increments, and shared
// out anew when a job goes on with other numbers of replicas.
#include <doctest/doctest.h>
#include <piracema/list_state.h>
#include <piracema/map_state.h>

#include <algorithm>
#include <cereal/types/vector.hpp>
#include <map>
#include <numeric>

#include "sim/pieces.h"
#include "sim/seeds.h"
#include "sim/stream_parts.h"

namespace piracema::sim {

using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

constexpr std::uint64_t keys = 150, items = 600;
std::uint64_t key_of(const std::uint64_t& item) { return item * 7 % keys; }

struct Tally {
  std::uint64_t count = 0, sum = 0;
  std::uint64_t counted() const { return count; }
  std::uint64_t added() const { return sum; }
  void add(std::uint64_t item) {
    count += 1;
    sum += item;
  }
};

/// Says how often it has seen a key, and forgets one now and then.
template <class T>
struct CountKeysAs {
  Outside* outside = nullptr;

  void operator()(const std::uint64_t& item, KeyedState<T>& state, Emit<std::uint64_t>& emit) {
    if (outside->throwing > 0) {
      outside->throwing -= 1;
      throw std::runtime_error("bad luck");
    }
    const std::uint64_t before = state.find() != nullptr ? state.find()->counted() : 0;
    if (item % 11 == 5) {
      state.erase();
    } else if (item % 3 != 0) {  // Others only look.
      state.edit().add(item);
    }
    emit(item * 1'000 + before);
  }
  void finish(const std::uint64_t& key, T& state, Emit<std::uint64_t>& emit) {
    emit(1'000'000'000 + key * 1'000'000 + state.added());
  }
};
using CountKeys = CountKeysAs<Tally>;

/// Another one that the state of a key may be, of another size and another coding.
struct ListedTally {
  std::vector<std::uint16_t> items;
  std::uint64_t counted() const { return items.size(); }
  std::uint64_t added() const {
    return std::accumulate(items.begin(), items.end(), std::uint64_t{});
  }
  void add(std::uint64_t item) { items.push_back(static_cast<std::uint16_t>(item)); }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(items);
  }
};
/// The version of the program after that one.
struct SignedTally {
  using Before = ListedTally;
  std::int32_t sum = 0;
  std::int16_t count = 0;
  SignedTally() = default;
  explicit SignedTally(const ListedTally& before)
      : sum(static_cast<std::int32_t>(before.added())),
        count(static_cast<std::int16_t>(before.counted())) {}
  std::uint64_t counted() const { return static_cast<std::uint64_t>(count); }
  std::uint64_t added() const { return static_cast<std::uint64_t>(sum); }
  void add(std::uint64_t item) {
    sum += static_cast<std::int32_t>(item);
    count = static_cast<std::int16_t>(count + 1);
  }
};
/// And the one after that.
struct NewestTally : Tally {
  using Before = SignedTally;
  NewestTally() = default;
  explicit NewestTally(const SignedTally& before) : Tally{before.counted(), before.added()} {}
};

/// One in rows of their own: what it has seen, of which the oldest are forgotten but for their sum.
struct MappedTally {
  MapState<std::uint64_t, std::uint16_t> squares;
  ListState<std::uint64_t> items;
  std::uint64_t forgotten = 0, sum = 0;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(squares, forgotten, items, sum);
  }
  std::uint64_t counted() const {
    std::uint64_t right = 0;
    items.for_each([&](std::uint64_t item) { right += squares.get(item) == square_of(item); });
    // One that has not what it should have gives another number.
    return right == squares.size() && right == items.size() ? forgotten + right : 999;
  }
  std::uint64_t added() const {
    std::uint64_t all = sum;
    squares.for_each([&](std::uint64_t item, std::uint16_t) { all += item; });
    return all;
  }
  void add(std::uint64_t item) {
    squares.put(item, square_of(item));
    items.push_back(item);
    if (items.size() <= 2) return;
    const std::uint64_t oldest = items.front();
    items.pop_front();
    squares.erase(oldest);
    forgotten += 1;
    sum += oldest;
  }
  static std::uint16_t square_of(std::uint64_t item) {
    return static_cast<std::uint16_t>(item * item);
  }
};

// The same by one map, one item after the other.
std::vector<std::uint64_t> expected() {
  std::vector<std::uint64_t> all;
  std::map<std::uint64_t, Tally> tallies;
  for (std::uint64_t item = 0; item < items; ++item) {
    const std::uint64_t key = key_of(item);
    const auto found = tallies.find(key);
    all.push_back(item * 1'000 + (found != tallies.end() ? found->second.count : 0));
    if (item % 11 == 5) {
      tallies.erase(key);
    } else if (item % 3 != 0) {
      tallies[key].count += 1;
      tallies[key].sum += item;
    }
  }
  for (const auto& [key, tally] : tallies) {
    all.push_back(1'000'000'000 + key * 1'000'000 + tally.sum);
  }
  std::sort(all.begin(), all.end());
  return all;
}

template <class Code = CountKeys>
Graph graph_of(Outside& outside, std::uint32_t replicas, std::uint32_t passing) {
  return pipeline(
      source("count", Count{items}),
      farm("pass", passing, [](const std::uint64_t& item) { return item; }).by_key(key_of),
      farm("tally", replicas, Code{&outside}).by_key(key_of, 64), sink("write", Write{&outside}));
}

/// The same in one of three versions.
Graph graph_of_version(int version, Outside& outside, std::uint32_t replicas) {
  const auto with = [&](auto count) {
    return pipeline(source("count", Count{items}),
                    farm("tally", replicas, std::move(count)).by_key(key_of, 64),
                    sink("write", Write{&outside}));
  };
  if (version == 1) return with(CountKeysAs<ListedTally>{&outside});
  if (version == 2) return with(CountKeysAs<SignedTally>{&outside});
  return with(CountKeysAs<NewestTally>{&outside});
}

void check_output(const Outside& outside) {
  auto found = outside.output;
  std::sort(found.begin(), found.end());
  const auto wanted = expected();
  CHECK(found.size() == wanted.size());
  CHECK((found == wanted));
}

/// Two inputs that see one state of a key.
struct Meet {
  void left(const std::uint64_t& item, Tally& state, Emit<std::uint64_t>& emit) {
    state.count += 1;
    state.sum += item;
    emit(2 * item);
  }
  void right(const std::uint32_t& item, KeyedState<Tally>& state, Emit<std::uint64_t>& emit) {
    state.edit().sum += std::uint64_t{1'000} * item;
    emit(2 * item + 1);
  }
  void finish(const std::uint64_t& key, Tally& state, Emit<std::uint64_t>& emit) {
    emit(1'000'000'000 + key * 10'000'000 + state.count * 1'000'000 + state.sum);
  }
};

Graph graph_of_meeting(Outside& outside, std::uint32_t replicas) {
  return pipeline(
      both(source("count", Count{items}),
           pipeline(source("other", Count{items / 2}),
                    node("narrow", [](const std::uint64_t& item) { return std::uint32_t(item); }))),
      join("meet", replicas, Meet{})
          .by_keys(key_of, [](const std::uint32_t& item) { return key_of(item); }),
      sink("write", Write{&outside}));
}

// The same by one map, one input after the other.
std::vector<std::uint64_t> expected_of_meeting() {
  std::vector<std::uint64_t> all;
  std::map<std::uint64_t, Tally> tallies;
  for (std::uint64_t item = 0; item < items; ++item) {
    tallies[key_of(item)].count += 1;
    tallies[key_of(item)].sum += item;
    all.push_back(2 * item);
    if (item >= items / 2) continue;
    tallies[key_of(item)].sum += 1'000 * item;
    all.push_back(2 * item + 1);
  }
  for (const auto& [key, tally] : tallies) {
    all.push_back(1'000'000'000 + key * 10'000'000 + tally.count * 1'000'000 + tally.sum);
  }
  std::sort(all.begin(), all.end());
  return all;
}

/// A job whose states are of one of two kinds, and what it gives whatever goes wrong.
template <class Code>
void come_through_with(std::uint64_t first_seeds) {
  std::uint64_t recoveries = 0;
  for (const auto seed : seeds(first_seeds)) {
    Outside outside;
    Random random(seed);
    const Graph graph = graph_of<Code>(outside, 1 + static_cast<std::uint32_t>(random.below(4)), 2);
    recoveries += come_through(graph, outside, seed);
    check_output(outside);
  }
  CHECK((recoveries > 0 || tracing()));
}

/// The same where it is stopped, and goes on with other numbers.
template <class Code>
void go_on_with_other_numbers(std::uint64_t first_seeds) {
  std::uint64_t changes = 0;
  for (const auto seed : seeds(first_seeds)) {
    Pieces job(seed);
    job.next = [&job] { return graph_of<Code>(job.outside, job.upto(5), job.upto(3)); };
    job.stopped_after = [] { return milliseconds(700); };
    job.stopped = [&changes](bool resumes) { changes += resumes; };
    job.run();
    check_output(job.outside);
  }
  CHECK((changes > 0 || tracing()));
}

}  // namespace

TEST_CASE("two inputs see one state of a key, whatever goes wrong on the way") {
  std::uint64_t recoveries = 0;
  for (const auto seed : seeds(200)) {
    Outside outside;
    Random random(seed);
    const Graph graph = graph_of_meeting(outside, 1 + static_cast<std::uint32_t>(random.below(4)));
    recoveries += come_through(graph, outside, seed);
    auto found = outside.output;
    std::sort(found.begin(), found.end());
    CHECK((found == expected_of_meeting()));
  }
  CHECK((recoveries > 0 || tracing()));
}

TEST_CASE("states by key come through whatever goes wrong on the way") {
  come_through_with<CountKeys>(300);
}

TEST_CASE("so do states of which each entry is saved by itself") {
  come_through_with<CountKeysAs<MappedTally>>(150);
}

TEST_CASE(
    "a job that is stopped and goes on with other numbers of replicas and processes, and is killed "
    "on the way, gives what one process with one map gives") {
  go_on_with_other_numbers<CountKeys>(200);
}

TEST_CASE("so does one with states of which each entry is saved by itself") {
  go_on_with_other_numbers<CountKeysAs<MappedTally>>(100);
}

TEST_CASE(
    "a state whose type changes from one version of the program to the next is made of what it "
    "was, whatever is killed on the way") {
  std::uint64_t changes = 0;
  for (const auto seed : seeds(200)) {
    Pieces job(seed);
    int version = 1;
    job.next = [&] { return graph_of_version(version, job.outside, job.upto(4)); };
    // Before it has a snapshot of its own, too.
    job.stopped_after = [&job] { return job.random.below(900) * milliseconds(1); };
    job.stopped = [&](bool resumes) {
      if (!resumes) return;
      const int next = std::min(3, version + static_cast<int>(job.random.below(3)));
      changes += next != version;
      version = next;
    };
    job.run();
    check_output(job.outside);
  }
  CHECK(is_exercised(changes, 250, 200));
}

}  // namespace piracema::sim
