#include "cluster/groups/groups_place.h"

#include <algorithm>

#include "base/text.h"
#include "flow/groups.h"
#include "flow/plan.h"

namespace piracema::cluster {

namespace {

// Nothing is known of sites.
std::vector<flow::Location> locations_of(const GroupsFile& groups) {
  std::vector<flow::Location> locations;
  for (const GroupSettings& group : groups.groups) {
    const auto first =
        std::find_if(groups.groups.begin(), groups.groups.end(),
                     [&](const GroupSettings& other) { return other.host == group.host; });
    locations.push_back({static_cast<std::uint32_t>(first - groups.groups.begin()), 0});
  }
  return locations;
}

}  // namespace

Result<std::vector<Slot>> place_groups(const std::string& file, const GroupsFile& groups,
                                       const GraphShape& shape, const std::vector<GroupShape>& made,
                                       const flow::EarlierRun& earlier) {
  const flow::Plan plan = flow::make_plan(shape);
  const auto slots = static_cast<std::uint32_t>(groups.groups.size());
  if (made.empty()) {
    const auto known = flow::known_of(shape, earlier, locations_of(groups));
    if (!known) return known.error();
    return flow::place(shape, plan, slots, *known);
  }
  auto checked = flow::check_groups(shape, plan, made);
  if (!checked) return checked.error();

  std::vector<Slot> slot_of;
  for (const GroupShape& group : made) {
    const auto found = std::find_if(groups.groups.begin(), groups.groups.end(),
                                    [&](const GroupSettings& s) { return s.name == group.name; });
    if (found == groups.groups.end()) {
      return Error{Errc::config, concat(file, ":1:1: want group '", group.name,
                                        "', which the program has, found none of that name")};
    }
    slot_of.push_back(static_cast<Slot>(found - groups.groups.begin()));
  }
  for (const GroupSettings& settings : groups.groups) {
    const bool known = std::any_of(made.begin(), made.end(),
                                   [&](const GroupShape& g) { return g.name == settings.name; });
    if (known) continue;
    std::string names;
    for (const GroupShape& group : made) names += concat(names.empty() ? "" : ", ", group.name);
    return Error{Errc::config,
                 concat(file, ":", to_text(settings.place), ": want a group of the program (",
                        names, "), found '", settings.name, "'")};
  }
  std::vector<Slot> placement;
  for (const std::uint32_t group : *checked) placement.push_back(slot_of[group]);
  return placement;
}

}  // namespace piracema::cluster
