#pragma once

#include <string>

#include "observe/http/pages.h"
#include "observe/status/board.h"

namespace piracema::observe {

/// What is told of the job that is on a board: figures for Prometheus, JSON, health, and the
/// requests to stop, to scale and for savepoints. Some of these wait up to 5 s for whoever
/// coordinates.
class JobPages final : public Pages {
 public:
  /// `board` outlives it.
  explicit JobPages(Board& board) : board_(board) {}

  Response get(const Request& request, Time now) override;
  Response post(const Request& request) override;

 private:
  Response scale(const Request& request) const;
  Response savepoint(const Request& request) const;
  static Response not_doing(const char* what, int code, const std::string& why);
  /// `doing` is what the job is said to do, or not.
  Response ask(const char* doing, cluster::UserRequest request) const;
  Response health(Time now) const;
  Response readiness() const;

  Board& board_;
};

}  // namespace piracema::observe
