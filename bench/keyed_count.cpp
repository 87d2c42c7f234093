// Keyed count (K) in one thread, in two, by key, and in two processes, each beside the same loop
// written by hand: what one core of this machine allows. That loop in two threads is one of them.
#include <vector>

#include "base/text.h"
#include "bench/common/arguments.h"
#include "bench/common/program.h"
#include "bench/common/report.h"

using namespace piracema;
using namespace piracema::bench;

int main(int argc, char** argv) {
  bench::Settings settings;
  std::size_t millions = 100;
  Arguments arguments("Counts records by key, beside the same work in a loop written by hand.");
  add_options(arguments, settings);
  arguments.number("--millions", millions, "Millions of records a run", {1, 10'000});
  if (const auto code = arguments.parse(argc, argv)) return *code;
  const std::string program = built("bench/keyed_count_app");
  const std::size_t records = millions * 1'000'000;
  const auto threads = [&](const char* mode) {
    return std::vector<std::string>{program, mode, std::to_string(records)};
  };
  const auto processes = [&](const char* transport, const char* mode) {
    return under_piracema({"-n", "2", "--transport", transport}, threads(mode));
  };
  const std::vector<std::pair<std::string, std::vector<std::string>>> ways{
      {"plain loop, 2 threads", threads("plain_threads")},
      {"fused, 1 thread", threads("fused")},
      {"2 threads", threads("threads")},
      {"by key, 4 threads", threads("keyed")},
      {"2 processes", processes("shm", "threads")},
      {"by key, 2 processes", processes("shm", "keyed")},
      {"2 processes, TCP", processes("tcp", "threads")},
      {"by key, 2 proc., TCP", processes("tcp", "keyed")}};

  Report report("bench_keyed_count", settings);
  for (const auto& [name, command] : ways) {
    report.compare(
        concat(millions, " million records"),
        {.name = "plain loop", .run = [&] { return run_marked(threads("plain"), records); }},
        {.name = name, .run = [&, own = command] { return run_marked(own, records); }},
        {.items = records, .unit = "records"});
  }
  return report.finish();
}
