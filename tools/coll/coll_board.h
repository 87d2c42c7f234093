#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "coll/figures/figures.h"

namespace piracema::tools {

/// A job as it is started, before anything is known of its ranks.
struct CollStart {
  /// The launcher's, without what was added to it.
  std::vector<std::string> command;
  /// As `CollLibrary::mpi`.
  std::string mpi;
  Time at{};
};

/// A job as it was a moment ago. Never changed once it was published.
struct CollSight {
  CollStart start;
  /// As rank 0 has written them last; none before it calls MPI_Init.
  std::optional<coll::JobFigures> figures;
  /// When these were found.
  Time at{};
  /// Why there are no newer ones, if what was found cannot be read.
  std::string unread;

  /// Why it cannot be said how the job is, for people; empty if it can.
  std::string trouble(Time now) const;
  /// What goes another way than along trees that follow the network, and why; for people.
  std::vector<std::string> remarks() const;
};

/// Where those that look find what is known of a job. Safe from any thread.
class CollBoard {
 public:
  explicit CollBoard(CollStart start);
  /// What was found in the file. Figures that were shown before change nothing.
  void show(Result<coll::JobFigures> found, Time now);
  std::shared_ptr<const CollSight> latest() const;

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<const CollSight> latest_;
};

/// Rank 0 shows itself every second.
constexpr Time coll_silent_for = std::chrono::seconds(10);

}  // namespace piracema::tools
