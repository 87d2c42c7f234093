#include "control/messages/control.h"

#include <utility>

#include "base/text.h"
#include "wire/fields.h"
#include "wire/messages.h"

namespace piracema::runtime {

namespace {

struct NodeFields : NodeShape {
  auto fields() {
    return std::tie(name, role, replicas, ordered, saves_state, input, output, inputs, outputs,
                    fusible);
  }
};
struct EdgeFields : EdgeShape {
  auto fields() {
    return std::tie(from, to, delivery, items_may_have_keys, output, input, back, parts, combined);
  }
};
struct GroupFields : GroupShape {
  auto fields() { return std::tie(name, parent, members); }
};
struct CutFields {
  std::vector<GroupFields> groups;
  std::vector<std::uint64_t> costs;
  auto fields() { return std::tie(groups, costs); }
};
struct KeyedEdge {
  std::uint32_t edge = 0, groups = 0;
  auto fields() { return std::tie(edge, groups); }
};
struct ShapeFields {
  std::vector<NodeFields> nodes;
  std::vector<EdgeFields> edges;
  auto fields() { return std::tie(nodes, edges); }
};
// Of a graph with edges by key. Others look as they did before there were key groups, so that a
// snapshot of then is still one of theirs.
struct KeyedShapeFields {
  std::vector<NodeFields> nodes;
  std::vector<EdgeFields> edges;
  std::vector<KeyedEdge> keyed_edges;
  std::vector<std::uint32_t> keyed_nodes;
  auto fields() { return std::tie(nodes, edges, keyed_edges, keyed_nodes); }
};

GraphShape shape_of(const std::vector<NodeFields>& nodes, const std::vector<EdgeFields>& edges) {
  return {{nodes.begin(), nodes.end()}, {edges.begin(), edges.end()}};
}

// Versions before there were key groups had none to tell.
Result<GraphShape> without_groups(const std::string& text) {
  auto all = wire::decode<ShapeFields>(as_bytes(text));
  if (!all) return Error{Errc::corrupt, concat("graph: ", all.error().message)};
  return shape_of(all->nodes, all->edges);
}

Result<GraphShape> with_groups(const std::string& text) {
  auto all = wire::decode<KeyedShapeFields>(as_bytes(text));
  if (!all) return Error{Errc::corrupt, concat("graph: ", all.error().message)};
  GraphShape shape = shape_of(all->nodes, all->edges);
  for (const KeyedEdge& keyed : all->keyed_edges) {
    if (keyed.edge >= shape.edges.size()) {
      return Error{Errc::corrupt, concat("graph: key groups of edge ", keyed.edge, ", of ",
                                         shape.edges.size(), " edges")};
    }
    shape.edges[keyed.edge].key_groups = keyed.groups;
  }
  for (const std::uint32_t keyed : all->keyed_nodes) {
    if (keyed >= shape.nodes.size()) {
      return Error{Errc::corrupt,
                   concat("graph: state by key of node ", keyed, ", of ", shape.nodes.size())};
    }
    shape.nodes[keyed].keyed = true;
  }
  return shape;
}

}  // namespace

wire::Frame to_frame(const FromWorker& message) { return wire::message_to_frame(message); }
wire::Frame to_frame(const ToWorker& message) { return wire::message_to_frame(message); }

Result<FromWorker> from_worker(const wire::Frame& frame) {
  return wire::message_from_frame<FromWorker>(frame, "control frame");
}
Result<ToWorker> to_worker(const wire::Frame& frame) {
  return wire::message_from_frame<ToWorker>(frame, "control frame");
}

std::vector<std::uint64_t> costs_of(const GraphShape& shape) {
  std::vector<std::uint64_t> costs;
  for (const NodeShape& node : shape.nodes) costs.push_back(node.cost_ns);
  return costs;
}

Result<Done> set_costs(GraphShape& shape, const std::vector<std::uint64_t>& costs) {
  if (costs.size() != shape.nodes.size()) {
    return Error{Errc::corrupt, concat("graph: want costs of ", shape.nodes.size(),
                                       " nodes, found ", costs.size())};
  }
  for (std::size_t i = 0; i < costs.size(); ++i) shape.nodes[i].cost_ns = costs[i];
  return Done{};
}

std::string encode_cut(const Cut& cut) {
  CutFields all{.groups = {}, .costs = cut.costs};
  for (const GroupShape& group : cut.groups) all.groups.push_back({group});
  return std::string(as_text(wire::encode(all)));
}

Result<Cut> decode_cut(const std::string& text) {
  auto all = wire::decode<CutFields>(as_bytes(text));
  if (!all) return Error{Errc::corrupt, concat("groups: ", all.error().message)};
  return Cut{{all->groups.begin(), all->groups.end()}, std::move(all->costs)};
}

std::string encode_shape(const GraphShape& shape) {
  KeyedShapeFields all;
  for (const NodeShape& node : shape.nodes) all.nodes.push_back({node});
  for (const EdgeShape& edge : shape.edges) all.edges.push_back({edge});
  for (std::uint32_t i = 0; i < shape.edges.size(); ++i) {
    if (shape.edges[i].key_groups != 0) all.keyed_edges.push_back({i, shape.edges[i].key_groups});
  }
  for (std::uint32_t i = 0; i < shape.nodes.size(); ++i) {
    if (shape.nodes[i].keyed) all.keyed_nodes.push_back(i);
  }
  if (!all.keyed_edges.empty() || !all.keyed_nodes.empty()) {
    return std::string(as_text(wire::encode(all)));
  }
  ShapeFields plain{std::move(all.nodes), std::move(all.edges)};
  return std::string(as_text(wire::encode(plain)));
}

Result<GraphShape> decode_shape(const std::string& text) {
  auto shape = with_groups(text);
  if (!shape) shape = without_groups(text);
  if (!shape) return shape.error();
  if (auto valid = validate(*shape); !valid) return valid.error();
  return shape;
}

Result<GraphShape> decode_old_shape(const std::string& text) {
  auto shape = without_groups(text);
  if (!shape) return shape;
  for (EdgeShape& edge : shape->edges) {
    if (edge.delivery == Delivery::by_key) edge.key_groups = key_groups_default;
  }
  if (auto valid = validate(*shape); !valid) return valid.error();
  return shape;
}

}  // namespace piracema::runtime
