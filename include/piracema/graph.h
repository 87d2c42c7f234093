#pragma once

#include <piracema/error.h>
#include <piracema/operator.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace piracema {

/// How items share a batch on their way. Nothing has to be set: batches adapt to the load.
struct BatchLimits {
  /// Items in each batch (paper 004, section 3: batchSize), at most 1,048,576; fewer only when no
  /// more come in time. 0: about four milliseconds of a receiver's work.
  std::uint32_t items = 0;
  /// A batch leaves when it has this many bytes. 0: 256 KiB.
  std::uint64_t bytes = 0;
  /// An item waits about this long for others at most, if somebody has asked; less while its
  /// receiver has nothing else to do. 0: a millisecond.
  std::chrono::microseconds linger{0};
};

}  // namespace piracema

namespace piracema::engine {

/// A program whose nodes were all fused is one node, source and sink at once: `whole`.
enum class Role : std::uint8_t { source, middle, sink, whole };
constexpr bool is_source(Role role) { return role == Role::source || role == Role::whole; }
constexpr bool is_sink(Role role) { return role == Role::sink || role == Role::whole; }

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
  /// Its code has a state for each key, which the runtime keeps.
  bool keyed = false;
  /// Types, for people.
  std::string input{}, output{};
  /// What its code can tell apart: a sink has no output, a source no input, whatever these say.
  std::uint32_t inputs = 1, outputs = 1;
  /// Its code can be called item by item, so that it can be fused with what it leads to or
  /// comes from.
  bool fusible = false;
  /// About how long its code takes for an item; 0: nobody said. Not known to other processes, and
  /// not a part of what a snapshot is compared with but by what is combined because of it.
  std::uint64_t cost_ns = 0;
  /// What its code may lose in a failure, and why; whether it has a state that is saved. Not known
  /// to other processes.
  std::string unsaved{};
  bool has_state = false;
  /// Its code says how far event time has come; it cannot work where nobody before it does. Not
  /// known to other processes.
  bool gives_event_time = false, needs_event_time = false;
};

/// Items flow from one node to another.
struct EdgeShape {
  std::uint32_t from = 0, to = 0;
  Delivery delivery = Delivery::on_demand;
  /// Single items may name a key or a receiver although `delivery` is another.
  bool items_may_have_keys = false;
  /// Which output of `from`. Edges of one output lead to one set of receivers: the replicas of
  /// all their nodes, in the order of the edges. They have one delivery.
  std::uint32_t output = 0;
  /// Which input of `to`; several edges may lead to one.
  std::uint32_t input = 0;
  /// It closes a cycle: without such edges there is none.
  bool back = false;
  /// The replicas on both sides are cut into so many equal runs, and each run of `from` leads to
  /// the one of `to` with the same number: workers of a farm that are pipelines of their own. As
  /// many parts as replicas: one to one.
  std::uint32_t parts = 1;
  /// The two nodes are combined: one thread does the work of both.
  bool combined = false;
  /// `by_key`: into how many groups the keys are put, a power of two; else 0.
  std::uint32_t key_groups = 0;
  /// A setting, like the number of processes: a job may go on with other ones. Of the edges of one
  /// output the first one's count.
  BatchLimits batch;
};

/// What a program looks like: a value without code, equal in all processes of a job.
struct GraphShape {
  std::vector<NodeShape> nodes;
  std::vector<EdgeShape> edges;
};

/// Bricks that run in one process; made by createGroup.
struct GroupShape {
  std::string name;
  /// Names of the nodes that it was created from; none: the whole program.
  std::vector<std::string> parent;
  /// Nodes and single replicas ("work/2") of these; none: all of them.
  std::vector<std::string> members;
};

}  // namespace piracema::engine

namespace piracema {

/// A program: its shape, and the code for every node and edge.
struct Graph {
  engine::GraphShape shape;
  /// Makes the operator of a node, for one replica. Called from any thread; `code[i]` is for
  /// `shape.nodes[i]`.
  std::vector<std::function<std::unique_ptr<engine::Operator>()>> code;
  /// `routers[i]` is for `shape.edges[i]`; empty unless its delivery is `by_key` or `custom`. Of
  /// the edges of one output the first one's is used.
  std::vector<engine::Router> routers;
  /// Not a part of the shape: a job may be cut differently when it goes on.
  std::vector<engine::GroupShape> groups;
};

}  // namespace piracema

namespace piracema::engine {

/// Says whether the graph can run, and if not, which node breaks which rule (Errc::config).
///
/// The rules of connection are those of paper 004, section 2. Nodes become multi-input and
/// multi-output by themselves, so its first two rules always hold; what is checked of the third is
/// that an edge of several parts has them on both sides.
Result<Done> validate(const GraphShape&);

/// The same program with neighbours made one node: one thread, and a call for each item in place
/// of a batch. Those that are `combined`, or `all` that lead to each other one to one and to nobody
/// else. Its name is that of all its nodes, with '+' between. `graph` is valid. Errc::config if
/// nodes are combined that cannot be one.
Result<Graph> fuse(const Graph& graph, bool all);
Result<GraphShape> fuse(const GraphShape& shape, bool all);

/// Combines neighbours where that surely gains: both said what they cost for an item, they could be
/// combined, and the cheaper one costs less than to pass an item on. `shape` is valid, and stays
/// so.
void combine_cheap(GraphShape& shape);

/// The graph in the language of Graphviz.
std::string to_dot(const GraphShape&, const std::string& title = "piracema");

const char* name_of(Delivery);
const char* name_of(Role);

}  // namespace piracema::engine
