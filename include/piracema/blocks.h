#pragma once

#include <piracema/detail/callable.h>
#include <piracema/detail/operators_of_blocks.h>
#include <piracema/graph.h>

#include <concepts>
#include <optional>
#include <string>
#include <type_traits>
#include <typeinfo>
#include <utility>

/// Building blocks: programs put together from plain functions and structs.
///
///     auto program = pipeline(source("numbers", Sequence{1, 1'000'000}),
///                             farm("square", 4, [](const std::int64_t& n) { return n * n; }),
///                             sink("sum", Sum{}).ordered());
///     return run(program);
///
/// The code of a block is an object that can be called. Every replica has its own copy, made
/// again from the one given here after a failure; it is used by one thread. Beside `operator()`
/// it may have
///   - `start(const Context&)`: called before the first item, after a state was restored;
///   - `finish()`, in a node `finish(Emit<Out>&)`: called after the last item;
///   - `serialize(Archive&)` as cereal has it: its state, saved in snapshots. A source may have
///     `position()` and `seek(position)` instead; one that has neither is started afresh after a
///     failure, and as many items as it had emitted are passed by.
///   - in a sink `prepare(s)`, `commit(s)`, `restored(s)`: see Operator;
///   - in a source `progress()`: how much of its input it has read, from 0 to 1.
namespace piracema {

/// A part of a pipeline that takes `In` and gives `Out`; `void` where it is closed.
template <class In, class Out>
class BuildingBlock {
 public:
  /// What comes out of this block is in the order in which the sources sent it. A farm passes
  /// this on to the next block, which has to have one replica.
  BuildingBlock ordered() && {
    NodeShape& node = graph.shape.nodes.back();
    (node.replicas > 1 ? next_is_ordered : node.ordered) = true;
    return std::move(*this);
  }
  BuildingBlock replicas(std::uint32_t count) && {
    graph.shape.nodes.front().replicas = count;
    return std::move(*this);
  }

  // How items reach the replicas of this block; on demand if nothing is said.
  BuildingBlock round_robin() && { return std::move(*this).by(Delivery::round_robin, {}); }
  BuildingBlock broadcast() && { return std::move(*this).by(Delivery::broadcast, {}); }

  /// Items with equal keys reach the same replica. `key_of(item)` is hashed by std::hash.
  template <class KeyOf>
  BuildingBlock by_key(KeyOf key_of) && {
    return std::move(*this).by(Delivery::by_key, [key_of](const void* item) -> std::uint64_t {
      using Key = std::decay_t<decltype(key_of(std::declval<const In&>()))>;
      return std::hash<Key>{}(key_of(*static_cast<const In*>(item)));
    });
  }

  /// `route(item)` is the number of the replica that gets it.
  template <class Route>
  BuildingBlock route(Route route) && {
    return std::move(*this).by(Delivery::custom, [route](const void* item) {
      return static_cast<std::uint64_t>(route(*static_cast<const In*>(item)));
    });
  }

  /// The whole program.
  operator const Graph&() const {
    static_assert(std::is_void_v<In> || detail::any_unknown<In>,
                  "a program begins with a source: something has to give this block its items");
    static_assert(std::is_void_v<Out> || detail::any_unknown<Out>,
                  "a program ends with a sink: something has to take this block's items");
    return graph;
  }

  Graph graph;
  Delivery delivery = Delivery::on_demand;
  Router router;
  bool next_is_ordered = false;

 private:
  BuildingBlock by(Delivery how, Router by) && {
    delivery = how;
    router = std::move(by);
    return std::move(*this);
  }
};

namespace detail {

template <class In, class Out, class Op, class F>
BuildingBlock<In, Out> block_of(std::string name, Role role, std::uint32_t replicas, F code) {
  NodeShape node{.name = std::move(name), .role = role, .replicas = replicas};
  node.saves_state = role == Role::source || std::is_empty_v<F> || std::is_pointer_v<F> || Saved<F>;
  node.input = name_of_type<In>();
  node.output = name_of_type<Out>();
  BuildingBlock<In, Out> block;
  block.graph.shape.nodes.push_back(std::move(node));
  if constexpr (!any_unknown<In, Out>) {
    block.graph.code.push_back([code = std::move(code)] { return std::make_unique<Op>(code); });
  }
  return block;
}

/// What one block gives is what the next one takes; true as well where another mistake is told.
template <class Given, class Taken>
inline constexpr bool fits =
    std::is_same_v<Given, Taken> || std::is_void_v<Given> || std::is_void_v<Taken> ||
    std::is_pointer_v<Given> || any_unknown<Given, Taken>;

}  // namespace detail

/// Where a stream begins. `code()` returns the next item, `std::nullopt` at the end.
template <class F>
auto source(std::string name, F code) {
  using Out = detail::SourceItem<F>;
  return detail::block_of<void, Out, detail::BlockSource<F, Out>>(std::move(name), Role::source, 1,
                                                                  std::move(code));
}

/// Several replicas that take items as they get done with others.
/// `code` is `Out(const In&)`, `std::optional<Out>(const In&)`, which may leave items out, or
/// `void(const In&, Emit<Out>&)`, which emits any number.
template <class F>
auto farm(std::string name, std::uint32_t replicas, F code) {
  using In = detail::NodeInput<F>;
  using Out = detail::NodeOutput<F>;
  return detail::block_of<In, Out, detail::BlockNode<F, In, Out>>(std::move(name), Role::middle,
                                                                  replicas, std::move(code));
}

/// One step between two others; `code` as in a farm.
template <class F>
auto node(std::string name, F code) {
  return farm(std::move(name), 1, std::move(code));
}

/// Where a stream ends. `code` is `void(const In&)`.
template <class F>
auto sink(std::string name, F code) {
  using In = detail::NodeInput<F>;
  return detail::block_of<In, void, detail::BlockSink<F, In>>(std::move(name), Role::sink, 1,
                                                              std::move(code));
}

template <class In, class Out>
BuildingBlock<In, Out> pipeline(BuildingBlock<In, Out> only) {
  return only;
}

/// Blocks one behind the other; itself a block.
template <class In, class Middle, class Middle2, class Out, class... Rest>
auto pipeline(BuildingBlock<In, Middle> first, BuildingBlock<Middle2, Out> second, Rest... rest) {
  static_assert(!std::is_void_v<Middle> && !std::is_void_v<Middle2>,
                "nothing can follow a sink or come before a source");
  static_assert(detail::fits<Middle, Middle2>,
                "a block gives items of another type than the next one takes");
  BuildingBlock<In, Out> both;
  both.graph = detail::join(std::move(first.graph), std::move(second.graph), second.delivery,
                            std::move(second.router), first.next_is_ordered);
  both.delivery = first.delivery;
  both.router = std::move(first.router);
  both.next_is_ordered = second.next_is_ordered;
  return pipeline(std::move(both), std::move(rest)...);
}

}  // namespace piracema
