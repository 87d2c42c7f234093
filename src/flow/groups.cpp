#include "flow/groups.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <set>
#include <utility>

#include "base/text.h"

namespace piracema::flow {

namespace {

constexpr std::uint32_t no_group = ~std::uint32_t{0};

/// The checks, group by group in the order in which the program made them, as if each were made by
/// the paper's functions: CREATEGROUP (Fig. 6, lines 1-11), ADDTOGROUP (12-18), RUNGROUP (19-25).
class Checker {
 public:
  Checker(const GraphShape& shape, const Plan& plan, const std::vector<GroupShape>& groups)
      : shape_(shape), plan_(plan), groups_(groups), group_of_(plan.replicas.size(), no_group) {}

  Result<std::vector<std::uint32_t>> run() {
    for (std::uint32_t group = 0; group < groups_.size(); ++group) {
      if (auto created = create(group); !created) return created.error();
      if (auto filled = fill(group); !filled) return filled.error();
      if (auto whole = check_pipe(group); !whole) return whole.error();
    }
    for (std::uint32_t replica = 0; replica < group_of_.size(); ++replica) {
      if (group_of_[replica] == no_group) {
        return Error{Errc::config, concat("groups: brick '", name_of(replica),
                                          "' is in no group; every brick has to be in one")};
      }
    }
    return group_of_;
  }

 private:
  Error wrong(std::uint32_t group, const std::string& what) const {
    return {Errc::config, concat("group '", groups_[group].name, "': ", what)};
  }
  std::string name_of(std::uint32_t replica) const {
    return replica_name(shape_, plan_.replicas[replica]);
  }
  std::optional<std::uint32_t> find_node(const std::string& name) const {
    for (std::uint32_t node = 0; node < shape_.nodes.size(); ++node) {
      if (shape_.nodes[node].name == name) return node;
    }
    return std::nullopt;
  }
  bool is_replica(const std::string& name) const {
    return std::any_of(plan_.replicas.begin(), plan_.replicas.end(),
                       [&](const ReplicaPlan& replica) {
                         return concat(shape_.nodes[replica.node].name, "/", replica.index) == name;
                       });
  }

  Result<Done> create(std::uint32_t group) {
    const GroupShape& made = groups_[group];
    const bool plain = std::all_of(made.name.begin(), made.name.end(), [](unsigned char c) {
      return std::isalnum(c) != 0 || c == '-' || c == '_';
    });
    if (made.name.empty() || !plain) {
      return wrong(group, "a name has to be of letters, digits, '-' and '_'");
    }
    nodes_.clear();
    for (const std::string& brick : made.parent) {
      if (const auto node = find_node(brick)) {
        nodes_.insert(*node);
      } else if (is_replica(brick)) {  // Line 6.
        return wrong(group, concat("brick '", brick,
                                   "' is at level 2 of the program; groups are "
                                   "created from the program or its parts at level 1"));
      } else {
        return wrong(group, concat("there is no brick '", brick, "' in the program"));
      }
    }
    for (std::uint32_t other = 0; other < group; ++other) {
      if (auto fits = create_beside(group, other); !fits) return fits;
    }
    if (made.parent.empty()) {
      for (std::uint32_t node = 0; node < shape_.nodes.size(); ++node) nodes_.insert(node);
    }
    return Done{};
  }

  Result<Done> create_beside(std::uint32_t group, std::uint32_t other) const {
    const GroupShape& made = groups_[group];
    const GroupShape& before = groups_[other];
    if (before.name == made.name) {  // Line 2.
      return wrong(group, "there is a group of that name already");
    }
    if (made.parent.empty() && !before.parent.empty()) {  // Line 8.
      return wrong(group, concat("it is created from the whole program, but group '", before.name,
                                 "' from a part of it, '", before.parent.front(), "'"));
    }
    // Line 4; the footnote of section 3 will relax it for farms, and we do.
    const bool single = made.parent.size() == 1 && made.parent == before.parent &&
                        shape_.nodes[*find_node(made.parent.front())].replicas == 1;
    if (single) {
      return wrong(group, concat("brick '", made.parent.front(),
                                 "' is a single node, of which one "
                                 "group can be created, and that is '",
                                 before.name, "'"));
    }
    return Done{};
  }

  Result<Done> fill(std::uint32_t group) {
    std::vector<std::string> members = groups_[group].members;
    if (members.empty()) {  // The whole brick is meant (section 3).
      for (const std::uint32_t node : nodes_) members.push_back(shape_.nodes[node].name);
    }
    for (const std::string& member : members) {
      bool known = false, inside = false;
      for (std::uint32_t replica = 0; replica < group_of_.size(); ++replica) {
        const ReplicaPlan& plan = plan_.replicas[replica];
        const std::string& node = shape_.nodes[plan.node].name;
        if (member != node && member != concat(node, "/", plan.index)) continue;
        known = true;
        if (!nodes_.contains(plan.node)) continue;
        inside = true;
        if (group_of_[replica] != no_group) {  // Line 15.
          return wrong(group, concat("brick '", name_of(replica), "' is in group '",
                                     groups_[group_of_[replica]].name, "' already"));
        }
        group_of_[replica] = group;
      }
      if (!known) return wrong(group, concat("there is no brick '", member, "' in the program"));
      if (!inside) {  // Line 13.
        return wrong(group, concat("brick '", member,
                                   "' is no part of what the group was created "
                                   "from"));
      }
    }
    return Done{};
  }

  // Line 20: what is in a group has to hang together, as the stages of a pipeline that follow each
  // other do. Replicas of one node need not.
  Result<Done> check_pipe(std::uint32_t group) const {
    std::set<std::uint32_t> nodes;
    for (std::uint32_t replica = 0; replica < group_of_.size(); ++replica) {
      if (group_of_[replica] == group) nodes.insert(plan_.replicas[replica].node);
    }
    std::set<std::uint32_t> reached{*nodes.begin()};
    for (bool more = true; more;) {
      more = false;
      for (const EdgeShape& edge : shape_.edges) {
        if (!nodes.contains(edge.from) || !nodes.contains(edge.to)) continue;
        if (reached.contains(edge.from) == reached.contains(edge.to)) continue;
        reached.insert({edge.from, edge.to});
        more = true;
      }
    }
    for (const std::uint32_t node : nodes) {
      if (reached.contains(node)) continue;
      return wrong(group, concat("bricks '", shape_.nodes[*nodes.begin()].name, "' and '",
                                 shape_.nodes[node].name,
                                 "' do not follow each other; the parts "
                                 "of a pipeline in one group have to"));
    }
    return Done{};
  }

  const GraphShape& shape_;
  const Plan& plan_;
  const std::vector<GroupShape>& groups_;
  std::vector<std::uint32_t> group_of_;
  /// Of the group that is looked at: the nodes that it was created from.
  std::set<std::uint32_t> nodes_;
};

}  // namespace

Result<std::vector<std::uint32_t>> check_groups(const GraphShape& shape, const Plan& plan,
                                                const std::vector<GroupShape>& groups) {
  return Checker(shape, plan, groups).run();
}

}  // namespace piracema::flow
