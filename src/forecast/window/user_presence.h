#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "base/clock.h"

/// Whether somebody is at a machine. The facts are read by functions, the decision is pure.
namespace piracema::ckpt {

/// What is seen at one moment.
struct MachineLook {
  /// Since somebody typed at a terminal or console; none if nobody ever did.
  std::optional<double> input_age;
  /// Processor time of the whole machine, and of processes of ours, in seconds since some start.
  double busy = 0, ours = 0;
};

/// `roots` and all that descends from them are ours.
MachineLook look_at_machine(const std::vector<pid_t>& roots);

struct PresenceSettings {
  /// Input is fresh for so many seconds.
  double input_seconds = 60;
  /// Cores that others keep busy, over half a minute, before the machine is taken for in use.
  double load = 0.5;
};

/// Pure.
class UserPresence {
 public:
  explicit UserPresence(PresenceSettings settings) : settings_(settings) {}

  /// After each look: whether a user is there.
  bool step(Time now, const MachineLook& look);
  /// Cores that others used lately.
  double load() const { return load_; }

 private:
  const PresenceSettings settings_;
  std::optional<std::pair<Time, MachineLook>> last_;
  double load_ = 0;
};

}  // namespace piracema::ckpt
