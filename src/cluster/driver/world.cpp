// A world: all processes of the job, started by one mpirun.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "cluster/driver/loop.h"

extern char** environ;

namespace piracema::cluster {

namespace {

// What the user has set stays.
void suggest(Launch& launch, const std::string& variable) {
  const std::string name = variable.substr(0, variable.find('='));
  if (std::getenv(name.c_str()) == nullptr) launch.environment.push_back(variable);
}

// One command for all processes. Open MPI is told not to look for networks that a host of its own
// does not need (it takes a second), and that we know who we are and how many cores there are.
Launch world_of(const JobOptions& options, Launch launch) {
  for (std::size_t slot = 0; slot < options.environments.size(); ++slot) {
    for (const std::string& variable : options.environments[slot]) {
      const std::size_t end = variable.find('=');
      launch.environment.push_back(
          concat(variable.substr(0, end), "_", slot, variable.substr(end)));
    }
  }
  std::vector<std::string> command = options.mpirun;
  command.push_back("-n");
  command.push_back(std::to_string(options.settings.slots));
  command.insert(command.end(), launch.command.begin(), launch.command.end());
  launch.command = std::move(command);
  for (const char* setting : {"OMPI_MCA_pml=ob1", "OMPI_MCA_rmaps_base_oversubscribe=1",
                              "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1",
                              "PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe"}) {
    suggest(launch, setting);
  }
  return launch;
}

// One line for each rank, in their order: Open MPI and MPICH both read that.
std::string hosts_of_ranks(const JobOptions& options) {
  std::string text;
  for (const std::size_t host : options.host_of_slot) text += options.hosts[host].name + "\n";
  return text;
}

// MPICH hands our variables on to other hosts; Open MPI does with those that are named.
std::string names_of_ours(const Launch& launch) {
  std::string names = "PIRACEMA_INCARNATIONS";  // Said when the world is started.
  const auto add = [&](std::string_view variable) {
    if (!variable.starts_with("PIRACEMA_")) return;
    names += concat(";", variable.substr(0, variable.find('=')));
  };
  for (const std::string& variable : launch.environment) add(variable);
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view name(*variable, std::strcspn(*variable, "=") + 1);
    const bool known = std::any_of(launch.environment.begin(), launch.environment.end(),
                                   [&](const std::string& one) { return one.starts_with(name); });
    if (!known) add(*variable);
  }
  return names;
}

}  // namespace

// Segments of ranks that were killed lie where they are removed, if all ranks are on this host;
// that directory is not on the others.
void DriverLoop::prepare_world(const Doorway& doorway) {
  launch_ = world_of(options_, std::move(launch_));
  if (auto directory = WorldDirectory::make(); directory) {
    world_directory_ = *std::move(directory);
  }
  if (options_.listen.empty()) {
    if (!world_directory_) return;
    suggest(launch_, concat("OMPI_MCA_btl_vader_backing_directory=", world_directory_->path()));
    suggest(launch_, concat("OMPI_MCA_btl_sm_backing_directory=", world_directory_->path()));
    return;
  }
  launch_.environment.push_back(concat("PIRACEMA_MARK=", doorway.mark));
  if (!world_directory_) return;
  for (const char* name :
       {"OMPI_MCA_orte_default_hostfile=", "PRTE_MCA_prte_default_hostfile=", "HYDRA_HOST_FILE="}) {
    suggest(launch_, concat(name, world_directory_->path(), "/hosts"));
  }
  // Open MPI would gather the ranks of a host.
  suggest(launch_, "OMPI_MCA_rmaps_base_mapping_policy=seq");
  std::string rsh;
  for (const std::string& word : options_.rsh) rsh += concat(rsh.empty() ? "" : " ", word);
  suggest(launch_, concat("OMPI_MCA_plm_rsh_agent=", rsh));
  // Hydra takes a command without words of its own; to one for ssh it would add a word.
  if (options_.rsh.size() == 1) {
    suggest(launch_, "HYDRA_LAUNCHER=rsh");
    suggest(launch_, concat("HYDRA_LAUNCHER_EXEC=", rsh));
  }
  suggest(launch_, concat("OMPI_MCA_mca_base_env_list=", names_of_ours(launch_)));
}

void DriverLoop::clear_world() {
  if (!world_directory_) return;
  world_directory_->clear();
  if (!options_.listen.empty()) {
    std::ofstream(world_directory_->path() + "/hosts") << hosts_of_ranks(options_);
  }
}

// One mpirun is one unit of failure: the next one begins when all of the last one are gone.
void DriverLoop::start_world_when_complete() {
  if (waiting_.size() != options_.settings.slots || crew_.size() != 0) return;
  auto ids = std::exchange(waiting_, {});
  std::sort(ids.begin(), ids.end());
  clear_world();
  tally_.report.processes_started += options_.settings.slots;
  if (auto started = crew_.start_world(ids, launch_); !started) finish(started.error());
}

}  // namespace piracema::cluster
