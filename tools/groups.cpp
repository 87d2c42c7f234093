#include "groups.h"

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <utility>
#include <vector>

#include "base/text.h"
#include "cluster/groups_file.h"
#include "graph_command.h"

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

/// Numeric, as the transport wants it. The file's reader has let in hosts that are this one only:
/// they are reached by its loopback interface.
std::string address_of(const GroupSettings& group) {
  const bool numeric = group.host.starts_with("127.") || group.host.starts_with("[");
  return concat(numeric ? group.host : "127.0.0.1", ":", group.port);
}

std::vector<std::string> environment_of(const GroupsFile& groups, std::size_t slot) {
  const GroupSettings& group = groups.groups[slot];
  std::vector<std::string> all{concat("PIRACEMA_LISTEN=", address_of(group))};
  if (group.batch_items) all.push_back(concat("PIRACEMA_BATCH=", *group.batch_items));
  std::string cores, peers;
  for (const std::uint32_t core : group.cores) cores += concat(cores.empty() ? "" : ",", core);
  if (!cores.empty()) all.push_back(concat("PIRACEMA_CORES=", cores));
  for (std::size_t other = 0; other < groups.groups.size(); ++other) {
    if (other == slot) continue;
    const Protocol protocol = groups.between(slot, other);
    if (protocol == groups.protocol) continue;
    peers += concat(peers.empty() ? "" : ",", other, ":", name_of(protocol));
  }
  if (!peers.empty()) all.push_back(concat("PIRACEMA_PEERS=", peers));
  return all;
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
  auto placement = cluster::place_groups(file, *groups, *fused, made);
  if (!placement) return placement.error();

  job.settings.slots = static_cast<std::uint32_t>(groups->groups.size());
  job.settings.placement = *std::move(placement);
  job.transport = name_of(groups->protocol);
  for (std::size_t slot = 0; slot < groups->groups.size(); ++slot) {
    job.environments.push_back(environment_of(*groups, slot));
  }
  return Done{};
}

}  // namespace piracema::tools
