#pragma once

#include <sys/types.h>

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "forecast/dump/predictor.h"

namespace piracema::ckpt {

/// How long a job takes to leave a machine: from the SIGTERM that has it save itself, as a stream
/// does with its last snapshot, to the end of its processes. Learnt from those that have left, of
/// any job of one kind.
class JobLeaving {
 public:
  /// `place` is the directory where that is remembered; made if need be. What cannot be read is
  /// said, and not known then. `risk`: how often it may take longer than is said.
  JobLeaving(std::string place, double risk);

  struct Takes {
    Time leaving{}, ending{};
  };
  /// Of the one whose first process this is, now, in a window of this length. `ending`: without
  /// saving anything.
  Takes takes(pid_t pid, Time length) const { return takes(std::vector{pid}, length); }
  /// Of several that leave at once, the longest one; of none: of one that is as small as can be.
  Takes takes(const std::vector<pid_t>& pids, Time length) const;

  /// It was asked to leave, here or where it was begun, and so were others.
  void asked(const std::string& job, pid_t pid, std::size_t others = 0);
  /// It may stay after all: how long it takes is not learnt.
  void stays(const std::string& job) { leaving_.erase(job); }
  /// It has ended; `well`: as it was asked to, so that there is something to be learnt.
  void left(const std::string& job, bool well);

 private:
  const std::string place_;
  const double risk_;
  Predictor predictor_;
  std::map<std::string, std::pair<DumpFeatures, Time>> leaving_;
};

}  // namespace piracema::ckpt
