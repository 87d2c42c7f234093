// Word count (W) in one thread, in two, by word, and in two processes, each beside the same loop
// written by hand: what one core of this machine allows.
#include <vector>

#include "base/text.h"
#include "bench/common/arguments.h"
#include "bench/common/program.h"
#include "bench/common/report.h"

using namespace piracema;
using namespace piracema::bench;

int main(int argc, char** argv) {
  bench::Settings settings;
  std::size_t lines = 5'000'000;
  Arguments arguments("Counts words of lines, beside the same work in a loop written by hand.");
  add_options(arguments, settings);
  arguments.number("--lines", lines, "Lines a run, of 100 characters", {1, 1'000'000'000});
  if (const auto code = arguments.parse(argc, argv)) return *code;
  const std::string program = built("bench/word_count_app");
  const auto threads = [&](const char* mode) {
    return std::vector<std::string>{program, mode, std::to_string(lines)};
  };
  const auto processes = [&](const char* transport, const char* mode) {
    return under_piracema({"-n", "2", "--transport", transport}, threads(mode));
  };
  const std::vector<std::pair<std::string, std::vector<std::string>>> ways{
      {"fused, 1 thread", threads("fused")},
      {"2 threads", threads("threads")},
      {"by word, 4 threads", threads("keyed")},
      {"2 processes", processes("shm", "threads")},
      {"by word, 2 processes", processes("shm", "keyed")},
      {"2 processes, TCP", processes("tcp", "threads")},
      {"by word, 2 proc., TCP", processes("tcp", "keyed")}};

  std::string printed;
  const auto counted = run_command(threads("words"), {.output = &printed});
  if (!counted || counted->exit_code != 0) return 1;
  const std::size_t words = std::stoull(printed);
  Report report("bench_word_count", settings);
  for (const auto& [name, command] : ways) {
    report.compare(
        concat(lines, " lines of ", words, " words"),
        {.name = "plain loop", .run = [&] { return run_marked(threads("plain"), words); }},
        {.name = name, .run = [&, own = command] { return run_marked(own, words); }},
        {.items = lines, .unit = "lines"});
  }
  return report.finish();
}
