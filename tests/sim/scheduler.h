#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>

#include "base/clock.h"
#include "base/random.h"
#include "base/text.h"
#include "sim/tracing.h"

namespace piracema::sim {

/// Virtual time, and what is to happen in it. The same seed makes the same run.
class Scheduler {
 public:
  explicit Scheduler(std::uint64_t seed) : random_(seed) {}
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;

  Time now() const { return now_; }
  /// The only source of chance of a run.
  Random& random() { return random_; }
  /// From `least` to `most`, in steps of a microsecond.
  Time between(Time least, Time most);

  /// Events of one time happen in the order in which they were asked for.
  void at(Time time, std::function<void()> event);
  void after(Time delay, std::function<void()> event) { at(now_ + delay, std::move(event)); }

  /// Lets the next event happen; false when there is none.
  bool step();
  /// Lets everything happen up to `time`, which it then is.
  void run_until(Time time);
  /// Until `done` is true; false if it is not by `limit` or nothing is left to happen.
  bool run_until(const std::function<bool()>& done, Time limit);

  /// One line of what happens, printed when a seed is replayed.
  template <class... Parts>
  void trace(const Parts&... parts) const {
    if (tracing()) print(concat(parts...));
  }

 private:
  void print(const std::string& line) const;

  Time now_{};
  Random random_;
  std::uint64_t asked_ = 0;
  std::map<std::pair<Time, std::uint64_t>, std::function<void()>> events_;
};

}  // namespace piracema::sim
