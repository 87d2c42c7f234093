#pragma once

#include <piracema/error.h>
#include <sys/types.h>

#include <mutex>
#include <string>

#include "base/clock.h"
#include "topology/trees/costs.h"

namespace piracema::coll::mpi {

inline Time to_time(double seconds) {
  return std::chrono::duration_cast<Time>(std::chrono::duration<double>(seconds));
}

/// Slow links on one machine, for tests and measurements: a message carries the time at which it
/// may be seen, of the one clock that all ranks share, and its receiver sleeps until then. So
/// latencies overlap as they do on links. The file of delays may change while the job runs.
/// Safe from any thread.
class Emulator {
 public:
  /// Errors of the file, as `parse_delays` has them.
  static Result<Done> check(const std::string& path, Rank size);
  Emulator(std::string path, Rank me, Rank size);

  /// When a message that is sent now may be seen. It has to wait for those sent before it.
  Time visible_at(Rank to, std::size_t bytes);
  /// The same for what does not queue behind others.
  Time packet_visible_at(Rank to);
  static void sleep_until(Time time);

 private:
  void refresh();

  const std::string path_;
  const Rank me_;
  std::mutex mutex_;
  LinkTable links_;
  timespec changed_{};
  Time free_at_{};
};

}  // namespace piracema::coll::mpi
