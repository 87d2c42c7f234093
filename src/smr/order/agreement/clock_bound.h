#pragma once

#include <cstdint>

#include "base/clock.h"

namespace piracema::smr {

/// Byzantine: how far the time of batches may run ahead of time. A leader's clock is the time of
/// every lease; one that lies could end them all. So a replica writes no batch whose time is beyond
/// what its own clock makes of the batches before, unless one correct replica did: a batch's time
/// is never further than the clock of some correct replica allows.
///
/// Honest clocks differ, too, and so do the delays by which replicas hear of a batch: there is a
/// credit. All that a liar can get is the credit, once, and a tenth of the time that passes. Pure.
class ClockBound {
 public:
  explicit ClockBound(Time credit) : credit_max_(credit), credit_(credit) {}

  /// The last batch that this replica knows, when it starts, has this time; 0 if there is none.
  void start(Time now, std::uint64_t time);
  /// Whether a batch of this time may be ordered now.
  bool allows(Time now, std::uint64_t time) const;
  /// When it may at the latest, if nothing is decided until then; `now` if it may now.
  Time allowed_at(Time now, std::uint64_t time) const;
  /// A batch of this time was decided.
  void decided(Time now, std::uint64_t time);

  /// What the time of batches is at `now`, as far as this replica knows.
  std::uint64_t estimate(Time now) const;

 private:
  Time credit(Time now) const;

  const Time credit_max_;
  // At at_:
  std::uint64_t time_ = 0;
  Time credit_, at_{};
};

}  // namespace piracema::smr
