#include "tools/cluster/command.h"

#include <piracema/smr/replica.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <thread>

#include "base/log.h"
#include "base/parse.h"
#include "base/text.h"
#include "jobs/local/machine_kind.h"
#include "jobs/node.h"
#include "jobs/protocol/operations.h"
#include "jobs/state/cluster_state.h"
#include "os/process.h"
#include "tools/cluster/layout.h"
#include "tools/failure.h"
#include "tools/kv/group.h"
#include "tools/log_options.h"
#include "tools/product.h"

namespace piracema::tools {

namespace {

constexpr const char* exit_codes =
    "Exit codes:\n"
    "  0 done   1 not done: refused, no such job, no answer in time   2 usage   3 configuration, "
    "a\n"
    "  key file, a disk; wait, logs -f and submit --wait end with the code of the job\n";

constexpr int start_look_ms = 100;
// Whoever works at a machine that is lent is not to feel it.
constexpr int niceness_of_lent = 19;

std::atomic<int> stops = 0;

void say(const std::string& text) {
  std::printf("%s\n", text.c_str());
  std::fflush(stdout);
}

std::vector<std::string> own_words(std::initializer_list<std::string> words) {
  std::vector<std::string> all{"/proc/self/exe"};
  all.insert(all.end(), words);
  return all;
}

}  // namespace

ClusterCommand::ClusterCommand(CLI::App& app)
    : slots_(std::max(1u, std::thread::hardware_concurrency())) {
  cluster_ = app.add_subcommand("cluster", product_help("cluster"));
  cluster_->require_subcommand(1);
  const std::string footer = exit_codes;
  cluster_->footer(concat(
      "Examples:\n"
      "  piracema cluster start --directory c         three nodes here, until Ctrl-C\n"
      "  piracema cluster submit --cluster c --wait -- hostname\n"
      "  piracema cluster init --directory c a=10.0.0.1:7400 b=10.0.0.2:7400 \\\n"
      "      c=10.0.0.3:7400 d\n"
      "  piracema cluster node --home a               on the machine that is a\n"
      "  piracema cluster submit --nodes 3 --stream --snapshots /shared/job -- ./app in out\n\n",
      footer));
  start_ = cluster_->add_subcommand("start", "Run a cluster of several nodes on this machine");
  start_->add_option("--directory", directory_, "For all of it; made if need be")->required();
  start_->add_option("--nodes", count_, "How many, of a new cluster: 1, 3, 5 or 7; default: 3");
  start_->add_option("--slots", slots_, "Of each node; default: one a core")
      ->check(CLI::Range(1, 65'536));
  add_log_options(*start_);
  start_->footer(footer);
  init_ = cluster_->add_subcommand("init", "Make the keys and files of a new cluster");
  init_->add_option("--directory", directory_, "For all of it; made if need be")->required();
  init_
      ->add_option("NODES", nodes_,
                   "NAME=HOST:PORT for 1, 3, 5 or 7 nodes that hold the control\n"
                   "plane, NAME=HOST or NAME for others")
      ->required();
  init_->footer(
      concat("Then copy the folder of each node to its machine, and run there:\n"
             "  piracema cluster node --home NAME\n\n",
             footer));
  node_ = cluster_->add_subcommand("node", "Run a node, until SIGTERM");
  node_->add_option("--home", home_, "Its folder, as `cluster init` or `cluster admit` has made it")
      ->required();
  node_->add_option("--slots", slots_, "How much it takes at a time; default: one a core")
      ->check(CLI::Range(1, 65'536));
  node_->add_option("--address", address_,
                    "Where other nodes reach this one; default: that of its replica, or\n"
                    "what `init` was told. Without one it gets no job of several nodes");
  node_->add_option("--kind", kind_,
                    "What this machine is like: programs with images go on only on\n"
                    "machines of one kind. Default: its processor's features, C\n"
                    "library and MPI libraries, as `cluster nodes --json` shows them");
  node_->add_option("--site", site_,
                    "Machines of one site reach each other by fast links: a job of\n"
                    "several nodes has those of one site, if it can begin there at once.\n"
                    "Default: one for all that say none");
  lent_.add(*node_);
  lent_.add_suspend(*node_);
  add_log_options(*node_);
  node_
      ->add_option("--nice", niceness_,
                   "How much jobs give way to other programs here, 0 to 19; default:\n"
                   "19 where the machine is lent for a while, else 0")
      ->check(CLI::Range(0, 19));
  node_->footer(
      concat("SIGTERM: its jobs have 30 s to leave, and go on elsewhere. A second one\n"
             "ends them.\n"
             "A machine that is lent for a while (--windows, --idle) is given back in time:\n"
             "jobs leave as late as they can, begin elsewhere, and are ended before it closes.\n"
             "While its user is there they stand still at once, if they can, and go on if he\n"
             "goes soon.\n"
             "A window: mon-fri 20:00 06:00\n\n",
             footer));
  replica_ = cluster_->add_subcommand("replica", "Run a node's replica of the control plane");
  replica_->group("");  // `node` does it.
  replica_->add_option("--home", home_, "The node's folder")->required();
  remote_ = std::make_unique<ClusterRemote>(*cluster_, footer);
  queue_ = std::make_unique<ClusterQueue>(*cluster_, footer);
  beside_ = std::make_unique<ClusterBeside>(*cluster_);
  membership_ = std::make_unique<ClusterMembership>(*cluster_, footer);
  users_ = std::make_unique<ClusterUsers>(*cluster_, footer);
  status_ = std::make_unique<ClusterStatus>(*cluster_, footer);
  events_ = std::make_unique<ClusterEvents>(*cluster_, footer);
  dashboard_ = std::make_unique<ClusterDashboard>(*cluster_, footer);
}

int ClusterCommand::run() {
  if (init_->parsed()) return init();
  if (node_->parsed()) return node();
  if (replica_->parsed()) return replica();
  if (start_->parsed()) return start();
  if (remote_->parsed()) return remote_->run();
  if (beside_->parsed()) return beside_->run();
  if (membership_->parsed()) return membership_->run();
  if (users_->parsed()) return users_->run();
  if (status_->parsed()) return status_->run();
  if (events_->parsed()) return events_->run();
  if (dashboard_->parsed()) return dashboard_->run();
  return queue_->run();
}

int ClusterCommand::init() const {
  std::vector<ClusterLayout::Wanted> wanted;
  for (const std::string& node : nodes_) wanted.push_back(ClusterLayout::Wanted::parse(node));
  if (auto made = ClusterLayout::make(directory_, wanted); !made) return fail(made.error());
  say(concat("wrote ", directory_,
             "/cluster.toml, user.key and administrator.key, and a folder for "
             "each node. Copy each to its machine, and run there:"));
  for (const auto& node : wanted) {
    say(concat("  piracema cluster node --home ", node.name,
               node.address.empty() ? "" : concat("    # at ", node.address)));
  }
  return 0;
}

int ClusterCommand::node() const {
  auto home = NodeHome::read(home_);
  if (!home) return fail(home.error());
  auto lent = lent_.settings();
  if (!lent) return fail(lent.error());
  const auto risk = lent_.risk();
  if (!risk) return fail(risk.error());
  const std::string kind = kind_.empty() ? jobs::machine_kind() : kind_;
  if (!jobs::is_label(kind)) {
    return fail({Errc::usage, concat("--kind: want at most ", jobs::label_bytes_max,
                                     " visible letters, found '", kind, "'")});
  }
  if (!site_.empty()) {
    if (auto right = jobs::check_name(site_); !right) {
      return fail({Errc::usage, concat("--site: ", right.error().message)});
    }
  }
  log_as_service(concat("node ", home->name));
  const int niceness = niceness_.value_or(lent->is_for_a_while() ? niceness_of_lent : 0);
  std::error_code failed;
  const std::string place = std::filesystem::absolute(home_, failed).string();
  jobs::NodeProcess::Options options{.name = home->name,
                                     .slots = slots_,
                                     .address = address_.empty() ? home->address : address_,
                                     .kind = kind,
                                     .site = site_,
                                     .directory = place,
                                     .configuration = home->configuration,
                                     .client = home->client,
                                     .key_file = place + "/node.key",
                                     .replica = {},
                                     .supervisor = own_words({"supervise"}),
                                     .rsh = "",
                                     .lent = *std::move(lent),
                                     .risk = *risk,
                                     .niceness = niceness};
  options.rsh =
      concat(std::filesystem::read_symlink("/proc/self/exe", failed).string(), " cluster rsh");
  if (home->replica) options.replica = own_words({"cluster", "replica", "--home", place});
  auto node = jobs::NodeProcess::open(std::move(options));
  if (!node) return fail(node.error());
  if (auto done = (*node)->run(); !done) return fail(done.error());
  return 0;
}

// A directory that is gone after it was there once is a loss of what was promised.
int ClusterCommand::replica() const {
  const auto home = NodeHome::read(home_);
  if (!home) return fail(home.error());
  if (!home->replica) return fail({Errc::config, concat(home_, ": this node has no replica")});
  log_as_service(concat("replica ", home->name));
  const smr::ReplicaOptions options{.id = *home->replica,
                                    .key_file = home_ + "/replica.key",
                                    .directory = home_ + "/replica",
                                    .began_file = home_ + "/replica.began"};
  jobs::ClusterState state;
  return smr::run_replica(home->configuration, options, state);
}

int ClusterCommand::start() const {
  for (const int signal : {SIGINT, SIGTERM}) {
    struct sigaction action {};
    action.sa_handler = [](int) { stops += 1; };
    ::sigaction(signal, &action, nullptr);
  }
  if (!std::filesystem::exists(directory_ + "/cluster.toml")) {
    std::vector<Fd> held;
    std::vector<ClusterLayout::Wanted> wanted;
    for (std::uint32_t i = 1; i <= count_; ++i) {
      const auto port = draw_port(held);
      if (!port) return fail(port.error());
      wanted.push_back({concat("n", i), concat("127.0.0.1:", *port)});
    }
    if (auto made = ClusterLayout::make(directory_, wanted); !made) return fail(made.error());
  }
  std::vector<cluster::Process> processes;
  for (const auto& entry : std::filesystem::directory_iterator(directory_)) {
    if (!std::filesystem::exists(entry.path() / "node.json")) continue;
    auto process = cluster::Process::start(
        {.command = own_words({"cluster", "node", "--home", entry.path().string(), "--slots",
                               std::to_string(slots_)})});
    if (!process) return fail(process.error());
    processes.push_back(*std::move(process));
  }
  say(concat("a cluster of ", processes.size(), processes.size() == 1 ? " node" : " nodes",
             ", ask it with: --cluster ", directory_));
  int told = 0, code = 0;
  while (!processes.empty()) {
    for (; told < std::min(stops.load(), 2); ++told) {
      for (const cluster::Process& process : processes) process.signal(SIGTERM);
    }
    std::erase_if(processes, [&](cluster::Process& process) {
      const auto exit = process.reap();
      if (!exit) return false;
      if (!exit->clean) {
        log(Level::error, concat("a node ", exit->how));
        code = 3;
      }
      return true;
    });
    ::poll(nullptr, 0, start_look_ms);
  }
  return code;
}

}  // namespace piracema::tools
