// Work on demand for unequal workers, in processes: how the items split between one that takes 10
// ms and one that takes 20 ms, and how much of what two workers could do together is done when one
// has a quarter of its speed. Round robin would split evenly, and wait for the slow one.
//
// The workers sleep, so that this says how items are given out and not how many cores there are;
// what they could do is taken from what each one took.
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <sstream>
#include <vector>

#include "bench/common/arguments.h"
#include "bench/common/program.h"
#include "bench/common/report.h"

using namespace piracema;
using namespace piracema::bench;

namespace {

struct Outcome {
  std::vector<double> items, busy_s;
  double wall_s = 0;

  /// Items a second that all could do together, each at the pace that it had.
  double capacity() const {
    double all = 0;
    for (std::size_t i = 0; i < items.size(); ++i) all += items[i] / busy_s[i];
    return all;
  }
  double all_items() const {
    double all = 0;
    for (const double one : items) all += one;
    return all;
  }
  double used() const { return all_items() / wall_s / capacity(); }
  /// How far the first worker's share is from what its pace would give it: 0.05 is 5 percent.
  double unevenness() const {
    const double fair = items[0] / busy_s[0] / capacity();
    return std::abs(items[0] / all_items() / fair - 1);
  }
};

Result<Outcome> measure(const char* transport, int items, const std::vector<int>& grains_us) {
  std::vector<std::string> command{built("bench/balance_app"), std::to_string(items)};
  for (const int grain : grains_us) command.push_back(std::to_string(grain));
  std::string output, last_words;
  const auto sample = run_command(under_piracema({"-n", "3", "--transport", transport}, command),
                                  {.output = &output, .last_words = &last_words});
  if (!sample) return sample.error();
  if (sample->exit_code != 0) return Error{Errc::failed, last_words};
  Outcome outcome;
  std::istringstream words(output);
  double value = 0;
  for (std::string word; words >> word >> value;) {
    if (word == "items") outcome.items.push_back(value);
    if (word == "seconds") outcome.busy_s.push_back(value);
    if (word == "wall") outcome.wall_s = value;
  }
  if (outcome.items.size() != grains_us.size() || outcome.all_items() != items) {
    return Error{Errc::failed, "an item is missing, or a worker has got none:\n" + output};
  }
  return outcome;
}

}  // namespace

int main(int argc, char** argv) {
  int runs = 5;
  bool json = false;
  Arguments arguments("Measures how work on demand is split between workers of different speed.");
  arguments.number("--runs", runs, "Runs of each", {1, 1'000});
  arguments.flag("--json", json, "Print one JSON object");
  if (const auto code = arguments.parse(argc, argv)) return *code;

  struct Case {
    const char* name;
    int items;
    std::vector<int> grains_us;
  };
  const std::vector<Case> cases{{"10 ms and 20 ms", 600, {10'000, 20'000}},
                                {"1 ms, and a quarter of its speed", 4'000, {1'000, 4'000}},
                                {"0.1 ms, and a quarter of its speed", 20'000, {100, 400}}};
  nlohmann::json all = nlohmann::json::array();
  for (const char* transport : {"tcp", "shm"}) {
    for (const Case& one : cases) {
      std::vector<double> used, uneven, ratio;
      for (int i = 0; i < runs; ++i) {
        const auto outcome = measure(transport, one.items, one.grains_us);
        if (!outcome) {
          std::fprintf(stderr, "bench_balance: %s\n", outcome.error().message.c_str());
          return 1;
        }
        used.push_back(100 * outcome->used());
        uneven.push_back(100 * outcome->unevenness());
        ratio.push_back(outcome->items[0] / outcome->items[1]);
      }
      const Summary u = summarize(used), r = summarize(ratio), e = summarize(uneven);
      all.push_back({{"case", one.name},
                     {"transport", transport},
                     {"items", one.items},
                     {"used_percent", used},
                     {"ratio", ratio},
                     {"uneven_percent", uneven}});
      if (json) continue;
      std::printf("%s, %s, %d items, %d runs\n", one.name, transport, one.items, runs);
      std::printf("  items of the first one by those of the second  %.2f [%.2f-%.2f]\n", r.median,
                  r.min, r.max);
      std::printf("  off what their pace would give them            %.1f %% [%.1f-%.1f]\n",
                  e.median, e.min, e.max);
      std::printf("  of what both could do                          %.1f %% [%.1f-%.1f]\n\n",
                  u.median, u.min, u.max);
      std::fflush(stdout);
    }
  }
  if (json) {
    const nlohmann::json document = {{"machine", bench::to_text(this_machine())}, {"cases", all}};
    std::puts(document.dump(2).c_str());
  }
}
