#include "control/coordinator_settings.h"

#include <string_view>

#include "base/text.h"

namespace piracema::cluster {

namespace {

constexpr milliseconds time_max = std::chrono::hours(24 * 366);

Error wrong(std::string_view setting, std::string_view want, std::int64_t found,
            std::string_view unit = "") {
  return {Errc::config, concat(setting, ": want ", want, ", found ", found, unit)};
}

Result<Done> check_time(std::string_view setting, milliseconds value) {
  if (value < milliseconds(1) || value > time_max) {
    return wrong(setting, "1 ms to 1 year", value.count(), " ms");
  }
  return Done{};
}

}  // namespace

Result<Done> validate(const JobSettings& settings) {
  if (settings.slots == 0 || settings.slots > slots_max) {
    return wrong("worker processes", concat("1 to ", slots_max), settings.slots);
  }
  if (!settings.can_spawn && !settings.workers_come && settings.slots != 1) {
    return wrong("worker processes", "1 in the embedded mode", settings.slots);
  }
  const std::pair<std::string_view, milliseconds> times[] = {
      {"snapshot interval", settings.snapshot_interval},
      {"snapshot timeout", settings.snapshot_timeout},
      {"heartbeat interval", settings.heartbeat_interval},
      {"heartbeat timeout", settings.heartbeat_timeout},
      {"join timeout", settings.join_timeout},
      {"rollback timeout", settings.rollback_timeout},
      {"attach timeout", settings.attach_timeout},
  };
  for (const auto& [setting, value] : times) {
    if (auto checked = check_time(setting, value); !checked) return checked;
  }
  if (settings.stuck_after) {
    if (auto checked = check_time("time after which an operator is stuck", *settings.stuck_after);
        !checked) {
      return checked;
    }
  }
  if (const auto after = settings.overtake_after;
      after && (after->count() < 0 || *after > std::chrono::years(1))) {
    return wrong("time after which barriers overtake items", "0 ms to 1 year", after->count(),
                 " ms");
  }
  if (settings.heartbeat_timeout < 2 * settings.heartbeat_interval) {
    return wrong("heartbeat timeout",
                 concat("at least two intervals of ", settings.heartbeat_interval.count(), " ms"),
                 settings.heartbeat_timeout.count(), " ms");
  }
  if (settings.snapshots_kept == 0) return wrong("snapshots to keep", "at least 1", 0);
  if (settings.restart_budget == 0) return wrong("restart budget", "at least 1", 0);
  if (settings.fruitless_recoveries_max == 0) {
    return wrong("recoveries without progress", "at least 1", 0);
  }
  if (settings.resume && !settings.snapshots) {
    return Error{Errc::config, "a job that resumes wants snapshots switched on"};
  }
  return Done{};
}

}  // namespace piracema::cluster
