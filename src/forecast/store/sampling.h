#pragma once

#include <cstddef>
#include <optional>

#include "base/clock.h"
#include "forecast/dump/planner.h"

/// When to write a sample to a store that too little is known of. Pure.
namespace piracema::ckpt {

struct SamplingSettings {
  /// In one window.
  std::size_t most = 4;
  /// A store is known from so many dumps on; before, so many samples are written at least.
  std::size_t known_from = 4, least = 2;
  double bytes_most = 64e6;
  /// More than this share of the job's memory is never written for a forecast of it.
  double share = 0.125;
  /// What is less tells nothing of a dump.
  double bytes_least = 8e6;
  /// Between two, and in lengths of the one before: the store has other users.
  double pause = 2;
  int pauses = 4;
};

/// A sample is asked for in the first half of a window whose plan keeps more than a tenth of it
/// free: what is not known costs more then than a few megabytes. And of a store that few dumps were
/// made to, which may be slower than anybody would guess. Where more than a sample waits to be
/// written it would tell of that, and add to it: there is none then. It is no part of a dump: the
/// job runs on, and nobody waits for it.
class Sampling {
 public:
  explicit Sampling(SamplingSettings settings = {}) : settings_(settings) {}

  struct Now {
    Time time{}, closes{};
    /// Of the whole window, in seconds.
    double length = 0;
    Plan plan;
    /// Of the job, and what others have in the page cache for this store.
    double job_bytes = 0, waiting_bytes = 0;
    /// Dumps to this store that are remembered.
    std::size_t learnt = 0;
    /// What was asked for last has not come to an end.
    bool under_way = false;
    /// It came to nothing: there is no room, or no right to write.
    bool refused = false;
  };
  /// So many bytes are to be written now; none: nothing is. Asked every second or so. A window
  /// that closes later than the one before is a new one.
  std::optional<double> step(const Now& now);

  /// One is under way, or another may follow in this window.
  bool wanted() const { return wanted_; }

 private:
  bool may_follow(const Now& now) const;
  double bytes_of(const Now& now) const;

  const SamplingSettings settings_;
  Time closes_{}, begun_{}, next_{};
  std::size_t begun_count_ = 0;
  bool under_way_ = false, refused_ = false, wanted_ = false;
};

}  // namespace piracema::ckpt
