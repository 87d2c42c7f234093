#pragma once

#include <memory>
#include <string>
#include <utility>

#include "base/clock.h"
#include "observe/http/metrics_writer.h"
#include "observe/http/web_site.h"
#include "tools/ckpt/keeper_board.h"

namespace piracema::tools {

/// What is served of a keeper and its job: the page, figures for Prometheus, JSON, and the last
/// lines of its log. It changes nothing.
class KeeperSite final : public observe::WebSite {
 public:
  KeeperSite(std::shared_ptr<const KeeperBoard> board, observe::Guard guard)
      : WebSite(std::move(guard)), board_(std::move(board)) {}

 private:
  observe::Response get(const observe::Request& request, Time now) const override;
  observe::Response post(const observe::Request& request) const override;
  const char* methods() const override { return "GET, HEAD"; }

  const std::shared_ptr<const KeeperBoard> board_;
};

/// Figures of a keeper. `now` is by the machine's monotonic clock, `unix` the same moment since
/// 1970.
std::string metrics(const KeeperSight& sight, Time now, double unix, observe::MetricsFormat format);
/// The same as JSON, and what has happened.
std::string keeper_json(const KeeperSight& sight, Time now, double unix);
}  // namespace piracema::tools
