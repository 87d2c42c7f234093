#include "jobs/node.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>

#include "base/log.h"
#include "base/text.h"
#include "store/disk/file_lock.h"

namespace piracema::jobs {

namespace {

using std::chrono::milliseconds;

// After it nobody knows whether an operation was executed, and it is asked anew.
constexpr milliseconds operation_timeout{2'000};
// A replica answers after ten seconds, if there is nothing to tell.
constexpr milliseconds held_timeout{12'000};
constexpr milliseconds replica_pause{1'000};
constexpr std::size_t last_words_bytes = 512;
// A replica that has run for less was started wrongly.
constexpr milliseconds replica_least_life{2'000};

std::string text_of(const Attempt& attempt) {
  return concat(attempt.job, ".", attempt.attempt, ".", attempt.part);
}

std::uint64_t draw_incarnation() {
  std::uint64_t drawn = 0;
  while (drawn == 0) {
    if (::getrandom(&drawn, sizeof drawn, 0) != sizeof drawn) drawn = 0;
  }
  return drawn;
}

}  // namespace

Result<std::unique_ptr<NodeProcess>> NodeProcess::open(Options options) {
  std::error_code failed;
  std::filesystem::create_directories(options.directory + "/jobs", failed);
  if (failed) return Error{Errc::io, concat(options.directory, ": ", failed.message())};
  auto lock = store::lock_file(options.directory + "/node.lock", "node");
  if (!lock) return lock.error();
  std::unique_ptr<NodeProcess> node(new NodeProcess(std::move(options), *std::move(lock)));
  if (auto started = node->start(); !started) return started.error();
  return node;
}

NodeProcess::NodeProcess(Options options, Fd lock)
    : options_(std::move(options)),
      lock_(std::move(lock)),
      runner_({.node = options_.name,
               .incarnation = draw_incarnation(),
               .slots = options_.slots,
               .directory = options_.directory,
               .address = options_.address}),
      leaving_(options_.directory + "/leaving", options_.risk) {
  if (!options_.lent.is_for_a_while()) return;
  lent_.emplace(
      poller_, options_.lent, [this] { return supervisors(); },
      [this](const ckpt::LentMachine::Seen& seen) { lent_seen(seen); });
}

NodeProcess::~NodeProcess() {
  client_.reset();
  for (auto& [attempt, running] : running_) poller_.forget(running.job.handle());
  if (replica_ && replica_->handle() >= 0) poller_.forget(replica_->handle());
}

Result<Done> NodeProcess::start() {
  auto signals = ckpt::SignalWatch::open(poller_, {SIGTERM, SIGINT, SIGHUP},
                                         [this](int) { step(JobRunner::LeaveAsked{}); });
  if (!signals) return signals.error();
  signals_ = *std::move(signals);
  if (auto opened = open_part_door(); !opened) return opened;
  if (!options_.replica.empty()) {
    if (auto started = start_replica(); !started) return started;
  }
  auto client = smr::Client::open(
      options_.configuration,
      {.id = options_.client, .key_file = options_.key_file, .timeout = operation_timeout});
  if (!client) return client.error();
  client_ = *std::move(client);
  return Done{};
}

Result<Done> NodeProcess::open_part_door() {
  auto door = PartDoor::open(
      poller_, part_door(),
      {.asked =
           [this](std::uint32_t number, PartRequest request) {
             asked_parts_[number] = {request.job, request.attempt, number};
             step(JobRunner::PartAsked{{asked_parts_[number], std::move(request.node),
                                        std::move(request.command), std::move(request.input)}});
           },
       .dropped =
           [this](std::uint32_t number) {
             const auto asked = asked_parts_.extract(number);
             if (!asked.empty()) step(JobRunner::PartDropped{asked.mapped()});
           }});
  if (!door) return door.error();
  parts_ = *std::move(door);
  return Done{};
}

Result<Done> NodeProcess::run() {
  // Nothing begins before it is known whether it may.
  if (lent_) lent_->look();
  step(JobRunner::Began{});
  while (!finished_ && !failed_) poller_.run_once(milliseconds(-1));
  if (failed_) return *failed_;
  return Done{};
}

// ---- a machine that is lent
// -------------------------------------------------------------------------

std::vector<pid_t> NodeProcess::supervisors() const {
  std::vector<pid_t> all;
  for (const auto& [attempt, running] : running_) all.push_back(running.job.pid());
  return all;
}

void NodeProcess::lent_seen(const ckpt::LentMachine::Seen& seen) {
  constexpr std::chrono::hours length_unless_known{8};
  const auto takes = leaving_.takes(supervisors(), seen.length.value_or(length_unless_known));
  step(JobRunner::LeavingTakes{takes.leaving, takes.ending});
  step(JobRunner::LentSeen{seen.is_lent, seen.gone_by, seen.why});
}

// ---- the replica
// ----------------------------------------------------------------------------------

Result<Done> NodeProcess::start_replica() {
  auto process = cluster::Process::start({.command = options_.replica});
  if (!process) return process.error();
  replica_.emplace(*std::move(process));
  replica_since_ = now();
  poller_.watch(replica_->handle(), EPOLLIN, [this](std::uint32_t) { replica_ended(); });
  return Done{};
}

void NodeProcess::replica_ended() {
  const int handle = replica_->handle();
  const auto exit = replica_->reap();
  if (!exit) return;
  poller_.forget(handle);
  replica_.reset();
  const std::string how = concat("the replica of the control plane that runs here ", exit->how);
  if (exit->status && now() - replica_since_ < replica_least_life) {
    failed_ = Error{Errc::config, concat(how, " as soon as it was started: it has said why")};
    return;
  }
  log(Level::warning, concat(how, ", and is started again"));
  poller_.at(now() + replica_pause, [this] {
    if (auto started = start_replica(); !started) failed_ = started.error();
  });
}

// ---- the runner
// --------------------------------------------------------------------------------------

void NodeProcess::step(const JobRunner::Event& event) {
  tell_logs();
  do_all(runner_.step(now(), event));
  wake_in_time();
}

void NodeProcess::do_all(const std::vector<JobRunner::Action>& actions) {
  for (const auto& action : actions) {
    std::visit([this](const auto& what) { act(what); }, action);
  }
}

void NodeProcess::tell_logs() {
  std::vector<JobRunner::Wrote> all;
  for (auto& [attempt, running] : running_) {
    // What parts say stays on their nodes.
    if (attempt.part != 0) continue;
    if (auto wrote = read_log(attempt, running)) all.push_back(*std::move(wrote));
  }
  for (const JobRunner::Wrote& wrote : all) do_all(runner_.step(now(), wrote));
}

void NodeProcess::wake_in_time() {
  if (timer_) poller_.cancel(*timer_);
  timer_.reset();
  const auto next = runner_.next_deadline();
  if (!next) return;
  timer_ = poller_.at(*next, [this] {
    timer_.reset();
    step(JobRunner::Woken{});
  });
}

void NodeProcess::act(const JobRunner::Ask& ask) {
  const std::uint64_t question = ask.question;
  client_->invoke_ordered(encode(ask.operation), [this, question](Result<Buffer> reply) {
    auto answer = reply ? decode_answer(*reply) : Result<Answer>(reply.error());
    poller_.post([this, question, answer = std::move(answer)] {
      step(JobRunner::Answered{question, answer});
    });
  });
}

void NodeProcess::act(const JobRunner::Await& await) {
  const std::uint64_t question = await.question;
  client_->invoke_held(encode(await.operation), held_timeout, [this, question](auto reply) {
    auto answer = reply ? decode_answer(*reply) : Result<Answer>(reply.error());
    poller_.post([this, question, answer = std::move(answer)] {
      step(JobRunner::Awaited{question, answer});
    });
  });
}

void NodeProcess::act(const JobRunner::Launch& launch) {
  const Attempt attempt = launch.attempt;
  const std::string place = concat(options_.directory, "/jobs/", attempt.job);
  const bool follows = attempt.part == 0 && follows_nodes(launch.spec);
  const std::string hostfile = follows ? concat(place, ".", attempt.attempt, ".hosts") : "";
  if (follows) write_hostfile(hostfile, launch.hosts, launch.spec.slots);
  Supervised::What what{.attempt = attempt,
                        .command = launch.spec.command,
                        .environment = environment_of(launch, hostfile),
                        .directory = launch.spec.directory.empty() ? place : launch.spec.directory,
                        .log = concat(place, ".", attempt.attempt,
                                      attempt.part == 0 ? "" : concat(".", attempt.part), ".log"),
                        .input = launch.input,
                        .until = until_,
                        .niceness = options_.niceness,
                        .supervisor = options_.supervisor};
  log(Level::info, concat("job ", attempt.job, " (", launch.spec.name, ") begins, attempt ",
                          attempt.attempt, attempt.part == 0 ? "" : ", a part of it"));
  auto started = Supervised::start(what);
  if (!started) {
    const Ended ended{attempt, End::not_started, 127, started.error().message};
    poller_.post([this, ended] { over(ended); });
    return;
  }
  const auto [at, added] = running_.emplace(
      attempt, Running{*std::move(started), std::move(what.log), hostfile, launch.spec.slots});
  poller_.watch(at->second.job.handle(), EPOLLIN, [this, attempt](std::uint32_t) {
    const auto found = running_.find(attempt);
    if (auto ended = found->second.job.take_end()) over(*std::move(ended));
  });
}

// A stream reads where its hosts are, and how it gets there, from its environment.
std::vector<std::string> NodeProcess::environment_of(const JobRunner::Launch& launch,
                                                     const std::string& hostfile) const {
  const Attempt& attempt = launch.attempt;
  std::vector<std::string> environment;
  if (!launch.hosts.empty()) {
    std::string hosts;
    for (const std::string& host : launch.hosts) hosts += concat(hosts.empty() ? "" : ",", host);
    environment = {concat("PIRACEMA_HOSTS=", hosts), concat("PIRACEMA_RSH=", options_.rsh),
                   concat("PIRACEMA_WORKERS=", launch.hosts.size() * launch.spec.slots)};
  }
  if (!hostfile.empty()) environment.push_back(concat("PIRACEMA_HOSTFILE=", hostfile));
  for (const std::string& own : launch.spec.environment) environment.push_back(own);
  environment.push_back(concat("PIRACEMA_NODE=", options_.name));
  environment.push_back(concat("PIRACEMA_NODE_DOOR=", part_door()));
  environment.push_back(concat("PIRACEMA_JOB=", attempt.job));
  environment.push_back(concat("PIRACEMA_ATTEMPT=", attempt.attempt));
  if (attempt.part == 0 || is_beside(attempt)) {
    environment.push_back(concat("PIRACEMA_HTTP_FILE=", address_file_of(attempt)));
  }
  return environment;
}

// The command is shown by HTTP to what is run beside it, and to nobody else.
std::string NodeProcess::address_file_of(const Attempt& attempt) const {
  return concat(options_.directory, "/jobs/", attempt.job, ".", attempt.attempt, ".http");
}

// Whoever reads it sees the one before or this one. What cannot be written the command does not
// hear of: it goes on with the nodes that it knows.
void NodeProcess::write_hostfile(const std::string& file, const std::vector<std::string>& hosts,
                                 std::uint32_t slots) {
  std::error_code failed;
  std::filesystem::create_directories(std::filesystem::path(file).parent_path(), failed);
  const std::string next = file + ".new";
  std::ofstream out(next);
  for (const std::string& host : hosts) out << host << " slots=" << slots << '\n';
  out.close();
  if (out) std::filesystem::rename(next, file, failed);
  if (!out || failed) log(Level::warning, concat("the file of hosts '", file, "' is not written"));
}

void NodeProcess::act(const JobRunner::HostsChanged& changed) {
  const auto found = running_.find(changed.attempt);
  if (found == running_.end() || found->second.hostfile.empty()) return;
  log(Level::info, concat("job ", changed.attempt.job, " has other nodes"));
  write_hostfile(found->second.hostfile, changed.hosts, found->second.slots);
}

void NodeProcess::act(const JobRunner::PartOver& over) {
  asked_parts_.erase(over.ended.attempt.part);
  parts_->answer(over.ended.attempt.part, over.ended);
}

// What it has written last, for whoever has asked for it and does not see its log.
std::string NodeProcess::last_words(const Running& running, std::size_t most) {
  const Fd file(::open(running.log.c_str(), O_RDONLY | O_CLOEXEC));
  std::string text(most, '\0');
  const off_t size = file ? ::lseek(file.get(), 0, SEEK_END) : 0;
  const ssize_t count = ::pread(file.get(), text.data(), text.size(),
                                std::max<off_t>(0, size - static_cast<off_t>(text.size())));
  text.resize(static_cast<std::size_t>(std::max<ssize_t>(0, count)));
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

void NodeProcess::over(Ended ended) {
  log(Level::info, concat("job ", ended.attempt.job,
                          ended.attempt.part == 0 ? " " : ", a part of it, ", ended.why));
  leaving_.left(text_of(ended.attempt), ended.end == End::exited && ended.code != 128 + SIGKILL);
  const auto found = running_.find(ended.attempt);
  if (found != running_.end()) {
    tell_logs();
    tell_last_words(ended, found->second);
    poller_.forget(found->second.job.handle());
    running_.erase(found);
  }
  step(JobRunner::Over{std::move(ended)});
}

void NodeProcess::tell_last_words(Ended& ended, const Running& running) const {
  // One that was killed has left it there.
  if (ended.attempt.part == 0) {
    ::unlink(address_file_of(ended.attempt).c_str());
  } else if (is_beside(ended.attempt)) {
    if (const auto said = last_words(running, why_bytes_max); !said.empty()) ended.why = said;
    // Whoever has asked for it is told all of it.
    ::unlink(running.log.c_str());
  } else if (ended.code != 0) {
    const auto said = last_words(running, last_words_bytes);
    ended.why +=
        concat(" on the node ", options_.name, said.empty() ? "" : "; it has said: ", said);
  }
}

// What is too much is not told, and stays in the file.
std::optional<JobRunner::Wrote> NodeProcess::read_log(const Attempt& attempt, Running& running) {
  const Fd file(::open(running.log.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat status {};
  if (!file || ::fstat(file.get(), &status) != 0) return std::nullopt;
  const auto size = static_cast<std::uint64_t>(status.st_size);
  if (size <= running.read) return std::nullopt;
  const std::uint64_t from =
      std::max(running.read, size - std::min(size, std::uint64_t{output_bytes_max}));
  std::string text(size - from, '\0');
  const ssize_t count = ::pread(file.get(), text.data(), text.size(), static_cast<off_t>(from));
  if (count <= 0) return std::nullopt;
  text.resize(static_cast<std::size_t>(count));
  running.read = from + text.size();
  return JobRunner::Wrote{attempt, from, std::move(text)};
}

void NodeProcess::act(const JobRunner::Terminate& terminate) {
  const auto found = running_.find(terminate.attempt);
  if (found == running_.end()) return;
  Supervised& job = found->second.job;
  if (!terminate.at_once)
    leaving_.asked(text_of(terminate.attempt), job.pid(), running_.size() - 1);
  job.terminate(terminate.at_once);
}

void NodeProcess::act(const JobRunner::Extend& extend) {
  until_ = extend.until;
  for (auto& [attempt, running] : running_) running.job.extend(until_);
}

void NodeProcess::act(const JobRunner::Tell& tell) {
  log(tell.is_warning ? Level::warning : Level::info, tell.text);
}

void NodeProcess::act(const JobRunner::Finish&) { finished_ = true; }

}  // namespace piracema::jobs
