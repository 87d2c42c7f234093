#include "tools/run/command.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/log.h"
#include "base/refused_writes.h"
#include "base/text.h"
#include "observe/http/job_pages.h"
#include "observe/http/site.h"
#include "os/process.h"
#include "tools/run/costs.h"
#include "tools/run/display.h"
#include "tools/run/exit_by_signal.h"
#include "tools/run/groups.h"
#include "tools/run/json_display.h"
#include "tools/run/report_json.h"
#include "tools/run/shown_job.h"
#include "tools/run/summary.h"

namespace piracema::tools {

namespace {

constexpr int stopped_with_snapshot = 75;
constexpr std::size_t log_lines_kept = 200;

int refuse(const Error& error) {
  log(Level::error, error.message);
  return 3;
}

observe::JobFacts facts_of(const RunCommand& command) {
  const cluster::JobOptions& job = command.job;
  observe::JobFacts facts = observe::facts_of_this_process();
  facts.command = job.command;
  facts.workers = job.settings.slots;
  facts.snapshots = !job.snapshots.empty();
  facts.snapshot_interval = job.settings.snapshot_interval;
  const auto add = [&facts](const char* name, std::string value) {
    if (!value.empty()) facts.settings.emplace_back(name, std::move(value));
  };
  const auto time = [](auto duration) {
    return human_seconds(std::chrono::duration<double>(duration).count());
  };
  add("workers", std::to_string(job.settings.slots));
  std::string hosts;
  for (const auto& host : job.hosts) hosts += (hosts.empty() ? "" : ", ") + host.name;
  add("hosts", hosts);
  add("groups", command.groups);
  add("transport", job.transport);
  if (job.plain) add("plain", "yes");
  if (job.settings.direct_broadcasts) add("direct broadcasts", "yes");
  add("snapshots", job.snapshots.empty() ? "none" : job.snapshots);
  if (facts.snapshots) {
    add("every", time(job.settings.snapshot_interval));
    const auto& overtake_after = job.settings.overtake_after;
    add("overtake after", overtake_after ? time(*overtake_after) : "never");
    add("keep", std::to_string(job.settings.snapshots_kept));
  }
  add("heartbeat", time(job.settings.heartbeat_interval));
  add("dead letters", job.dead_letters);
  if (job.threads != 0) add("threads", std::to_string(job.threads));
  return facts;
}

void print_end(const RunCommand& command, const cluster::JobReport& report) {
  if (command.json) {
    auto summary = to_json(report, command.job);
    summary.erase("notes");  // They have been printed one by one.
    summary["event"] = "summary";
    std::fputs(line_of(summary).c_str(), stdout);
  }
  const bool bad = report.code != 0 && report.code != stopped_with_snapshot;
  // A job that has not begun has nothing to sum up.
  if (!command.quiet && !command.json && !report.nodes.empty()) print_summary(report);
  if (!report.why.empty() && (bad || !command.quiet)) {
    log(bad ? Level::error : Level::info, report.why);
  }
}

// Of several coordinators; what follows from how they are made is said before any is started.
Result<Done> check_coordinators(const RunCommand& command) {
  const cluster::JobOptions& job = command.job;
  const std::string what = concat("--coordinators ", command.coordinators, ": ");
  if (job.snapshots.empty()) {
    return Error{Errc::config, what +
                                   "want --snapshots DIR, found none: what another coordinator "
                                   "goes back to after a loss is there"};
  }
  if (job.transport == "mpi") {
    return Error{Errc::config, what +
                                   "workers that mpirun has started end with it, and it ends "
                                   "with its coordinator: none can be kept"};
  }
  const auto elsewhere = [](const cluster::HostOptions& host) { return !host.here; };
  if (job.hand_on_input && std::any_of(job.hosts.begin(), job.hosts.end(), elsewhere)) {
    return Error{Errc::config, what +
                                   "want a job whose input outlives this host, found --stdin and "
                                   "other hosts"};
  }
  if (command.watch_hosts && std::none_of(job.hosts.begin(), job.hosts.end(), elsewhere)) {
    return Error{Errc::config, what +
                                   "want other hosts from the start with --watch-hosts, found this "
                                   "one alone: those that come would not reach its coordinators"};
  }
  return Done{};
}

// What cannot be together with hosts that come and go, and why.
Result<Done> check_watch(const RunCommand& command) {
  const cluster::JobOptions& job = command.job;
  const auto refused = [](const std::string& why) {
    return Error{Errc::config, "--watch-hosts: " + why};
  };
  if (command.hostfile.empty()) return refused("want --hostfile FILE, found none");
  if (job.snapshots.empty()) {
    return refused("want --snapshots DIR, found none: workers go to another host with a snapshot");
  }
  if (job.transport == "mpi" || job.transport == "shm") {
    return refused(concat("want --transport auto or tcp, found ", job.transport,
                          job.transport == "mpi" ? ": mpirun knows its hosts from the start" : ""));
  }
  if (job.hand_on_input) return refused("want a job without --stdin: what reads it cannot move");
  return Done{};
}

Result<Done> check_leaving(const RunCommand& command) {
  if (!command.leave_with_host) return Done{};
  const auto refused = [](const std::string& why) {
    return Error{Errc::config, "--leave-with-host: want " + why};
  };
  if (command.coordinators == 1 && !command.join) {
    return refused("--coordinators 3 or 5, or --join, found neither: the job ends with its one");
  }
  if (command.hostfile.empty()) return refused("--hostfile FILE, found none");
  return Done{};
}

// Those that the user names, else those that a scheduler has given us. mpirun finds these by
// itself, and a node of a cluster has its own.
Result<Done> choose_hosts(RunCommand& command) {
  if (command.watch_hosts) {
    if (auto can = check_watch(command); !can) return can;
    command.job.watched_hostfile = std::filesystem::absolute(command.hostfile).string();
  }
  if (!command.hostfile.empty()) {
    auto list = cluster::read_hostfile(command.hostfile);
    if (!list) return Error{Errc::config, concat("--hostfile: ", list.error().message)};
    command.hosts = *std::move(list);
    // A host may have gone before the first look.
    if (command.watch_hosts) command.hosts->limited = false;
  }
  const bool by_itself = !command.groups.empty() || command.job.transport == "mpi" ||
                         std::getenv("PIRACEMA_NODE") != nullptr;
  if (!command.hosts && !by_itself) {
    auto allocated = cluster::allocated_hosts(std::getenv);
    if (!allocated) return allocated.error();
    command.hosts = *std::move(allocated);
    if (command.hosts && command.coordinators > 1) {
      return Error{Errc::config,
                   concat("--coordinators: want --hosts or --hostfile with it in ",
                          command.hosts->origin, ", as all of them have to start workers there")};
    }
    if (command.hosts && !command.rsh_given && !command.hosts->rsh.empty()) {
      command.job.rsh = command.hosts->rsh;
    }
    if (command.hosts && !command.quiet) {
      log(Level::info, concat("hosts of ", command.hosts->origin, ": ", command.hosts->text()));
    }
  }
  if (!command.hosts) return Done{};
  if (command.hosts->counted && !command.workers_given) {
    command.job.settings.slots =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(command.hosts->places(), slots_max));
  }
  return apply_hosts(*command.hosts, command.job);
}

// Workers have so long to find the next one.
constexpr std::chrono::minutes keep_workers{1};

int end_of(const Result<int>& code) {
  if (!code) return refuse(code.error());
  ExitBySignal::use(*code);
  return *code;
}

int join_job(RunCommand& command) {
  if (command.job.snapshots.empty()) {
    return refuse({Errc::config, "--join: want --snapshots DIR, that of the job, found none"});
  }
  if (command.job.keep_workers.count() == 0) command.job.keep_workers = keep_workers;
  ExitBySignal::hold();
  return end_of(command.convene(command));
}

}  // namespace

int run_command(RunCommand command) {
  // Whoever stops listening to what is told does not stop the job.
  refuse_writes_to_nobody();
  refuse_large_writes();
  if (command.json) {
    set_log_level(Level::warning);
    if (log_format() == LogFormat::brief) set_log_format(LogFormat::json);
  }
  if (auto can = check_leaving(command); !can) return refuse(can.error());
  if (command.join) return join_job(command);
  auto program = cluster::find_program(command.job.command.front());
  if (!program) return refuse(program.error());
  command.job.command.front() = *program;
  if (!command.costs.empty()) {
    auto earlier = read_costs(command.costs);
    if (!earlier) return refuse(earlier.error());
    command.job.settings.earlier = *std::move(earlier);
  }
  if (!command.groups.empty()) {
    if (auto applied = apply_groups(command.groups, command.job); !applied) {
      return refuse(applied.error());
    }
  }
  if (auto chosen = choose_hosts(command); !chosen) return refuse(chosen.error());
  const bool elsewhere = std::any_of(command.job.hosts.begin(), command.job.hosts.end(),
                                     [](const cluster::HostOptions& host) { return !host.here; });
  if (elsewhere || command.watch_hosts) {
    auto rsh = cluster::find_program(command.job.rsh.front());
    if (!rsh) return refuse(rsh.error());
    command.job.rsh.front() = *rsh;
  }
  if (command.job.transport == "mpi") {
    auto mpirun = cluster::find_program(command.job.mpirun.front());
    if (!mpirun) return refuse(mpirun.error());
    command.job.mpirun.front() = *mpirun;
  }
  command.job.output_to_error = command.json;
  if (command.coordinators > 1) {
    if (auto can = check_coordinators(command); !can) return refuse(can.error());
    if (command.job.keep_workers.count() == 0) command.job.keep_workers = keep_workers;
  }
  ExitBySignal::begin();
  if (command.coordinators > 1 && command.convene) return end_of(command.convene(command));
  // Of several coordinators the others write what there is to write only if they have led.
  const bool opens = command.is_first;

  // Opened now: that it cannot be written is known before the job, not after.
  std::ofstream stats;
  if (opens && !command.stats.empty()) {
    stats.open(command.stats);
    if (!stats) return refuse({Errc::config, with_errno("--stats " + command.stats)});
  }

  std::ofstream page;
  if (opens && !command.report.empty()) {
    page.open(command.report);
    if (!page) return refuse({Errc::config, with_errno("--report " + command.report)});
  }

  std::optional<observe::Board> board;
  std::unique_ptr<observe::HttpServer> server;
  if (command.http || !command.report.empty()) {
    board.emplace(facts_of(command));
    command.job.board = &*board;
  }
  // Of several coordinators none serves it: the command does, and asks whoever leads.
  if (command.http && command.coordinators == 1) {
    auto shown = show_job(command, std::make_shared<observe::JobPages>(*board));
    if (!shown) return refuse(shown.error());
    server = *std::move(shown);
  }
  // From here on: the line above has the token, and everybody on this machine may read these.
  if (board) keep_log(log_lines_kept);

  std::unique_ptr<Coordinators> coordinators;
  if (command.coordinators > 1) {
    auto gathered = command.gather(command);
    // Who has started this one is gone before there was a job.
    if (!gathered && gathered.error().code == Errc::lost) return 0;
    if (!gathered) return refuse(gathered.error());
    coordinators = *std::move(gathered);
  }
  cluster::JobReport report;
  {
    std::unique_ptr<cluster::JobObserver> observer;
    if (command.json) {
      observer = std::make_unique<JsonDisplay>();
    } else {
      observer = std::make_unique<Display>(command.job, command.quiet);
    }
    report = coordinators ? coordinators->run(command.job, *observer)
                          : cluster::run_job(command.job, *observer);
    ExitBySignal::use(report.code);
  }
  // What there is to say is said by the coordinator that has led in the end.
  const bool led = !coordinators || coordinators->has_led();
  if (led || !report.why.empty()) print_end(command, report);
  if (!led) stats.close(), page.close();
  if (led && !command.is_first) {
    if (!command.stats.empty()) stats.open(command.stats);
    if (!command.report.empty()) page.open(command.report);
  }
  if (stats.is_open()) {
    stats << to_json(report, command.job)
                 .dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace)
          << "\n";
    stats.close();
    if (!stats) log(Level::warning, with_errno("--stats " + command.stats));
  }
  if (page.is_open()) {
    page << observe::report_page(*board->latest());
    page.close();
    if (!page) log(Level::warning, with_errno("--report " + command.report));
  }
  if (coordinators) coordinators->end(report);
  return report.code;
}

}  // namespace piracema::tools
