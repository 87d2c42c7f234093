#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

#include "base/clock.h"
#include "ckpt/capsule/capsule.h"
#include "ckpt/capsule/good_moments.h"
#include "ckpt/capsule/hook_door.h"
#include "ckpt/capsule/user_command.h"
#include "ckpt/network/overlay.h"

namespace piracema::ckpt {

/// The first process of a capsule: starts the job, runs criu beside it, waits for all. Where the
/// job has several hosts, it is also its capsule's network.
class CapsuleInit {
 public:
  CapsuleInit(Fd socket, const CapsuleSettings& settings, const std::optional<OrdinaryUser>& user)
      : socket_(std::move(socket)), settings_(settings), user_(user) {}

  [[noreturn]] void run();

 private:
  void report(Report report);
  void refuse(ReportKind kind, const Error& why) { report({.kind = kind, .message = why.message}); }
  bool set_up();
  Result<Done> set_up_places();
  void wait();
  void hear_keeper();
  void handle(const Order& order);
  void start(const Order& order);
  void restore(const Order& order);
  void dump(const Order& order);
  void pause(bool still);
  void want(const Order& order);
  void hear_good_moment();
  void run_command(const Order& order);
  void command_ended(int status);
  void reap();
  std::string what_is_left() const;
  void job_ended(int status);
  void helper_ended(bool ok);
  void restored(bool ok);
  void dumped(bool ok);
  bool ended_itself() const;
  bool is_stopped_all_the_same();
  bool may_pass(const std::string& why) const;
  void refuse_dump(const std::string& why);
  Result<Done> check_before_dump() const;
  bool start_commit();

  // Several hosts.
  void link(const Order& order);
  void part_dumped(bool ok);
  void hear_hook();

  Fd socket_;
  const CapsuleSettings& settings_;
  std::optional<OrdinaryUser> user_;
  Fd signals_;
  std::optional<Overlay> overlay_;
  std::optional<HookDoor> door_;
  std::optional<GoodMoments> moments_;
  UserCommand command_;
  pid_t job_ = 0;
  /// criu, or the hook that makes the image complete when criu is done.
  pid_t helper_ = 0;
  enum class Step { criu, commit } step_ = Step::criu;
  /// The one that the helper works on.
  Order order_;
  Time began_{};
  /// The job's end; noticed while criu runs, it may be criu's doing.
  std::optional<int> ended_;
};

}  // namespace piracema::ckpt
