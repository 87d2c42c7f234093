#include "cluster/driver/agent_setup.h"

#include <algorithm>
#include <filesystem>
#include <string_view>

#include "base/text.h"
#include "cluster/driver/crew.h"
#include "cluster/driver/leading.h"
#include "cluster/driver/succession.h"
#include "host/host_names.h"
#include "store/open_store.h"

extern char** environ;

namespace piracema::cluster {

// There is one file of that name, or none: what another host makes of it is up to its disks.
std::string as_absolute(const std::string& path) {
  return path.empty() || store::is_address(path) ? path : std::filesystem::absolute(path).string();
}

// What we were told by our environment, the workers there are to be told as well.
Setup AgentSetup::on(std::size_t host, const std::string& coordinator) const {
  const bool here = options_.hosts[host].here;
  Setup setup{
      .command = options_.command,
      .environment = {},
      .mark = mark_,
      .heartbeat_ms = static_cast<std::uint32_t>(options_.settings.heartbeat_interval.count()),
      .own_streams = here && (options_.leading == nullptr || !options_.leading->was_brought)};
  // Its end is told by the kernel, and a coordinator that is stopped is waited for.
  if (here) setup.patience_ms = 0;
  if (succession_ != nullptr) succession_->add_to(setup);
  if (options_.leading != nullptr) {
    setup.others_after_ms =
        std::max(static_cast<std::uint32_t>(others_after.count()), 4 * setup.heartbeat_ms);
  }
  for (char** variable = environ; *variable != nullptr; ++variable) {
    if (std::string_view(*variable).starts_with("PIRACEMA_")) {
      setup.environment.push_back(*variable);
    }
  }
  for (const std::string& variable : environment_) set_variable(setup.environment, variable);
  if (here && options_.hand_on_input) set_variable(setup.environment, "PIRACEMA_STDIN=1");
  std::string coordinators = coordinator;
  for (const std::string& one : setup.coordinators) {
    if (one != coordinator) coordinators += concat(",", one);
  }
  set_variable(setup.environment, concat("PIRACEMA_COORDINATOR=", coordinators));
  set_variable(setup.environment, concat("PIRACEMA_SNAPSHOTS=", as_absolute(options_.snapshots)));
  set_variable(setup.environment,
               concat("PIRACEMA_DEAD_LETTERS=", as_absolute(options_.dead_letters)));
  return setup;
}

std::vector<std::string> AgentSetup::coordinators() const {
  return succession_ != nullptr ? succession_->doors() : std::vector<std::string>();
}

}  // namespace piracema::cluster
