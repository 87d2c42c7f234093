#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "base/clock.h"
#include "cluster/driver/driver.h"
#include "observe/status/report.h"

namespace piracema::tools {

/// A note as an object: "event" names its kind, "at" is in seconds since the start of the job.
nlohmann::ordered_json to_json(Time at, const cluster::Note& note);
nlohmann::ordered_json to_json(const cluster::KillReport& kill);

/// Everything that is known of a job that has ended. Times are in seconds, but for the fields
/// that end in _ms.
nlohmann::ordered_json to_json(const cluster::JobReport& report,
                               const cluster::JobOptions& options);

/// On one line, whatever bytes the texts hold.
std::string line_of(const nlohmann::ordered_json& value);

/// Processors that this process may use.
unsigned core_count();

/// CPU time used of what the processors had to give, from 0 to 1.
double cpu_efficiency(const cluster::JobReport& report);

inline double seconds(Time time) { return std::chrono::duration<double>(time).count(); }

}  // namespace piracema::tools
