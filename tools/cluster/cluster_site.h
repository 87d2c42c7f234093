#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>

#include "base/clock.h"
#include "observe/http/metrics_writer.h"
#include "observe/http/web_site.h"
#include "tools/cluster/cluster_sight.h"

namespace piracema::tools {

/// A cluster as it was seen last, for who shows it and who looks.
class ClusterBoard {
 public:
  struct Latest {
    ClusterSight sight;
    Time at{};
  };

  void show(ClusterSight sight, Time now);
  /// Null: nothing was seen yet.
  std::shared_ptr<const Latest> latest() const;

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<const Latest> latest_;
};

/// What is served of a cluster: the page, figures for Prometheus, JSON, and the last that a job has
/// written. It changes nothing.
class ClusterSite final : public observe::WebSite {
 public:
  /// Errc::refused if there is no such job; Errc::timeout. Called by one thread at a time.
  using AskJob = std::function<Result<jobs::Job>(jobs::JobId)>;

  /// `board` outlives it. `seen_as` is the user whose key is looked with.
  ClusterSite(const ClusterBoard& board, std::string seen_as, AskJob ask_job, observe::Guard guard)
      : WebSite(std::move(guard)),
        board_(board),
        seen_as_(std::move(seen_as)),
        ask_job_(std::move(ask_job)) {}

 private:
  observe::Response get(const observe::Request& request, Time now) const override;
  observe::Response post(const observe::Request&) const override;
  const char* methods() const override { return "GET, HEAD"; }
  nlohmann::ordered_json shown(const ClusterBoard::Latest& latest, Time now) const;
  observe::Response log_of(const std::string& job) const;
  observe::Response readiness(Time now) const;

  const ClusterBoard& board_;
  const std::string seen_as_;
  const AskJob ask_job_;
};

/// Figures of a cluster: its control plane, its nodes, and its jobs by state and user.
std::string metrics(const ClusterSight& sight, observe::MetricsFormat format);

}  // namespace piracema::tools
