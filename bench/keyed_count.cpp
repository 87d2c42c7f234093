// Keyed count (K) in one thread, in two, by key, and in two processes, each beside the same loop
// written by hand: what one core of this machine allows.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>
#include <vector>

#include "base/text.h"
#include "bench/harness.h"

using namespace piracema;
using namespace piracema::bench;

namespace {

/// As the program says: from its first record to its last one, without its start.
Result<Sample> run_app(const std::vector<std::string>& command, std::size_t records) {
  std::string output, last_words;
  auto sample = run_command(command, {.output = &output, .last_words = &last_words});
  if (!sample) return sample.error();
  if (sample->exit_code != 0) return Error{Errc::failed, last_words};
  std::istringstream lines(output);
  std::string word;
  double start = 0, end = 0;
  std::size_t items = 0;
  while (lines >> word) {
    double value = 0;
    if (!(lines >> value)) break;
    if (word == "start") start = value;
    if (word == "end") end = std::max(end, value);
    if (word == "items") items += static_cast<std::size_t>(value);
  }
  if (items != records || start == 0 || end <= start) {
    return Error{Errc::failed, concat("want ", records, " records counted, found ", items)};
  }
  sample->wall_s = end - start;
  return sample;
}

}  // namespace

int main(int argc, char** argv) {
  bench::Settings settings;
  std::size_t millions = 100;
  CLI::App app("Counts records by key, beside the same work in a loop written by hand.");
  add_options(app, settings);
  app.add_option("--millions", millions, "Millions of records a run")
      ->check(CLI::Range(1, 10'000))
      ->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  const std::string built =
      std::filesystem::read_symlink("/proc/self/exe").parent_path().parent_path();
  const std::string program = built + "/bench/keyed_count_app";
  const std::size_t records = millions * 1'000'000;
  const std::string count = std::to_string(records);
  const auto processes = [&](const char* mode) {
    return std::vector<std::string>{
        built + "/tools/piracema", "run", "--quiet", "-n", "2", program, mode, count};
  };
  const std::vector<std::pair<std::string, std::vector<std::string>>> ways{
      {"fused, 1 thread", {program, "fused", count}},
      {"2 threads", {program, "threads", count}},
      {"by key, 4 threads", {program, "keyed", count}},
      {"2 processes", processes("threads")},
      {"by key, 2 processes", processes("keyed")}};

  std::vector<Comparison> comparisons;
  for (const auto& [name, command] : ways) {
    const std::vector<std::string> own = command;
    auto comparison =
        compare(concat(millions, " million records"),
                {.name = "plain loop",
                 .run =
                     [&] {
                       return run_app({program, "plain", count}, records);
                     }},
                {.name = name, .run = [&] { return run_app(own, records); }}, settings);
    if (!comparison) {
      std::fprintf(stderr, "bench_keyed_count: %s\n", comparison.error().message.c_str());
      return comparison.error().code == Errc::usage ? 2 : 1;
    }
    if (!settings.json) {
      std::printf("%s", to_text(*comparison).c_str());
      for (const auto& [side, samples] :
           {std::pair{comparison->name_a, comparison->a}, {comparison->name_b, comparison->b}}) {
        std::vector<double> wall, cpu;
        for (const Sample& sample : samples) {
          wall.push_back(sample.wall_s);
          cpu.push_back(sample.cpu_s);
        }
        std::printf("  %-20s %8.2f M records/s %8.4f CPU s a million records\n", side.c_str(),
                    static_cast<double>(millions) / summarize(wall).median,
                    summarize(cpu).median / static_cast<double>(millions));
      }
      std::printf("\n");
    }
    comparisons.push_back(std::move(*comparison));
  }
  if (settings.json) std::puts(to_json(this_machine(), comparisons).dump(2).c_str());
}
