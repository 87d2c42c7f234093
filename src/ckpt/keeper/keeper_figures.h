#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "base/clock.h"
#include "ckpt/keeper/keeper.h"

namespace piracema::ckpt {

/// What a keeper knows of its job: for people and for monitoring, and no proof of anything. What is
/// counted is since the keeper began. Points of time are those of this machine's monotonic clock.
struct KeeperFigures {
  /// Times in seconds, for the next dump or for one as it was begun.
  struct Forecast {
    double p50 = 0, p95 = 0, p99 = 0;
    auto fields() { return std::tie(p50, p95, p99); }
  };
  /// `under_way` is one of them as long as nothing else is known.
  enum class Outcome : std::uint8_t { under_way, saved, failed, given_up };
  struct Checkpoint {
    Time at{};
    /// The job ends with it.
    bool stops = false;
    /// It was begun so often: what was in the way has passed.
    std::uint32_t tries = 1;
    Forecast forecast;
    Outcome outcome = Outcome::under_way;
    /// Of one that is saved.
    std::uint64_t image = 0, bytes = 0;
    Time took{}, frozen{};
    /// Of another one.
    std::string why;
    auto fields() {
      return std::tie(at, stops, tries, forecast, outcome, image, bytes, took, frozen, why);
    }
  };
  /// Something that went wrong, or that the user should know.
  struct Trouble {
    Time at{};
    std::string text;
    auto fields() { return std::tie(at, text); }
  };

  // What it is.
  std::vector<std::string> command;
  std::string directory;
  /// One, or all that it runs on.
  std::vector<std::string> hosts;
  std::uint32_t process = 0;
  Time began{};
  std::optional<Time> every;

  // How it is now.
  Time at{};
  Keeper::State state = Keeper::State::away;
  Time state_since{};
  /// It stands still until there is room for its output.
  bool paused = false;
  /// Of its processes; 0 while none runs.
  std::uint64_t resident = 0, swapped = 0, processes = 0;
  /// What it was launched from last; none: from the beginning, or not yet.
  std::optional<std::uint64_t> image;
  /// How it has ended, if it has.
  std::string end;

  // The window: when the next one opens, or when this one closes and why.
  std::optional<Time> opens, opened, closes;
  std::string closes_why;
  /// By when the last checkpoint of the window is begun, and the next one without an end.
  std::optional<Time> stop_at, save_at;

  /// Of the next dump; none while the job does not run.
  std::optional<Forecast> forecast;
  /// So long it may take by the quantile that was asked for, and ending processes without it.
  Time planned{}, ending{};
  /// Dumps that it was learnt from, and whether samples are written to learn more.
  std::uint64_t learnt = 0;
  bool sampling = false;

  // What has happened; the newest are last.
  std::vector<Checkpoint> checkpoints;
  std::vector<Trouble> troubles;
  std::uint64_t saved = 0, failed = 0, given_up = 0;
  /// Of those that were saved: how long all of them took, what they hold, and how many took longer
  /// than was said of them.
  Time saved_took{};
  std::uint64_t saved_bytes = 0, over_p50 = 0, over_p95 = 0;
  std::uint64_t launched = 0, launches_failed = 0;
  /// Windows that were left with an image of the job as it was, and without.
  std::uint64_t left_saved = 0, left_unsaved = 0;

  auto fields() {
    return std::tie(command, directory, hosts, process, began, every, at, state, state_since,
                    paused, resident, swapped, processes, image, end, opens, opened, closes,
                    closes_why, stop_at, save_at, forecast, planned, ending, learnt, sampling,
                    checkpoints, troubles, saved, failed, given_up, saved_took, saved_bytes,
                    over_p50, over_p95, launched, launches_failed, left_saved, left_unsaved);
  }
};

}  // namespace piracema::ckpt
