#pragma once

#include <piracema/error.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/fd.h"
#include "jobs/protocol/operations.h"
#include "os/account.h"
#include "os/process.h"

namespace piracema::jobs {

/// A job on this machine. A process of ours beside it, its supervisor, ends it and all that it has
/// started: when it is told to, when this process is gone, and when nobody has said for too long
/// that it may live, though this process is there and stands still.
class Supervised {
 public:
  struct What {
    Attempt attempt;
    std::vector<std::string> command;
    /// "NAME=value": put over this process's own; all that there is if `account` is another's.
    std::vector<std::string> environment;
    /// Where it runs; made if it is missing.
    std::string directory;
    /// What it writes is added there.
    std::string log;
    /// What it reads, and then nothing, without an end; empty: its input is empty.
    std::string input = {};
    /// Until then it may live.
    Time until{};
    /// How much it gives way to other programs, 0 to 19; its supervisor does not.
    int niceness = 0;
    /// As whom it runs; its supervisor runs as this process. Nothing: the same.
    std::optional<cluster::Account> account = {};
    /// The program that `run_supervisor` is in, and the words that lead there.
    std::vector<std::string> supervisor;
  };

  /// Errc::io, Errc::config.
  static Result<Supervised> start(const What& what);
  Supervised(Supervised&& other) = default;
  ~Supervised();

  /// Readable once it is over.
  int handle() const { return result_.get(); }
  /// Of the supervisor: the job's processes descend from it.
  pid_t pid() const { return process_.pid(); }
  void extend(Time until);
  /// All of the job stands still: at once, or its first process is told so by SIGTSTP and sees to
  /// it `by_itself`.
  void suspend(bool by_itself);
  void resume();
  /// What stands still goes on, to end.
  void terminate(bool at_once);
  /// Reads what the supervisor says in the end; nothing while there is more to come.
  std::optional<Ended> take_end();

 private:
  Supervised(Attempt attempt, cluster::Process process, Fd orders, Fd result, Fd input)
      : attempt_(attempt),
        process_(std::move(process)),
        orders_(std::move(orders)),
        result_(std::move(result)),
        input_(std::move(input)) {}
  void tell(const std::string& line);

  Attempt attempt_;
  cluster::Process process_;
  Fd orders_, result_;
  /// Of the job; closed it would read the end.
  Fd input_;
  std::string said_;
};

}  // namespace piracema::jobs
