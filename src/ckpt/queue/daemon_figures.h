#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "base/clock.h"
#include "ckpt/queue/daemon.h"

namespace piracema::ckpt {

/// What a daemon knows of its host and its queue: for people and for monitoring, and no proof of
/// anything. What is counted is since the daemon began. Points of time are those of this machine's
/// monotonic clock.
struct DaemonFigures {
  /// One that has not ended, or is here still.
  struct Job {
    std::string name;
    std::vector<std::string> command;
    /// Of its images; empty for a stream.
    std::string directory;
    bool stream = false;
    /// Here, since `since`; it was asked to leave; it was killed.
    bool runs = false, leaves = false, killed = false;
    Time since{};
    /// Of one that runs: by then nothing of it may be here.
    std::optional<Time> gone_by;
    /// Of another one: not before; none: not in this window. How often it could not be begun.
    std::optional<Time> not_before;
    std::uint32_t failures = 0;
    auto fields() {
      return std::tie(name, command, directory, stream, runs, leaves, killed, since, gone_by,
                      not_before, failures);
    }
  };
  /// One that has left this host.
  struct Left {
    Time at{};
    std::string job;
    Outcome outcome = Outcome::failed;
    Time ran{};
    /// If it was asked: how long that was before, and how long it was given.
    std::optional<Time> took, given;
    auto fields() { return std::tie(at, job, outcome, ran, took, given); }
  };

  std::string host, queue;
  std::uint32_t process = 0;
  std::uint64_t slots = 1;
  Time began{}, at{};

  bool lent = false, user_is_there = false, finishes = false;
  /// Of the open window; when a machine that nobody uses counts as idle.
  std::optional<Time> closes, idle_at;

  /// The first of the queue, in its order; and how many there are that run here, and that wait or
  /// run elsewhere.
  std::vector<Job> jobs;
  std::uint64_t running = 0, waiting = 0;

  /// The newest are last.
  std::vector<Left> left;
  std::uint64_t started = 0, killed = 0;
  /// By their outcome, as it is numbered.
  std::vector<std::uint64_t> outcomes = {0, 0, 0, 0};

  auto fields() {
    return std::tie(host, queue, process, slots, began, at, lent, user_is_there, finishes, closes,
                    idle_at, jobs, running, waiting, left, started, killed, outcomes);
  }
};

}  // namespace piracema::ckpt
