#pragma once

#include <memory>
#include <optional>

#include "base/clock.h"
#include "host/onlooker_messages.h"
#include "observe/status/board.h"

namespace piracema::cluster {

/// What is new of the past that a page shows, for whoever coordinates the job next. Belongs to one
/// thread.
class PastNews {
 public:
  /// `board` outlives it.
  explicit PastNews(const observe::Board& board) : board_(board) {}

  /// Once a second at most. Nothing: nothing is new, or the job has not begun.
  std::optional<PastOfJob> next(Time now);

 private:
  const observe::Board& board_;
  std::shared_ptr<const observe::JobStatus> told_;
  Time told_at_{};
};

}  // namespace piracema::cluster
