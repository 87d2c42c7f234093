#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/log.h"
#include "base/standard_fds.h"
#include "base/text.h"
#ifdef PIRACEMA_COUNCIL
#include "council/council.h"
#include "tools/run/gather.h"
#endif
#include "host/agent.h"
#include "tools/ask/savepoint_command.h"
#include "tools/ask/scale_command.h"
#include "tools/command_line.h"
#include "tools/doctor/command.h"
#include "tools/failure.h"
#include "tools/new/command.h"
#include "tools/options.h"
#include "tools/product.h"
#include "tools/run/command.h"
#include "tools/run/graph_command.h"
#include "tools/run/run_arguments.h"
#include "tools/run/snapshots_command.h"
#include "tools/top/command.h"

namespace {

using namespace piracema;
using namespace piracema::tools;

class CommandLine {
 public:
  CommandLine();
  int run(int argc, char** argv);

 private:
  int dispatch();
  int run_job();

  std::unique_ptr<CLI::App> app_ = make_command_line();
  RunArguments run_{*app_};
  GraphCommand graph_{*app_};
  SnapshotsCommand snapshots_{*app_};
  TopCommand top_{*app_};
  ScaleCommand scale_{*app_};
  SavepointCommand savepoint_{*app_};
  DoctorCommand doctor_{*app_};
  NewCommand new_project_{*app_};
  /// As it was typed.
  char** argv_ = nullptr;
  std::vector<std::string> words_;
};

CommandLine::CommandLine() {
  app_->footer(
      concat("piracema run --help, and so on, tells more of a command.\n\n", stream_exit_codes));
  run_.add();
  graph_.add();
  snapshots_.add();
  top_.add();
  scale_.add();
  savepoint_.add();
  doctor_.add();
  new_project_.add();
  for (const Product& product : products()) app_->add_subcommand(product.name, product.help);
}

int CommandLine::dispatch() {
  if (snapshots_.parsed()) return snapshots_.run();
  if (top_.parsed()) return top_.run();
  if (scale_.parsed()) return scale_.run();
  if (savepoint_.parsed()) return savepoint_.run();
  if (doctor_.parsed()) return doctor_.run();
  if (new_project_.parsed()) return new_project_.run();
  if (graph_.parsed()) return graph_.run();
  if (run_.parsed()) return run_job();
  return fail(
      {Errc::usage,
       "want a command: run, graph, snapshots, savepoint, top, scale, doctor, new, cluster, "
       "kv, ckpt or coll; see --help"});
}

int CommandLine::run_job() {
  auto command = run_.read();
  if (!command) return fail(command.error());
  if (command->coordinators > 1 || command->join) {
#ifdef PIRACEMA_COUNCIL
    command->is_first = !council::has_seat() || council::has_first_seat();
    command->gather = [this](const RunCommand& read) { return gather(read, words_); };
    if (!council::has_seat()) {
      command->convene = [this](const RunCommand& read) { return convene(read, words_); };
    }
#else
    return fail(become(Product{"council", ""}, argv_));
#endif
  }
  return run_command(*std::move(command));
}

int CommandLine::run(int argc, char** argv) {
  argv_ = argv;
  words_.assign(argv, argv + argc);
  // The parser would call it an argument that was not expected.
  const std::string first = argc > 1 ? argv[1] : "-";
  for (const Product& product : products()) {
    if (first != product.name) continue;
    log(Level::error, become(product, argv).message);
    return 3;
  }
  const auto is_own = [&first](std::string_view name) { return first == name; };
  constexpr std::array<std::string_view, 8> own = {"run",       "graph",     "top",    "scale",
                                                   "savepoint", "snapshots", "doctor", "new"};
  if (std::ranges::none_of(own, is_own) && !first.starts_with('-')) {
    log(Level::error, concat("unknown command '", first,
                             "': want run, graph, snapshots, savepoint, top, scale, doctor, new, "
                             "cluster, kv, ckpt or coll"));
    return 2;
  }
  std::vector<char*> parsed(argv, argv + argc);
  std::string mark = program_mark;
  if (first == "run" || first == "graph") {
    const auto at = std::ranges::find(parsed, std::string_view("--"),
                                      [](const char* word) { return std::string_view(word); });
    if (at != parsed.end()) *at = mark.data();
  }
  return run_command_line(*app_, argc, parsed.data(), [this] { return dispatch(); });
}

// In a job of a cluster the agent of another node is started by the cluster.
int agent_on(const std::string& node, const std::string& program) {
  std::error_code ignored;
  std::string self = std::filesystem::read_symlink("/proc/self/exe", ignored).string();
  std::vector<std::string> words{self, "cluster", "rsh", node, self, "agent", program};
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  log(Level::error, become(Product{"cluster", ""}, pointers.data()).message);
  return 3;
}

}  // namespace

int main(int argc, char** argv) {
  fill_standard_fds();
  if (argc == 3 && std::string_view(argv[1]) == "agent") {
    if (char* const node = std::getenv("PIRACEMA_AGENT_ON")) return agent_on(node, argv[2]);
  }
  if (argc > 1 && std::string_view(argv[1]) == "agent") {
    return cluster::run_agent(argc - 1, argv + 1);
  }
  return CommandLine().run(argc, argv);
}
