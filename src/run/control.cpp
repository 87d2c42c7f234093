#include "run/control.h"

#include <utility>

#include "base/text.h"
#include "wire/fields.h"

namespace piracema::runtime {

namespace {

// Kinds of control frames are the positions in the variants: the order there is the protocol.
template <class Variant>
wire::Frame frame_of(const Variant& message) {
  wire::Frame frame;
  frame.kind = static_cast<std::uint8_t>(message.index());
  frame.head = std::visit([](const auto& m) { return wire::encode(m); }, message);
  return frame;
}

template <class Variant, std::size_t I = 0>
Result<Variant> message_of(const wire::Frame& frame) {
  if constexpr (I == std::variant_size_v<Variant>) {
    return Error{Errc::corrupt, concat("control frame: kind ", frame.kind, " is unknown")};
  } else {
    if (frame.kind != I) return message_of<Variant, I + 1>(frame);
    auto message = wire::decode<std::variant_alternative_t<I, Variant>>(frame.head);
    if (!message) {
      return Error{Errc::corrupt,
                   concat("control frame of kind ", I, ": ", message.error().message)};
    }
    return Variant(std::in_place_index<I>, *std::move(message));
  }
}

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
struct GroupsFields {
  std::vector<GroupFields> groups;
  auto fields() { return std::tie(groups); }
};
struct ShapeFields {
  std::vector<NodeFields> nodes;
  std::vector<EdgeFields> edges;
  auto fields() { return std::tie(nodes, edges); }
};

}  // namespace

wire::Frame to_frame(const FromWorker& message) { return frame_of(message); }
wire::Frame to_frame(const ToWorker& message) { return frame_of(message); }

Result<FromWorker> from_worker(const wire::Frame& frame) { return message_of<FromWorker>(frame); }
Result<ToWorker> to_worker(const wire::Frame& frame) { return message_of<ToWorker>(frame); }

std::string encode_groups(const std::vector<GroupShape>& groups) {
  GroupsFields all;
  for (const GroupShape& group : groups) all.groups.push_back({group});
  return std::string(as_text(wire::encode(all)));
}

Result<std::vector<GroupShape>> decode_groups(const std::string& text) {
  auto all = wire::decode<GroupsFields>(as_bytes(text));
  if (!all) return Error{Errc::corrupt, concat("groups: ", all.error().message)};
  return std::vector<GroupShape>(all->groups.begin(), all->groups.end());
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
