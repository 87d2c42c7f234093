#include "flow/states.h"

#include <algorithm>

#include "base/hex.h"
#include "base/text.h"
#include "wire/checksum.h"

namespace piracema::flow {

namespace {

bool is_printable(char c) { return c >= ' ' && c <= '~'; }

// Names in a layout may be any bytes, and user code may say as much as it likes.
std::string in_bounds(std::string layout) {
  std::replace_if(
      layout.begin(), layout.end(), [](char c) { return !is_printable(c); }, '?');
  if (layout.size() <= layout_bytes_max) return layout;
  const std::string rest = concat("... #", store::to_hex(wire::checksum(as_bytes(layout))));
  return layout.substr(0, layout_bytes_max - rest.size()) + rest;
}

// Of its states now, and in versions of the program before; none: nobody knows.
std::vector<std::string> all_layouts_of(const Graph& graph, std::uint32_t node) {
  if (node >= graph.code.size() || !graph.code[node]) return {};
  const auto back = std::find_if(graph.shape.edges.begin(), graph.shape.edges.end(),
                                 [&](const auto& edge) { return edge.back && edge.to == node; });
  const bool is_head = back != graph.shape.edges.end();
  try {
    const auto code = graph.code[node]();
    std::vector<std::string> all = code->former_layouts();
    all.insert(all.begin(), code->layout());
    const std::string items = is_head ? code->layout_of_items(back->input) : "";
    if (all.front().empty() || (is_head && items.empty())) return {};
    for (std::string& layout : all) {
      layout = in_bounds(is_head ? concat(layout, ", items ", items) : std::move(layout));
    }
    return all;
  } catch (...) {
    return {};  // What is wrong with it is told when it is to run.
  }
}

// Which of the replicas an item reaches is for time to decide, not for what the item is; one to one
// that is decided where the replica before gets it. Without back edges there is no cycle.
bool takes_any_item(const GraphShape& shape, std::uint32_t node) {
  return std::any_of(shape.edges.begin(), shape.edges.end(), [&](const EdgeShape& edge) {
    if (edge.to != node || edge.back || edge.items_may_have_keys) return false;
    if (edge.delivery != Delivery::on_demand && edge.delivery != Delivery::round_robin)
      return false;
    if (edge.parts < shape.nodes[node].replicas) return true;
    return !is_source(shape.nodes[edge.from].role) && takes_any_item(shape, edge.from);
  });
}

}  // namespace

std::string layout_of_items(const Graph& graph, std::uint32_t node) {
  try {
    const auto code = graph.code.at(node)();
    std::string layout = code->layout_of_items(0);
    for (std::uint32_t input = 1; input < graph.shape.nodes[node].inputs; ++input) {
      layout += concat(", ", code->layout_of_items(input));
    }
    return in_bounds(std::move(layout));
  } catch (...) {
    return "";
  }
}

StateTypes state_types_of(const Graph& graph) {
  StateTypes types;
  for (std::uint32_t node = 0; node < graph.shape.nodes.size(); ++node) {
    auto all = all_layouts_of(graph, node);
    types.layouts.push_back(all.empty() ? "" : std::move(all.front()));
    if (!all.empty()) all.erase(all.begin());
    types.former.push_back(std::move(all));
  }
  return types;
}

std::uint32_t changes_since(const Graph& graph, std::uint32_t node, const std::string& layout) {
  const auto all = all_layouts_of(graph, node);
  const auto found = std::find(all.begin(), all.end(), layout);
  return found == all.end() ? 0 : static_cast<std::uint32_t>(found - all.begin());
}

Result<Done> check_types(const GraphShape& shape, const StateTypes& types) {
  for (const std::size_t count : {types.layouts.size(), types.former.size()}) {
    if (count == 0 || count == shape.nodes.size()) continue;
    return Error{Errc::corrupt,
                 concat("graph: want layouts of ", shape.nodes.size(), " nodes, found ", count)};
  }
  std::vector<std::string> all = types.layouts;
  for (const auto& of_node : types.former) all.insert(all.end(), of_node.begin(), of_node.end());
  for (const std::string& layout : all) {
    if (layout.size() <= layout_bytes_max &&
        std::all_of(layout.begin(), layout.end(), is_printable))
      continue;
    return Error{Errc::corrupt, concat("graph: want a layout of at most ", layout_bytes_max,
                                       " printable bytes, found ", layout.size())};
  }
  return Done{};
}

std::map<std::string, std::string> layouts_by_node(const GraphShape& shape,
                                                   const std::vector<std::string>& layouts) {
  std::map<std::string, std::string> known;
  for (std::size_t node = 0; node < layouts.size(); ++node) {
    if (!layouts[node].empty()) known[shape.nodes[node].name] = layouts[node];
  }
  return known;
}

std::vector<ChangedState> changed_states(const std::map<std::string, std::string>& want,
                                         const std::map<std::string, std::string>& found) {
  std::vector<ChangedState> changed;
  for (const auto& [node, layout] : want) {
    const auto other = found.find(node);
    if (other == found.end() || other->second == layout) continue;
    changed.push_back({node, layout, other->second});
  }
  return changed;
}

std::string text_of(const ChangedState& changed) {
  return concat("the state of operator '", changed.node, "' is of another type: want ",
                changed.want, ", found ", changed.found);
}

std::vector<std::string> unsaved_states(const GraphShape& shape) {
  std::vector<std::string> sentences;
  for (std::uint32_t i = 0; i < shape.nodes.size(); ++i) {
    const NodeShape& node = shape.nodes[i];
    const std::string operator_name = concat("operator '", node.name, "': ");
    if (!node.unsaved.empty()) sentences.push_back(operator_name + node.unsaved);
    // What a sink writes is in as many pieces as it has replicas, and meant to be.
    if (node.replicas == 1 || !node.has_state || is_source(node.role) || is_sink(node.role))
      continue;
    if (!takes_any_item(shape, i)) continue;
    sentences.push_back(concat(operator_name, "each of its ", node.replicas,
                               " replicas has a state of its own, and an item reaches any of them: "
                               "say by_key(...), or give it one replica"));
  }
  return sentences;
}

}  // namespace piracema::flow
