// How long a stream stands still when one of its processes is killed: from SIGKILL to the first
// item that a sink gets afterwards, with default settings, many times.
//
// Each run kills one replica, another one from run to run, at another moment of the job.
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/random.h"
#include "base/text.h"
#include "bench/common/arguments.h"
#include "bench/common/command.h"
#include "bench/common/machine.h"
#include "bench/common/statistics.h"

using namespace piracema;
using namespace piracema::bench;
namespace fs = std::filesystem;

namespace {

struct Options {
  int kills = 20;
  std::uint64_t seed = 1;
  bool json = false;
  std::string processes = "4";
  std::string directory = (fs::temp_directory_path() / "piracema-bench-recovery").string();
  std::string piracema;
  /// The program and its arguments, and the replicas to kill.
  std::vector<std::string> command;
  std::vector<std::string> replicas{"work.0", "work.1", "numbers.0", "write.0"};
};

struct Figures {
  std::vector<double> noticed_ms, first_out_ms;
};

std::string built(const char* name) {
  std::error_code ignored;
  return (fs::read_symlink("/proc/self/exe", ignored).parent_path().parent_path() / name).string();
}

// One run with one kill.
Result<Done> kill_once(const Options& options, const std::string& order, Figures& figures) {
  const fs::path directory = options.directory;
  const fs::path stats = directory / "stats.json";
  fs::remove_all(directory / "snapshots");
  std::vector<std::string> command{options.piracema,
                                   "run",
                                   "--quiet",
                                   "-n",
                                   options.processes,
                                   "--snapshots",
                                   directory / "snapshots",
                                   "--kill",
                                   order,
                                   "--stats",
                                   stats};
  command.insert(command.end(), options.command.begin(), options.command.end());
  std::string last_words;
  const auto sample = run_command(command, {.last_words = &last_words});
  if (!sample) return sample.error();
  if (sample->exit_code != 0) return Error{Errc::failed, concat(order, ": ", last_words)};
  std::ifstream file(stats);
  const auto report = nlohmann::json::parse(file, nullptr, false);
  const auto kill = report.is_discarded() ? nlohmann::json() : report["kills"][0];
  if (!kill.is_object() || !kill["kill_to_first_out_ms"].is_number()) {
    return Error{Errc::failed, concat(order, ": no item came out after the kill")};
  }
  figures.noticed_ms.push_back(kill["kill_to_noticed_ms"]);
  figures.first_out_ms.push_back(kill["kill_to_first_out_ms"]);
  return Done{};
}

Result<Figures> measure(const Options& options) {
  fs::create_directories(options.directory);
  Figures figures;
  Random random(options.seed);
  for (int i = 0; i < options.kills; ++i) {
    const std::string& replica =
        options.replicas[static_cast<std::size_t>(i) % options.replicas.size()];
    const auto percent = 20 + random.below(60);
    if (auto killed = kill_once(options, concat(replica, "@", percent), figures); !killed) {
      return killed.error();
    }
  }
  return figures;
}

nlohmann::json to_json(const Summary& summary) {
  return {{"min", summary.min}, {"median", summary.median}, {"max", summary.max}};
}

void print(const char* what, const Summary& summary) {
  std::printf("%-28s median %7.1f ms   min %7.1f   max %7.1f\n", what, summary.median, summary.min,
              summary.max);
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  options.piracema = built("tools/piracema");
  Arguments arguments(
      "Kills a process of a running job again and again, and measures how long it stood.");
  arguments.number("--kills", options.kills, "How many runs, with a kill each", {1, 10'000});
  arguments.number("--seed", options.seed, "Decides the moments");
  arguments.text("-n,--processes", options.processes, "For piracema run -n");
  arguments.texts("--replicas", options.replicas, "Whom to kill, in turn");
  arguments.text("--directory", options.directory, "Where outputs and snapshots go");
  arguments.text("--piracema", options.piracema, "The command");
  arguments.flag("--json", options.json, "One JSON object on standard output");
  arguments.words("COMMAND", options.command, "Another program and its arguments");
  if (const auto code = arguments.parse(argc, argv)) return *code;
  if (options.command.empty()) {
    options.command = {built("bench/recovery_app"), "40000", options.directory + "/out"};
  }
  const Machine machine = this_machine();
  if (!options.json) std::printf("%s\n", to_text(machine).c_str());
  const auto figures = measure(options);
  if (!figures) {
    std::fprintf(stderr, "bench_recovery: %s\n", figures.error().message.c_str());
    return 1;
  }
  const Summary noticed = summarize(figures->noticed_ms);
  const Summary first_out = summarize(figures->first_out_ms);
  if (options.json) {
    const nlohmann::json all{{"machine", to_text(machine)},
                             {"kills", options.kills},
                             {"kill_to_noticed_ms", to_json(noticed)},
                             {"kill_to_first_out_ms", to_json(first_out)}};
    std::puts(all.dump(2).c_str());
  } else {
    print("SIGKILL to noticed", noticed);
    print("SIGKILL to first item out", first_out);
  }
  return 0;
}
