#include <piracema/graph.h>

#include <algorithm>
#include <set>

#include "base/text.h"

namespace piracema {

namespace {

constexpr std::uint32_t replicas_max = 10'000;

Error wrong(std::string message) { return {Errc::config, "graph: " + std::move(message)}; }

bool is_name(const std::string& text) {
  const auto allowed = [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_' || c == '-';
  };
  return !text.empty() && text.size() <= 64 && std::all_of(text.begin(), text.end(), allowed);
}

Result<Done> check_node(const NodeShape& node) {
  if (!is_name(node.name)) {
    return wrong(concat("node name '", node.name,
                        "': want 1 to 64 letters, digits, '_' or '-'"));
  }
  if (node.role != Role::source && node.role != Role::middle && node.role != Role::sink) {
    return wrong(concat("node '", node.name, "' has an unknown role"));
  }
  if (node.replicas == 0 || node.replicas > replicas_max) {
    return wrong(concat("node '", node.name, "': want 1 to ", replicas_max, " replicas, found ",
                        node.replicas));
  }
  if (node.ordered && node.role == Role::source) {
    return wrong(concat("source '", node.name, "' cannot be ordered: nothing reaches it"));
  }
  if (node.ordered && node.replicas != 1) {
    return wrong(concat("node '", node.name, "' is ordered and has ", node.replicas,
                        " replicas: there is no order over several, give it 1"));
  }
  return Done{};
}

// A linear pipeline, as in paper 000 section 2.1: every edge leads from a node to the next.
Result<Done> check_edges(const GraphShape& shape) {
  std::vector<int> in(shape.nodes.size()), out(shape.nodes.size());
  for (const EdgeShape& edge : shape.edges) {
    if (edge.from >= shape.nodes.size() || edge.to != edge.from + 1 ||
        edge.to >= shape.nodes.size()) {
      return wrong(concat("an edge from node ", edge.from, " to ", edge.to,
                          ": in a pipeline each node leads to the next one"));
    }
    if (static_cast<std::uint8_t>(edge.delivery) > static_cast<std::uint8_t>(Delivery::custom)) {
      return wrong("an edge has an unknown delivery");
    }
    out[edge.from] += 1;
    in[edge.to] += 1;
  }
  for (std::size_t i = 0; i < shape.nodes.size(); ++i) {
    const NodeShape& node = shape.nodes[i];
    if (in[i] != (node.role == Role::source ? 0 : 1)) {
      return wrong(concat(name_of(node.role), " '", node.name, "' has ", in[i], " inputs"));
    }
    if (out[i] != (node.role == Role::sink ? 0 : 1)) {
      return wrong(concat(name_of(node.role), " '", node.name, "' has ", out[i], " outputs"));
    }
  }
  return Done{};
}

}  // namespace

Result<Done> validate(const GraphShape& shape) {
  if (shape.nodes.empty()) return wrong("it has no nodes");
  std::set<std::string> names;
  std::uint64_t replicas = 0;
  for (const NodeShape& node : shape.nodes) {
    if (auto checked = check_node(node); !checked) return checked;
    if (!names.insert(node.name).second) return wrong(concat("two nodes are named '", node.name, "'"));
    replicas += node.replicas;
  }
  if (replicas > replicas_max) {
    return wrong(concat("want at most ", replicas_max, " replicas in all, found ", replicas));
  }
  const auto has = [&](Role role) {
    return std::any_of(shape.nodes.begin(), shape.nodes.end(),
                       [&](const NodeShape& node) { return node.role == role; });
  };
  if (!has(Role::source)) return wrong("it has no source");
  if (!has(Role::sink)) return wrong("it has no sink");
  return check_edges(shape);
}

std::string to_dot(const GraphShape& shape) {
  std::string dot = "digraph piracema {\n  rankdir=LR;\n  node [shape=box, style=rounded];\n";
  for (const NodeShape& node : shape.nodes) {
    dot += concat("  \"", node.name, "\" [label=\"", node.name);
    if (node.replicas > 1) dot += concat(" x", node.replicas);
    if (node.ordered) dot += "\\nordered";
    if (!node.saves_state) dot += "\\nmembers are not saved";
    dot += "\"];\n";
  }
  for (const EdgeShape& edge : shape.edges) {
    dot += concat("  \"", shape.nodes[edge.from].name, "\" -> \"", shape.nodes[edge.to].name,
                  "\" [label=\"", name_of(edge.delivery), "\"];\n");
  }
  return dot + "}\n";
}

const char* name_of(Delivery delivery) {
  switch (delivery) {
    case Delivery::on_demand: return "on demand";
    case Delivery::round_robin: return "round robin";
    case Delivery::broadcast: return "broadcast";
    case Delivery::by_key: return "by key";
    case Delivery::custom: return "custom";
  }
  return "?";
}

const char* name_of(Role role) {
  switch (role) {
    case Role::source: return "source";
    case Role::middle: return "node";
    case Role::sink: return "sink";
  }
  return "?";
}

}  // namespace piracema
