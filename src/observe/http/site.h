#pragma once

#include "observe/http/web_site.h"
#include "observe/status/board.h"

namespace piracema::observe {

/// What is served of a job: the page, figures for Prometheus, JSON, and the requests to stop, to
/// scale and for savepoints.
class Site final : public WebSite {
 public:
  /// `board` outlives it.
  Site(Board& board, Guard guard) : WebSite(std::move(guard)), board_(board) {}

 private:
  Response get(const Request& request, Time now) const override;
  Response post(const Request& request) const override;
  const char* methods() const override { return "GET, HEAD, POST"; }
  Response scale(const Request& request) const;
  Response savepoint(const Request& request) const;
  static Response not_doing(const char* what, int code, const std::string& why);
  /// `doing` is what the job is said to do, or not.
  Response ask(const char* doing, cluster::UserRequest request) const;
  Response health(Time now) const;
  Response readiness() const;

  Board& board_;
};

/// The page of a job that is over, with all that is known of it, in one file that asks nobody for
/// anything.
std::string report_page(const JobStatus& status);

}  // namespace piracema::observe
