#pragma once

#include <piracema/detail/assembly.h>
#include <piracema/detail/callable.h>
#include <piracema/detail/items_of_blocks.h>
#include <piracema/detail/operators_of_blocks.h>
#include <piracema/graph.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>

/// What programs are put together from, and how items reach it. The functions that make one, and
/// that put several together, are in blocks.h.
namespace piracema {

/// A part of a program that takes `In` and gives `Out`; `void` where it is closed, `Outs<A, B>`
/// where it has several ends. What comes back to it in a cycle is of type `Back`.
template <class In, class Out, class Back = In>
class [[nodiscard]] BuildingBlock {
 public:
  /// What comes out of this block is in the order in which the sources sent it. A farm passes
  /// this on to the next block, which has to have one replica.
  BuildingBlock ordered() && {
    engine::NodeShape& node = parts.graph.shape.nodes.back();
    (node.replicas > 1 ? parts.next_is_ordered : node.ordered) = true;
    return std::move(*this);
  }
  BuildingBlock replicas(std::uint32_t count) && {
    parts.graph.shape.nodes.front().replicas = count;
    return std::move(*this);
  }

  /// About how long the code of this block, a single node, takes for an item. Neighbours of which
  /// one costs less than to pass an item on are combined by themselves (`combine_cheap`).
  BuildingBlock cost(std::chrono::nanoseconds each) && {
    const auto ns = std::max<std::chrono::nanoseconds::rep>(each.count(), 1);
    parts.graph.shape.nodes.back().cost_ns = static_cast<std::uint64_t>(ns);
    return std::move(*this);
  }

  // How items reach the replicas of this block; on demand if nothing is said.
  BuildingBlock round_robin() && { return std::move(*this).by(Delivery::round_robin, {}); }
  BuildingBlock strict_round_robin() && {
    return std::move(*this).by(Delivery::strict_round_robin, {});
  }
  BuildingBlock broadcast() && { return std::move(*this).by(Delivery::broadcast, {}); }
  /// Each gets an equal slice of the item, which is a vector.
  BuildingBlock scatter() && {
    static_assert(
        requires(const In& item) { In(item.begin(), item.end()); },
        "only a vector can be scattered");
    return std::move(*this).by(Delivery::scatter, {});
  }

  /// Items with equal keys reach the same replica. `key_of(item)`, which gives the same each time
  /// it is called and may be called more than once, is hashed by KeyHash and put into one of
  /// `groups` groups, which the replicas share: a power of two, 2 to `key_groups_max`, and no fewer
  /// than there will ever be replicas. It is a part of the program, like the number of nodes: a
  /// snapshot has to be of the same.
  template <class KeyOf>
  BuildingBlock by_key(KeyOf key_of, std::uint32_t groups = key_groups_default) && {
    static_assert(!detail::PairOf<In>::right, "a node with two inputs has by_keys(left, right)");
    for (detail::Entry& entry : parts.entries) entry.key_groups = groups;
    return std::move(*this).by(Delivery::by_key, detail::key_router<In>(std::move(key_of)));
  }

  /// The same for a node with two inputs (`join`), with a function for the items of each. Both give
  /// keys of one type.
  template <class KeyOfLeft, class KeyOfRight>
  BuildingBlock by_keys(KeyOfLeft left, KeyOfRight right,
                        std::uint32_t groups = key_groups_default) && {
    using Ins = detail::PairOf<In>;
    static_assert(Ins::right, "by_keys is for a node with two inputs; by_key for one with one");
    if constexpr (Ins::right) {
      using LeftKey = std::decay_t<decltype(left(std::declval<const typename Ins::First&>()))>;
      using RightKey = std::decay_t<decltype(right(std::declval<const typename Ins::Second&>()))>;
      static_assert(std::is_same_v<LeftKey, RightKey>,
                    "the keys of both inputs of a join have one type");
      parts.entries[0].delivery = parts.entries[1].delivery = Delivery::by_key;
      parts.entries[0].key_groups = parts.entries[1].key_groups = groups;
      parts.entries[0].router = detail::key_router<typename Ins::First>(std::move(left));
      parts.entries[1].router = detail::key_router<typename Ins::Second>(std::move(right));
    }
    return std::move(*this);
  }

  /// `route(item)` is the number of the replica that gets it.
  template <class Route>
  BuildingBlock route(Route route) && {
    return std::move(*this).by(Delivery::custom, detail::number_router<In>(std::move(route)));
  }

  /// Each replica of the block before leads to the one of this block with its number: workers of
  /// two farms of the same size.
  BuildingBlock one_to_one() && {
    for (detail::Entry& entry : parts.entries) entry.one_to_one = true;
    return std::move(*this);
  }

  /// How items share a batch on their way to this block.
  BuildingBlock batch(BatchLimits limits) && {
    for (detail::Entry& entry : parts.entries) entry.batch = limits;
    return std::move(*this);
  }

  /// The whole program.
  operator const Graph&() const {
    static_assert(std::is_void_v<In> || detail::any_unknown<In>,
                  "a program begins with a source: something has to give this block its items");
    static_assert(std::is_void_v<Out> || detail::any_unknown<Out>,
                  "a program ends with a sink: something has to take this block's items");
    return parts.graph;
  }

  detail::Assembly parts;

 private:
  BuildingBlock by(Delivery how, engine::Router by) && {
    for (detail::Entry& entry : parts.entries) {
      entry.delivery = how;
      entry.router = by;
    }
    return std::move(*this);
  }
};

/// A node or sink whose code has a state for each key: `by_key` makes a block of it.
template <class F, class In, class Out>
class [[nodiscard]] KeyedBlock : public BuildingBlock<detail::Unkeyed<In>, Out, In> {
  using Base = BuildingBlock<detail::Unkeyed<In>, Out, In>;
  using State = typename detail::NodeTypes<F>::State;

 public:
  KeyedBlock(Base block, F code) : Base(std::move(block)), code_(std::move(code)) {}

  KeyedBlock ordered() && { return {std::move(*this).Base::ordered(), std::move(code_)}; }
  KeyedBlock replicas(std::uint32_t count) && {
    return {std::move(*this).Base::replicas(count), std::move(code_)};
  }
  KeyedBlock cost(std::chrono::nanoseconds each) && {
    return {std::move(*this).Base::cost(each), std::move(code_)};
  }
  KeyedBlock batch(BatchLimits limits) && {
    return {std::move(*this).Base::batch(limits), std::move(code_)};
  }

  /// See BuildingBlock::by_key. Each key has a state of its own, which the runtime keeps.
  template <class KeyOf>
  BuildingBlock<In, Out, In> by_key(KeyOf key_of, std::uint32_t groups = key_groups_default) && {
    using Keys = detail::Keyed<F, In, KeyOf>;
    using Op = std::conditional_t<std::is_void_v<Out>, detail::BlockSink<F, In, Keys>,
                                  detail::BlockNode<F, In, Out, Keys>>;
    if constexpr (std::is_copy_constructible_v<F> && detail::check_state<State>()) {
      this->parts.graph.code = {
          [code = code_, key_of] { return std::make_unique<Op>(code, key_of); }};
    }
    return BuildingBlock<In, Out, In>{std::move(this->parts)}.by_key(std::move(key_of), groups);
  }

 private:
  F code_;
};

/// The same with two inputs: `by_keys` makes a block of it.
template <class F>
class [[nodiscard]] KeyedJoin
    : public BuildingBlock<detail::Unkeyed<detail::JoinInput<F>>,
                           typename detail::JoinTypes<F>::Out, detail::JoinInput<F>> {
  using In = detail::JoinInput<F>;
  using Out = typename detail::JoinTypes<F>::Out;
  using Base = BuildingBlock<detail::Unkeyed<In>, Out, In>;

 public:
  KeyedJoin(Base block, F code) : Base(std::move(block)), code_(std::move(code)) {}

  KeyedJoin replicas(std::uint32_t count) && {
    return {std::move(*this).Base::replicas(count), std::move(code_)};
  }
  KeyedJoin cost(std::chrono::nanoseconds each) && {
    return {std::move(*this).Base::cost(each), std::move(code_)};
  }
  KeyedJoin batch(BatchLimits limits) && {
    return {std::move(*this).Base::batch(limits), std::move(code_)};
  }

  /// See BuildingBlock::by_keys. Each key has a state of its own, which the runtime keeps: one for
  /// the items of both inputs.
  template <class KeyOfLeft, class KeyOfRight>
  BuildingBlock<In, Out, In> by_keys(KeyOfLeft left, KeyOfRight right,
                                     std::uint32_t groups = key_groups_default) && {
    using Op = detail::BlockJoin<F, detail::KeyedPair<F, KeyOfLeft, KeyOfRight>>;
    if constexpr (detail::check_copied<F>() &&
                  detail::check_state<typename detail::JoinTypes<F>::State>()) {
      this->parts.graph.code = {
          [code = code_, left, right] { return std::make_unique<Op>(code, left, right); }};
    }
    return BuildingBlock<In, Out, In>{std::move(this->parts)}.by_keys(std::move(left),
                                                                      std::move(right), groups);
  }

 private:
  F code_;
};

}  // namespace piracema
