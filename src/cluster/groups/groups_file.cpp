#include "cluster/groups/groups_file.h"

#include <sched.h>

#include <algorithm>

#include "base/text.h"

namespace piracema::cluster {

Protocol GroupsFile::between(std::size_t a, std::size_t b) const {
  for (const PairSettings& pair : edges) {
    const bool forth = pair.from == groups[a].name && pair.to == groups[b].name;
    const bool back = pair.from == groups[b].name && pair.to == groups[a].name;
    if ((forth || back) && pair.protocol) return *pair.protocol;
  }
  if (groups[a].protocol) return *groups[a].protocol;
  return groups[b].protocol.value_or(protocol);
}

const PairSettings* GroupsFile::edge(std::size_t from, std::size_t to) const {
  const auto found = std::find_if(edges.begin(), edges.end(), [&](const PairSettings& pair) {
    return pair.from == groups[from].name && pair.to == groups[to].name;
  });
  return found == edges.end() ? nullptr : &*found;
}

std::optional<std::uint32_t> GroupsFile::on_the_way(std::size_t from, std::size_t to) const {
  if (from == to) return groups[from].on_the_way_inside;
  const PairSettings* const own = edge(from, to);
  return own != nullptr && own->on_the_way ? own->on_the_way : groups[from].on_the_way;
}

std::optional<std::uint32_t> GroupsFile::batch_items(std::size_t from, std::size_t to) const {
  const PairSettings* const own = edge(from, to);
  return own != nullptr ? own->batch_items : std::nullopt;
}

Result<Done> check_cores(const std::string& file, const GroupSettings& group) {
  cpu_set_t ours;
  CPU_ZERO(&ours);
  ::sched_getaffinity(0, sizeof ours, &ours);
  for (const std::uint32_t core : group.cores) {
    if (core < CPU_SETSIZE && CPU_ISSET(core, &ours)) continue;
    return Error{Errc::config, concat(file, ":", to_text(group.cores_place),
                                      ": want cores that this process may use, found ", core)};
  }
  return Done{};
}

}  // namespace piracema::cluster
