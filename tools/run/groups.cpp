#include "tools/run/groups.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <utility>
#include <vector>

#include "base/text.h"
#include "cluster/groups/groups_place.h"
#include "host/host_names.h"
#include "tools/run/graph_command.h"

namespace piracema::tools {

namespace {

using cluster::GroupSettings;
using cluster::GroupsFile;
using cluster::Protocol;

constexpr std::size_t bytes_max = std::size_t{1} << 20;

Result<std::string> read(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) return Error{Errc::config, with_errno(concat("--groups ", file))};
  std::string text;
  std::vector<char> some(65'536);
  while (text.size() <= bytes_max && in) {
    in.read(some.data(), static_cast<std::streamsize>(some.size()));
    text.append(some.data(), static_cast<std::size_t>(in.gcount()));
  }
  if (in.bad()) return Error{Errc::config, with_errno(concat("--groups ", file))};
  return text;
}

const char* name_of(Protocol protocol) {
  switch (protocol) {
    case Protocol::automatic:
      return "auto";
    case Protocol::tcp:
      return "tcp";
    case Protocol::shm:
      return "shm";
    case Protocol::mpi:
      return "mpi";
  }
  return "auto";
}

std::string listen_at(const std::string& address, std::uint16_t port) {
  return "PIRACEMA_LISTEN=" + cluster::with_port(address, port);
}

// Where a rank of MPI runs is known to mpirun: it finds out how the others reach it.
constexpr const char* listen_facing = "PIRACEMA_LISTEN=facing";

std::vector<std::string> environment_of(const GroupsFile& groups, std::size_t slot,
                                        const std::string& listen) {
  const GroupSettings& group = groups.groups[slot];
  std::vector<std::string> all{listen};
  if (group.batch_items) all.push_back(concat("PIRACEMA_BATCH=", *group.batch_items));
  std::string cores, peers, limits, batches;
  for (const std::uint32_t core : group.cores) cores += concat(cores.empty() ? "" : ",", core);
  if (!cores.empty()) all.push_back(concat("PIRACEMA_CORES=", cores));
  // The sender's group says how much may be on its way; those who receive see to it.
  for (std::size_t other = 0; other < groups.groups.size(); ++other) {
    const auto limit = groups.on_the_way(other, slot);
    if (limit) limits += concat(limits.empty() ? "" : ",", other, ":", *limit);
    const auto batch = groups.batch_items(slot, other);
    if (batch) batches += concat(batches.empty() ? "" : ",", other, ":", *batch);
  }
  if (!limits.empty()) all.push_back(concat("PIRACEMA_ON_THE_WAY=", limits));
  if (!batches.empty()) all.push_back(concat("PIRACEMA_BATCHES=", batches));
  for (std::size_t other = 0; other < groups.groups.size(); ++other) {
    if (other == slot) continue;
    const Protocol protocol = groups.between(slot, other);
    if (protocol == groups.protocol) continue;
    peers += concat(peers.empty() ? "" : ",", other, ":", name_of(protocol));
  }
  if (!peers.empty()) all.push_back(concat("PIRACEMA_PEERS=", peers));
  return all;
}

Result<Done> find_hosts_of(const std::string& file, const GroupsFile& groups,
                           cluster::JobOptions& job) {
  std::vector<cluster::HostName> wanted;
  for (const GroupSettings& group : groups.groups) {
    wanted.push_back({group.host, concat(file, ":", cluster::to_text(group.endpoint_place))});
  }
  auto hosts = cluster::find_hosts(wanted, job.host_of_slot);
  if (!hosts) return hosts.error();
  job.hosts = *std::move(hosts);
  const auto elsewhere = [&](std::size_t slot) { return !job.hosts[job.host_of_slot[slot]].here; };
  for (std::size_t a = 0; a < groups.groups.size(); ++a) {
    const auto at = [&](cluster::Place place) {
      return concat(file, ":", cluster::to_text(place));
    };
    for (std::size_t b = 0; b < a; ++b) {
      if (job.host_of_slot[a] == job.host_of_slot[b] || !(elsewhere(a) || elsewhere(b))) continue;
      if (groups.between(a, b) != Protocol::shm) continue;
      return Error{Errc::config,
                   concat(at(groups.groups[a].endpoint_place),
                          ": want one host for groups that "
                          "talk by shm, found '",
                          groups.groups[b].host, "' and '", groups.groups[a].host, "'")};
    }
  }
  return Done{};
}

bool is_elsewhere(const cluster::HostOptions& host) { return !host.here; }

// The coordinator of ranks on other hosts listens where these reach it.
Result<bool> listen_to_ranks_elsewhere(cluster::JobOptions& job) {
  const auto other = std::find_if(job.hosts.begin(), job.hosts.end(), is_elsewhere);
  if (job.transport != "mpi" || other == job.hosts.end()) return false;
  auto facing = cluster::address_facing(other->address);
  if (!facing) return facing.error();
  job.listen = *std::move(facing);
  return true;
}

}  // namespace

Result<Done> apply_groups(const std::string& file, cluster::JobOptions& job) {
  const auto text = read(file);
  if (!text) return text.error();
  const auto groups = cluster::parse_groups(file, *text);
  if (!groups) return groups.error();
  // What is fused has lost the names that groups are made of.
  ::setenv("PIRACEMA_FUSE", "none", 1);
  std::vector<GroupShape> made;
  const auto shape = ask_program(job.command, &made);
  if (!shape) return shape.error();
  // What the program has combined is one brick, by the names of its nodes.
  const auto fused = fuse(*shape, false);
  if (!fused) return fused.error();
  auto placement = cluster::place_groups(file, *groups, *fused, made, job.settings.earlier);
  if (!placement) return placement.error();

  job.settings.slots = static_cast<std::uint32_t>(groups->groups.size());
  job.settings.placement = *std::move(placement);
  job.transport = name_of(groups->protocol);
  if (auto found = find_hosts_of(file, *groups, job); !found) return found;
  const auto by_mpi_elsewhere = listen_to_ranks_elsewhere(job);
  if (!by_mpi_elsewhere) return by_mpi_elsewhere.error();
  for (std::size_t slot = 0; slot < groups->groups.size(); ++slot) {
    const cluster::HostOptions& host = job.hosts[job.host_of_slot[slot]];
    job.environments.push_back(environment_of(
        *groups, slot,
        *by_mpi_elsewhere ? listen_facing : listen_at(host.address, groups->groups[slot].port)));
    if (!host.here) continue;
    if (auto right = cluster::check_cores(file, groups->groups[slot]); !right) return right;
  }
  return Done{};
}

Result<Done> apply_hosts(const cluster::HostList& list, cluster::JobOptions& job) {
  const auto places = cluster::fill(list, job.settings.slots);
  if (!places) return places.error();
  std::vector<cluster::HostName> wanted;
  for (const auto& one : list.hosts) wanted.push_back(one.host);
  std::vector<std::size_t> numbers;
  auto hosts = cluster::find_hosts(wanted, numbers);
  if (!hosts) return hosts.error();
  job.hosts = *std::move(hosts);
  const std::vector<std::uint32_t> sites = numbers_of_sites(list);
  const bool elsewhere = std::any_of(job.hosts.begin(), job.hosts.end(), is_elsewhere);
  // Others may come, which reach this machine by another address than loopback's.
  if (!elsewhere && !job.watched_hostfile.empty()) {
    auto own = cluster::own_address();
    if (!own) return own.error();
    for (cluster::HostOptions& host : job.hosts) host.address = *own;
  }
  if (elsewhere && job.transport == "shm" && job.hosts.size() > 1) {
    return Error{Errc::config,
                 concat(list.origin, ": want --transport auto, tcp or mpi, found shm")};
  }
  for (const std::size_t place : *places) {
    job.host_of_slot.push_back(numbers[place]);
    job.settings.locations.push_back({static_cast<std::uint32_t>(numbers[place]), sites[place]});
    job.environments.push_back({job.transport == "mpi"
                                    ? listen_facing
                                    : listen_at(job.hosts[job.host_of_slot.back()].address, 0)});
  }
  if (auto listening = listen_to_ranks_elsewhere(job); !listening) return listening.error();
  return Done{};
}

}  // namespace piracema::tools
