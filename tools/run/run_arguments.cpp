#include "tools/run/run_arguments.h"

#include <cstdint>
#include <utility>
#include <vector>

#include "base/parse.h"
#include "base/text.h"
#include "tools/arguments.h"
#include "tools/log_options.h"
#include "tools/options.h"
#include "tools/run/kill_order.h"
#include "tools/run/settings.h"
#include "tools/run/snapshots.h"

namespace piracema::tools {

namespace {

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

Error wrong(std::string message) { return {Errc::usage, std::move(message)}; }

auto up_to(std::uint32_t max) {
  return [max](const std::string& text) { return parse_count(text, max); };
}

Result<std::uint32_t> parse_coordinators(const std::string& text) {
  auto count = parse_count(text, 5);
  if (count && *count % 2 == 1) return count;
  return wrong(
      concat("want 1, 3 or 5 coordinators, of which a majority goes on, found '", text, "'"));
}

}  // namespace

void RunArguments::add() {
  run_ = app_.add_subcommand("run", "Run a program as several processes, here or on several hosts");
  run_->prefix_command();
  run_->footer(std::string(run_footer) + stream_exit_codes);
  add_places();
  add_snapshots();
  add_resuming();
  add_processes();
  add_watching();
}

void RunArguments::add_places() {
  auto& job = command_.job;
  auto& settings = command_.job.settings;
  settings.slots = core_count();
  add_parsed(*run_, "-n,--workers", "N", settings.slots, up_to(4096),
             "Worker processes; default: one a core");
  add_parsed(*run_, "--groups", "FILE", command_.groups, parse_path,
             "File that says where each group of the program runs and\n"
             "how they talk; instead of -n");
  add_parsed(*run_, "--costs", "FILE", command_.costs, parse_path,
             "Statistics of an earlier run (--stats): replicas are spread\n"
             "by how long they were busy there");
  auto* hosts = add_parsed(*run_, "--hosts,-H", "A,B:2", command_.hosts, cluster::parse_host_list,
                           "Hosts to run the workers on: in turns, or with numbers so\n"
                           "many on each, and -n is their sum; default: those that\n"
                           "Slurm, PBS or OAR gives, else this one");
  add_parsed(*run_, "--hostfile", "FILE", command_.hostfile, parse_path,
             "File with a host a line, as mpirun takes it: a slots=2, or\n"
             "a:2; instead of --hosts")
      ->excludes(hosts);
  run_->add_flag("--direct-broadcasts", settings.direct_broadcasts,
                 "What all replicas of an operator get goes to each process\n"
                 "from its sender, not from host to host by a tree");
  run_->add_flag("--watch-hosts", command_.watch_hosts,
                 "Look at the --hostfile while the job runs: with the next\n"
                 "snapshot workers leave a host that it names no more, and\n"
                 "some go to one that is new");
  add_parsed(*run_, "--rsh", "COMMAND", job.rsh, parse_words,
             "Remote shell and its options, for other hosts, such as\n"
             "\"srun -N1 -n1 -w\"; default: ssh, asking for nothing");
}

void RunArguments::add_snapshots() {
  auto& job = command_.job;
  auto& settings = command_.job.settings;
  add_parsed(*run_, "--snapshots", "DIR", job.snapshots, parse_path,
             "Directory for snapshots, made if it is missing, or\n"
             "s3://BUCKET/PREFIX, or webhdfs://HOST:PORT/PATH; without it\n"
             "the loss of a process ends the job");
  add_parsed(*run_, "--every", "TIME", settings.snapshot_interval, parse_duration,
             "Time between two snapshots, such as 250ms or 2m; default: 1s");
  add_parsed(*run_, "--overtake-after", "TIME", settings.overtake_after, parse_patience,
             "A snapshot waits for items that are under way for so long,\n"
             "and then has them itself, but for those that are in an order\n"
             "or a cycle; never: it waits; default: 100ms");
  add_parsed(*run_, "--keep", "N", settings.snapshots_kept, up_to(1'000'000),
             "Snapshots to keep; default: 3");
}

void RunArguments::add_resuming() {
  auto& job = command_.job;
  run_->add_flag("--resume", job.resume,
                 "Go on from the newest snapshot in --snapshots DIR, or with\n"
                 "the workers that a lost coordinator has left there");
  add_parsed(*run_, "--from", "NAME", job.from.savepoint, parse_savepoint,
             "With --resume: go on from the savepoint of this name\n"
             "(piracema snapshots DIR --name NAME)")
      ->needs(run_->get_option("--resume"));
  run_->add_flag("--discard-newer", job.from.discard_newer,
                 "With --from: remove newer snapshots; what sinks wrote since\n"
                 "then is cut back")
      ->needs(run_->get_option("--from"));
  run_->add_flag("--keep-replicas", job.keep_replicas,
                 "With --resume: as many replicas as when the job was stopped,\n"
                 "which may have been scaled; else as many as the program says")
      ->needs(run_->get_option("--resume"));
  add_parsed(*run_, "--keep-workers", "TIME", job.keep_workers, parse_duration,
             "When this command is lost, its workers go on for so long\n"
             "and wait for a --standby or a --resume; default: 0");
  run_->add_flag("--standby", job.standby,
                 "Wait until the command that runs the job of --snapshots DIR\n"
                 "is lost, and go on with its workers")
      ->excludes(run_->get_option("--resume"));
  add_parsed(*run_, "--coordinators", "N", command_.coordinators, parse_coordinators,
             "Coordinators: 1, 3 or 5. While most of them live and answer\n"
             "the job goes on, whichever is lost. This command is the first;\n"
             "with other hosts each of the others is on one of those;\n"
             "default: 1")
      ->excludes(run_->get_option("--standby"));
  run_->add_flag("--join", command_.join,
                 "Of a job with several coordinators that goes on without its\n"
                 "command: this one waits for its end, has its exit code, and\n"
                 "hands on signals; wants --snapshots DIR and no PROGRAM")
      ->excludes(run_->get_option("--standby"))
      ->excludes(run_->get_option("--resume"));
  run_->add_flag("--leave-with-host", command_.leave_with_host,
                 "With --watch-hosts and several coordinators: when the file\n"
                 "names this host no more and the job has left it, this command\n"
                 "ends with 75, and --join on another host has the job's end")
      ->needs(run_->get_option("--watch-hosts"));
  run_->add_flag("--allow-changed-state", job.may_differ.states,
                 "With --resume: even if the program's states are of other types\n"
                 "than those in the snapshot, and it knows how to read them");
  run_->add_flag("--allow-changed-program", job.may_differ.program,
                 "With --resume: even if the program has other operators than\n"
                 "that of the snapshot; those of the same name go on");
  run_->add_option("--drop", job.may_differ.dropped,
                   "With --allow-changed-program: this operator is no more, and its\n"
                   "state may be lost; may be repeated")
      ->type_name("NAME")
      ->allow_extra_args(false)
      ->needs(run_->get_option("--allow-changed-program"));
  run_->add_flag("--strict", job.strict,
                 "Refuse a program that has state which no snapshot will have;\n"
                 "else it is said at the start");
}

void RunArguments::add_processes() {
  auto& job = command_.job;
  run_->add_option_function<std::vector<std::string>>(
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
  add_parsed(*run_, "--transport", "HOW", job.transport, parse_transport,
             "How processes of this host talk: shm, by shared memory, tcp,\n"
             "or auto, shared memory where it can be had; mpi: one mpirun\n"
             "starts all processes, and again after a loss; default: auto");
  add_parsed(*run_, "--threads", "N", job.threads, up_to(4096),
             "Threads of each process for all its replicas;\n"
             "default: one for each replica");
  add_parsed(*run_, "--cycle-bytes", "SIZE", job.cycle_bytes, parse_bytes,
             "What may wait to be taken back into a cycle, such as\n"
             "512MiB; more is an error; default: 1GiB");
  auto* state_directory =
      add_parsed(*run_, "--state-directory", "DIR", job.state_directory, parse_path,
                 "States by key lie in files there, on a disk of each host, and\n"
                 "not in memory: for states that are larger; wants RocksDB");
  add_parsed(*run_, "--state-memory", "SIZE", job.state_memory, parse_bytes,
             "With that: what the states of one replica take in memory;\n"
             "default: 64MiB")
      ->needs(state_directory);
  run_->add_flag("--plain", job.plain,
                 "Send plain what goes to other hosts, which is encrypted else:\n"
                 "for a network that is trusted");
  run_->add_flag("--stdin", job.hand_on_input,
                 "Workers of this host get the standard input of this\n"
                 "command; else theirs is empty");
  add_parsed(*run_, "--mpirun", "COMMAND", job.mpirun, parse_words,
             "mpirun and its own options, for --transport mpi;\n"
             "default: mpirun");
}

void RunArguments::add_watching() {
  auto& job = command_.job;
  auto& settings = command_.job.settings;
  add_parsed(*run_, "--stats", "FILE", command_.stats, parse_path,
             "File for statistics as JSON, written over");
  add_parsed(*run_, "--report", "FILE", command_.report, parse_path,
             "File for a page (HTML) with all that was known of the job\n"
             "when it is over, written over");
  add_parsed(*run_, "--dead-letters", "FILE", job.dead_letters, parse_path,
             "File for items that bring their process down again and\n"
             "again: the job goes on without them");
  add_parsed(*run_, "--heartbeat", "TIME", settings.heartbeat_interval, parse_duration,
             "Time between two signs of life of a worker, which is\n"
             "replaced when five are missing; default: 250ms");
  add_parsed(*run_, "--stuck-after", "TIME", settings.stuck_after, parse_duration,
             "An operator that is at one item for longer is taken for\n"
             "stuck: its process is replaced, and the item counts as one\n"
             "that brings it down; default: it is only told of, after 10s");
  run_->add_flag("--http", http_,
                 "Show the job while it runs, by HTTP: page, figures for\n"
                 "Prometheus, JSON. --http is any port of loopback, and said;\n"
                 "--http=ADDRESS:PORT or --http=PORT is another one")
      ->type_name("[=ADDRESS]");
  add_parsed(*run_, "--http-token", "FILE", http_token_, parse_path,
             "File with the token that HTTP asks for, 16 letters and\n"
             "digits at least; needed beyond loopback");
  add_log_options(*run_);
  auto* quiet = run_->add_flag("--quiet", command_.quiet, "Only warnings and errors");
  run_->add_flag("--json", command_.json,
                 "JSON lines on standard output: what happens, and the\n"
                 "summary; not with --quiet")
      ->excludes(quiet);
  add_parsed(*run_, "--config", "FILE", settings_file_, parse_path,
             "File of settings; default: ./piracema.toml, if it is there");
}

Result<RunCommand> RunArguments::read() {
  auto program = program_words(*run_);
  if (program) command_.job.command = *std::move(program);
  if (auto applied = apply_settings(*run_, settings_file_); !applied) {
    return applied.error();
  }
  if (!program && !command_.join) return program.error();
  if (!command_.groups.empty() && run_->count("--workers") != 0) {
    return wrong("--groups says how many processes there are, and -n as well: want one of them");
  }
  if (!command_.groups.empty() && (command_.hosts || !command_.hostfile.empty())) {
    return wrong("--groups says where processes run, and --hosts as well: want one of them");
  }
  if (!command_.groups.empty() && run_->count("--transport") != 0) {
    return wrong("--groups says how processes talk, and --transport as well: want one of them");
  }
  command_.workers_given = run_->count("--workers") != 0;
  command_.rsh_given = run_->count("--rsh") != 0;
  command_.http = observe::http_options(http_, http_token_);
  command_.job.settings.heartbeat_timeout = 5 * command_.job.settings.heartbeat_interval;
  return std::move(command_);
}

}  // namespace piracema::tools
