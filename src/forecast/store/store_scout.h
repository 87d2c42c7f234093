#pragma once

#include <piracema/error.h>
#include <sys/types.h>

#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "base/clock.h"
#include "base/fd.h"
#include "forecast/store/store_record.h"

namespace piracema::ckpt {

/// How a store fares at the moment.
struct StoreLook {
  /// How long it took to write a quarter of a MiB for good, in seconds; 0 if it could not be.
  double probe = 0;
  /// The next one has begun: as long as nothing else is told, it lasts.
  bool probing = false;
  /// Dumps that others intend to make when we do, on how many hosts, and what they bring.
  std::uint32_t writers = 0, hosts = 0;
  double bytes = 0;
  /// Dumps of ours that are remembered by now.
  std::uint32_t remembered = 0;
  /// Samples that were asked for and have come to an end, and whether the last one was refused, for
  /// want of room or of a right.
  std::uint32_t samples = 0;
  bool sample_refused = false;
  /// What the store has shown meanwhile, to us or to others there: samples and dumps; told once.
  std::vector<PastDump> news;
  auto fields() {
    return std::tie(probe, probing, writers, hosts, bytes, remembered, samples, sample_refused,
                    news);
  }
};

/// A process that looks at a store for its keeper, tells other keepers there of what we intend,
/// and remembers dumps. When the store hangs it is this process that waits, and nobody else: a
/// machine has to be handed back all the same.
///
/// Made by a process of one thread, used by that thread.
class StoreScout {
 public:
  /// `place` is the store's (store_record.h). Errc::io.
  static Result<StoreScout> start(const std::string& place);
  StoreScout(StoreScout&&) = default;
  StoreScout& operator=(StoreScout&&) = default;

  /// Readable when there is something new, or it has died.
  int handle() const { return socket_.get(); }
  /// Errc::not_found if there is nothing new, Errc::lost if it has died.
  Result<StoreLook> receive();

  /// We mean to dump so many bytes, from then to then, in seconds from now on; `soon`: looks are
  /// wanted more often. Never waits: what it cannot take is lost.
  void announce(double from, double to, double bytes, bool soon);
  void remember(const PastDump& dump);
  /// Writes a sample of features.bytes (store_sample.h), unless others have written one that we
  /// have not heard of; nothing else is looked at meanwhile. Answered by `samples`.
  void sample(const DumpFeatures& features);
  /// So many of them have not come to an end.
  std::uint32_t sampling() const { return asked_samples_ - samples_; }

  /// Waits until all dumps are remembered, at most so long.
  void finish(Time limit);

 private:
  explicit StoreScout(Fd socket) : socket_(std::move(socket)) {}

  Fd socket_;
  std::uint32_t remember_ = 0, remembered_ = 0, asked_samples_ = 0, samples_ = 0;
};

/// Between two looks, usually.
constexpr Time look_interval = std::chrono::seconds(5);

}  // namespace piracema::ckpt
