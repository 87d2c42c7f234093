#include "tools/ckpt/daemon.h"

#include <sys/stat.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/host_name.h"
#include "base/log.h"
#include "base/parse.h"
#include "base/text.h"
#include "ckpt/capsule/criu.h"
#include "ckpt/capsule/user_namespace.h"
#include "ckpt/image/compression.h"
#include "ckpt/image/job_directory.h"
#include "ckpt/keeper/control.h"
#include "ckpt/queue/daemon_loop.h"
#include "ckpt/queue/queued_program.h"
#include "tools/arguments.h"
#include "tools/ckpt/daemon_page.h"
#include "tools/ckpt/program.h"
#include "tools/failure.h"
#include "tools/http_options.h"
#include "tools/log_options.h"

namespace piracema::tools {

using namespace ckpt;

namespace {

constexpr const char* footer =
    "Examples:\n"
    "  piracema ckpt submit --queue /shared/queue --dir /shared/job1 -- mpirun -n 4 ./app\n"
    "  piracema ckpt submit --queue /shared/queue --stream -- piracema run --snapshots /shared/s "
    "./app\n"
    "  piracema ckpt daemon --queue /shared/queue --windows /etc/windows --idle 10m\n"
    "  piracema ckpt queue --queue /shared/queue\n";

const char* state_of(const QueuedJob& job) {
  if (job.ended) return "ended";
  if (job.stream) return "queued";
  const auto directory = JobDirectory::look(job.directory);
  if (!directory) return "queued";
  return ask_keeper((*directory)->socket_path(), "outlook") ? "runs here" : "queued";
}

// A daemon runs all jobs as who has started it.
Result<Done> may_run_in_capsules(const std::string& queue) {
  if (auto may = check_may_make_capsules(); !may) return may;
  struct stat status {};
  if (!ordinary_user() || ::stat(queue.c_str(), &status) != 0 || status.st_uid == ::geteuid())
    return Done{};
  return Error{Errc::config, concat(queue,
                                    ": want root, or a queue of one's own: the daemon of "
                                    "this one runs what is no --stream as somebody else")};
}

// The same words in the same directory go on with what is there. Of a job that has ended nothing is
// left to do, and two that wait are one.
Result<Done> check_is_new(const QueuedJob& job, const QueueDirectory& queue) {
  if (job.stream) return Done{};
  const auto names = queue.names();
  if (!names) return names.error();
  for (const std::string& name : *names) {
    const auto other = queue.read(name);
    if (other && !other->ended && other->directory == job.directory) {
      return Error{Errc::config,
                   concat(job.directory, ": want a directory of its own, found that of job ", name,
                          ", which has not ended")};
    }
  }
  const auto directory = JobDirectory::look(job.directory);
  if (!directory) return Done{};
  const auto there = (*directory)->read();
  if (!there || !there->ended || there->command != job.command) return Done{};
  return Error{Errc::config, concat(job.directory,
                                    ": want a job that has not ended, found that these words "
                                    "have, with status ",
                                    *there->ended, "; name another directory, or remove this one")};
}

}  // namespace

CkptDaemon::CkptDaemon(CLI::App& ckpt) {
  const auto add = [&](const char* name, const char* help) {
    CLI::App* const app = ckpt.add_subcommand(name, help);
    app->footer(footer);
    app->add_option("--queue", queue_, "Directory of the queue; hosts may share it")->required();
    return app;
  };
  daemon_ = add("daemon", "Run the jobs of a queue while this machine is lent, until SIGTERM");
  lent_.add(*daemon_);
  daemon_->add_option("--slots", slots_, "Jobs at a time; default: 1")->check(CLI::Range(1, 1'000));
  add_log_options(*daemon_);
  add_http_options(*daemon_, "the queue on this host", http_, http_token_);
  daemon_->add_flag("--until-empty", until_empty_, "End when all jobs have ended");
  submit_ = add("submit", "Put a program into a queue: -- PROGRAM ARGS...");
  submit_->add_option("--dir", directory_, "Directory of the job: its images and its output");
  submit_->add_flag(
      "--stream", stream_,
      "It is piracema run --snapshots DIR ...,\nwhich is stopped and resumed without images");
  submit_->add_flag("--compress", compress_,
                    "Images take less room, and longer on a fast disk, on\nhosts that have zstd");
  list_ = add("queue", "List the jobs of a queue");
  list_->add_flag("--clear", clear_, "Forget those that have ended");
  list_->add_flag("--json", json_, "As JSON");
}

std::optional<int> CkptDaemon::run(const std::vector<std::string>& program) {
  if (daemon_->parsed()) return serve();
  if (submit_->parsed()) return submit(program);
  if (list_->parsed()) return list();
  return std::nullopt;
}

int CkptDaemon::serve() {
  DaemonRunSettings settings{.program = this_program(), .host = host_name()};
  settings.daemon.slots = slots_;
  settings.until_empty = until_empty_;
  if (!lent_.is_given()) return fail({Errc::usage, "want --windows, --idle or both"});
  const auto lent = lent_.settings();
  if (!lent) return fail(lent.error());
  settings.users = lent->users;
  settings.daemon.lending = lent->lending;
  if (lent->calendar) {
    settings.closes = [calendar = *lent->calendar] { return calendar.closes(); };
  }
  const auto risk = lent_.risk();
  if (!risk) return fail(risk.error());
  settings.risk = *risk;
  // What every job will want.
  if (auto usable = run_settings({}, {}, 2, false); !usable) return fail(usable.error());
  settings.can_compress = find_zstd().ok();
  std::unique_ptr<DaemonPage> page;
  if (!http_.empty()) {
    auto started = DaemonPage::start({.address = http_, .token_file = http_token_});
    if (!started) return fail(started.error());
    page = *std::move(started);
    log(Level::info, concat("the queue is shown at ", page->entrance()));
    keep_page_lines();
    settings.figures = [&page](const DaemonFigures& figures) { page->show(figures); };
  }
  auto queue = QueueDirectory::open(queue_);
  if (!queue) return fail(queue.error());
  const auto done = DaemonLoop(*std::move(queue), std::move(settings)).run();
  return done ? 0 : fail(done.error());
}

int CkptDaemon::submit(const std::vector<std::string>& program) {
  if (program.empty()) {
    return fail({Errc::usage, "want -- and the program to run; see piracema ckpt submit --help"});
  }
  if (directory_.empty() != stream_) {
    return fail({Errc::usage, "want one of --dir and --stream"});
  }
  // Who waits in a queue for hours would be told only then.
  if (!stream_) {
    if (auto may = may_run_in_capsules(queue_); !may) return fail(may.error());
  }
  QueuedJob job{.command = program,
                .working_directory = std::filesystem::current_path().string(),
                .stream = stream_,
                .compress = compress_};
  for (char** one = environ; *one != nullptr; ++one) job.environment.emplace_back(*one);
  if (!stream_) job.directory = std::filesystem::absolute(directory_).lexically_normal().string();
  if (auto runs = check_program(job); !runs) return fail(runs.error());
  auto queue = QueueDirectory::open(queue_);
  if (!queue) return fail(queue.error());
  if (auto is_new = check_is_new(job, *queue); !is_new) return fail(is_new.error());
  const auto name = queue->submit(job);
  if (!name) return fail(name.error());
  std::printf("%s\n", name->c_str());
  return 0;
}

int CkptDaemon::list() {
  auto queue = QueueDirectory::find(queue_);
  if (!queue) return fail(queue.error());
  const auto names = queue->names();
  if (!names) return fail(names.error());
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const std::string& name : *names) {
    const auto job = queue->read(name);
    if (!job) {
      log(Level::warning, job.error().message);
      continue;
    }
    if (clear_ && job->ended) {
      if (auto removed = queue->remove(name); !removed) return fail(removed.error());
      continue;
    }
    const std::string state = state_of(*job);
    nlohmann::ordered_json line{{"job", name}, {"state", state}, {"command", job->command}};
    if (job->ended) line["status"] = *job->ended;
    all.push_back(line);
    if (json_) continue;
    std::printf("%s  %s%s ", name.c_str(), state.c_str(),
                job->ended ? concat(" ", *job->ended).c_str() : "");
    for (const std::string& word : job->command) std::printf(" %s", word.c_str());
    std::printf("\n");
  }
  if (json_) {
    std::printf("%s\n", all.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace).c_str());
  }
  return 0;
}

}  // namespace piracema::tools
