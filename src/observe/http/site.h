#pragma once

#include <memory>
#include <string>
#include <utility>

#include "observe/http/job_pages.h"
#include "observe/http/web_site.h"

namespace piracema::observe {

/// What is served of a job: the page for a browser, and what others tell of the job.
class Site final : public WebSite {
 public:
  Site(std::shared_ptr<Pages> pages, Guard guard)
      : WebSite(std::move(guard)), pages_(std::move(pages)) {}
  /// `board` outlives it.
  Site(Board& board, Guard guard) : Site(std::make_shared<JobPages>(board), std::move(guard)) {}

 private:
  Response get(const Request& request, Time now) const override;
  Response post(const Request& request) const override;
  const char* methods() const override { return "GET, HEAD, POST"; }

  const std::shared_ptr<Pages> pages_;
};

/// The page of a job that is over, with all that is known of it, in one file that asks nobody for
/// anything.
std::string report_page(const JobStatus& status);

}  // namespace piracema::observe
