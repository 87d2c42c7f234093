#pragma once

#include <piracema/error.h>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/fd.h"
#include "ckpt/queue/daemon.h"
#include "ckpt/queue/daemon_history.h"
#include "ckpt/queue/queue_directory.h"
#include "forecast/leaving/job_leaving.h"
#include "forecast/window/user_watch.h"
#include "loop/poller.h"
#include "os/own_process.h"
#include "os/signal_watch.h"

namespace piracema::ckpt {

struct DaemonRunSettings {
  /// This program's file: keepers are processes of it.
  std::string program;
  /// For the lock: what this host calls itself.
  std::string host;
  DaemonSettings daemon;
  /// How often a window may close before a job has left it with its last state.
  double risk = 0.01;
  /// When the open window closes; none: no window is open now. Empty: there is no calendar.
  std::function<std::optional<Time>()> closes;
  UserWatch::Settings users = {};
  /// Ends when the queue has nothing left to do.
  bool until_empty = false;
  /// This host has zstd.
  bool can_compress = false;
  /// Called on the daemon's thread once a second, and after whatever happens; it must not wait.
  std::function<void(const DaemonFigures&)> figures;
};

/// Runs the jobs of a queue on this host while it is lent: does what a Daemon says. The process has
/// one thread. Keepers are its children; if it dies they save their jobs and end.
class DaemonLoop {
 public:
  DaemonLoop(QueueDirectory queue, DaemonRunSettings settings);

  /// Until SIGTERM or SIGINT, when all jobs have been saved. Errc::refused if this host has a
  /// daemon for the queue, Errc::io.
  Result<Done> run();

 private:
  struct Running {
    OwnProcess process;
    QueuedJob job;
    /// Of its window, if that closes.
    std::optional<Time> length;
  };

  Result<Done> watch_signals();
  void tell(const DaemonEvent& event);
  void set_timer();
  /// Looks at calendar, queue and users, again and again.
  void look();
  void look_at_queue();
  /// How long each of them takes to leave, which it does not know itself.
  void look_at_streams();
  bool is_over() const;
  void show() const;

  void act(const StartJob& start);
  void act(const LeaveJob& leave);
  void act(const KillJob& kill);
  Result<Running> start(const std::string& name, const StartJob& start);
  void left(const std::string& name);

  net::Poller poller_;
  const QueueDirectory queue_;
  const DaemonRunSettings settings_;
  Daemon daemon_;
  DaemonHistory history_;
  JobLeaving stream_leaving_;
  Fd lock_;
  std::unique_ptr<SignalWatch> signals_;
  std::map<std::string, Running> running_;
  UserWatch users_;
  std::optional<net::Poller::Timer> timer_;
  std::size_t jobs_left_ = 0;
  bool is_finishing_ = false, has_looked_ = false;
};

}  // namespace piracema::ckpt
