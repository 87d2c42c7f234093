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
struct ShapeFields {
  std::vector<NodeFields> nodes;
  std::vector<EdgeFields> edges;
  auto fields() { return std::tie(nodes, edges); }
};

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
  ShapeFields all;
  for (const NodeShape& node : shape.nodes) all.nodes.push_back({node});
  for (const EdgeShape& edge : shape.edges) all.edges.push_back({edge});
  return std::string(as_text(wire::encode(all)));
}

Result<GraphShape> decode_shape(const std::string& text) {
  auto all = wire::decode<ShapeFields>(as_bytes(text));
  if (!all) return Error{Errc::corrupt, concat("graph: ", all.error().message)};
  GraphShape shape;
  for (const NodeFields& node : all->nodes) shape.nodes.push_back(node);
  for (const EdgeFields& edge : all->edges) shape.edges.push_back(edge);
  if (auto valid = validate(shape); !valid) return valid.error();
  return shape;
}

}  // namespace piracema::runtime
