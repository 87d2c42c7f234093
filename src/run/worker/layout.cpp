#include "run/worker/layout.h"

#include <algorithm>
#include <utility>

#include "base/ensure.h"
#include "base/text.h"

namespace piracema::runtime {

namespace {

// The program's own, as long as the numbers are: its code may hold much.
std::shared_ptr<const Graph> graph_with(const Graph& program,
                                        const std::vector<std::uint32_t>& replicas) {
  const auto& nodes = program.shape.nodes;
  const bool own = replicas.empty() ||
                   std::equal(nodes.begin(), nodes.end(), replicas.begin(), replicas.end(),
                              [](const auto& node, auto count) { return node.replicas == count; });
  if (own) return {std::shared_ptr<const Graph>(), &program};
  ENSURE(replicas.size() == nodes.size());
  Graph graph = program;
  for (std::size_t node = 0; node < replicas.size(); ++node) {
    graph.shape.nodes[node].replicas = replicas[node];
  }
  return std::make_shared<const Graph>(std::move(graph));
}

}  // namespace

Layout::Layout(Epoch epoch, const std::vector<Slot>& placed,
               const std::vector<std::uint32_t>& counts, const Graph& program, Slot slot)
    : since(epoch),
      here(slot),
      graph(graph_with(program, counts)),
      plan(flow::make_plan(graph->shape,
                           [&](ReplicaId id) { return id < placed.size() && placed[id] == slot; })),
      placement(placed),
      local_count(static_cast<std::size_t>(std::count(placement.begin(), placement.end(), slot))) {
  ENSURE(placement.size() == plan.replicas.size());
  replicas.resize(plan.replicas.size());
  of_node.resize(graph->shape.nodes.size());
}

void Layout::add_actors(const ActorOf& actor_of) {
  for (ReplicaId id = 0; id < replicas.size(); ++id) {
    if (!is_here(id)) continue;
    replicas[id] = actor_of(plan.replicas[id]);
    of_node[plan.replicas[id].node].push_back(id);
  }
}

bool Layout::fits(const Deploy& message) const {
  const auto& nodes = graph->shape.nodes;
  for (std::size_t node = 0; node < message.replicas.size(); ++node) {
    if (nodes[node].replicas != message.replicas[node]) return false;
  }
  return placement == message.placement;
}

Result<Done> Layout::check(Slot from, const wire::Frame& frame, const Packet& packet) const {
  const auto refuse = [&](const char* why) {
    return Error{Errc::refused,
                 concat("a packet from replica ", frame.from, " to ", frame.to, ": ", why)};
  };
  if (local(frame.to) == nullptr) return refuse("the receiver is not here");
  if (frame.from >= placement.size() || placement[frame.from] != from) {
    return refuse("the sender is not there");
  }
  const flow::ReplicaPlan& to = plan.replicas[frame.to];
  const auto input = to.input_from(frame.from);
  const bool fits = std::holds_alternative<Credit>(packet)    ? to.sends_to(frame.from)
                    : std::holds_alternative<Release>(packet) ? to.starts_order
                    : std::holds_alternative<Probe>(packet)   ? input && to.inputs[*input].in_cycle
                    : std::holds_alternative<Watermark>(packet)
                        ? input && !to.inputs[*input].in_cycle
                        : input.has_value();
  if (!fits) return refuse("there is no such channel");
  return Done{};
}

Result<Done> Layout::check_relayed(const wire::Frame& packet) const {
  const auto refuse = [&](const char* why) {
    return Error{Errc::refused, concat("a packet from replica ", packet.from, " to all of node ",
                                       packet.to, ": ", why)};
  };
  if (packet.from >= placement.size()) return refuse("there is no such sender");
  const std::uint32_t sender = plan.replicas[packet.from].node;
  const auto& edges = graph->shape.edges;
  const bool is_channel = std::any_of(edges.begin(), edges.end(), [&](const EdgeShape& edge) {
    return edge.from == sender && edge.to == packet.to && edge.delivery == Delivery::broadcast;
  });
  if (!is_channel) return refuse("there is no such channel");
  return Done{};
}

}  // namespace piracema::runtime
