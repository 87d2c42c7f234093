#pragma once

#include <piracema/error.h>
#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/fd.h"
#include "os/account.h"

namespace piracema::cluster {

/// A program to start.
struct Launch {
  /// The program's file, as `find_program` gives it, and its arguments.
  std::vector<std::string> command;
  /// "NAME=value", put over this process's own environment.
  std::vector<std::string> environment;
  /// It has those variables alone, and none of ours.
  bool environment_is_all = false;
  /// Descriptors that it inherits beside the standard ones, under the same numbers.
  std::vector<int> inherited;
  /// What it writes to standard output goes to standard error.
  bool output_to_error = false;
  /// Descriptors that become its standard input and output; -1: nothing, and ours.
  int input = -1, output = -1;
  /// It does not die with this process, and is in a session of its own: a terminal that closes does
  /// not end it either.
  bool outlives_us = false;
  /// How much more it gives way to other programs than this process does, 0 to 19 (nice(2)).
  int niceness = 0;
  /// It runs as that account, which this process has to have the right to; nothing: as this
  /// process.
  std::optional<Account> account = {};
};

/// Puts "NAME=value" into a list of such, in place of what the name had there.
void set_variable(std::vector<std::string>& environment, const std::string& variable);

/// How a process ended, and what it had used.
struct Exit {
  /// Status 0.
  bool clean = false;
  /// By a signal that somebody sends (SIGKILL, SIGTERM …), not by one that a mistake raises.
  bool from_outside = false;
  /// By a signal of whatever kind.
  bool by_signal = false;
  /// Exit status; nothing when it was a signal.
  std::optional<int> status;
  /// "ended with status 1", "killed by signal 11 (SIGSEGV)".
  std::string how;
  /// As a shell has it: the status, or 128 and the signal.
  int code = 0;
  std::chrono::nanoseconds cpu{};
  std::uint64_t peak_bytes = 0;
};

/// A process that we started. It dies with this object, and, unless its launch says otherwise, with
/// the thread that started it (PR_SET_PDEATHSIG). It has a process group of its own, so that Ctrl-C
/// on a terminal reaches us alone and we can end the job in order.
class Process {
 public:
  /// Errc::config with the system's reason if the program cannot be run.
  static Result<Process> start(const Launch& launch);

  Process(Process&& other) noexcept
      : pid_(std::exchange(other.pid_, 0)), handle_(std::move(other.handle_)) {}
  Process& operator=(Process&& other) noexcept {
    std::swap(pid_, other.pid_);
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Process();

  pid_t pid() const { return pid_; }

  /// Readable once the process has ended (a pidfd), and open as long as this object: whoever waits
  /// for it has to be told first. -1 where the kernel has none, and SIGCHLD is all there is.
  int handle() const { return handle_.get(); }

  /// Also to what the process has started itself, unless that left its process group.
  void signal(int number) const;

  /// It is none of ours any more: it goes on when this object ends.
  void let_go() {
    pid_ = 0;
    handle_.close();
  }

  /// How it ended; nothing while it lives. Call it no more after it has said so.
  std::optional<Exit> reap();

 private:
  Process(pid_t pid, Fd handle) : pid_(pid), handle_(std::move(handle)) {}

  pid_t pid_ = 0;
  Fd handle_;
};

/// The file that a shell would run for `name`, which is looked for in that PATH; nullptr: as if it
/// were not set. Errc::config with the reason: missing, a directory, not executable.
Result<std::string> find_program(const std::string& name, const char* path);
/// The same in this process's own PATH.
Result<std::string> find_program(const std::string& name);

/// What a wait status (waitpid(2)) says.
Exit describe_exit(int wait_status);

}  // namespace piracema::cluster
