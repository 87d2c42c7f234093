#pragma once

#include <piracema/graph.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace piracema::detail {

using namespace engine;

/// The name of a type, as a person writes it.
std::string demangle(const char* name);

/// Where items come into a part of a program: nodes that one output of others leads to.
struct Entry {
  std::vector<std::uint32_t> nodes;
  Delivery delivery = Delivery::on_demand;
  Router router;
  bool one_to_one = false;
  /// By key: into how many groups.
  std::uint32_t key_groups = key_groups_default;
  BatchLimits batch{};
  /// Of those nodes.
  std::uint32_t input = 0;
};

/// An output of a node that leads nowhere yet.
struct OpenOutput {
  std::uint32_t node = 0, output = 0;
  /// Its items may name their receiver.
  bool chooses = false;
};

/// A part of a program on its way to a Graph: the same for all types.
struct Assembly {
  Graph graph;
  /// One for each type of item that it takes; none if it begins with sources.
  std::vector<Entry> entries;
  /// For each type of item that it gives, the outputs that give it.
  std::vector<std::vector<OpenOutput>> exits;
  bool next_is_ordered = false;
};

using MakeOperator = std::function<std::unique_ptr<Operator>()>;

/// One node. `chooses[i]` is for output i.
Assembly assemble(NodeShape node, MakeOperator code, std::vector<bool> chooses);

/// `first` and behind it `second`; `combined`: in one thread.
Assembly join(Assembly first, Assembly second, bool combined = false);

/// The same for the first output of `first` alone; the others stay open, before those of `second`.
Assembly join_first(Assembly first, Assembly second);

/// All beside each other, as one block: what comes goes to any of them, what they give goes one
/// way.
Assembly beside(std::vector<Assembly> members);

/// Both beside each other; each gives what it gives by a way of its own.
Assembly both(Assembly first, Assembly second);

/// A node with two inputs: two types of items come in.
Assembly with_two_inputs(Assembly node);

/// All beside each other, each with an input of its own; what they give goes one way.
Assembly branch(std::vector<Assembly> members);

/// The last output leads back to the beginning.
Assembly loop(Assembly block, Delivery delivery, Router router);

/// So many of them beside each other, as replicas.
Assembly copies(Assembly block, std::uint32_t count);

}  // namespace piracema::detail
