#include "cluster/driver/job_launch.h"

#include <string>
#include <utility>

#include "base/log.h"
#include "base/text.h"
#include "cluster/driver/succession.h"

namespace piracema::cluster {

namespace {

std::string number_or_none(std::uint64_t number) {
  return number == 0 ? "" : std::to_string(number);
}

}  // namespace

Launch launch_of(const JobOptions& options, const Doorway& doorway, const Succession* succession) {
  Launch launch{
      .command = options.command,
      .environment = {"PIRACEMA_GRAPH_FD=", "PIRACEMA_STDIN=",
                      concat("PIRACEMA_COORDINATOR=", doorway.address),
                      concat("PIRACEMA_TOKEN=", doorway.token),
                      concat("PIRACEMA_SNAPSHOTS=", options.snapshots),
                      concat("PIRACEMA_DEAD_LETTERS=", options.dead_letters),
                      concat("PIRACEMA_TRANSPORT=", options.transport),
                      concat("PIRACEMA_PLAIN=", options.plain ? "true" : ""),
                      concat("PIRACEMA_HEARTBEAT_MS=", options.settings.heartbeat_interval.count()),
                      concat("PIRACEMA_THREADS=", number_or_none(options.threads)),
                      concat("PIRACEMA_CYCLE_BYTES=", number_or_none(options.cycle_bytes)),
                      concat("PIRACEMA_STATE_DIRECTORY=", options.state_directory),
                      concat("PIRACEMA_STATE_MEMORY=", number_or_none(options.state_memory))},
      .output_to_error = options.output_to_error};
  for (std::string& variable : log_environment()) launch.environment.push_back(std::move(variable));
  if (succession != nullptr) {
    for (std::string& variable : succession->environment()) {
      launch.environment.push_back(std::move(variable));
    }
  }
  return launch;
}

}  // namespace piracema::cluster
