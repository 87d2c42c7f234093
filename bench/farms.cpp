// Farms with next to nothing to do for an item, trivial and primes of apps/farm, beside their twins
// written by hand with MPI: one item a message, and in batches of 1,000.
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <sstream>
#include <vector>

#include "base/text.h"
#include "bench/common/arguments.h"
#include "bench/common/program.h"
#include "bench/common/report.h"

using namespace piracema;
using namespace piracema::bench;

namespace {

struct Options {
  Settings settings;
  std::vector<std::string> apps{"trivial", "primes"};
  std::vector<int> workers{1, 2, 4};
  std::size_t numbers = 2'000'000;
  bool unbatched = false;
  std::string mpirun = "mpirun --oversubscribe --mca pml ob1 --mca btl vader,self";
};

std::vector<std::string> twin(const Options& options, const std::string& app, int workers,
                              const char* batch) {
  std::istringstream words(options.mpirun);
  std::vector<std::string> command;
  for (std::string word; words >> word;) command.push_back(word);
  for (const std::string& word :
       {std::string("-n"), std::to_string(workers + 2), built(concat("apps/farm/", app, "_mpi")),
        std::to_string(options.numbers), std::string(batch)}) {
    command.push_back(word);
  }
  return command;
}

void compare_app(const Options& options, const std::string& app, int workers, Report& report) {
  const std::vector<std::string> program{built(concat("apps/farm/", app, "_app")),
                                         std::to_string(options.numbers), std::to_string(workers)};
  const auto side = [&](const char* name, std::vector<std::string> command) {
    return Side{.name = name, .run = [command = std::move(command), items = options.numbers] {
                  return run_marked(command, items);
                }};
  };
  const Side threads = side("threads", program);
  const Side processes =
      side("processes", under_piracema({"-n", std::to_string(workers + 2)}, program));
  const std::string title = concat(app, ", ", options.numbers, " numbers, ", workers, " workers");
  const Work work{.items = options.numbers, .unit = "numbers"};
  const Side batched = side("MPI, 1000 a message", twin(options, app, workers, "1000"));
  report.compare(title, batched, threads, work);
  report.compare(title, batched, processes, work);
  if (options.unbatched) {
    report.compare(title, side("MPI, 1 a message", twin(options, app, workers, "1")), processes,
                   work);
  }
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  if (::geteuid() == 0) options.mpirun += " --allow-run-as-root";
  Arguments arguments("Runs farms of very small items, in turns with their MPI twins.");
  add_options(arguments, options.settings);
  arguments.choices("--apps", options.apps, "trivial, primes", {"trivial", "primes"});
  arguments.numbers("--workers", options.workers, "Numbers of workers", {1, 256});
  arguments.number("--numbers", options.numbers, "Numbers a run", {1, 1'000'000'000});
  arguments.flag("--unbatched", options.unbatched, "Beside one item a message too; much slower");
  arguments.text("--mpirun", options.mpirun, "How MPI programs are started");
  if (const auto code = arguments.parse(argc, argv)) return *code;
  if (!std::filesystem::exists(built("apps/farm/trivial_mpi"))) {
    std::fprintf(stderr, "bench_farms: there is no MPI, so the twins were not built\n");
    return 77;
  }
  Report report("bench_farms", options.settings);
  for (const std::string& name : options.apps) {
    for (const int workers : options.workers) compare_app(options, name, workers, report);
  }
  return report.finish();
}
