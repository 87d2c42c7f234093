#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/log.h"
#include "base/parse.h"
#include "base/standard_fds.h"
#include "base/text.h"
#ifdef PIRACEMA_COUNCIL
#include "council/council.h"
#include "council/remote_coordinator.h"
#endif
#include "host/agent.h"
#include "tools/arguments.h"
#include "tools/ask/savepoint_command.h"
#include "tools/ask/scale_command.h"
#include "tools/command_line.h"
#include "tools/doctor/command.h"
#include "tools/new/command.h"
#include "tools/product.h"
#include "tools/run/command.h"
#include "tools/run/graph_command.h"
#include "tools/run/kill_order.h"
#include "tools/run/report_json.h"
#include "tools/run/settings.h"
#include "tools/run/snapshots.h"
#include "tools/top/command.h"

namespace {

using namespace piracema;
using namespace piracema::tools;

constexpr const char* exit_codes =
    "Exit codes:\n"
    "  0 done   1 the job failed   2 usage   3 configuration   4 data is lost for good\n"
    "  75 stopped with a snapshot: go on with --resume   130, 143 ended by Ctrl-C, SIGTERM\n";

constexpr const char* run_footer =
    "Examples:\n"
    "  piracema run -n 4 ./app in.txt out.txt\n"
    "  piracema run -n 4 --snapshots /var/tmp/job --every 1s ./app in.txt out.txt\n"
    "  piracema run -n 4 --snapshots /var/tmp/job --resume ./app in.txt out.txt\n"
    "  piracema run -n 4 --snapshots /var/tmp/job --kill compress.1@40 ./app in.txt out.txt\n"
    "\n"
    "APP is a program built with the library; what follows it, options too, is its own.\n"
    "A setting comes from the option (-n 4), else from the environment (PIRACEMA_WORKERS=4), else\n"
    "from [run] in the file of settings (workers = 4), else it is the default.\n"
    "Ctrl-C takes a last snapshot and stops; a second one ends at once.\n"
    "\n";

Error usage(std::string message) { return {Errc::usage, std::move(message)}; }

Result<std::uint32_t> parse_coordinators(const std::string& text) {
  auto count = parse_count(text, 5);
  if (count && *count % 2 == 1) return count;
  return usage(
      concat("want 1, 3 or 5 coordinators, of which a majority goes on, found '", text, "'"));
}

/// Sets `to` from the option's text by a function that gives a Result.
template <class T, class Parse>
CLI::Option* add_parsed(CLI::App& app, const std::string& names, const std::string& what, T& to,
                        Parse parse, const std::string& help) {
  return app
      .add_option_function<std::string>(
          names,
          [first = names.substr(0, names.find(',')), &to, parse](const std::string& text) {
            auto value = parse(text);
            if (!value) throw CLI::ValidationError(first, value.error().message);
            to = *std::move(value);
          },
          help)
      ->type_name(what);
}

// The program and all that follows it, options too, are the program's.
Result<std::vector<std::string>> program_of(const CLI::App& app) {
  std::vector<std::string> command = app.remaining();
  if (!command.empty() && command.front() == "--") command.erase(command.begin());
  if (command.empty()) {
    return usage(concat("want the program to ", app.get_name(), ", found none; see piracema ",
                        app.get_name(), " --help"));
  }
  if (command.front().starts_with('-')) {
    return usage(
        concat("unknown option '", command.front(), "'; see piracema ", app.get_name(), " --help"));
  }
  return command;
}

#ifdef PIRACEMA_COUNCIL
class Council : public Coordinators {
 public:
  explicit Council(std::unique_ptr<council::Council> own) : own_(std::move(own)) {}
  cluster::JobReport run(const cluster::JobOptions& options,
                         cluster::JobObserver& observer) override {
    return own_->run(options, observer);
  }
  bool has_led() const override { return own_->has_led(); }
  void end(const cluster::JobReport& report) override { own_->end(report); }

 private:
  std::unique_ptr<council::Council> own_;
};

/// This process leads to one on another host, and has nothing to say itself.
class CouncilElsewhere : public Coordinators {
 public:
  explicit CouncilElsewhere(std::unique_ptr<council::RemoteCoordinator> there)
      : there_(std::move(there)) {}
  cluster::JobReport run(const cluster::JobOptions&, cluster::JobObserver&) override {
    there_->run();
    return {};
  }
  bool has_led() const override { return false; }
  void end(const cluster::JobReport&) override {}

 private:
  std::unique_ptr<council::RemoteCoordinator> there_;
};

Result<std::unique_ptr<Coordinators>> gather(const RunCommand& command,
                                             const std::vector<std::string>& words) {
  if (auto errand = council::take_errand()) {
    auto there = council::RemoteCoordinator::bring(*std::move(errand), words, command.job);
    if (!there) return there.error();
    return std::unique_ptr<Coordinators>(std::make_unique<CouncilElsewhere>(*std::move(there)));
  }
  auto own = council::Council::open(command.coordinators, words, command.job);
  if (!own) return own.error();
  return std::unique_ptr<Coordinators>(std::make_unique<Council>(*std::move(own)));
}
#endif

struct CommandLine {
  CommandLine();
  int run(int argc, char** argv);

  std::unique_ptr<CLI::App> app = make_command_line();
  CLI::App* run_app = nullptr;
  CLI::App* graph_app = nullptr;
  CLI::App* snapshots_app = nullptr;
  DoctorCommand doctor{*app};
  TopCommand top{*app};
  ScaleCommand scale{*app};
  SavepointCommand savepoint_of_job{*app};
  NewCommand new_project{*app};

  RunCommand command;
  std::string settings_file;
  std::string http, http_token;
  std::string snapshots_directory;
  SavepointChange savepoint;
  bool verify = false;
  bool json = false;

 private:
  void add_run();
  void add_graph();
  void add_snapshots();
  int dispatch();

  /// As it was typed.
  char** argv_ = nullptr;
  std::vector<std::string> words_;
};

CommandLine::CommandLine() {
  app->footer(concat("piracema run --help, and so on, tells more of a command.\n\n", exit_codes));
  add_run();
  add_graph();
  add_snapshots();
  top.add();
  scale.add();
  savepoint_of_job.add();
  doctor.add();
  new_project.add();
  for (const Product& product : products()) app->add_subcommand(product.name, product.help);
}

void CommandLine::add_run() {
  run_app =
      app->add_subcommand("run", "Run a program as several processes, here or on several hosts");
  run_app->prefix_command();
  run_app->footer(std::string(run_footer) + exit_codes);

  auto& job = command.job;
  auto& settings = job.settings;
  settings.slots = core_count();
  const auto up_to = [](std::uint32_t max) {
    return [max](const std::string& text) { return parse_count(text, max); };
  };
  add_parsed(*run_app, "-n,--workers", "N", settings.slots, up_to(4096),
             "Worker processes; default: one a core");
  add_parsed(*run_app, "--groups", "FILE", command.groups, parse_path,
             "File that says where each group of the program runs and\n"
             "how they talk; instead of -n");
  add_parsed(*run_app, "--costs", "FILE", command.costs, parse_path,
             "Statistics of an earlier run (--stats): replicas are spread\n"
             "by how long they were busy there");
  auto* hosts = add_parsed(*run_app, "--hosts,-H", "A,B:2", command.hosts, cluster::parse_host_list,
                           "Hosts to run the workers on: in turns, or with numbers so\n"
                           "many on each, and -n is their sum; default: those that\n"
                           "Slurm, PBS or OAR gives, else this one");
  add_parsed(*run_app, "--hostfile", "FILE", command.hostfile, parse_path,
             "File with a host a line, as mpirun takes it: a slots=2, or\n"
             "a:2; instead of --hosts")
      ->excludes(hosts);
  run_app->add_flag("--direct-broadcasts", settings.direct_broadcasts,
                    "What all replicas of an operator get goes to each process\n"
                    "from its sender, not from host to host by a tree");
  run_app->add_flag("--watch-hosts", command.watch_hosts,
                    "Look at the --hostfile while the job runs: with the next\n"
                    "snapshot workers leave a host that it names no more, and\n"
                    "some go to one that is new");
  add_parsed(*run_app, "--rsh", "COMMAND", job.rsh, parse_words,
             "Remote shell and its options, for other hosts, such as\n"
             "\"srun -N1 -n1 -w\"; default: ssh, asking for nothing");
  add_parsed(*run_app, "--snapshots", "DIR", job.snapshots, parse_path,
             "Directory for snapshots, made if it is missing, or\n"
             "s3://BUCKET/PREFIX, or webhdfs://HOST:PORT/PATH; without it\n"
             "the loss of a process ends the job");
  add_parsed(*run_app, "--every", "TIME", settings.snapshot_interval, parse_duration,
             "Time between two snapshots, such as 250ms or 2m; default: 1s");
  add_parsed(*run_app, "--overtake-after", "TIME", settings.overtake_after, parse_patience,
             "A snapshot waits for items that are under way for so long,\n"
             "and then has them itself, but for those that are in an order\n"
             "or a cycle; never: it waits; default: 100ms");
  add_parsed(*run_app, "--keep", "N", settings.snapshots_kept, up_to(1'000'000),
             "Snapshots to keep; default: 3");
  run_app->add_flag("--resume", job.resume,
                    "Go on from the newest snapshot in --snapshots DIR, or with\n"
                    "the workers that a lost coordinator has left there");
  add_parsed(*run_app, "--from", "NAME", job.from.savepoint, parse_savepoint,
             "With --resume: go on from the savepoint of this name\n"
             "(piracema snapshots DIR --name NAME)")
      ->needs(run_app->get_option("--resume"));
  run_app
      ->add_flag("--discard-newer", job.from.discard_newer,
                 "With --from: remove newer snapshots; what sinks wrote since\n"
                 "then is cut back")
      ->needs(run_app->get_option("--from"));
  run_app
      ->add_flag("--keep-replicas", job.keep_replicas,
                 "With --resume: as many replicas as when the job was stopped,\n"
                 "which may have been scaled; else as many as the program says")
      ->needs(run_app->get_option("--resume"));
  add_parsed(*run_app, "--keep-workers", "TIME", job.keep_workers, parse_duration,
             "When this command is lost, its workers go on for so long\n"
             "and wait for a --standby or a --resume; default: 0");
  run_app
      ->add_flag("--standby", job.standby,
                 "Wait until the command that runs the job of --snapshots DIR\n"
                 "is lost, and go on with its workers")
      ->excludes(run_app->get_option("--resume"));
  add_parsed(*run_app, "--coordinators", "N", command.coordinators, parse_coordinators,
             "Coordinators: 1, 3 or 5. While most of them live and answer\n"
             "the job goes on, whichever is lost. This command is the first;\n"
             "with other hosts each of the others is on one of those;\n"
             "default: 1")
      ->excludes(run_app->get_option("--standby"));
  run_app->add_flag("--allow-changed-state", job.may_differ.states,
                    "With --resume: even if the program's states are of other types\n"
                    "than those in the snapshot, and it knows how to read them");
  run_app->add_flag("--allow-changed-program", job.may_differ.program,
                    "With --resume: even if the program has other operators than\n"
                    "that of the snapshot; those of the same name go on");
  run_app
      ->add_option("--drop", job.may_differ.dropped,
                   "With --allow-changed-program: this operator is no more, and its\n"
                   "state may be lost; may be repeated")
      ->type_name("NAME")
      ->allow_extra_args(false)
      ->needs(run_app->get_option("--allow-changed-program"));
  run_app->add_flag("--strict", job.strict,
                    "Refuse a program that has state which no snapshot will have;\n"
                    "else it is said at the start");
  run_app
      ->add_option_function<std::vector<std::string>>(
          "--kill",
          [&job](const std::vector<std::string>& texts) {
            for (const std::string& text : texts) {
              auto order = parse_kill(text);
              if (!order) throw CLI::ValidationError("--kill", order.error().message);
              job.kills.push_back(*order);
            }
          },
          "To see what happens: kill the process of that replica once\n"
          "the sources have read so much; may be repeated")
      ->type_name("OP.REPLICA@PERCENT")
      ->allow_extra_args(false);
  add_parsed(*run_app, "--transport", "HOW", job.transport, parse_transport,
             "How processes of this host talk: shm, by shared memory, tcp,\n"
             "or auto, shared memory where it can be had; mpi: one mpirun\n"
             "starts all processes, and again after a loss; default: auto");
  add_parsed(*run_app, "--threads", "N", job.threads, up_to(4096),
             "Threads of each process for all its replicas;\n"
             "default: one for each replica");
  add_parsed(*run_app, "--cycle-bytes", "SIZE", job.cycle_bytes, parse_bytes,
             "What may wait to be taken back into a cycle, such as\n"
             "512MiB; more is an error; default: 1GiB");
  auto* state_directory =
      add_parsed(*run_app, "--state-directory", "DIR", job.state_directory, parse_path,
                 "States by key lie in files there, on a disk of each host, and\n"
                 "not in memory: for states that are larger; wants RocksDB");
  add_parsed(*run_app, "--state-memory", "SIZE", job.state_memory, parse_bytes,
             "With that: what the states of one replica take in memory;\n"
             "default: 64MiB")
      ->needs(state_directory);
  run_app->add_flag("--plain", job.plain,
                    "Send plain what goes to other hosts, which is encrypted else:\n"
                    "for a network that is trusted");
  run_app->add_flag("--stdin", job.hand_on_input,
                    "Workers of this host get the standard input of this\n"
                    "command; else theirs is empty");
  add_parsed(*run_app, "--mpirun", "COMMAND", job.mpirun, parse_words,
             "mpirun and its own options, for --transport mpi;\n"
             "default: mpirun");
  add_parsed(*run_app, "--stats", "FILE", command.stats, parse_path,
             "File for statistics as JSON, written over");
  add_parsed(*run_app, "--report", "FILE", command.report, parse_path,
             "File for a page (HTML) with all that was known of the job\n"
             "when it is over, written over");
  add_parsed(*run_app, "--dead-letters", "FILE", job.dead_letters, parse_path,
             "File for items that bring their process down again and\n"
             "again: the job goes on without them");
  add_parsed(*run_app, "--heartbeat", "TIME", settings.heartbeat_interval, parse_duration,
             "Time between two signs of life of a worker, which is\n"
             "replaced when five are missing; default: 250ms");
  add_parsed(*run_app, "--stuck-after", "TIME", settings.stuck_after, parse_duration,
             "An operator that is at one item for longer is taken for\n"
             "stuck: its process is replaced, and the item counts as one\n"
             "that brings it down; default: it is only told of, after 10s");
  run_app
      ->add_flag("--http", http,
                 "Show the job while it runs, by HTTP: page, figures for\n"
                 "Prometheus, JSON. --http is any port of loopback, and said;\n"
                 "--http=ADDRESS:PORT or --http=PORT is another one")
      ->type_name("[=ADDRESS]");
  add_parsed(*run_app, "--http-token", "FILE", http_token, parse_path,
             "File with the token that HTTP asks for, 16 letters and\n"
             "digits at least; needed beyond loopback");
  auto* quiet = run_app->add_flag("--quiet", command.quiet, "Only warnings and errors");
  run_app
      ->add_flag("--json", command.json,
                 "JSON lines on standard output: what happens, and the\n"
                 "summary; not with --quiet")
      ->excludes(quiet);
  add_parsed(*run_app, "--config", "FILE", settings_file, parse_path,
             "File of settings; default: ./piracema.toml, if it is there");
}

void CommandLine::add_graph() {
  graph_app = app->add_subcommand("graph", "Print the graph of a program, for Graphviz");
  graph_app->prefix_command();
  graph_app->footer(std::string("Example:\n  piracema graph ./app in.txt out.txt | dot -Tsvg\n\n") +
                    exit_codes);
}

void CommandLine::add_snapshots() {
  snapshots_app =
      app->add_subcommand("snapshots", "List the snapshots in a directory, a bucket or HDFS");
  snapshots_app
      ->add_option("DIR", snapshots_directory,
                   "The directory, s3://BUCKET/PREFIX or webhdfs://HOST:PORT/PATH")
      ->required();
  snapshots_app->add_flag("--verify", verify, "Read every byte; exit code 1 if one is damaged");
  snapshots_app->add_flag("--json", json, "As JSON");
  auto* name = add_parsed(*snapshots_app, "--name", "NAME", savepoint.name, parse_savepoint,
                          "Make the newest snapshot a savepoint: it is kept until this\n"
                          "name is deleted");
  snapshots_app->add_option("--id", savepoint.snapshot, "With --name: snapshot N")
      ->type_name("N")
      ->needs(name);
  add_parsed(*snapshots_app, "--delete", "NAME", savepoint.deleted, parse_savepoint,
             "Delete this name; the snapshot goes if its job needs it no\n"
             "more")
      ->excludes(name);
  snapshots_app->footer(std::string("Example:\n  piracema snapshots --verify /var/tmp/job\n\n") +
                        exit_codes);
}

int CommandLine::dispatch() {
  const auto fail = [](const Error& error) {
    log(Level::error, error.message);
    return error.code == Errc::usage ? 2 : 3;
  };
  if (snapshots_app->parsed() && savepoint.is_wanted()) {
    return change_savepoints(snapshots_directory, savepoint);
  }
  if (snapshots_app->parsed()) return list_snapshots(snapshots_directory, verify, json);
  if (top.parsed()) return top.run();
  if (scale.parsed()) return scale.run();
  if (savepoint_of_job.parsed()) return savepoint_of_job.run();
  if (doctor.parsed()) return doctor.run();
  if (new_project.parsed()) return new_project.run();
  if (graph_app->parsed()) {
    auto program = program_of(*graph_app);
    return program ? graph_command(*std::move(program)) : fail(program.error());
  }
  if (!run_app->parsed())
    return fail(
        usage("want a command: run, graph, snapshots, savepoint, top, scale, doctor, new, cluster, "
              "kv, ckpt or coll; see --help"));

  auto program = program_of(*run_app);
  if (!program) return fail(program.error());
  command.job.command = *std::move(program);
  if (auto applied = apply_settings(*run_app, settings_file); !applied) {
    return fail(applied.error());
  }
  if (!command.groups.empty() && run_app->count("--workers") != 0) {
    return fail(
        usage("--groups says how many processes there are, and -n as well: want one of them"));
  }
  if (!command.groups.empty() && (command.hosts || !command.hostfile.empty())) {
    return fail(usage("--groups says where processes run, and --hosts as well: want one of them"));
  }
  command.workers_given = run_app->count("--workers") != 0;
  command.rsh_given = run_app->count("--rsh") != 0;
  command.http = observe::http_options(http, http_token);
  command.job.settings.heartbeat_timeout = 5 * command.job.settings.heartbeat_interval;
  if (command.coordinators > 1) {
#ifdef PIRACEMA_COUNCIL
    command.was_gathered = council::has_seat();
    command.gather = [this](const RunCommand& read) { return gather(read, words_); };
#else
    return fail(become(Product{"council", ""}, argv_));
#endif
  }
  return run_command(std::move(command));
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
  return run_command_line(*app, argc, argv, [this] { return dispatch(); });
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
