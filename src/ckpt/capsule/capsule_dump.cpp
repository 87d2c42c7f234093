// How the first process of a capsule has the job saved.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/text.h"
#include "ckpt/capsule/capsule_init.h"
#include "ckpt/capsule/criu_run.h"
#include "ckpt/capsule/hook.h"
#include "ckpt/capsule/under_way.h"
#include "ckpt/image/image_store.h"
#include "os/process_tree.h"

namespace piracema::ckpt {

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
  forget_hook();
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
  const bool is_complete = order_.several ? agreed_ : ::access(manifest.c_str(), F_OK) == 0;
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

}  // namespace piracema::ckpt
