#pragma once

#include <piracema/building_block.h>
#include <piracema/detail/assembly.h>
#include <piracema/detail/block_source.h>
#include <piracema/detail/callable.h>
#include <piracema/detail/event_time_ttl.h>
#include <piracema/detail/items_of_blocks.h>
#include <piracema/detail/operators_of_blocks.h>
#include <piracema/graph.h>

#include <cstdint>
#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

/// Building blocks: programs put together from plain functions and structs.
///
///     auto program = pipeline(source("numbers", Sequence{1, 1'000'000}),
///                             farm("square", 4, [](const std::int64_t& n) { return n * n; }),
///                             sink("sum", Sum{}).ordered());
///     return run(program);
///
/// The code of a block is an object that can be called. Every replica has its own copy, made
/// again from the one given here after a failure; it is used by one thread at a time. Beside
/// `operator()` it may have
///   - `start(const Context&)`: called before the first item, after a state was restored;
///   - `finish()`, in a node `finish(Emit<Out>&)`: called after the last item;
///   - `serialize(Archive&)` as cereal has it: its state, saved in snapshots. A source may have
///     `position()` and `seek(position)` instead; one that has neither is started afresh after a
///     failure, and as many items as it had emitted are passed by.
///   - in a sink `prepare(s)`, `commit(s)`, `restored(s)`: see Operator;
///   - in a source `progress()`: how much of its input it has read, from 0 to 1;
///   - `event_time()`: how far event time has come behind what it has emitted, and
///     `on_event_time(EventTime come, Emit<Out>&…)`, in a sink `on_event_time(EventTime come)`: how
///     far it has come before what it gets. Ready-made: event_time.h, window.h;
///   - in a node of a cycle `back(const Back&, Emit<Out>&…)`: takes what comes round.
///
/// Blocks are put together like bricks (paper 004, section 2): a `pipeline` of blocks, a `farm` of
/// replicas, an `all_to_all` of a left and a right `set` of blocks, `branches` for a node with
/// several outputs, a `loop`, a `master_worker`; each of these is a block again.
namespace piracema {

namespace detail {

template <class In>
constexpr void check_keyed() {
  static_assert(!IsUnkeyed<In>::value,
                "a node or sink with a state for each key says what the key is: .by_key(key_of); "
                "a join .by_keys(left, right)");
}

template <class T>
struct ChoosesOf {
  static constexpr bool value = false;
};
template <class T>
struct ChoosesOf<EmitTo<T>> {
  static constexpr bool value = true;
};
template <class Emits>
std::vector<bool> chooses_of_emits() {
  return []<class... E>(const std::tuple<E...>*) {
    return std::vector<bool>{ChoosesOf<E>::value...};
  }(static_cast<const Emits*>(nullptr));
}
template <class F>
std::vector<bool> chooses_of() {
  if constexpr (NodeTypes<F>::emits) {
    return chooses_of_emits<typename NodeTypes<F>::Emits>();
  } else {
    return {false};
  }
}

/// Of the user's code `F`.
template <class F>
void say_what_is_saved(NodeShape& node) {
  // A source without a state begins again, and what it had sent is passed by.
  const bool begins_again = is_source(node.role) && !NamesSerialize<F>;
  node.unsaved = begins_again ? "" : unsaved_because<F>();
  node.saves_state = is_source(node.role) || std::is_empty_v<F> || std::is_pointer_v<F> || Saved<F>;
  node.has_state = Saved<F> && !std::is_empty_v<F>;
}

template <class In, class Out, class Back, class Op, class F>
BuildingBlock<In, Out, Back> block_of(NodeShape node, F code, std::vector<bool> chooses = {false}) {
  check_serialize<F>();
  say_what_is_saved<F>(node);
  node.input = name_of_type<In>();
  node.output = name_of_type<Out>();
  node.gives_event_time = GivesEventTime<F>;
  node.fusible = true;
  node.outputs = static_cast<std::uint32_t>(chooses.size());
  MakeOperator make;
  if constexpr (check_copied<F>() && !any_unknown<In, Out> && !IsUnkeyed<In>::value) {
    make = [code = std::move(code)] { return std::make_unique<Op>(code); };
  }
  return {assemble(std::move(node), std::move(make), std::move(chooses))};
}

/// What one block gives is what the next one takes; true as well where another mistake is told.
template <class Given, class Taken>
inline constexpr bool fits =
    IsUnkeyed<Taken>::value || std::is_same_v<Given, Taken> || std::is_void_v<Given> ||
    std::is_void_v<Taken> || std::is_pointer_v<Given> || any_unknown<Given, Taken>;

/// What several blocks give together: they give one type, or nothing.
template <class First, class... More>
struct TogetherOf {
  using Rest = typename TogetherOf<More...>::type;
  using type = std::conditional_t<std::is_void_v<First>, Rest, First>;
  static constexpr bool right =
      TogetherOf<More...>::right &&
      (std::is_void_v<First> || std::is_void_v<Rest> || std::is_same_v<First, Rest>);
};
template <class Only>
struct TogetherOf<Only> {
  using type = Only;
  static constexpr bool right = true;
};

template <class In, class Out, class F>
auto keyed_block_of_code(NodeShape node, F code, std::vector<bool> chooses) {
  look_at<typename NodeTypes<F>::State>();
  node.keyed = true;
  auto block = block_of<Unkeyed<In>, Out, In, Operator>(std::move(node), code, std::move(chooses));
  block.parts.graph.shape.nodes.back().input = name_of_type<In>();
  return KeyedBlock<F, In, Out>(std::move(block), std::move(code));
}

/// Of a block whose code is the user's `F`, wrapped.
template <class F>
void say_lives_by_event_time(Assembly& parts) {
  NodeShape& node = parts.graph.shape.nodes.back();
  node.needs_event_time = true;
  say_what_is_saved<F>(node);
}

template <class In, class Out, class F>
auto keyed_block_of(NodeShape node, F code, std::vector<bool> chooses) {
  static_assert(!TakesBack<F>, "code with a state for each key cannot be the beginning of a cycle");
  if constexpr (lives_by_event_time<F, In>()) {
    auto block = keyed_block_of_code<In, Out>(std::move(node), TimedNode<F>(std::move(code)),
                                              std::move(chooses));
    say_lives_by_event_time<F>(block.parts);
    return block;
  } else {
    return keyed_block_of_code<In, Out>(std::move(node), std::move(code), std::move(chooses));
  }
}

template <class F>
auto join_of(NodeShape node, F code) {
  using Types = JoinTypes<F>;
  using In = JoinInput<F>;
  auto chooses = chooses_of_emits<typename Types::Emits>();
  if constexpr (Types::keyed) {
    node.keyed = true;
    auto block = block_of<Unkeyed<In>, typename Types::Out, In, BlockJoin<F>>(std::move(node), code,
                                                                              std::move(chooses));
    block.parts.graph.shape.nodes.back().input = name_of_type<In>();
    block.parts = with_two_inputs(std::move(block.parts));
    return KeyedJoin<F>(std::move(block), std::move(code));
  } else {
    auto block = block_of<In, typename Types::Out, In, BlockJoin<F>>(
        std::move(node), std::move(code), std::move(chooses));
    block.parts = with_two_inputs(std::move(block.parts));
    return block;
  }
}

}  // namespace detail

/// Where a stream begins. `code()` returns the next item, `std::nullopt` at the end; or a `Poll`
/// if it may have nothing yet.
template <class F>
auto source(std::string name, F code) {
  using Out = detail::SourceItem<F>;
  detail::look_at<F, Out>();
  return detail::block_of<void, Out, void, detail::BlockSource<F, Out>>(
      {.name = std::move(name), .role = engine::Role::source}, std::move(code));
}

/// Several replicas that take items as they get done with others.
/// `code` is `Out(const In&)`, `std::optional<Out>(const In&)`, which may leave items out, or
/// `void(const In&, Emit<Out>&)`, which emits any number. With several `Emit<…>&` it has as many
/// outputs; `EmitTo<Out>&` instead of `Emit<Out>&` lets it choose who gets an item.
///
/// With a `V&` behind the item, as in `void(const In&, V&, Emit<Out>&)` or `Out(const In&, V&)`, it
/// has a state for each key, `V{}` at first, which the runtime keeps and saves: say
/// `.by_key(key_of)`. Members of V that are a MapState or a ListState are read and saved entry by
/// entry. With `KeyedState<V>&` instead it may look only, and let keys go. Code with
/// `std::chrono::milliseconds state_ttl() const` has the states for so long after their last
/// change, by the clock of its machine; then the key has none. After the last item `finish(const
/// Key&, V&, Emit<Out>&)` is called for every key, in an order that depends on the keys alone; and
/// `finish(Emit<Out>&)` then. With `EventTime event_time_of(const In&) const` beside `state_ttl`
/// the states live by when items happened, whatever the clock says, and `finish` is called as each
/// of them ends (event_time.h).
template <class F>
auto farm(std::string name, std::uint32_t replicas, F code) {
  using In = detail::NodeInput<F>;
  using Out = detail::NodeOutput<F>;
  detail::look_at<F, In>();
  engine::NodeShape node{.name = std::move(name), .replicas = replicas};
  if constexpr (detail::NodeTypes<F>::keyed) {
    return detail::keyed_block_of<In, Out>(std::move(node), std::move(code),
                                           detail::chooses_of<F>());
  } else {
    if constexpr (detail::TakesBack<F>) node.inputs = 2;
    return detail::block_of<In, Out, typename detail::BackOf<F>::type,
                            detail::BlockNode<F, In, Out>>(std::move(node), std::move(code),
                                                           detail::chooses_of<F>());
  }
}

/// One step between two others; `code` as in a farm.
template <class F>
auto node(std::string name, F code) {
  return farm(std::move(name), 1, std::move(code));
}

/// Where a stream ends. `code` is `void(const In&)`; with a state for each key, as in a farm,
/// `void(const In&, V&)`.
template <class F>
auto sink(std::string name, F code) {
  using In = detail::NodeInput<F>;
  detail::look_at<F, In>();
  engine::NodeShape node{.name = std::move(name), .role = engine::Role::sink};
  if constexpr (detail::NodeTypes<F>::keyed) {
    return detail::keyed_block_of<In, void>(std::move(node), std::move(code), {false});
  } else {
    return detail::block_of<In, void, In, detail::BlockSink<F, In>>(std::move(node),
                                                                    std::move(code));
  }
}

template <class In, class Out, class Back>
BuildingBlock<In, Out, Back> pipeline(BuildingBlock<In, Out, Back> only) {
  return only;
}

/// Blocks one behind the other; itself a block.
template <class In, class Middle, class Back, class Middle2, class Out, class Back2, class... Rest>
auto pipeline(BuildingBlock<In, Middle, Back> first, BuildingBlock<Middle2, Out, Back2> second,
              Rest... rest) {
  static_assert(!std::is_void_v<Middle> && !std::is_void_v<Middle2>,
                "nothing can follow a sink or come before a source");
  static_assert(detail::fits<Middle, Middle2>,
                "a block gives items of another type than the next one takes");
  detail::check_keyed<Middle2>();
  BuildingBlock<In, Out, Back> both{detail::join(std::move(first.parts), std::move(second.parts))};
  return pipeline(std::move(both), std::move(rest)...);
}

/// Two nodes in one thread: the second one is called with what the first one emits. Both have the
/// same number of replicas.
template <class In, class Middle, class Back, class Middle2, class Out, class Back2, class... Rest>
auto combine(BuildingBlock<In, Middle, Back> first, BuildingBlock<Middle2, Out, Back2> second,
             Rest... rest) {
  static_assert(detail::fits<Middle, Middle2>,
                "a block gives items of another type than the next one takes");
  detail::check_keyed<Middle2>();
  BuildingBlock<In, Out, Back> both{
      detail::join(std::move(first.parts), std::move(second.parts), true)};
  if constexpr (sizeof...(rest) == 0) {
    return both;
  } else {
    return combine(std::move(both), std::move(rest)...);
  }
}

/// A farm whose workers are blocks of their own: so many copies of `block` that share nothing.
template <class In, class Out, class Back>
BuildingBlock<In, Out, Back> farm(std::uint32_t count, BuildingBlock<In, Out, Back> block) {
  return {detail::copies(std::move(block.parts), count)};
}

/// Blocks beside each other that take the same and give the same. What comes reaches one of all
/// their replicas, counted through in their order: how is said of the set, not of its members.
template <class In, class Out, class Back, class... More>
auto set(BuildingBlock<In, Out, Back> first, More... more) {
  static_assert((std::is_same_v<BuildingBlock<In, Out, Back>, More> && ...),
                "the members of a set take the same type and give the same type");
  std::vector<detail::Assembly> members;
  members.push_back(std::move(first.parts));
  (members.push_back(std::move(more.parts)), ...);
  return BuildingBlock<In, Out, Back>{detail::beside(std::move(members))};
}

/// Every member of the left set leads to every member of the right one (paper 004, section 2).
/// Delivery is that of the right set; on demand if nothing is said (there: round robin).
template <class In, class Middle, class Back, class Middle2, class Out, class Back2>
auto all_to_all(BuildingBlock<In, Middle, Back> left, BuildingBlock<Middle2, Out, Back2> right) {
  return pipeline(std::move(left), std::move(right));
}

/// Two blocks that begin with sources, beside each other: what they give goes to a node with two
/// inputs.
template <class Out1, class Back1, class Out2, class Back2>
BuildingBlock<void, Outs<Out1, Out2>> both(BuildingBlock<void, Out1, Back1> first,
                                           BuildingBlock<void, Out2, Back2> second) {
  return {detail::both(std::move(first.parts), std::move(second.parts))};
}

/// A node with two inputs. `code` has `left(const A&, Emit<Out>&)` for what comes by the first one
/// and `right(const B&, Emit<Out>&)` for the second one, in any order as they come:
///
///     pipeline(both(source("orders", orders), source("payments", payments)),
///              join("match", 4, Match{}).by_keys(&order_number, &payment_number), …)
///
/// With a `V&` (or a `KeyedState<V>&`) behind the item of both it has a state for each key, as in a
/// farm, which items of either input see.
template <class F>
auto join(std::string name, std::uint32_t replicas, F code) {
  using Types = detail::JoinTypes<F>;
  engine::NodeShape node{.name = std::move(name), .replicas = replicas};
  if constexpr (detail::lives_by_event_time<F, typename Types::Left, typename Types::Right>()) {
    auto block = detail::join_of(std::move(node), detail::TimedJoin<F>(std::move(code)));
    detail::say_lives_by_event_time<F>(block.parts);
    return block;
  } else {
    return detail::join_of(std::move(node), std::move(code));
  }
}

/// One block for each output of the node before. They give the same type, or end in sinks.
template <class... In, class... Out, class... Back>
auto branches(BuildingBlock<In, Out, Back>... blocks) {
  using Together = detail::TogetherOf<Out...>;
  static_assert(Together::right, "branches that meet again give the same type");
  std::vector<detail::Assembly> members;
  (members.push_back(std::move(blocks.parts)), ...);
  return BuildingBlock<Outs<In...>, typename Together::type>{detail::branch(std::move(members))};
}

/// A cycle: what the block gives by the last of two outputs comes back to its beginning, and ends
/// when its other input has ended and nothing is left in it.
template <class In, class Out, class Back, class Given>
BuildingBlock<In, Out> loop(BuildingBlock<In, Outs<Out, Given>, Back> block) {
  static_assert(std::is_same_v<Given, Back>,
                "what comes back is of another type than the beginning of the loop takes");
  return {detail::loop(std::move(block.parts), Delivery::on_demand, {})};
}
/// The same where equal keys come back to the same replica.
template <class In, class Out, class Back, class Given, class KeyOf>
BuildingBlock<In, Out> loop_by_key(BuildingBlock<In, Outs<Out, Given>, Back> block, KeyOf key_of) {
  static_assert(std::is_same_v<Given, Back>,
                "what comes back is of another type than the beginning of the loop takes");
  return {detail::loop(std::move(block.parts), Delivery::by_key,
                       detail::key_router<Given>(std::move(key_of)))};
}

/// A master that gives tasks to workers by its first output, gets their results back, and gives
/// results of its own by its second output. `master` is a node with
/// `operator()(const In&, Emit<Task>&, Emit<Out>&)` and `back(const Result&, Emit<Task>&,
/// Emit<Out>&)`.
template <class In, class Task, class Out, class Back, class Task2, class Result, class Back2>
BuildingBlock<In, Out> master_worker(BuildingBlock<In, Outs<Task, Out>, Back> master,
                                     BuildingBlock<Task2, Result, Back2> workers) {
  static_assert(std::is_same_v<Task, Task2>,
                "the workers take another type than the master's tasks");
  static_assert(std::is_same_v<Result, Back>,
                "the workers give another type than the master takes back");
  return {detail::loop(detail::join_first(std::move(master.parts), std::move(workers.parts)),
                       Delivery::on_demand, {})};
}

}  // namespace piracema
