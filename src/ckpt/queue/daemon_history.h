#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "ckpt/queue/daemon.h"
#include "ckpt/queue/daemon_figures.h"
#include "ckpt/queue/queue_directory.h"

namespace piracema::ckpt {

/// Makes the figures of a daemon from what happens to it. Pure: the driver tells it all that it
/// tells the daemon, and what the daemon wanted done for that.
class DaemonHistory {
 public:
  /// Of so many jobs the first are shown, and of so many that have left the newest.
  static constexpr std::size_t jobs_shown = 100, left_kept = 50;

  DaemonHistory(std::string host, std::string queue, std::size_t slots, Time now);

  void heard(Time now, const DaemonEvent& event, const std::vector<DaemonAction>& actions);
  /// The jobs of the queue that have not ended, in its order.
  void looked(const std::vector<std::pair<std::string, QueuedJob>>& jobs);
  void finishes() { figures_.finishes = true; }

  DaemonFigures figures(Time now, const Daemon& daemon) const;

 private:
  struct Here {
    Time since{};
    /// When it was asked to leave, and by when.
    std::optional<Time> asked, by;
  };

  DaemonFigures figures_;
  std::map<std::string, Here> here_;
};

}  // namespace piracema::ckpt
