#include "ckpt/keeper_loop.h"

#include <signal.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <utility>

#include "base/log.h"
#include "base/text.h"
#include "ckpt/open_file_record.h"
#include "ckpt/outlook.h"
#include "ckpt/process_tree.h"

namespace piracema::ckpt {

namespace {

/// Between two forecasts while a job runs: its memory grows, and the store has other users.
constexpr Time forecast_interval = std::chrono::seconds(1);
/// With less time left before the last dump the store is looked at more often.
constexpr double soon_seconds = 30;
constexpr std::int64_t leave_ms_max = 86'400'000;
/// What is not remembered by then is forgotten.
constexpr Time remember_limit = std::chrono::seconds(2);

double seconds_between(Time from, Time to) {
  return std::chrono::duration<double>(to - from).count();
}

// In the page cache, to be written (Dirty and Writeback of /proc/meminfo).
double dirty_bytes() {
  std::ifstream file("/proc/meminfo");
  double sum = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("Dirty:") || line.starts_with("Writeback:")) {
      sum += std::stod(line.substr(line.find(':') + 1)) * 1024;
    }
  }
  return sum;
}

std::uint64_t size_of(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 ? static_cast<std::uint64_t>(status.st_size) : 0;
}

}  // namespace

int exit_status_of(int wait_status) {
  return WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : 128 + WTERMSIG(wait_status);
}

KeeperLoop::KeeperLoop(std::unique_ptr<JobDirectory> directory, JobFile job, RunSettings settings)
    : directory_(std::move(directory)),
      job_(std::move(job)),
      settings_(std::move(settings)),
      store_(*directory_),
      keeper_(settings_.keeper) {}

KeeperLoop::~KeeperLoop() { act(KillCapsule{}); }

void KeeperLoop::note(const std::string& text) const {
  if (!settings_.quiet) log(Level::info, text);
}

Result<Done> KeeperLoop::watch_signals() {
  sigset_t wanted;
  ::sigemptyset(&wanted);
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) ::sigaddset(&wanted, number);
  if (settings_.warned) ::sigaddset(&wanted, SIGUSR1);
  ::sigprocmask(SIG_BLOCK, &wanted, nullptr);
  ::signal(SIGPIPE, SIG_IGN);
  signals_ = Fd(::signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!signals_) return Error{Errc::io, with_errno("signals")};
  poller_.watch(signals_.get(), EPOLLIN, [this](std::uint32_t) {
    signalfd_siginfo signal;
    while (::read(signals_.get(), &signal, sizeof signal) == sizeof signal) {
      if (signal.ssi_signo != SIGUSR1 || settings_.warned()) tell(Interrupted{});
    }
  });
  return Done{};
}

Result<Done> KeeperLoop::begin() {
  if (auto met = meet_store(); !met) return met;
  if (auto watched = watch_signals(); !watched) return watched;
  auto output = OutputTail::open(directory_->stdout_path(), size_of(directory_->stdout_path()),
                                 STDOUT_FILENO);
  if (!output) return output.error();
  output_ = *std::move(output);
  poller_.watch(output_->watched(), EPOLLIN, [this](std::uint32_t) { pass_on(*output_, false); });
  if (!job_.one_output) {
    auto error = OutputTail::open(directory_->stderr_path(), size_of(directory_->stderr_path()),
                                  STDERR_FILENO);
    if (!error) return error.error();
    error_ = *std::move(error);
    poller_.watch(error_->watched(), EPOLLIN, [this](std::uint32_t) { pass_on(*error_, false); });
  }
  auto door =
      ControlDoor::open(poller_, directory_->socket_path(),
                        [this](Caller caller, const std::string& word) { asked(caller, word); });
  if (!door) return door.error();
  door_ = *std::move(door);
  return Done{};
}

Result<Finish> KeeperLoop::run() {
  if (auto begun = begin(); !begun) return begun.error();
  for (const KeeperAction& action : keeper_.begin(now())) {
    std::visit([this](const auto& a) { act(a); }, action);
  }
  set_timer();
  if (settings_.window) look_for_window();
  while (!finish_) poller_.run_once(std::chrono::milliseconds(-1));
  drain(true);
  if (scout_) scout_->finish(remember_limit);
  return *finish_;
}

// Before there is a capsule: the scout is a fork of a process that has nothing yet.
Result<Done> KeeperLoop::meet_store() {
  const auto place = store_place(directory_->path());
  if (!place) return place.error();
  const auto past = read_past_dumps(*place);
  if (past) {
    predictor_ = learn_from(*past);
  } else {
    log(Level::warning, concat(past.error().message, "; nothing is known of this store"));
  }
  auto guard = Guard::start();
  if (!guard) return guard.error();
  guard_ = *std::move(guard);
  auto scout = StoreScout::start(*place);
  if (!scout) return scout.error();
  scout_ = *std::move(scout);
  poller_.watch(scout_->handle(), EPOLLIN, [this](std::uint32_t) { hear_scout(); });
  return Done{};
}

void KeeperLoop::hear_scout() {
  const auto look = scout_->receive();
  if (look) {
    look_ = *look;
    probing_since_ = look->probing ? std::optional(now()) : std::nullopt;
  } else if (look.error().code == Errc::lost) {
    poller_.forget(scout_->handle());
    scout_.reset();
  }
}

void KeeperLoop::tell(const KeeperEvent& event) {
  for (const KeeperAction& action : keeper_.step(now(), event)) {
    std::visit([this](const auto& a) { act(a); }, action);
  }
  if (!finish_) set_timer();
}

void KeeperLoop::set_timer() {
  if (timer_) poller_.cancel(*timer_);
  timer_.reset();
  const auto due = keeper_.wake();
  if (!due) return;
  timer_ = poller_.at(*due, [this] {
    timer_.reset();
    tell(Tick{});
  });
}

void KeeperLoop::look_for_window() {
  const auto span = settings_.window(std::max(now(), windows_done_));
  if (!span) {
    finish_ = Finish{End::stopped, 0, "no window follows"};
    return;
  }
  if (span->opens > now()) {
    note(concat("waits for its window, which opens in ",
                human_seconds(std::chrono::duration<double>(span->opens - now()).count())));
    poller_.at(span->opens, [this] { look_for_window(); });
    return;
  }
  windows_done_ = closes_ = span->closes;
  opened_ = now();
  forecast();
  tell(WindowOpened{span->closes});
}

DumpFeatures KeeperLoop::features() const {
  DumpFeatures features{.dirty_bytes = dirty_bytes(),
                        .writers = 1.0 + look_.writers,
                        .others_bytes = look_.bytes,
                        .probe = look_.probe,
                        .at = static_cast<double>(std::time(nullptr))};
  // A store that has not answered yet is as slow as that at least.
  if (probing_since_) {
    features.probe = std::max(features.probe, seconds_between(*probing_since_, now()));
  }
  if (capsule_) {
    const JobMemory memory = job_memory(capsule_->pid());
    features.bytes = static_cast<double>(memory.resident);
    features.swapped_bytes = static_cast<double>(memory.swapped);
    features.processes = static_cast<double>(memory.processes);
  }
  if (hosts_) {
    const JobMemory memory = hosts_->memory();
    features.bytes = static_cast<double>(memory.resident);
    features.swapped_bytes = static_cast<double>(memory.swapped);
    features.processes = static_cast<double>(memory.processes);
    features.writers += static_cast<double>(settings_.several.hosts.size() - 1);
  }
  return features;
}

Outlook KeeperLoop::outlook() const {
  const DumpFeatures known = features();
  return {known, predictor_.forecast(known), predictor_.learnt()};
}

void KeeperLoop::forecast() {
  if (forecast_timer_) poller_.cancel(*forecast_timer_);
  forecast_timer_ = poller_.at(now() + forecast_interval, [this] {
    forecast_timer_.reset();
    if (keeper_.in_capsule()) forecast();
  });
  const Outlook next = outlook();
  const double left = seconds_between(now(), closes_);
  const Plan plan =
      plan_dump({.risk = settings_.risk}, seconds_between(opened_, closes_), left, next.forecast);
  if (scout_ && settings_.window) {
    scout_->announce(plan.start_in, left, next.features.bytes, plan.start_in < soon_seconds);
  }
  tell(Forecast{std::chrono::duration_cast<Time>(std::chrono::duration<double>(plan.duration))});
}

void KeeperLoop::learn(double seconds) {
  if (!dumping_ || seconds <= 0) return;
  const PastDump dump{dumping_->first, seconds};
  dumping_.reset();
  predictor_.learn(dump.features, dump.seconds);
  if (scout_) scout_->remember(dump);
}

void KeeperLoop::act(const OpenCapsule&) {
  if (!settings_.several.hosts.empty()) {
    auto hosts = Hosts::open(
        poller_, *directory_, job_.id, settings_.several,
        [this](const Report& report) { hear(report); },
        [this](const std::string& why) { tell(CapsuleDied{why}); });
    if (hosts) {
      hosts_ = *std::move(hosts);
      return;
    }
    return poller_.post([this, why = hosts.error().message] { tell(CapsuleReady{false, why}); });
  }
  auto capsule = Capsule::open(
      {.criu = settings_.criu, .hook = settings_.program, .host_name = job_.host_name});
  if (!capsule) {
    // Not from within the keeper's own step.
    return poller_.post([this, why = capsule.error().message] { tell(CapsuleReady{false, why}); });
  }
  capsule_ = *std::move(capsule);
  set_guard();
  poller_.watch(capsule_->handle(), EPOLLIN, [this](std::uint32_t) { hear_capsule(); });
}

void KeeperLoop::act(const KillCapsule&) {
  if (hosts_) {
    hosts_.reset();
    drain();
  }
  if (!capsule_) return;
  poller_.forget(capsule_->handle());
  if (guard_) guard_->forget();
  capsule_->kill();
  capsule_.reset();
  drain();
}

Result<std::vector<Manifest>> KeeperLoop::images() {
  const auto all = store_.list();
  if (!all) return all.error();
  std::vector<Manifest> good;
  for (const auto& one : *all) {
    if (!one.manifest) {
      log(Level::warning,
          concat("image ", one.image, " is passed by: ", one.manifest.error().message));
    } else if (one.manifest->job != job_.id) {
      log(Level::warning, concat("image ", one.image, " is passed by: it is another job's"));
    } else {
      good.push_back(*one.manifest);
    }
  }
  if (good.empty() && !all->empty()) {
    return Error{Errc::lost, "no image is left that this job can go on from"};
  }
  std::reverse(good.begin(), good.end());
  return good;
}

Result<Done> KeeperLoop::prepare_restore(const Manifest& manifest, Record& record) {
  if (auto verified = store_.verify(manifest); !verified) return verified;
  auto read = store_.record(manifest);
  if (!read) return read.error();
  record = *std::move(read);
  if (auto back = roll_back(record, directory_->parts_path(manifest.image)); !back) return back;
  output_->cut_to(size_of(directory_->stdout_path()));
  if (error_) error_->cut_to(size_of(directory_->stderr_path()));
  return Done{};
}

// Each host rolls back the files that its part had open; those of the output tell how much of it
// was passed on.
Result<Done> KeeperLoop::prepare_restore_on_hosts(const Manifest& manifest) {
  if (auto verified = store_.verify(manifest); !verified) return verified;
  const auto record = store_.record_of_host(manifest, 1);
  if (!record) return record.error();
  for (const FileRecord& file : record->files) {
    if (file.path == directory_->stdout_path()) output_->cut_to(file.bytes);
    if (error_ && file.path == directory_->stderr_path()) error_->cut_to(file.bytes);
  }
  return Done{};
}

Result<Done> KeeperLoop::send(Order order) {
  if (hosts_) return hosts_->send(std::move(order));
  return capsule_->send(std::move(order));
}

void KeeperLoop::act(const Launch& launch) {
  const auto images_ = images();
  const std::string log_path = directory_->log_path() + "/launch";
  Order order{.working_directory = job_.working_directory,
              .output = directory_->stdout_path(),
              .error = job_.one_output ? directory_->stdout_path() : directory_->stderr_path(),
              .log = log_path};
  restoring_.reset();
  Result<Done> sent = Done{};
  more_images_ = images_ && launch.attempt + 1 < images_->size();
  if (!images_) {
    sent = images_.error();
  } else if (launch.attempt < images_->size()) {
    restoring_ = (*images_)[launch.attempt];
    Record record;
    sent = hosts_ ? prepare_restore_on_hosts(*restoring_) : prepare_restore(*restoring_, record);
    order.kind = OrderKind::restore;
    order.root = record.root;
    order.parts = directory_->parts_path(restoring_->image);
  } else {
    order.command = job_.command;
    // What an earlier try has written before it was saved for the first time is not this one's.
    for (const std::string& path : {order.output, order.error}) {
      if (size_of(path) != 0) std::filesystem::resize_file(path, 0);
    }
    output_->cut_to(0);
    if (error_) error_->cut_to(0);
  }
  if (sent) sent = send(std::move(order));
  if (!sent) {
    poller_.post(
        [this, why = sent.error().message, more = more_images_] { launched(false, more, why); });
  }
}

void KeeperLoop::act(const Dump& dump) {
  dumping_ = std::pair(features(), now());
  auto image = store_.begin();
  Result<Done> sent = Done{};
  if (image) {
    image_ = *image;
    sent = send({.kind = OrderKind::dump,
                 .parts = directory_->parts_path(image_),
                 .log = concat(directory_->log_path(), "/save-", image_ % 8),
                 .stop = dump.stop,
                 .directory = directory_->path(),
                 .image = image_,
                 .job = job_.id});
  } else {
    sent = image.error();
  }
  if (!sent) poller_.post([this, why = sent.error().message] { tell(Dumped{false, why, {}}); });
}

void KeeperLoop::act(const Answer& answer) { door_->answer(answer.caller, answer.ok, answer.text); }

void KeeperLoop::act(const HandedBack& back) {
  note(concat("the machine is handed back; ", back.why));
  // One that was given up would have taken longer than it had.
  if (!back.saved && dumping_) {
    learn(1.5 * std::chrono::duration<double>(now() - dumping_->second).count());
  }
  if (settings_.window)
    poller_.post([this] {
      if (!finish_) look_for_window();
    });
}

void KeeperLoop::act(const Finish& finish) { finish_ = finish; }

void KeeperLoop::act(const Remark& remark) { log(Level::warning, remark.text); }

void KeeperLoop::hear_capsule() {
  while (capsule_) {
    const auto report = capsule_->receive();
    if (report) {
      hear(*report);
    } else if (report.error().code == Errc::not_found) {
      return;
    } else {
      poller_.forget(capsule_->handle());
      return tell(CapsuleDied{});
    }
  }
}

void KeeperLoop::hear(const Report& report) {
  switch (report.kind) {
    case ReportKind::ready:
      return tell(CapsuleReady{report.ok, report.message});
    case ReportKind::started:
      if (report.ok && restoring_) note(concat("goes on from image ", restoring_->image));
      return launched(report.ok, more_images_ && restoring_, report.message);
    case ReportKind::dumped:
      return dumped(report);
    case ReportKind::ended:
      return tell(JobEnded{static_cast<int>(report.status)});
    default:
      return;  // Of one of several hosts, which Hosts has heard.
  }
}

void KeeperLoop::dumped(const Report& report) {
  if (!report.ok) {
    dumping_.reset();
    return tell(Dumped{false, report.message, {}});
  }
  const double total = dumping_ ? seconds_between(dumping_->second, now()) : 0;
  learn(total);
  std::uint64_t bytes = 0;
  if (const auto all = store_.list(); all && !all->empty() && all->back().manifest) {
    bytes = all->back().manifest->bytes();
  }
  const std::string what = concat("image ", image_, ", ", human_bytes(static_cast<double>(bytes)),
                                  ", in ", human_seconds(total), ", frozen for ",
                                  human_seconds(static_cast<double>(report.frozen_us) * 1e-6));
  note("saved: " + what);
  tell(Dumped{true, {}, what});
  // Whoever waits is not kept waiting for it; and an image that is made already is not in its way.
  if (keeper_.dumping()) return;
  if (auto pruned = store_.prune(settings_.keep); !pruned)
    log(Level::warning, pruned.error().message);
}

void KeeperLoop::asked(Caller caller, const std::string& word) {
  if (word == "save") return tell(SaveAsked{caller});
  if (word == "stop") return tell(StopAsked{caller});
  if (word.starts_with("leave ")) return asked_to_leave(caller, word.substr(6));
  if (word == "outlook") return door_->answer(caller, true, encode_outlook(outlook()));
  door_->answer(caller, false, "want save, stop, leave or outlook");
}

// In milliseconds from now.
void KeeperLoop::asked_to_leave(Caller caller, const std::string& within) {
  std::int64_t ms = 0;
  const auto [end, error] = std::from_chars(within.data(), within.data() + within.size(), ms);
  if (error != std::errc() || end != within.data() + within.size() || ms < 0 || ms > leave_ms_max) {
    return door_->answer(caller, false, "want leave and milliseconds");
  }
  door_->answer(caller, true, {});
  opened_ = now();
  closes_ = closes_ == Time{} ? now() + std::chrono::milliseconds(ms)
                              : std::min(closes_, now() + std::chrono::milliseconds(ms));
  forecast();
  tell(LeaveAsked{closes_});
  set_guard();
}

// We kill it before: this is for the case that we cannot.
void KeeperLoop::set_guard() {
  if (guard_ && capsule_ && closes_ > now()) guard_->kill_at(capsule_->process(), closes_);
}

void KeeperLoop::pass_on(OutputTail& tail, bool last) {
  const int to = tail.to();
  poller_.forget(to);
  if (tail.drain(last)) return;
  poller_.watch(to, EPOLLOUT, [this, &tail](std::uint32_t) { pass_on(tail, false); });
}

void KeeperLoop::drain(bool last) {
  if (output_) pass_on(*output_, last);
  if (error_) pass_on(*error_, last);
}

}  // namespace piracema::ckpt
