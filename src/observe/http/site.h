#pragma once

#include "base/clock.h"
#include "observe/http/guard.h"
#include "observe/http/request.h"
#include "observe/status/board.h"

namespace piracema::observe {

/// What is served: the page, figures for Prometheus, JSON, and the requests to stop, to scale and
/// for savepoints. Has no socket and no clock of its own. Safe from any thread.
class Site {
 public:
  /// `board` outlives it.
  Site(Board& board, Guard guard) : board_(board), guard_(std::move(guard)) {}

  const Guard& guard() const { return guard_; }
  Response answer(const Request& request, Time now) const;

 private:
  Response get(const Request& request, Time now) const;
  Response post(const Request& request) const;
  Response scale(const Request& request) const;
  Response savepoint(const Request& request) const;
  /// `doing` is what the job is said to do, or not.
  Response ask(const char* doing, cluster::UserRequest request) const;
  Response page(const Request& request) const;
  Response health(Time now) const;
  Response readiness() const;

  Board& board_;
  const Guard guard_;
};

/// The page of a job that is over, with all that is known of it, in one file that asks nobody for
/// anything.
std::string report_page(const JobStatus& status);

}  // namespace piracema::observe
