// bench_keyed_texts [--megabytes N] [--characters N] [--rounds N] [--json]
//
// What one core needs to count a text that comes in a batch, in turns three ways:
//   map:             a loop over the batch and a tuned hash map (absl::flat_hash_map);
//   operator:        a sink with a count for each text, which looks at none before it comes;
//   operator, ahead: the same as it runs: 32 texts are decoded before they come, and their counts
//                    asked for.
// All have N MB of texts and counts, and texts are drawn at random, half a million a round. The
// second way asks for each item whether it is passed by, which costs some nanoseconds.
#include <absl/container/flat_hash_map.h>
#include <piracema/blocks.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
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

constexpr std::size_t batch_items = 512, updates = 500'000 / batch_items * batch_items;

struct Settings {
  std::uint64_t megabytes = 1'024, rounds = 9;
  std::size_t characters = 12;
};

/// Where nothing is emitted.
class NowhereToGo final : public engine::Output {
 public:
  void look_ahead(bool wanted) { skips_ = !wanted; }

 private:
  void lane_full(std::size_t) override {}
  bool skip(Bytes) override { return false; }
};

/// The same as the operator's.
struct Hash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const {
    return mix(KeyHash<std::string_view>::of(text));
  }
};

std::string text_of(std::uint64_t key, std::size_t characters) {
  const std::string number = std::to_string(key);
  return number + std::string(characters - std::min(characters, number.size()), 'x');
}

Ways measure(const Settings& settings) {
  const std::uint64_t keys = settings.megabytes * 1'000'000 / (sizeof(std::string) + 8);
  absl::flat_hash_map<std::string, std::uint64_t, Hash, std::equal_to<>> map;
  const Graph graph(
      pipeline(source("texts", [] { return std::optional<std::string>(); }),
               sink("count", [](const std::string&, std::uint64_t& count) {
                 count += 1;
               }).by_key([](const std::string& text) -> const std::string& { return text; })));
  const auto count = graph.code[1]();
  count->keyed_states(nullptr)->own(KeyGroups(1'024), {0, 1'024});
  NowhereToGo output;

  std::vector<Batch> batches;
  const auto fill = [&](auto&& next) {
    batches.assign(updates / batch_items, Batch());
    for (Batch& batch : batches) {
      for (std::size_t i = 0; i < batch_items; ++i)
        batch.add(i, text_of(next(), settings.characters));
    }
  };
  const auto in_map = [&] {
    for (const Batch& batch : batches) {
      engine::BatchReader items(batch);
      for (std::uint32_t i = 0; i < batch.count; ++i) map[as_text(items.next())] += 1;
    }
  };
  const auto in_operator = [&] {
    for (Batch& batch : batches) count->process(batch, output);
  };
  for (std::uint64_t key = 0; key < keys; key += updates) {
    fill([&, next = key]() mutable { return next++ % keys; });
    in_map();
    in_operator();
  }

  Ways figures{{"map", {}}, {"operator", {}}, {"operator, ahead", {}}};
  Random random(1);
  const auto round = [&](std::size_t way, const auto& run) {
    fill([&] { return random.below(keys); });
    figures[way].second.push_back(1e6 * ms(time_of(run)) / updates);
  };
  for (std::uint64_t i = 0; i < settings.rounds; ++i) {
    round(0, in_map);
    output.look_ahead(false);
    round(1, in_operator);
    output.look_ahead(true);
    round(2, in_operator);
  }
  return figures;
}

}  // namespace

int main(int argc, char** argv) {
  Settings settings;
  bool json = false;
  Arguments arguments("The time to count a text that comes in a batch, beside a tuned hash map");
  arguments.number("--megabytes", settings.megabytes, "of texts and counts");
  arguments.number("--characters", settings.characters, "of a text, at least", {1, 4'000});
  arguments.number("--rounds", settings.rounds, "of each way", {1, 1'000});
  arguments.flag("--json", json, "all rounds");
  if (const auto code = arguments.parse(argc, argv)) return *code;
  const Ways figures = measure(settings);
  print(figures, json);
}
