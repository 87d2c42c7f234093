#pragma once

#include <piracema/error.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/clock.h"
#include "forecast/dump/outlook.h"
#include "forecast/dump/planner.h"
#include "forecast/store/sampling.h"
#include "forecast/store/store_device.h"
#include "forecast/store/store_scout.h"
#include "loop/poller.h"
#include "os/process_tree.h"

namespace piracema::ckpt {

/// What is known of the store that a job is saved to, now and from all dumps before: how long the
/// next one takes. Belongs to the poller's thread, and never waits for the store, but to begin and
/// to end.
class StoreWatch {
 public:
  /// Made by a process of one thread that has nothing yet: its scout is a fork. `hosts` save
  /// together, and their images are `compressed` or not. Errc::io.
  static Result<std::unique_ptr<StoreWatch>> start(net::Poller& poller,
                                                   const std::string& job_directory,
                                                   std::size_t hosts, bool compressed);
  /// Forgets dumps that are not remembered within two seconds.
  ~StoreWatch();

  Outlook outlook(const JobMemory& job) const;
  /// Others that save to this store are told when we mean to, in a window of `length` seconds.
  /// While too little is known for this plan samples are written.
  void announce(const Plan& plan, Time closes, double length, const DumpFeatures& features);

  /// A dump begins.
  void begin_dump(const JobMemory& job);
  /// It is over; seconds since it began, 0 if none had.
  double dump_time() const;
  /// It took so long, or as long as it was given and half as much again: this is learnt and
  /// remembered.
  void end_dump(bool given_up = false);
  /// It came to nothing, which says nothing of its time.
  void forget_dump() { dump_.reset(); }

 private:
  StoreWatch(net::Poller& poller, std::size_t hosts, bool compressed, Predictor predictor,
             StoreDevice device, StoreScout scout);
  void hear_scout();
  DumpFeatures features(const JobMemory& job) const;

  net::Poller& poller_;
  const std::size_t hosts_;
  const bool compressed_;
  Predictor predictor_;
  StoreDevice device_;
  /// None once it has died: then nothing is told or remembered.
  std::optional<StoreScout> scout_;
  /// The last look, and since when the next one waits for the store.
  StoreLook look_;
  std::optional<Time> probing_since_;
  Sampling sampling_;
  std::optional<Time> sampling_since_;
  /// Of the dump under way, and when it began.
  std::optional<std::pair<DumpFeatures, Time>> dump_;
};

}  // namespace piracema::ckpt
