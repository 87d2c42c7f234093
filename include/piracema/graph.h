#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <piracema/error.h>
#include <piracema/operator.h>

namespace piracema {

enum class Role : std::uint8_t { source, middle, sink };

/// One node of a graph, as far as it can be told to another process.
struct NodeShape {
  /// Letters, digits, '_' and '-'; unique in the graph.
  std::string name;
  Role role = Role::middle;
  std::uint32_t replicas = 1;
  /// Items reach it in the order in which each source replica sent their ancestors.
  bool ordered = false;
  /// Its members are saved in snapshots, or it has none.
  bool saves_state = true;
  /// Types, for people.
  std::string input{}, output{};
};

/// Items flow from one node to another.
struct EdgeShape {
  std::uint32_t from = 0, to = 0;
  Delivery delivery = Delivery::on_demand;
  /// Single items may name a key although `delivery` is another.
  bool items_may_have_keys = false;
};

/// What a program looks like: a value without code, equal in all processes of a job.
struct GraphShape {
  std::vector<NodeShape> nodes;
  std::vector<EdgeShape> edges;
};

/// A program: its shape, and the code for every node and edge.
struct Graph {
  GraphShape shape;
  /// Makes the operator of a node, for one replica. Called from any thread; `code[i]` is for
  /// `shape.nodes[i]`.
  std::vector<std::function<std::unique_ptr<Operator>()>> code;
  /// `routers[i]` is for `shape.edges[i]`; empty unless its delivery is `by_key` or `custom`.
  std::vector<Router> routers;
};

/// Says whether the graph can run, and if not, which node breaks which rule (Errc::config).
Result<Done> validate(const GraphShape&);

/// The graph in the language of Graphviz.
std::string to_dot(const GraphShape&);

const char* name_of(Delivery);
const char* name_of(Role);

}  // namespace piracema
