#pragma once

#include <piracema/bytes.h>
#include <piracema/smr/watchable.h>

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "base/clock.h"

namespace piracema::smr {

/// Reads that are held until there is something to tell, so that clients need not ask again and
/// again. Pure; whoever has it asks the service, and answers.
///
/// At most 4,096 are held, each for ten seconds: then it is answered that there is nothing, so that
/// the client knows that somebody is there. More are answered at once.
class HeldReads {
 public:
  static constexpr std::size_t held_max = 4'096;
  static constexpr Time hold_time = std::chrono::seconds(10);

  /// `watchable` outlives it; null: the service cannot say what is news, and nothing is held.
  explicit HeldReads(const Watchable* watchable) : watchable_(watchable) {}

  void add(std::uint64_t token, Buffer operation, Time now);
  /// Something was executed: what is held may have an answer, if the service says so.
  void executed();

  /// The reads that the service should be asked now; each is not given again before it was told.
  std::vector<std::uint64_t> due(Time now);
  const Buffer& operation(std::uint64_t token) const { return reads_.at(token).operation; }
  /// All that were due were asked, from `began` to `now`: that takes a fifth of the time at most,
  /// however many are held.
  void asked(Time began, Time now);
  /// What the service says. True: that is the answer, and the read is not held any more.
  bool told(std::uint64_t token, Bytes result, Time now);

  /// When to call `due` at the latest, if something has changed.
  std::optional<Time> next_look() const;

 private:
  struct Read {
    Buffer operation;
    Time until{};
    /// The service has not answered yet; since it was asked, something has changed.
    bool asked = false, again = false;
  };

  const Watchable* const watchable_;
  std::map<std::uint64_t, Read> reads_;
  /// Something has changed, or was added, since they were looked at.
  bool look_ = false;
  /// Of the service, when something was executed last.
  std::optional<std::uint64_t> changes_;
  Time again_{};
};

}  // namespace piracema::smr
