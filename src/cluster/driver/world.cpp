#include "cluster/driver/world.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string_view>
#include <utility>

#include "base/log.h"
#include "base/text.h"
#include "cluster/driver/world_hosts.h"

extern char** environ;

namespace piracema::cluster {

namespace {

// As long as ssh takes to give up, and some more.
constexpr std::chrono::seconds host_answers_within{10};
constexpr int in_vain_max = 5;

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
std::string hosts_of_ranks(const JobOptions& options,
                           const std::vector<std::size_t>& host_of_rank) {
  std::string text;
  for (const std::size_t host : host_of_rank) text += options.hosts[host].name + "\n";
  return text;
}

std::string names_of_hosts(const JobOptions& options,
                           const std::vector<std::size_t>& host_of_rank) {
  std::string names;
  for (std::size_t host = 0; host < options.hosts.size(); ++host) {
    if (std::find(host_of_rank.begin(), host_of_rank.end(), host) == host_of_rank.end()) continue;
    names += concat(names.empty() ? " on " : ", ", options.hosts[host].name);
  }
  return names;
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

World::World(net::Poller& poller, const JobOptions& options, const Crew& crew, Launch launch,
             const std::string& mark, Events events)
    : poller_(poller),
      options_(options),
      crew_(crew),
      launch_(world_of(options, std::move(launch))),
      events_(std::move(events)),
      host_of_rank_(options.host_of_slot) {
  if (auto directory = WorldDirectory::make(); directory) directory_ = *std::move(directory);
  if (!options_.listen.empty()) {
    launch_.environment.push_back(concat("PIRACEMA_MARK=", mark));
    if (directory_) suggest_hosts();
  } else if (directory_) {
    // Segments of ranks that were killed lie where they are removed, if all ranks are on this host;
    // that directory is not on the others.
    suggest(launch_, concat("OMPI_MCA_btl_vader_backing_directory=", directory_->path()));
    suggest(launch_, concat("OMPI_MCA_btl_sm_backing_directory=", directory_->path()));
  }
}

void World::suggest_hosts() {
  for (const char* name :
       {"OMPI_MCA_orte_default_hostfile=", "PRTE_MCA_prte_default_hostfile=", "HYDRA_HOST_FILE="}) {
    suggest(launch_, concat(name, directory_->path(), "/hosts"));
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

void World::want(Crew::Id id) {
  wanted_.push_back(id);
  start_when_complete();
}

bool World::is_complete() const {
  return wanted_.size() == options_.settings.slots && crew_.size() == 0;
}

void World::start_when_complete() {
  if (!is_complete() || probe_) return;
  const bool elsewhere = std::any_of(options_.hosts.begin(), options_.hosts.end(),
                                     [](const HostOptions& host) { return !host.here; });
  if (elsewhere && joined_once_) return probe_hosts();
  start();
}

// mpirun does not do without a host of its list, nor say which one it misses.
void World::probe_hosts() {
  std::vector<std::vector<std::string>> calls;
  for (const HostOptions& host : options_.hosts) {
    calls.push_back(host.here ? std::vector<std::string>() : options_.rsh);
    if (!host.here) calls.back().push_back(host.name);
  }
  probe_ = std::make_unique<HostProbe>(poller_, std::move(calls), host_answers_within,
                                       [this](const std::vector<bool>& reached) {
                                         probe_.reset();
                                         hosts_probed(reached);
                                       });
}

void World::hosts_probed(const std::vector<bool>& reached) {
  if (!is_complete()) return;
  std::string lost;
  for (std::size_t host = 0; host < reached.size(); ++host) {
    if (!reached[host]) lost += concat(lost.empty() ? "" : ", ", options_.hosts[host].name);
  }
  auto placed = place_ranks(options_.host_of_slot, reached);
  if (!placed) {
    return events_.given_up(concat("no host of the job can be reached any more: ", lost));
  }
  host_of_rank_ = *std::move(placed);
  for (Slot slot = 0; slot < options_.settings.slots; ++slot) {
    const std::size_t meant = options_.host_of_slot[slot];
    if (host_of_rank_[slot] == meant) continue;
    log(Level::warning,
        concat("worker ", slot, " is started on ", options_.hosts[host_of_rank_[slot]].name, ": ",
               options_.hosts[meant].name, " cannot be reached"));
  }
  start();
}

void World::clear() {
  if (!directory_) return;
  directory_->clear();
  if (!options_.listen.empty()) {
    std::ofstream(directory_->path() + "/hosts") << hosts_of_ranks(options_, host_of_rank_);
  }
}

void World::start() {
  in_vain_ = std::exchange(joined_, false) ? 0 : in_vain_ + 1;
  if (in_vain_ == in_vain_max) {
    return events_.given_up(concat("mpirun has brought up no worker ", in_vain_max,
                                   " times in a row", names_of_hosts(options_, host_of_rank_)));
  }
  auto ids = std::exchange(wanted_, {});
  std::sort(ids.begin(), ids.end());
  clear();
  Launch launch = launch_;
  for (Slot slot = 0; slot < host_of_rank_.size(); ++slot) {
    if (host_of_rank_[slot] == options_.host_of_slot[slot]) continue;
    // What was said of another host does not hold on this one.
    set_variable(launch.environment, concat("PIRACEMA_LISTEN", "_", slot, "=facing"));
    set_variable(launch.environment, concat("PIRACEMA_CORES", "_", slot, "="));
  }
  events_.start(ids, std::move(launch));
}

void World::reap_all() {
  if (probe_) probe_->reap_all();
}

}  // namespace piracema::cluster
