#include "state/redistribution.h"

#include <algorithm>
#include <optional>

#include "base/text.h"
#include "state/plain_part.h"

namespace piracema::state {

namespace {

bool same_node(const NodeShape& a, const NodeShape& b) {
  return a.name == b.name && a.role == b.role && a.ordered == b.ordered &&
         a.saves_state == b.saves_state && a.input == b.input && a.output == b.output &&
         a.inputs == b.inputs && a.outputs == b.outputs && a.fusible == b.fusible &&
         a.keyed == b.keyed;
}

// `parts` may follow the numbers of replicas.
bool same_edge(const EdgeShape& a, const EdgeShape& b) {
  return a.from == b.from && a.to == b.to && a.delivery == b.delivery &&
         a.items_may_have_keys == b.items_may_have_keys && a.output == b.output &&
         a.input == b.input && a.back == b.back && a.combined == b.combined;
}

// Neighbours whose replicas lead to each other one to one would no longer find each other.
bool is_in_parts(const GraphShape& shape, std::uint32_t node) {
  return std::any_of(shape.edges.begin(), shape.edges.end(), [&](const EdgeShape& edge) {
    return edge.parts != 1 && (edge.from == node || edge.to == node);
  });
}

// Of nodes that share a thread each has a layout, with '+' between.
bool is_by_key_or_nothing(const std::string& layout, bool keyed) {
  constexpr std::string_view between = " + nothing";
  std::string_view rest = layout;
  while (rest.size() > between.size() && rest.ends_with(between))
    rest.remove_suffix(between.size());
  if (!keyed) return rest == "nothing";
  return rest.starts_with("keys(") && rest.ends_with(")") &&
         rest.find(") and ") == std::string_view::npos &&
         rest.find(" + ") == std::string_view::npos;
}

}  // namespace

bool has_cycle(const GraphShape& shape) {
  return std::any_of(shape.edges.begin(), shape.edges.end(),
                     [](const EdgeShape& edge) { return edge.back; });
}

Result<std::uint64_t> bytes_under_way(store::SnapshotStore& store,
                                      const store::Manifest& manifest) {
  constexpr std::uint64_t empty_list = sizeof(std::uint64_t);
  std::uint64_t bytes = 0;
  for (const store::Part& part : manifest.parts) {
    const auto saved = store.get(manifest.snapshot, part);
    if (!saved) return saved.error();
    const auto plain = read_plain_part(*saved);
    if (!plain) return plain.error();
    if (plain->under_way.size() > empty_list) bytes += plain->under_way.size();
  }
  return bytes;
}

Result<Done> check_nothing_under_way(store::SnapshotStore& store, const store::Manifest& manifest) {
  const auto bytes = bytes_under_way(store, manifest);
  if (!bytes) return bytes.error();
  if (*bytes == 0) return Done{};
  return Error{
      Errc::config,
      concat("snapshot ", manifest.snapshot, " has ", human_bytes(static_cast<double>(*bytes)),
             " of items that were under way between replicas: go on once as the job was, "
             "and stop it (SIGTERM): the snapshot of a stop has none")};
}

std::uint32_t key_groups_of(const GraphShape& shape, std::uint32_t node) {
  if (!shape.nodes[node].keyed) return 0;
  const auto edge = std::find_if(shape.edges.begin(), shape.edges.end(),
                                 [&](const EdgeShape& e) { return e.to == node; });
  return edge == shape.edges.end() ? 0 : edge->key_groups;
}

std::string why_not_other_number(const GraphShape& before, std::uint32_t node_before,
                                 const GraphShape& now, std::uint32_t node,
                                 const std::map<std::string, std::string>& layouts) {
  const NodeShape &was = before.nodes[node_before], &is = now.nodes[node];
  if (was.replicas == is.replicas) return "";
  const auto refuse = [&](const std::string& why) {
    return concat("operator '", is.name, "' had ", was.replicas, " replicas and has ", is.replicas,
                  " now: ", why);
  };
  if (is_source(is.role))
    return refuse("it is a source, and each replica has read a part of its own");
  if (is_in_parts(before, node_before) || is_in_parts(now, node)) {
    return refuse("its replicas lead one to one to those of a neighbour");
  }
  if (has_cycle(now)) return refuse("the program has a cycle, in which items are under way");
  const auto layout = layouts.find(is.name);
  if (layout == layouts.end()) return refuse("nobody knows what its state is");
  if (is_by_key_or_nothing(layout->second, is.keyed)) return "";
  if (is.keyed) return refuse("beside its states by key it has one for each replica");
  return refuse(concat("it has a state for each replica (", layout->second, "), not for each key"));
}

std::vector<store::NodeParts> nodes_of(const GraphShape& shape) {
  std::vector<store::NodeParts> nodes;
  for (std::uint32_t node = 0; node < shape.nodes.size(); ++node) {
    nodes.push_back(
        {shape.nodes[node].name, shape.nodes[node].replicas, key_groups_of(shape, node)});
  }
  return nodes;
}

Difference compare(const GraphShape& before, const GraphShape& now,
                   const std::map<std::string, std::string>& layouts) {
  const bool same =
      before.nodes.size() == now.nodes.size() && before.edges.size() == now.edges.size() &&
      std::equal(before.nodes.begin(), before.nodes.end(), now.nodes.begin(), same_node) &&
      std::equal(before.edges.begin(), before.edges.end(), now.edges.begin(), same_edge);
  if (!same) return {.another_program = true, .why = "another program"};
  for (std::uint32_t node = 0; node < now.nodes.size(); ++node) {
    std::string why = why_not_other_number(before, node, now, node, layouts);
    if (!why.empty()) return {.why = std::move(why)};
  }
  for (std::size_t e = 0; e < now.edges.size(); ++e) {
    const EdgeShape &was = before.edges[e], &is = now.edges[e];
    if (was.key_groups != is.key_groups) {
      return {.why = concat("the keys of operator '", now.nodes[is.to].name, "' were in ",
                            was.key_groups, " groups and are in ", is.key_groups, " now")};
    }
    if (was.parts == is.parts) continue;
    return {.why = concat("operator '", now.nodes[is.to].name, "' was reached by ", was.parts,
                          " ways and is by ", is.parts, " now")};
  }
  return {};
}

std::optional<FormerReplicas> former_replicas(const store::Manifest& manifest,
                                              const GraphShape& now, std::uint32_t node) {
  const std::string& name = now.nodes[node].name;
  const std::vector<store::NodeParts> nodes =
      manifest.nodes.empty() ? nodes_of(now) : manifest.nodes;
  FormerReplicas found;
  for (const store::NodeParts& each : nodes) {
    found.count = each.replicas;
    if (each.name == name) return found;
    found.first += each.replicas;
  }
  return std::nullopt;
}

}  // namespace piracema::state
