#include "jobs/node.h"

#include <signal.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <utility>

#include "base/log.h"
#include "base/text.h"
#include "host/mpi_hosts.h"
#include "jobs/local/job_account.h"
#include "os/exit_code.h"
#include "store/disk/file_lock.h"

namespace piracema::jobs {

namespace {

using std::chrono::milliseconds;

// After it nobody knows whether an operation was executed, and it is asked anew.
constexpr milliseconds operation_timeout{2'000};
// A replica answers after ten seconds, if there is nothing to tell.
constexpr milliseconds held_timeout{12'000};
constexpr milliseconds replica_pause{1'000};
constexpr milliseconds look_for_room_every{1'000};
// Of a job: its directory and what it says. Of a replica: more than its next log file and image.
constexpr std::uint64_t jobs_room = std::uint64_t{1} << 20, replica_room = std::uint64_t{64} << 20;
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
  if (auto made = JobFiles(options.directory).prepare(::geteuid() == 0); !made) return made.error();
  auto lock = store::lock_file(options.directory + "/node.lock", "node");
  if (!lock) return lock.error();
  std::unique_ptr<NodeProcess> node(new NodeProcess(std::move(options), *std::move(lock)));
  if (auto started = node->start(); !started) return started.error();
  return node;
}

NodeProcess::NodeProcess(Options options, Fd lock)
    : options_(std::move(options)),
      files_(options_.directory),
      environment_({options_.name, options_.rsh}, files_),
      incarnation_(draw_incarnation()),
      lock_(std::move(lock)),
      runner_({.node = options_.name,
               .incarnation = incarnation_,
               .slots = options_.slots,
               .directory = options_.directory,
               .address = options_.address,
               .kind = options_.kind,
               .site = options_.site}),
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
  streams_ = std::make_unique<StreamReporter>(
      poller_, files_, StreamReporter::Node{options_.name, incarnation_},
      [this](const TellStreams& tell, std::function<void(Result<Answer>)> done) {
        client_->invoke_unordered(encode(tell), [done = std::move(done)](Result<Buffer> reply) {
          done(reply ? decode_answer(*reply) : Result<Answer>(reply.error()));
        });
      });
  return Done{};
}

Result<Done> NodeProcess::open_part_door() {
  auto door = PartDoor::open(
      poller_, files_.door(), is_for_others(),
      {.knows =
           [this](uid_t user) {
             return user == ::geteuid() ||
                    std::any_of(running_.begin(), running_.end(),
                                [&](const auto& one) { return one.second.user == user; });
           },
       .asked = [this](std::uint32_t number, uid_t user,
                       PartRequest request) { part_asked(number, user, std::move(request)); },
       .dropped =
           [this](std::uint32_t number) {
             const auto asked = asked_parts_.extract(number);
             if (!asked.empty()) step(JobRunner::PartDropped{asked.mapped()});
           }});
  if (!door) return door.error();
  parts_ = *std::move(door);
  return Done{};
}

bool NodeProcess::is_for_others() const { return ::geteuid() == 0; }

// A part runs as whoever its job runs as: so only that one may ask for it.
void NodeProcess::part_asked(std::uint32_t number, uid_t user, PartRequest request) {
  const Attempt part{request.job, request.attempt, number};
  const bool runs_here = std::any_of(running_.begin(), running_.end(), [&](const auto& one) {
    const auto& [attempt, running] = one;
    return attempt.job == part.job && attempt.attempt == part.attempt && !is_beside(attempt) &&
           (user == running.user || user == ::geteuid());
  });
  if (!runs_here) {
    const auto why = concat("job ", part.job, " does not run here as ",
                            cluster::Account::name_of(user), ", who has asked for a part of it");
    return parts_->answer(number, Ended{part, End::not_started, no_way_there, why});
  }
  asked_parts_[number] = part;
  step(JobRunner::PartAsked{
      {part, std::move(request.node), std::move(request.command), std::move(request.input)}});
}

Result<Done> NodeProcess::run() {
  // Nothing begins before it is known whether it may.
  if (lent_) lent_->look();
  look_for_room();
  step(JobRunner::Began{});
  while (!finished_ && !failed_) poller_.run_once(milliseconds(-1));
  if (failed_) return *failed_;
  return Done{};
}

// ---- a machine that is lent ----

std::vector<pid_t> NodeProcess::supervisors() const {
  std::vector<pid_t> all;
  for (const auto& [attempt, running] : running_) all.push_back(running.job.pid());
  return all;
}

void NodeProcess::lent_seen(const ckpt::LentMachine::Seen& seen) {
  constexpr std::chrono::hours length_unless_known{8};
  const auto takes = leaving_.takes(supervisors(), seen.length.value_or(length_unless_known));
  step(JobRunner::LeavingTakes{takes.leaving, takes.ending});
  step(JobRunner::LentSeen{seen.is_lent, seen.gone_by, seen.why, seen.suspended_until, seen.keeps});
}

// ---- room ----

// A job that finds no room fails at once, and the next one comes to where that place became free:
// such a node would take all that wait, one after the other.
void NodeProcess::look_for_room() {
  poller_.at(now() + look_for_room_every, [this] { look_for_room(); });
  step(JobRunner::RoomSeen{files_.has_room(jobs_room)});
}

// ---- the replica ----

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
  const bool was_short = exit->status && now() - replica_since_ < replica_least_life;
  // Where there is no room it ends as soon as it is started, again and again, until there is.
  if (was_short && files_.has_room(replica_room)) {
    failed_ = Error{Errc::config, concat(how, " as soon as it was started: it has said why")};
    return;
  }
  log(Level::warning, concat(how, ", and is started again"));
  poller_.at(now() + replica_pause, [this] {
    if (auto started = start_replica(); !started) failed_ = started.error();
  });
}

// ---- the runner ----

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
    if (!running.tells) continue;
    if (auto piece = running.log.next()) {
      all.push_back({attempt, piece->from, std::move(piece->text)});
    }
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
  log(Level::info,
      concat("job ", attempt.job, " (", launch.spec.name, ") of the user ", launch.owner.user,
             launch.joins ? " goes on, attempt " : " begins, attempt ", attempt.attempt,
             attempt.part == 0 ? "" : ", a part of it"));
  auto started = start_job(launch);
  if (!started) {
    // Room may have gone since it was looked for: that is no failure of the job's.
    const bool is_ours = !files_.has_room(jobs_room);
    if (is_ours) poller_.post([this] { step(JobRunner::RoomSeen{false}); });
    const Ended ended{attempt, is_ours ? End::fenced : End::not_started, 127,
                      concat(started.error().message, " (node ", options_.name, ")")};
    poller_.post([this, ended] { over(ended); });
    return;
  }
  const auto [at, added] = running_.emplace(attempt, *std::move(started));
  poller_.watch(at->second.job.handle(), EPOLLIN, [this, attempt](std::uint32_t) {
    const auto found = running_.find(attempt);
    if (auto ended = found->second.job.take_end()) over(*std::move(ended));
  });
  if (attempt.part == 0) streams_->began(attempt, at->second.user);
}

Result<NodeProcess::Running> NodeProcess::start_job(const JobRunner::Launch& launch) {
  const Attempt& attempt = launch.attempt;
  auto account = account_of(launch.owner, ::geteuid());
  if (!account) return account.error();
  const auto* const other = *account ? &**account : nullptr;
  if (auto made = files_.make(attempt.job, other); !made) return made.error();
  const bool follows = follows_nodes(launch.spec) && !launch.hosts.empty();
  const std::string hostfile = follows ? files_.hostfile_of(attempt) : "";
  if (follows) JobFiles::write_hosts(hostfile, launch.hosts, launch.spec.slots);
  if (attempt.part == 0 && launch.spec.nodes > 1) {
    if (auto told = tell_mpi(launch); !told) return told.error();
  }
  const std::string log = files_.log_of(attempt);
  auto started =
      Supervised::start({.attempt = attempt,
                         .command = launch.spec.command,
                         .environment = environment_.of(launch, *account, hostfile),
                         .directory = launch.spec.directory.empty() ? files_.place_of(attempt.job)
                                                                    : launch.spec.directory,
                         .log = log,
                         .input = launch.input,
                         .until = until_,
                         .niceness = options_.niceness,
                         .account = *account,
                         .supervisor = options_.supervisor});
  if (!started) return started.error();
  return Running{
      .job = *std::move(started),
      .log = JobLog(log),
      .hostfile = hostfile,
      .slots = launch.spec.slots,
      .user = other != nullptr ? other->uid : ::geteuid(),
      .tells = attempt.part == 0 || (outlives_first_node(launch.spec) && !is_beside(attempt))};
}

Result<Done> NodeProcess::tell_mpi(const JobRunner::Launch& launch) const {
  const std::string folder = files_.mpi_of(launch.attempt);
  if (::mkdir(folder.c_str(), 0755) != 0 && errno != EEXIST) {
    return Error{Errc::io, with_errno(folder)};
  }
  cluster::MpiHosts mpi{.hosts = {}, .rsh = options_.rsh};
  for (const HostOfOrder& host : launch.hosts) {
    mpi.hosts.push_back({host.name, launch.spec.slots});
  }
  return mpi.write(folder);
}

void NodeProcess::act(const JobRunner::HostsChanged& changed) {
  const auto found = running_.find(changed.attempt);
  if (found == running_.end() || found->second.hostfile.empty()) return;
  log(Level::info, concat("job ", changed.attempt.job, " has other nodes"));
  JobFiles::write_hosts(found->second.hostfile, changed.hosts, found->second.slots);
}

void NodeProcess::act(const JobRunner::PartOver& over) {
  asked_parts_.erase(over.ended.attempt.part);
  parts_->answer(over.ended.attempt.part, over.ended);
}

void NodeProcess::over(Ended ended) {
  log(Level::info, concat("job ", ended.attempt.job,
                          ended.attempt.part == 0 ? " " : ", a part of it, ", ended.why));
  leaving_.left(text_of(ended.attempt),
                ended.end == End::exited && ended.code != exit_code_of_signal(SIGKILL));
  const auto found = running_.find(ended.attempt);
  if (found != running_.end()) {
    streams_->ended(ended.attempt);
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
    ::unlink(files_.address_file_of(ended.attempt).c_str());
  } else if (is_beside(ended.attempt)) {
    if (const auto said = running.log.last_words(why_bytes_max); !said.empty()) ended.why = said;
    // Whoever has asked for it is told all of it.
    running.log.remove();
  } else if (ended.code != 0) {
    const auto said = running.log.last_words(last_words_bytes);
    ended.why +=
        concat(" on the node ", options_.name, said.empty() ? "" : "; it has said: ", said);
  }
  if (ended.attempt.part != 0 && !running.hostfile.empty()) ::unlink(running.hostfile.c_str());
}

void NodeProcess::act(const JobRunner::Leaves& leaves) {
  const auto found = running_.find(leaves.attempt);
  if (found == running_.end()) return;
  if (!leaves.does) return leaving_.stays(text_of(leaves.attempt));
  leaving_.asked(text_of(leaves.attempt), found->second.job.pid(), running_.size() - 1);
}

void NodeProcess::act(const JobRunner::Suspend& suspend) {
  const auto found = running_.find(suspend.attempt);
  if (found != running_.end()) found->second.job.suspend(suspend.by_itself);
}

void NodeProcess::act(const JobRunner::Resume& resume) {
  const auto found = running_.find(resume.attempt);
  if (found != running_.end()) found->second.job.resume();
}

void NodeProcess::act(const JobRunner::Terminate& terminate) {
  const auto found = running_.find(terminate.attempt);
  if (found != running_.end()) found->second.job.terminate(terminate.at_once);
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
