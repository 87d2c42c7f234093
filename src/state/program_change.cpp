#include "state/program_change.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "base/text.h"
#include "state/plain_part.h"
#include "state/redistribution.h"

namespace piracema::state {

namespace {

std::optional<std::uint32_t> find(const GraphShape& shape, const std::string& name) {
  for (std::uint32_t node = 0; node < shape.nodes.size(); ++node) {
    if (shape.nodes[node].name == name) return node;
  }
  return std::nullopt;
}

std::set<std::string> senders_to(const GraphShape& shape, std::uint32_t node) {
  std::set<std::string> senders;
  for (const EdgeShape& edge : shape.edges) {
    if (edge.to == node) senders.insert(shape.nodes[edge.from].name);
  }
  return senders;
}

// Why an operator cannot go on with what the one of its name had; "" if it can.
std::string why_not_kept(const GraphShape& before, std::uint32_t node_before, const GraphShape& now,
                         std::uint32_t node, const std::map<std::string, std::string>& layouts) {
  const NodeShape &was = before.nodes[node_before], &is = now.nodes[node];
  if (is_source(was.role) != is_source(is.role)) {
    return concat("operator '", is.name, "' was ", is_source(was.role) ? "a source" : "no source",
                  " and is ", is_source(is.role) ? "one" : "none", " now");
  }
  if (was.keyed != is.keyed) {
    return concat("operator '", is.name, "' had ", was.keyed ? "a" : "no",
                  " state for each key and has ", is.keyed ? "one" : "none", " now");
  }
  const auto groups_before = key_groups_of(before, node_before), groups = key_groups_of(now, node);
  if (groups_before != groups) {
    return concat("the keys of operator '", is.name, "' were in ", groups_before,
                  " groups and are in ", groups, " now");
  }
  return why_not_other_number(before, node_before, now, node, layouts);
}

// What would be lost with an operator; "" if nothing.
std::string loss_of(const NodeShape& node, const std::map<std::string, std::string>& layouts) {
  if (is_source(node.role)) return "how far it has read";
  const auto layout = layouts.find(node.name);
  if (layout == layouts.end()) return "its state";
  return layout->second == "nothing" ? "" : concat("its state (", layout->second, ")");
}

}  // namespace

ProgramChange change_program(const GraphShape& before, const GraphShape& now,
                             const std::map<std::string, std::string>& layouts,
                             const std::vector<std::string>& may_go) {
  ProgramChange change;
  const auto refuse = [&change](std::string why) {
    change.why = std::move(why);
    return change;
  };
  if (has_cycle(before) || has_cycle(now)) {
    return refuse("a program with a cycle cannot change: items are under way in it");
  }
  for (std::uint32_t node = 0; node < now.nodes.size(); ++node) {
    const std::string& name = now.nodes[node].name;
    const auto node_before = find(before, name);
    if (!node_before) {
      change.added.push_back(name);
      continue;
    }
    std::string why = why_not_kept(before, *node_before, now, node, layouts);
    if (!why.empty()) return refuse(std::move(why));
    change.kept.push_back(name);
    const auto had = senders_to(before, *node_before), has = senders_to(now, node);
    if (!std::includes(had.begin(), had.end(), has.begin(), has.end())) {
      change.rewired.push_back(name);
    }
  }
  if (change.kept.empty()) return refuse("no operator has the name of one of the program");
  const auto may_be_dropped = [&may_go](const std::string& name) {
    return std::find(may_go.begin(), may_go.end(), name) != may_go.end();
  };
  for (const NodeShape& node : before.nodes) {
    if (find(now, node.name)) continue;
    const std::string loss = loss_of(node, layouts);
    if (!loss.empty() && !may_be_dropped(node.name)) {
      return refuse(concat("operator '", node.name, "' is not in the program, and ", loss,
                           " would be lost: --drop ", node.name, " says that it may be"));
    }
    change.dropped.push_back(node.name);
  }
  for (const std::string& name : may_go) {
    if (std::find(change.dropped.begin(), change.dropped.end(), name) != change.dropped.end())
      continue;
    return refuse(concat("operator '", name, "' is to be dropped, but is ",
                         find(now, name) ? "in the program" : "not in the snapshot"));
  }
  return change;
}

Result<Done> check_not_ended(store::SnapshotStore& store, const store::Manifest& manifest,
                             const std::vector<std::string>& nodes) {
  ReplicaId first = 0;
  for (const store::NodeParts& node : manifest.nodes) {
    const ReplicaId replica = std::exchange(first, first + node.replicas);
    if (std::find(nodes.begin(), nodes.end(), node.name) == nodes.end()) continue;
    // The replicas of a node have the same senders: all of them had ended, or none.
    const auto part =
        std::find_if(manifest.parts.begin(), manifest.parts.end(),
                     [replica](const store::Part& one) { return one.replica == replica; });
    if (part == manifest.parts.end()) {
      return Error{Errc::corrupt,
                   concat("snapshot ", manifest.snapshot, " has no part of replica ", replica)};
    }
    const auto bytes = store.get(manifest.snapshot, *part);
    if (!bytes) return bytes.error();
    const auto plain = read_plain_part(*bytes);
    if (!plain) return plain.error();
    if (plain->stage != Stage::ended) continue;
    return Error{Errc::config, concat("operator '", node.name,
                                      "' had ended, as all that it got items from had, and would "
                                      "get more from others now")};
  }
  return Done{};
}

}  // namespace piracema::state
