#include <cxxabi.h>
#include <piracema/detail/assembly.h>

#include <cstdlib>
#include <memory>
#include <utility>

namespace piracema::detail {

namespace {

/// Adds the nodes and edges of `other`; its nodes have `offset` more in their numbers then.
std::uint32_t add(Graph& graph, Graph other) {
  const auto offset = static_cast<std::uint32_t>(graph.shape.nodes.size());
  for (NodeShape& node : other.shape.nodes) graph.shape.nodes.push_back(std::move(node));
  for (auto& code : other.code) graph.code.push_back(std::move(code));
  for (EdgeShape edge : other.shape.edges) {
    edge.from += offset;
    edge.to += offset;
    graph.shape.edges.push_back(edge);
  }
  for (Router& router : other.routers) graph.routers.push_back(std::move(router));
  return offset;
}

/// The other's open ends, as they are numbered behind `offset` nodes.
void renumber(Assembly& other, std::uint32_t offset) {
  for (Entry& entry : other.entries) {
    for (std::uint32_t& node : entry.nodes) node += offset;
  }
  for (auto& exit : other.exits) {
    for (OpenOutput& open : exit) open.node += offset;
  }
}

// Every output of the one side leads to every node of the other (paper 004, section 2: edge nodes
// become multi-output and multi-input by themselves).
void connect(Graph& graph, const std::vector<OpenOutput>& from, const Entry& to, bool combined,
             bool back = false) {
  for (const OpenOutput& open : from) {
    for (const std::uint32_t node : to.nodes) {
      EdgeShape edge{.from = open.node,
                     .to = node,
                     .delivery = to.delivery,
                     .items_may_have_keys = open.chooses,
                     .output = open.output};
      edge.input = to.input;
      edge.combined = combined;
      edge.batch = to.batch;
      if (to.delivery == Delivery::by_key) edge.key_groups = to.key_groups;
      edge.back = back;
      if (back) edge.input = graph.shape.nodes[node].inputs - 1;
      const std::uint32_t replicas = graph.shape.nodes[open.node].replicas;
      if (to.one_to_one || (combined && replicas == graph.shape.nodes[node].replicas)) {
        edge.parts = replicas;
      }
      graph.shape.edges.push_back(edge);
      graph.routers.push_back(to.router);
    }
  }
}

void append(std::vector<OpenOutput>& to, const std::vector<OpenOutput>& more) {
  to.insert(to.end(), more.begin(), more.end());
}

}  // namespace

std::string demangle(const char* name) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(
      abi::__cxa_demangle(name, nullptr, nullptr, &status), std::free);
  return status == 0 ? text.get() : name;
}

Assembly assemble(NodeShape node, MakeOperator code, std::vector<bool> chooses) {
  Assembly block;
  if (!is_source(node.role)) block.entries.push_back({.nodes = {0}});
  if (!is_sink(node.role)) {
    for (std::uint32_t output = 0; output < node.outputs; ++output) {
      block.exits.push_back({{.node = 0, .output = output, .chooses = chooses[output]}});
    }
  }
  block.graph.shape.nodes.push_back(std::move(node));
  if (code) block.graph.code.push_back(std::move(code));
  return block;
}

Assembly join(Assembly first, Assembly second, bool combined) {
  const std::uint32_t offset = add(first.graph, std::move(second.graph));
  renumber(second, offset);
  for (std::size_t i = 0; i < second.entries.size() && i < first.exits.size(); ++i) {
    connect(first.graph, first.exits[i], second.entries[i], combined);
    if (!first.next_is_ordered) continue;
    for (const std::uint32_t node : second.entries[i].nodes) {
      first.graph.shape.nodes[node].ordered = true;
    }
  }
  first.exits = std::move(second.exits);
  first.next_is_ordered = second.next_is_ordered;
  return first;
}

Assembly join_first(Assembly first, Assembly second) {
  std::vector<std::vector<OpenOutput>> exits(first.exits.begin() + 1, first.exits.end());
  Assembly both = join(std::move(first), std::move(second));
  exits.insert(exits.end(), both.exits.begin(), both.exits.end());
  both.exits = std::move(exits);
  return both;
}

Assembly beside(std::vector<Assembly> members) {
  Assembly all;
  for (Assembly& member : members) {
    renumber(member, add(all.graph, std::move(member.graph)));
    for (std::size_t i = 0; i < member.entries.size(); ++i) {
      if (i == all.entries.size()) {
        all.entries.push_back(std::move(member.entries[i]));
      } else {
        const auto& more = member.entries[i].nodes;
        all.entries[i].nodes.insert(all.entries[i].nodes.end(), more.begin(), more.end());
      }
    }
    if (all.exits.size() < member.exits.size()) all.exits.resize(member.exits.size());
    for (std::size_t i = 0; i < member.exits.size(); ++i) append(all.exits[i], member.exits[i]);
  }
  return all;
}

Assembly both(Assembly first, Assembly second) {
  renumber(second, add(first.graph, std::move(second.graph)));
  for (auto& exit : second.exits) first.exits.push_back(std::move(exit));
  first.next_is_ordered = first.next_is_ordered || second.next_is_ordered;
  return first;
}

Assembly with_two_inputs(Assembly node) {
  node.graph.shape.nodes.back().inputs = 2;
  // What is called item by item has one input.
  node.graph.shape.nodes.back().fusible = false;
  node.entries.push_back(node.entries.front());
  node.entries.back().input = 1;
  return node;
}

Assembly branch(std::vector<Assembly> members) {
  Assembly all;
  for (Assembly& member : members) {
    renumber(member, add(all.graph, std::move(member.graph)));
    for (Entry& entry : member.entries) all.entries.push_back(std::move(entry));
    if (all.exits.size() < member.exits.size()) all.exits.resize(member.exits.size());
    for (std::size_t i = 0; i < member.exits.size(); ++i) append(all.exits[i], member.exits[i]);
  }
  return all;
}

Assembly loop(Assembly block, Delivery delivery, Router router) {
  const Entry back{block.entries[0].nodes, delivery, std::move(router)};
  connect(block.graph, block.exits.back(), back, false, true);
  block.exits.pop_back();
  return block;
}

Assembly copies(Assembly block, std::uint32_t count) {
  for (NodeShape& node : block.graph.shape.nodes) node.replicas *= count;
  for (EdgeShape& edge : block.graph.shape.edges) edge.parts *= count;
  return block;
}

}  // namespace piracema::detail
