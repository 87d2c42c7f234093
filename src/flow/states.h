#pragma once

#include <piracema/error.h>
#include <piracema/graph.h>

#include <cstddef>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "base/engine.h"

/// What is known of the states of a program's operators before it runs.
namespace piracema::flow {

/// A longer layout is cut, and ends in a checksum of all of it.
constexpr std::size_t layout_bytes_max = 512;

/// Of which types the states of a program are, node by node, in printable ASCII; "" where it is not
/// known.
struct StateTypes {
  /// `Operator::layout`, and behind it that of the items that a snapshot holds where a cycle leads
  /// back to the node.
  std::vector<std::string> layouts = {};
  /// `Operator::former_layouts`, in the same way.
  std::vector<std::vector<std::string>> former = {};
  auto fields() { return std::tie(layouts, former); }
};

/// Makes an operator of each node and has it serialize its state once: user code, which may take
/// its time, and may throw. Then it is not known.
StateTypes state_types_of(const Graph& graph);

/// How many changes of its type ago a node had states of this layout, which it reads as what they
/// were then (engine::KeyedStates::reads); 0: they are of the type that it has now, or nobody
/// knows.
std::uint32_t changes_since(const Graph& graph, std::uint32_t node, const std::string& layout);

/// Of what `Operator::layout_of_items` says of each input of a node, in the same way.
std::string layout_of_items(const Graph& graph, std::uint32_t node);

/// Types that a peer has sent: none, or those of each node, as `state_types_of` makes them.
/// Errc::corrupt.
Result<Done> check_types(const GraphShape& shape, const StateTypes& types);

/// Those that are known, by the names of the nodes. They fit `shape`.
std::map<std::string, std::string> layouts_by_node(const GraphShape& shape,
                                                   const std::vector<std::string>& layouts);

/// A node whose state a program finds as another type than it has.
struct ChangedState {
  std::string node, want, found;
  bool operator==(const ChangedState&) const = default;
};
/// Where both are known and differ.
std::vector<ChangedState> changed_states(const std::map<std::string, std::string>& want,
                                         const std::map<std::string, std::string>& found);
/// "the state of operator 'count' is of another type: want {i64},
/// found {i32}".
std::string text_of(const ChangedState& changed);

/// A sentence for each node that remembers what no snapshot has, or remembers in each of its
/// replicas what belongs to items that reach any of them: "operator 'count': ...".
std::vector<std::string> unsaved_states(const GraphShape& shape);

}  // namespace piracema::flow
