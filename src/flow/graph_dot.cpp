#include <piracema/graph.h>

#include "base/text.h"

namespace piracema::engine {

std::string to_dot(const GraphShape& shape, const std::string& title) {
  std::string dot = "digraph " + title + " {\n  rankdir=LR;\n  node [shape=box, style=rounded];\n";
  for (const NodeShape& node : shape.nodes) {
    dot += concat("  \"", node.name, "\" [label=\"", node.name);
    if (node.replicas > 1) dot += concat(" x", node.replicas);
    if (node.ordered) dot += "\\nordered";
    if (!node.saves_state) dot += "\\nmembers are not saved";
    dot += "\"];\n";
  }
  for (const EdgeShape& edge : shape.edges) {
    const NodeShape& from = shape.nodes[edge.from];
    const bool one_to_one = edge.parts > 1 && edge.parts == from.replicas &&
                            edge.parts == shape.nodes[edge.to].replicas;
    dot += concat("  \"", from.name, "\" -> \"", shape.nodes[edge.to].name, "\" [label=\"",
                  edge.combined ? "combined"
                  : one_to_one  ? "one to one"
                                : name_of(edge.delivery));
    if (edge.parts > 1 && !one_to_one) dot += concat(", ", edge.parts, " parts");
    if (from.outputs > 1) dot += concat("\\noutput ", edge.output);
    dot += edge.back ? "\", style=dashed, constraint=false];\n" : "\"];\n";
  }
  return dot + "}\n";
}

const char* name_of(Delivery delivery) {
  switch (delivery) {
    case Delivery::on_demand:
      return "on demand";
    case Delivery::round_robin:
      return "round robin";
    case Delivery::strict_round_robin:
      return "strict round robin";
    case Delivery::broadcast:
      return "broadcast";
    case Delivery::by_key:
      return "by key";
    case Delivery::custom:
      return "custom";
    case Delivery::scatter:
      return "scatter";
  }
  return "?";
}

const char* name_of(Role role) {
  switch (role) {
    case Role::source:
      return "source";
    case Role::middle:
      return "node";
    case Role::sink:
      return "sink";
    case Role::whole:
      return "program";
  }
  return "?";
}

}  // namespace piracema::engine
