#include <piracema/graph.h>

#include <algorithm>
#include <set>

#include "base/text.h"
#include "flow/cycles.h"
#include "flow/event_times.h"
#include "flow/stretch.h"

namespace piracema::engine {

namespace {

constexpr std::uint32_t replicas_max = 10'000;
constexpr std::uint32_t outputs_max = 1'000;
constexpr std::uint32_t batch_items_max = 1 << 20;
constexpr std::uint64_t batch_bytes_max = std::uint64_t{1} << 30;

Error wrong(std::string message) { return {Errc::config, "graph: " + std::move(message)}; }

bool is_name(const std::string& text) {
  const auto allowed = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_' || c == '-'; };
  return !text.empty() && text.size() <= 64 && std::all_of(text.begin(), text.end(), allowed);
}

// Fused nodes have the names of all their parts.
bool are_names(const std::string& text) {
  const std::size_t plus = text.find('+');
  if (plus == std::string::npos) return is_name(text);
  return is_name(text.substr(0, plus)) && are_names(text.substr(plus + 1));
}

Result<Done> check_node(const NodeShape& node) {
  if (!are_names(node.name)) {
    return wrong(concat("node name '", node.name, "': want 1 to 64 letters, digits, '_' or '-'"));
  }
  if (static_cast<std::uint8_t>(node.role) > static_cast<std::uint8_t>(Role::whole)) {
    return wrong(concat("node '", node.name, "' has an unknown role"));
  }
  if (node.replicas == 0 || node.replicas > replicas_max) {
    return wrong(concat("node '", node.name, "': want 1 to ", replicas_max, " replicas, found ",
                        node.replicas));
  }
  if (node.inputs == 0 || node.inputs > 2 || node.outputs == 0 || node.outputs > outputs_max) {
    return wrong(concat("node '", node.name, "': want 1 or 2 inputs and 1 to ", outputs_max,
                        " outputs, found ", node.inputs, " and ", node.outputs));
  }
  if (node.ordered && is_source(node.role)) {
    return wrong(concat("source '", node.name, "' cannot be ordered: nothing reaches it"));
  }
  if (node.ordered && node.replicas != 1) {
    return wrong(concat("node '", node.name, "' is ordered and has ", node.replicas,
                        " replicas: there is no order over several, give it 1"));
  }
  return Done{};
}

// Where an edge leads, and how (paper 004, section 2, third rule: blocks of several nodes are
// connected one to one if they have the same number of nodes, else all to all).
Result<Done> check_edge(const GraphShape& shape, const EdgeShape& edge) {
  if (edge.batch.items > batch_items_max) {
    return wrong(
        concat("a batch: want at most ", batch_items_max, " items, found ", edge.batch.items));
  }
  if (edge.batch.bytes > batch_bytes_max) {
    return wrong(
        concat("a batch: want at most ", batch_bytes_max, " bytes, found ", edge.batch.bytes));
  }
  if (edge.batch.linger.count() < 0) return wrong("a batch: want a linger that is not below 0");
  if (edge.from >= shape.nodes.size() || edge.to >= shape.nodes.size()) {
    return wrong(concat("an edge from node ", edge.from, " to ", edge.to, ", of ",
                        shape.nodes.size(), " nodes"));
  }
  const NodeShape& from = shape.nodes[edge.from];
  const NodeShape& to = shape.nodes[edge.to];
  const std::string names = concat("the edge from '", from.name, "' to '", to.name, "'");
  if (static_cast<std::uint8_t>(edge.delivery) >
      static_cast<std::uint8_t>(Delivery::strict_round_robin)) {
    return wrong(names + " has an unknown delivery");
  }
  if (edge.output >= from.outputs) {
    return wrong(concat(names, " is for output ", edge.output, " of '", from.name, "', which has ",
                        from.outputs));
  }
  if (edge.input >= to.inputs) {
    return wrong(
        concat(names, " is for input ", edge.input, " of '", to.name, "', which has ", to.inputs));
  }
  if (edge.parts == 0 || from.replicas % edge.parts != 0 || to.replicas % edge.parts != 0) {
    return wrong(concat(names, " has ", edge.parts, " parts, but '", from.name, "' has ",
                        from.replicas, " replicas and '", to.name, "' ", to.replicas,
                        ": blocks are connected one to one only if they have the same number of "
                        "nodes (third rule)"));
  }
  if (edge.delivery == Delivery::by_key) {
    if (!KeyGroups::is_count(edge.key_groups)) {
      return wrong(concat(names, ": want a power of two from 2 to ", key_groups_max,
                          " as the number of key groups, found ", edge.key_groups));
    }
    if (to.replicas / edge.parts > edge.key_groups) {
      return wrong(concat("node '", to.name, "' has ", to.replicas / edge.parts,
                          " replicas for the keys of ", edge.key_groups,
                          " groups: want no more replicas than groups"));
    }
  } else if (edge.key_groups != 0) {
    return wrong(concat(names, " has key groups and is not by key"));
  }
  return Done{};
}

// Each key of such a node belongs to one replica, however it comes.
Result<Done> check_keyed(const GraphShape& shape) {
  for (std::uint32_t n = 0; n < shape.nodes.size(); ++n) {
    const NodeShape& node = shape.nodes[n];
    if (!node.keyed) continue;
    const std::string name = concat("node '", node.name, "' has a state for each key");
    std::uint32_t groups = 0;
    for (const EdgeShape& edge : shape.edges) {
      if (edge.to != n) continue;
      if (edge.delivery != Delivery::by_key) {
        return wrong(concat(name, ": want items by key, found them ", name_of(edge.delivery)));
      }
      if (edge.parts != 1) return wrong(name + ": it cannot be a part of a farm of pipelines");
      if (edge.back) return wrong(name + ": it cannot be the beginning of a cycle");
      if (groups != 0 && edge.key_groups != groups) {
        return wrong(
            concat(name, ": its inputs have ", groups, " and ", edge.key_groups, " key groups"));
      }
      groups = edge.key_groups;
      for (const EdgeShape& other : shape.edges) {
        if (other.from != edge.from || other.output != edge.output || other.to == n) continue;
        return wrong(concat(name, ": '", shape.nodes[other.to].name, "' shares its input"));
      }
    }
    if (groups == 0) return wrong(name + ": want an input by key");
  }
  return Done{};
}

// Channels are known by their two ends, and the edges of one output choose between them together.
Result<Done> check_pairs(const GraphShape& shape) {
  for (std::size_t i = 0; i < shape.edges.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const EdgeShape &a = shape.edges[j], &b = shape.edges[i];
      if (a.from != b.from) continue;
      const std::string& from = shape.nodes[a.from].name;
      if (a.to == b.to) {
        return wrong(concat("two edges from '", from, "' to '", shape.nodes[a.to].name,
                            "': one is enough, put a node between for the other"));
      }
      if (a.output == b.output && a.delivery != b.delivery) {
        return wrong(concat("output ", a.output, " of '", from, "' is both ", name_of(a.delivery),
                            " and ", name_of(b.delivery)));
      }
      if (a.output == b.output && a.key_groups != b.key_groups) {
        return wrong(concat("output ", a.output, " of '", from, "' has both ", a.key_groups,
                            " and ", b.key_groups, " key groups"));
      }
    }
  }
  return Done{};
}

// A role goes with inputs and outputs: sources have none of the first, sinks none of the second.
Result<Done> check_ends(const GraphShape& shape, std::uint32_t index) {
  const NodeShape& node = shape.nodes[index];
  std::size_t in = 0, back = 0;
  std::vector<std::size_t> out(node.outputs);
  for (const EdgeShape& edge : shape.edges) {
    if (edge.to == index) (edge.back ? back : in) += 1;
    if (edge.from == index) out[edge.output] += 1;
  }
  const std::string name = concat(name_of(node.role), " '", node.name, "'");
  const auto outputs = std::count_if(out.begin(), out.end(), [](std::size_t n) { return n != 0; });
  if (is_source(node.role) && in + back != 0) {
    return wrong(concat(name, " has ", in + back, " inputs"));
  }
  if (!is_source(node.role) && in == 0) {
    return wrong(concat(name, " has 0 inputs", back != 0 ? " but by its cycle" : ""));
  }
  if (is_sink(node.role)) {
    return outputs == 0 ? Result<Done>(Done{}) : wrong(concat(name, " has ", outputs, " outputs"));
  }
  for (std::size_t output = 0; output < out.size(); ++output) {
    if (out[output] != 0) continue;
    if (node.outputs == 1) return wrong(concat(name, " has 0 outputs"));
    return wrong(concat("output ", output, " of ", name, " leads nowhere"));
  }
  return Done{};
}

Result<Done> check_cycles(const GraphShape& shape) {
  const auto order = flow::in_flow_order(shape);
  if (order.size() != shape.nodes.size()) {
    std::uint32_t node = 0;
    while (std::find(order.begin(), order.end(), node) != order.end()) node += 1;
    return wrong(concat("node '", shape.nodes[node].name,
                        "' comes after itself: a cycle needs an edge that is marked as back"));
  }
  const flow::Cycles cycles(shape);
  for (const EdgeShape& a : shape.edges) {
    const std::string& from = shape.nodes[a.from].name;
    if (a.back && !cycles.has(a)) {
      return wrong(concat("the edge back from '", from, "' to '", shape.nodes[a.to].name,
                          "' closes no cycle"));
    }
    for (const EdgeShape& b : shape.edges) {
      if (a.from != b.from || a.output != b.output || cycles.has(a) == cycles.has(b)) continue;
      return wrong(concat("output ", a.output, " of '", from,
                          "' leads into its cycle and out of "
                          "it: give it one output for each"));
    }
  }
  return Done{};
}

// Every batch of an order has to come to its end once: not by a cycle, and not by a way that
// shares it with another end (docs/design/010-bricks.md).
Result<Done> check_orders(const GraphShape& shape) {
  const auto all = flow::stretches(shape);
  const flow::Cycles cycles(shape);
  for (const flow::Stretch& stretch : all) {
    const std::string& end = shape.nodes[stretch.end].name;
    for (const std::uint32_t e : stretch.edges) {
      if (!cycles.has(shape.edges[e])) continue;
      return wrong(concat("ordered node '", end, "' comes after the cycle of '",
                          shape.nodes[shape.edges[e].from].name, "', which keeps no order"));
    }
    for (const std::uint32_t node : stretch.inside) {
      for (const EdgeShape& edge : shape.edges) {
        if (edge.to != node || !edge.back) continue;
        return wrong(concat("ordered node '", end, "' comes after the cycle of '",
                            shape.nodes[node].name, "', which keeps no order"));
      }
    }
  }
  for (std::uint32_t i = 0; i < shape.edges.size(); ++i) {
    for (std::uint32_t j = 0; j < i; ++j) {
      if (shape.edges[i].from != shape.edges[j].from) continue;
      std::size_t both = 0, one = 0;
      for (const flow::Stretch& stretch : all) {
        const int has = int{stretch.has_edge(i)} + int{stretch.has_edge(j)};
        (has == 2 ? both : one) += has == 0 ? 0 : 1;
      }
      // Within one output an item takes any of the edges, so that all have to lead to the end.
      const bool one_output = shape.edges[i].output == shape.edges[j].output;
      if (one == 0 || (both == 0 && !one_output)) continue;
      return wrong(concat("the ways from '", shape.nodes[shape.edges[i].from].name, "' to '",
                          shape.nodes[shape.edges[i].to].name, "' and '",
                          shape.nodes[shape.edges[j].to].name,
                          "' share some ordered nodes and not others"));
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
    if (!names.insert(node.name).second)
      return wrong(concat("two nodes are named '", node.name, "'"));
    replicas += node.replicas;
  }
  if (replicas > replicas_max) {
    return wrong(concat("want at most ", replicas_max, " replicas in all, found ", replicas));
  }
  const auto has = [&](bool (*is)(Role)) {
    return std::any_of(shape.nodes.begin(), shape.nodes.end(),
                       [&](const NodeShape& node) { return is(node.role); });
  };
  if (!has(is_source)) return wrong("it has no source");
  if (!has(is_sink)) return wrong("it has no sink");
  for (const EdgeShape& edge : shape.edges) {
    if (auto checked = check_edge(shape, edge); !checked) return checked;
  }
  if (auto checked = check_pairs(shape); !checked) return checked;
  if (auto checked = check_keyed(shape); !checked) return checked;
  for (std::uint32_t node = 0; node < shape.nodes.size(); ++node) {
    if (auto checked = check_ends(shape, node); !checked) return checked;
  }
  if (auto checked = check_cycles(shape); !checked) return checked;
  if (auto checked = check_orders(shape); !checked) return checked;
  if (auto why = flow::without_event_time(shape)) return wrong(*std::move(why));
  return Done{};
}

}  // namespace piracema::engine
