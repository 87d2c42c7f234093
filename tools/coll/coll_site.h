#pragma once

#include <memory>
#include <string>
#include <utility>

#include "base/clock.h"
#include "observe/http/metrics_writer.h"
#include "observe/http/web_site.h"
#include "tools/coll/coll_board.h"

namespace piracema::tools {

/// What is served of an MPI job whose collectives follow the network: the page, figures for
/// Prometheus, and JSON. It changes nothing.
class CollSite final : public observe::WebSite {
 public:
  CollSite(std::shared_ptr<const CollBoard> board, observe::Guard guard)
      : WebSite(std::move(guard)), board_(std::move(board)) {}

 private:
  observe::Response get(const observe::Request& request, Time now) const override;
  observe::Response post(const observe::Request& request) const override;
  const char* methods() const override { return "GET, HEAD"; }

  const std::shared_ptr<const CollBoard> board_;
};

/// Figures of a job. `now` is by the machine's monotonic clock, `unix` the same moment since 1970.
std::string metrics(const CollSight& sight, Time now, double unix, observe::MetricsFormat format);
/// The same as JSON, with trees and what goes another way.
std::string coll_json(const CollSight& sight, Time now, double unix);

}  // namespace piracema::tools
