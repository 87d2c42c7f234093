#pragma once

#include <string>

#include "base/clock.h"
#include "observe/http/metrics_writer.h"
#include "observe/http/web_site.h"
#include "tools/kv/replica_board.h"

namespace piracema::tools {

/// What is served of a replica: the page, figures for Prometheus, JSON, and the last lines of its
/// log. It changes nothing.
class ReplicaSite final : public observe::WebSite {
 public:
  /// `board` outlives it.
  ReplicaSite(const ReplicaBoard& board, std::string group, observe::Guard guard)
      : WebSite(std::move(guard)), board_(board), group_(std::move(group)) {}

 private:
  observe::Response get(const observe::Request& request, Time now) const override;
  observe::Response post(const observe::Request&) const override;
  const char* methods() const override { return "GET, HEAD"; }

  const ReplicaBoard& board_;
  const std::string group_;
};

/// Figures of a replica, and of the members of its group as it sees them.
std::string metrics(const ReplicaSight& sight, const std::string& group,
                    observe::MetricsFormat format);
/// The same as JSON; `now` is at or after the sight's.
std::string replica_json(const ReplicaSight& sight, const std::string& group, Time now);

}  // namespace piracema::tools
