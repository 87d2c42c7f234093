#include "ckpt/capsule/capsule_init.h"

#include <piracema/ckpt.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <set>
#include <utility>

#include "base/clock.h"
#include "base/text.h"
#include "ckpt/capsule/capsule_setup.h"
#include "ckpt/capsule/criu_run.h"
#include "ckpt/capsule/hook.h"
#include "ckpt/capsule/roll_back.h"
#include "ckpt/capsule/shared_memory.h"
#include "ckpt/capsule/under_way.h"
#include "ckpt/image/compression.h"
#include "ckpt/image/image_store.h"
#include "ckpt/network/loopback.h"
#include "ckpt/network/netlink.h"
#include "os/process_tree.h"
#include "wire/fields.h"

namespace piracema::ckpt {

void CapsuleInit::report(Report report) {
  const Buffer bytes = wire::encode(std::move(report));
  // A keeper that has gone takes us with it.
  (void)::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
}

void CapsuleInit::start(const Order& order) {
  if (auto set = set_last_pid(pid_least); !set) return refuse(ReportKind::started, set.error());
  auto pid = start_job(order);
  if (!pid) return refuse(ReportKind::started, pid.error());
  job_ = *pid;
  report({.kind = ReportKind::started, .ok = true});
}

void CapsuleInit::restore(const Order& order) {
  door_->begin();
  order_ = order;
  step_ = Step::criu;
  if (order_.root == 0) {
    auto root = roll_back_part(order.parts);
    if (!root) return refuse(ReportKind::started, root.error());
    order_.root = *root;
  }
  for (const auto& put_back : {put_shared_memory_back, expand_pages}) {
    if (auto done = put_back(order.parts); !done) {
      return refuse(ReportKind::started, done.error());
    }
  }
  if (auto done = moments_->restored(); !done) return refuse(ReportKind::started, done.error());
  auto pid = start_beside(restore_command(settings_, order_), order_, 0);
  if (!pid) return refuse(ReportKind::started, pid.error());
  helper_ = *pid;
}

// ---- saving it
// -----------------------------------------------------------------------------------

Result<Done> CapsuleInit::check_before_dump() const {
  if (job_ == 0 || ended_) return Error{Errc::failed, "the job has ended"};
  if (helper_ != 0) return Error{Errc::failed, "an image is being made already"};
  if (const auto found = obstacles(job_, {1}); !found.empty()) {
    return Error{Errc::failed, concat(cannot_now, found.front())};
  }
  // Looked at again by the hook; most of the time it can be known without freezing anybody.
  if (const auto found = connections_under_way(); !found.empty()) {
    return Error{Errc::failed, concat(cannot_now, found.front())};
  }
  return Done{};
}

// Of criu itself no more is known than that it could not, and most of what it cannot do is of the
// moment; a store that is full or broken is not.
bool CapsuleInit::may_pass(const std::string& why) const {
  if (why.starts_with(cannot_now)) return true;
  if (ended_ || step_ != Step::criu) return false;
  for (const int broken : {ENOSPC, EDQUOT, EIO, EROFS, ESTALE}) {
    if (why.find(std::strerror(broken)) != why.npos) return false;
  }
  return why.starts_with("criu: ");
}

void CapsuleInit::refuse_dump(const std::string& why) {
  if (overlay_) overlay_->pass();
  report({.kind = ReportKind::dumped, .message = why, .passing = may_pass(why)});
}

void CapsuleInit::dump(const Order& order) {
  door_->begin();
  // One that still runs by now has had its time.
  command_.kill();
  if (auto right = check_before_dump(); !right) return refuse_dump(right.error().message);
  order_ = order;
  step_ = Step::criu;
  began_ = now();
  auto pid = start_beside(dump_command(settings_, order, job_), order, job_);
  if (!pid) return refuse_dump(pid.error().message);
  helper_ = *pid;
}

bool CapsuleInit::start_commit() {
  step_ = Step::commit;
  auto pid = start_beside(commit_command(settings_), order_, job_);
  if (pid) helper_ = *pid;
  return pid.ok();
}

// criu ends nobody but by SIGKILL.
bool CapsuleInit::ended_itself() const {
  return ended_ && !(WIFSIGNALED(*ended_) && WTERMSIG(*ended_) == SIGKILL);
}

// criu kills what it has saved, and then may take it for a failure that somebody is dead. By then
// the hook has made the image complete. Whoever criu has let go of is ended here: it would be
// beyond its image with each step.
bool CapsuleInit::is_stopped_all_the_same() {
  if (!order_.stop || ended_itself()) return false;
  const std::string manifest =
      concat(order_.directory, "/images/", ImageStore::manifest_name(order_.image));
  const bool is_complete = order_.several ? door_->agreed() : ::access(manifest.c_str(), F_OK) == 0;
  // All of the capsule but its first process.
  if (is_complete) ::kill(-1, SIGKILL);
  return is_complete;
}

void CapsuleInit::dumped(bool ok) {
  ok = ok || is_stopped_all_the_same();
  const auto took = static_cast<std::uint64_t>((now() - began_) / std::chrono::microseconds(1));
  const bool too_late = step_ == Step::criu && ended_itself();
  const std::string why = ok ? "" : too_late ? "the job has ended" : why_failed(order_.log);
  report({.kind = ReportKind::dumped,
          .ok = ok,
          .message = why,
          .passing = !ok && may_pass(why),
          .frozen_us = frozen_time(order_.log),
          .dump_us = took});
  if (ok && order_.stop) {
    // What criu has killed after it was saved has not ended.
    job_ = 0;
    ended_.reset();
  } else if (ended_ && step_ == Step::criu) {
    job_ended(*ended_);
  }
}

// ---- one of several hosts (host_group.h says when)
// ------------------------------------------------

void CapsuleInit::link(const Order& order) {
  if (!overlay_) return;
  overlay_->set_peers(order.peers);
  auto netlink = Netlink::open();
  // Larger packets than the hosts' network takes are cut into pieces: slower, and right.
  if (netlink) (void)netlink->set_mtu("c0", order.mtu);
}

// Nothing that the job does from here on is in the image, so packets may travel again.
void CapsuleInit::part_dumped(bool ok) {
  ok = ok || is_stopped_all_the_same();
  door_->end();
  const bool goes_on = ok && !order_.stop && !ended_;
  if (!ok || !order_.stop) overlay_->pass();
  dumped(ok);
  if (goes_on) moments_->answer(PIRACEMA_CKPT_SAVED);
  if (goes_on && !start_commit()) {
    report({.kind = ReportKind::sealed, .message = "the hook cannot be run"});
  }
}

void CapsuleInit::hear_hook() {
  const auto step = door_->hear();
  if (!step || *step == HookStep::filled) return;
  report(
      {.kind = *step == HookStep::frozen ? ReportKind::frozen : ReportKind::recorded, .ok = true});
}

// ---- its processes
// -------------------------------------------------------------------------------

// A process that is not stopped yet may make another one.
void CapsuleInit::pause(bool still) {
  if (job_ == 0) return;
  for (std::set<pid_t> seen;;) {
    const std::size_t before = seen.size();
    for (const JobProcess& process : tree_of(all_processes(), job_)) {
      if (seen.insert(process.pid).second) ::kill(process.pid, still ? SIGSTOP : SIGCONT);
    }
    if (seen.size() == before) return;
  }
}

// A dump that has failed may be tried again, and until then whoever said it is kept there.
void CapsuleInit::want(const Order& order) {
  if (order.ok) return moments_->want();
  moments_->answer(order.failed ? PIRACEMA_CKPT_FAILED : PIRACEMA_CKPT_NOTHING);
}

void CapsuleInit::hear_good_moment() {
  if (moments_->hear()) report({.kind = ReportKind::good_moment, .ok = true});
}

void CapsuleInit::run_command(const Order& order) {
  if (auto begun = command_.begin(order, job_); !begun)
    refuse(ReportKind::command_ended, begun.error());
}

void CapsuleInit::command_ended(int status) {
  const std::string wrong = command_.ended(status);
  report({.kind = ReportKind::command_ended, .ok = wrong.empty(), .message = wrong});
}

// Elsewhere a daemon outlives whoever has started it; a capsule ends with its program.
std::string CapsuleInit::what_is_left() const {
  for (const JobProcess& process : all_processes()) {
    if (process.pid < pid_least || process.pid == job_ || process.pid == command_.pid()) continue;
    return concat("process ", process.pid, " (", process.name,
                  ") is left by the program, and ends with it");
  }
  return {};
}

void CapsuleInit::job_ended(int status) {
  ended_ = status;
  if (helper_ != 0 && step_ == Step::criu) return;
  report({.kind = ReportKind::ended,
          .message = what_is_left(),
          .status = static_cast<std::uint32_t>(status)});
}

void CapsuleInit::helper_ended(bool ok) {
  helper_ = 0;
  if (order_.kind == OrderKind::restore) return restored(ok);
  // Where criu or the hook could not go on, nobody else does.
  if (step_ == Step::criu && !(ok && order_.stop)) (void)release_loopback();
  if (order_.several && step_ == Step::commit) {
    return report(
        {.kind = ReportKind::sealed, .ok = ok, .message = ok ? "" : why_failed(order_.log)});
  }
  if (order_.several) return part_dumped(ok);
  // The job goes on already while its image is made safe.
  if (ok && !order_.stop && step_ == Step::criu && !ended_) {
    moments_->answer(PIRACEMA_CKPT_SAVED);
    if (start_commit()) return;
    ok = false;
  }
  dumped(ok);
}

void CapsuleInit::restored(bool ok) {
  drop_expanded_pages(order_.parts);
  if (ok) job_ = static_cast<pid_t>(order_.root);
  report({.kind = ReportKind::started, .ok = ok, .message = ok ? "" : why_failed(order_.log)});
  if (ok && ended_) job_ended(*ended_);
}

void CapsuleInit::reap() {
  signalfd_siginfo ignored;
  while (::read(signals_.get(), &ignored, sizeof ignored) > 0) {
  }
  for (;;) {
    int status = 0;
    const pid_t pid = ::waitpid(-1, &status, WNOHANG);
    if (pid <= 0) return;
    const bool restoring = helper_ != 0 && order_.kind == OrderKind::restore;
    if (pid == command_.pid()) {
      command_ended(status);
    } else if (pid == helper_) {
      // The job's end may be there to be noticed as well, and was before.
      int job_status = 0;
      if (job_ != 0 && ::waitpid(job_, &job_status, WNOHANG) == job_) job_ended(job_status);
      helper_ended(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    } else if (pid == job_ || (restoring && pid == static_cast<pid_t>(order_.root))) {
      job_ended(status);
    }
  }
}

void CapsuleInit::handle(const Order& order) {
  switch (order.kind) {
    case OrderKind::start:
      return start(order);
    case OrderKind::restore:
      return restore(order);
    case OrderKind::dump:
      return dump(order);
    case OrderKind::link:
      return link(order);
    case OrderKind::hold:
      if (overlay_) overlay_->hold();
      return report({.kind = ReportKind::held, .ok = true});
    case OrderKind::pass:
      if (overlay_) overlay_->pass();
      return;
    case OrderKind::pause:
      return pause(order.ok);
    case OrderKind::want:
      return want(order);
    case OrderKind::command:
      return run_command(order);
    case OrderKind::proceed:
      // An image may be checked before criu is done with its restart.
      return door_->proceed(order.ok, order_.kind == OrderKind::restore);
  }
}

bool CapsuleInit::set_up() {
  sigset_t child;
  ::sigemptyset(&child);
  ::sigaddset(&child, SIGCHLD);
  ::sigprocmask(SIG_BLOCK, &child, nullptr);
  signals_ = Fd(::signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!signals_) return false;
  const auto made = set_up_places();
  report({.kind = ReportKind::ready, .ok = made.ok(), .message = made ? "" : made.error().message});
  return made.ok();
}

Result<Done> CapsuleInit::set_up_places() {
  auto overlay = set_up_capsule(settings_, user_);
  if (!overlay) return overlay.error();
  overlay_ = *std::move(overlay);
  auto door = HookDoor::open();
  if (!door) return door.error();
  door_ = *std::move(door);
  auto moments = GoodMoments::open();
  if (!moments) return moments.error();
  moments_ = *std::move(moments);
  return Done{};
}

void CapsuleInit::hear_keeper() {
  Buffer room;
  room.resize(message_bytes_max);
  const ssize_t bytes = ::recv(socket_.get(), room.data(), room.size(), MSG_DONTWAIT);
  if (bytes < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (bytes <= 0) ::_exit(0);
  const auto order = wire::decode<Order>(Bytes(room).first(static_cast<std::size_t>(bytes)));
  if (!order) ::_exit(1);
  handle(*order);
}

void CapsuleInit::wait() {
  std::array<pollfd, 6> wait = {{{socket_.get(), POLLIN, 0},
                                 {signals_.get(), POLLIN, 0},
                                 {door_->watched(), POLLIN, 0},
                                 {moments_->watched(), POLLIN, 0},
                                 {overlay_ ? overlay_->device() : -1, POLLIN, 0},
                                 {overlay_ ? overlay_->host() : -1, POLLIN, 0}}};
  if (::poll(wait.data(), wait.size(), command_.left_ms(now())) < 0) {
    if (errno != EINTR) ::_exit(1);
    return;
  }
  command_.look(now());
  if (wait[4].revents != 0) overlay_->leave();
  if (wait[5].revents != 0) overlay_->arrive();
  if (wait[2].revents != 0) hear_hook();
  if (wait[3].revents != 0) hear_good_moment();
  if (wait[1].revents != 0) reap();
  if (wait[0].revents != 0) hear_keeper();
}

void CapsuleInit::run() {
  if (!set_up()) ::_exit(1);
  for (;;) wait();
}

}  // namespace piracema::ckpt
