// bench_window [--keys N] [--items N] [--windows N] [--rounds N] [--json]
//
// What one core needs to count an item by its key and by a window of event time, in turns three
// ways:
//   by hand:   a tuned hash map (absl::flat_hash_map) for each window that is open, into which
//              an item goes once for each window that it is in; a map is read and dropped when
//              its window is over;
//   tumbling:  the operator, with windows behind each other;
//   sliding:   the operator, with `--windows` windows over each item.
// By hand is measured for both kinds of windows. Items are in order, keys are drawn at random, and
// a window that begins has `--items` items before the next one does. All ways give the same
// results, which are compared.
#include <absl/container/flat_hash_map.h>
#include <piracema/window.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include "base/random.h"
#include "bench/common/arguments.h"
#include "bench/common/keyed_rounds.h"
#include "bench/common/ways.h"

using namespace piracema;
using namespace piracema::bench;
using engine::Batch;

namespace {

constexpr std::size_t batch_items = 512;

struct Settings {
  std::uint64_t keys = 10'000, items = 100'000, windows = 10, rounds = 9;
};

struct Item {
  std::uint64_t key = 0, number = 0;
};
EventTime when(const Item& item) {
  return EventTime(std::chrono::microseconds(static_cast<std::int64_t>(item.number)));
}
std::uint64_t key_of(const Item& item) { return item.key; }

struct Count {
  void operator()(const Item&, std::uint64_t& count) const { count += 1; }
  void combine(const std::uint64_t& more, std::uint64_t& into) const { into += more; }
};
using Result = WindowResult<std::uint64_t, std::uint64_t>;

/// What comes out of a way: how many results, and a sum that no other results have.
struct Outcome {
  std::uint64_t results = 0, sum = 0;
  void add(std::uint64_t key, std::uint64_t value) {
    results += 1;
    sum += mix(key) * value;
  }
  bool operator==(const Outcome&) const = default;
};

/// Reads the results as a node behind the window would.
class Reading final : public engine::Output {
 public:
  Reading() {
    ways_.resize(1);
    lanes_.resize(2);
    ways_[0].receivers = 1;
    ways_[0].items_limit = batch_items;
  }
  Outcome take() {
    lane_full(1);
    return std::exchange(outcome_, {});
  }

 private:
  void lane_full(std::size_t lane) override {
    Batch& batch = lanes_[lane];
    engine::BatchReader items(batch);
    for (std::uint32_t i = 0; i < batch.count; ++i) {
      const Result result = Codec<Result>::decode(items.next());
      outcome_.add(result.key, result.value);
    }
    batch.count = 0;
    batch.data.clear();
  }
  bool skip(Bytes) override { return false; }

  Outcome outcome_;
};

struct Hash {
  std::size_t operator()(std::uint64_t key) const { return mix(key); }
};

Outcome by_hand(const std::vector<Batch>& batches, std::uint64_t slice, std::uint64_t windows) {
  using Map = absl::flat_hash_map<std::uint64_t, std::uint64_t, Hash>;
  struct Open {
    std::uint64_t end = 0;
    Map counts{};
  };
  std::deque<Open> open;
  Outcome outcome;
  const auto close = [&](std::uint64_t until) {
    for (; !open.empty() && open.front().end <= until; open.pop_front()) {
      for (const auto& [key, count] : open.front().counts) outcome.add(key, count);
    }
  };
  for (const Batch& batch : batches) {
    engine::BatchReader items(batch);
    for (std::uint32_t i = 0; i < batch.count; ++i) {
      const Item item = Codec<Item>::decode(items.next());
      const std::uint64_t first_end = (item.number / slice + 1) * slice;
      for (std::uint64_t w = 0; w < windows; ++w) {
        if (w == open.size()) open.push_back({first_end + w * slice});
        open[w].counts[item.key] += 1;
      }
      if (item.number % slice == slice - 1) close(item.number + 1);
    }
  }
  close(~std::uint64_t{0});
  return outcome;
}

Outcome by_operator(std::vector<Batch>& batches, std::uint64_t slice, std::uint64_t windows) {
  const auto every = std::chrono::microseconds(static_cast<std::int64_t>(slice));
  auto block = window("count", 1, key_of, when,
                      sliding(every * static_cast<std::int64_t>(windows), every), Count{});
  const auto code = block.parts.graph.code[0]();
  code->keyed_states(nullptr)->own(KeyGroups(1'024), {0, 1'024});
  code->open({});
  Reading out;
  for (Batch& batch : batches) {
    code->process(batch, out);
    const std::uint64_t last = batch.first_id + batch.count - 1;
    const EventTime come(std::chrono::microseconds(static_cast<std::int64_t>(last)));
    do {
      code->advance(come, out);
    } while (code->is_advancing());
  }
  code->finish(out);
  return out.take();
}

Ways measure(const Settings& settings) {
  const std::uint64_t all = settings.items * std::max<std::uint64_t>(20, 2 * settings.windows);
  Ways figures{
      {"tumbling, by hand", {}}, {"tumbling", {}}, {"sliding, by hand", {}}, {"sliding", {}}};
  Random random(1);
  for (std::uint64_t round = 0; round < settings.rounds; ++round) {
    std::vector<Batch> batches;
    for (std::uint64_t number = 0; number < all; ++number) {
      if (number % batch_items == 0) batches.emplace_back();
      batches.back().add(number, Item{random.below(settings.keys), number});
    }
    const auto run = [&](std::size_t way, const auto& work) {
      Outcome outcome;
      const Time took = time_of([&] { outcome = work(); });
      figures[way].second.push_back(1e6 * ms(took) / static_cast<double>(all));
      return outcome;
    };
    for (const std::size_t kind : {0, 1}) {
      const std::uint64_t windows = kind == 0 ? 1 : settings.windows;
      const auto hand = run(2 * kind, [&] { return by_hand(batches, settings.items, windows); });
      const auto found =
          run(2 * kind + 1, [&] { return by_operator(batches, settings.items, windows); });
      if (hand == found) continue;
      std::fprintf(stderr, "bench_window: by hand %llu results, by the operator %llu, or others\n",
                   static_cast<unsigned long long>(hand.results),
                   static_cast<unsigned long long>(found.results));
      std::exit(1);
    }
  }
  return figures;
}

}  // namespace

int main(int argc, char** argv) {
  Settings settings;
  bool json = false;
  Arguments arguments(
      "The time to count an item by key and window, beside a hash map for each window");
  arguments.number("--keys", settings.keys, "that items have", {1});
  arguments.number("--items", settings.items, "between the beginnings of two windows", {1});
  arguments.number("--windows", settings.windows, "that a sliding one has over an item",
                   {1, 1'000});
  arguments.number("--rounds", settings.rounds, "of each way", {1, 1'000});
  arguments.flag("--json", json, "all rounds");
  if (const auto code = arguments.parse(argc, argv)) return *code;
  print(measure(settings), json);
}
