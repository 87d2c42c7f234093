#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "ckpt/queue/daemon_figures.h"
#include "observe/http/metrics_writer.h"
#include "observe/http/web_site.h"

namespace piracema::tools {

/// A daemon as it was a moment ago. Never changed once it was published.
struct DaemonSight {
  ckpt::DaemonFigures figures;
  /// The last lines of its log.
  std::vector<LoggedLine> lines;
  /// When the daemon said it.
  Time at{};
};

/// Where what a daemon says is put, and those that look find it. Safe from any thread.
class DaemonBoard {
 public:
  void show(DaemonSight sight) {
    auto latest = std::make_shared<const DaemonSight>(std::move(sight));
    const std::lock_guard lock(mutex_);
    latest_ = std::move(latest);
  }
  /// Null: nothing is known of it yet.
  std::shared_ptr<const DaemonSight> latest() const {
    const std::lock_guard lock(mutex_);
    return latest_;
  }

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<const DaemonSight> latest_;
};

/// What is served of a daemon and its queue: the page, figures for Prometheus, JSON, and the last
/// lines of its log. It changes nothing.
class DaemonSite final : public observe::WebSite {
 public:
  DaemonSite(std::shared_ptr<const DaemonBoard> board, observe::Guard guard)
      : WebSite(std::move(guard)), board_(std::move(board)) {}

 private:
  observe::Response get(const observe::Request& request, Time now) const override;
  observe::Response post(const observe::Request& request) const override;
  const char* methods() const override { return "GET, HEAD"; }

  const std::shared_ptr<const DaemonBoard> board_;
};

/// Figures of a daemon. `now` is by the machine's monotonic clock, `unix` the same moment since
/// 1970.
std::string metrics(const DaemonSight& sight, Time now, double unix, observe::MetricsFormat format);
/// The same as JSON, and what has happened.
std::string daemon_json(const DaemonSight& sight, Time now, double unix);

}  // namespace piracema::tools
