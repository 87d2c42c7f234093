#pragma once

#include <string>
#include <utility>
#include <vector>

#include "jobs/state/cluster_fixture.h"

namespace piracema::jobs::testing {

/// Three nodes, a job over all of them, and what they report, each time with a higher number.
struct Spanning : Cluster {
  std::uint64_t number = 0;
  JobId id = 0;

  explicit Spanning(std::vector<std::string> environment = {}) {
    for (const char* name : {"a", "b", "c"}) join(name);
    id = (*this)(Submit{{.name = "j",
                         .command = {"x"},
                         .environment = std::move(environment),
                         .nodes = 3,
                         .slots = 2}})
             .job;
  }
  Report of(const std::string& node) {
    return {.node = node, .incarnation = 1, .number = ++number};
  }
  Report leading(std::vector<Attempt> wants, std::vector<AskedPart> asks = {}) {
    Report report = of("a");
    report.has = {{id, job(id).attempt}};
    report.wants = std::move(wants);
    report.asks = std::move(asks);
    return report;
  }
  AskedPart asked(std::uint32_t part, const std::string& node, std::uint32_t attempt = 1) const {
    return {{id, attempt, part}, node, {"agent"}, "line"};
  }
};

}  // namespace piracema::jobs::testing
