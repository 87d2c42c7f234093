#pragma once

#include <piracema/keyed_state.h>
#include <piracema/operator.h>
#include <piracema/poll.h>

#include <array>
#include <bit>
#include <cereal/archives/binary.hpp>
#include <concepts>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

namespace piracema {

namespace detail {
using namespace engine;

/// What takes items by a call: the next one of several operators that were fused.
template <class T>
class Takes {
 public:
  virtual ~Takes() = default;
  /// What comes of it goes to `output`.
  virtual void take(const T& item, Output& output) = 0;
  /// The same with one that is given away.
  virtual void take_own(T&& item, Output& output) { take(item, output); }
};
}  // namespace detail

/// What a node with any number of results per item sends them with. A node with several outputs
/// has one for each.
template <class T>
class Emit {
 public:
  explicit Emit(engine::Output& output, std::uint32_t number = 0, detail::Takes<T>* next = nullptr)
      : output_(&output), next_(next), number_(number) {}

  void operator()(const T& item) const {
    if (next_ != nullptr) {
      next_->take(item, *output_);
    } else {
      output_->emit_on(number_, item);
    }
  }
  /// One that is given away goes with its memory, if its type is handed over.
  void operator()(T&& item) const {
    if (next_ != nullptr) {
      next_->take_own(std::move(item), *output_);
    } else {
      output_->emit_on(number_, std::move(item));
    }
  }
  /// What `make()` returns, a T or perhaps one; false if there is none.
  template <class Make>
  bool made(const Make& make) const {
    if (next_ == nullptr) return output_->template emit_made<T>(number_, make);
    return detail::with_made<T>(make,
                                [&](T&& item) { next_->take_own(std::move(item), *output_); });
  }

 protected:
  engine::Output* output_;
  detail::Takes<T>* next_;
  std::uint32_t number_;
};

/// The same for a node that chooses who gets an item.
template <class T>
class EmitTo : public Emit<T> {
 public:
  using Emit<T>::Emit;

  /// To one of the replicas that follow, counted from 0 over all blocks that the output leads to.
  /// Throws std::out_of_range when there is none of that number.
  void to(std::uint64_t receiver, const T& item) const {
    this->output_->emit_to(this->number_, receiver, item);
  }
  void to(std::uint64_t receiver, T&& item) const {
    this->output_->emit_to(this->number_, receiver, std::move(item));
  }
  std::uint64_t receivers() const { return this->output_->receivers(this->number_); }
};

/// What a node with several outputs gives.
template <class... T>
struct Outs {};

namespace detail {

/// Two types that come in, or go out.
template <class T>
struct PairOf {
  static constexpr bool right = false;
};
template <class A, class B>
struct PairOf<Outs<A, B>> {
  static constexpr bool right = true;
  using First = A;
  using Second = B;
};

/// Stands where a type would stand but for a mistake that has been told: it is told once.
struct Unknown {};
template <class... T>
inline constexpr bool any_unknown = (std::is_same_v<T, Unknown> || ...);

// The result and the arguments of something that can be called in one way.
template <class R, class... Args>
struct Signature {
  using Result = R;
  static constexpr std::size_t count = sizeof...(Args);
  template <std::size_t I>
  using Arg = std::tuple_element_t<I, std::tuple<Args..., void, void>>;
};

template <class F>
struct CallOf {};
template <class R, class... Args>
struct CallOf<R (*)(Args...)> {
  using type = Signature<R, Args...>;
};
template <class R, class C, class... Args>
struct CallOf<R (C::*)(Args...)> {
  using type = Signature<R, Args...>;
};
template <class R, class C, class... Args>
struct CallOf<R (C::*)(Args...) const> {
  using type = Signature<R, Args...>;
};

template <class F>
concept CalledInOneWay = requires {
  &F::operator();
}
|| std::is_pointer_v<F>;

template <class F>
auto signature_of() {
  static_assert(CalledInOneWay<F>,
                "the code of a block is a function, or an object with one operator() that is no "
                "template: name the types of its arguments instead of 'auto'");
  if constexpr (std::is_pointer_v<F>) {
    return typename CallOf<F>::type{};
  } else if constexpr (CalledInOneWay<F>) {
    return typename CallOf<decltype(&F::operator())>::type{};
  } else {
    return Signature<Unknown, Unknown>{};
  }
}
template <class F>
using SignatureOf = decltype(signature_of<F>());

template <class T>
struct OptionalOf {
  using type = void;
};
template <class T>
struct OptionalOf<std::optional<T>> {
  using type = T;
};
template <class T>
struct EmitOf {
  using type = void;
};
template <class T>
struct EmitOf<Emit<T>> {
  using type = T;
};
template <class T>
struct EmitOf<EmitTo<T>> {
  using type = T;
};

template <class T>
struct PollOf {
  using type = void;
};
template <class T>
struct PollOf<Poll<T>> {
  using type = T;
};

template <class F>
struct SourceItemOf {
  using S = SignatureOf<F>;
  using Optional = typename OptionalOf<typename S::Result>::type;
  using Polled = typename PollOf<typename S::Result>::type;
  static constexpr bool polls = S::count == 0 && !std::is_void_v<Polled>;
  static constexpr bool right = polls || (S::count == 0 && !std::is_void_v<Optional>);
  static_assert(right || any_unknown<typename S::Result>,
                "the code of a source is called without arguments and returns std::optional<T>, or "
                "Poll<T> if it may have nothing yet");
  using type = std::conditional_t<!right, Unknown, std::conditional_t<polls, Polled, Optional>>;
};
template <class F>
using SourceItem = typename SourceItemOf<F>::type;

/// Stands for `In` where a block with a state for each key does not know yet what the key is.
template <class In>
struct Unkeyed {};
template <class T>
struct IsUnkeyed : std::false_type {};
template <class In>
struct IsUnkeyed<Unkeyed<In>> : std::true_type {};

/// What an argument of a node's code is of the state of the item's key: `V&`, or `KeyedState<V>&`.
template <class A>
struct StateOf {
  using type = void;
  static constexpr bool edits = false;
};
template <class A>
requires(!std::is_const_v<A> &&
         std::is_void_v<typename EmitOf<std::remove_volatile_t<A>>::type>) struct StateOf<A&> {
  using type = A;
  static constexpr bool edits = true;
};
template <class V>
struct StateOf<KeyedState<V>&> {
  using type = V;
  static constexpr bool edits = false;
};

/// Of the arguments of a node's code: the first is the item, one behind it may be the state of its
/// key, the others are for what comes of it.
template <class S>
struct ArgumentsOf;
template <class R, class Item, class... E>
struct ArgumentsOf<Signature<R, Item, E...>> {
  using State = void;
  using In = std::decay_t<Item>;
  static constexpr bool right = (!std::is_void_v<typename EmitOf<std::decay_t<E>>::type> && ...);
  using Emits = std::tuple<std::decay_t<E>...>;
  using Out = std::conditional_t<
      sizeof...(E) == 1,
      std::tuple_element_t<0, std::tuple<typename EmitOf<std::decay_t<E>>::type..., void>>,
      Outs<typename EmitOf<std::decay_t<E>>::type...>>;
};
template <class R, class Item, class S, class... E>
requires(!std::is_void_v<typename StateOf<S>::type>) struct ArgumentsOf<Signature<R, Item, S, E...>>
    : ArgumentsOf<Signature<R, Item, E...>> {
  using State = typename StateOf<S>::type;
  static constexpr bool edits_state = StateOf<S>::edits;
};
template <class R>
struct ArgumentsOf<Signature<R>> {
  using State = void;
  using In = Unknown;
  static constexpr bool right = false;
  using Emits = std::tuple<>;
  using Out = Unknown;
};

template <class F>
struct NodeTypes {
  using S = SignatureOf<F>;
  using Arguments = ArgumentsOf<S>;
  using Optional = typename OptionalOf<typename S::Result>::type;
  using State = typename Arguments::State;
  static constexpr bool keyed = !std::is_void_v<State>;
  static constexpr bool emits = S::count >= (keyed ? 3 : 2);
  static constexpr bool may_drop = !emits && !std::is_void_v<Optional>;
  using First = typename S::template Arg<0>;
  static constexpr bool changes =
      std::is_lvalue_reference_v<First> && !std::is_const_v<std::remove_reference_t<First>>;
  static constexpr bool right = Arguments::right && !changes;
  static_assert(Arguments::right,
                "the code of a node takes an item, and an Emit<Out>& if it likes; by key a `V&` "
                "between them is the state of the key");
  static_assert(!changes || any_unknown<typename S::Result>,
                "the code of a node or a sink takes its item by `const In&` or `In`, not by `In&`");
  /// Emit or EmitTo, one for each output.
  using Emits = std::conditional_t<right, typename Arguments::Emits, std::tuple<>>;
  using In = std::conditional_t<right, typename Arguments::In, Unknown>;
  using Out = std::conditional_t<
      !right, Unknown,
      std::conditional_t<emits, typename Arguments::Out,
                         std::conditional_t<may_drop, Optional, std::decay_t<typename S::Result>>>>;
};
template <class F>
using NodeInput = typename NodeTypes<F>::In;
template <class F>
using NodeOutput = typename NodeTypes<F>::Out;

/// A node's code with `back(const Back&, …)` beside its operator(): what comes round a cycle.
template <class F>
concept TakesBack = requires {
  &F::back;
};
template <class F>
struct BackOf {
  using type = NodeInput<F>;
};
template <TakesBack F>
struct BackOf<F> {
  using type = typename ArgumentsOf<typename CallOf<decltype(&F::back)>::type>::In;
};

/// The code of a node with two inputs: `left(const A&, Emit<Out>&…)` and
/// `right(const B&, Emit<Out>&…)`; or both with the state of the item's key between these.
template <class F>
struct JoinTypes {
  static constexpr bool has_both = requires {
    &F::left;
    &F::right;
  };
  static_assert(has_both,
                "the code of a join has left(const A&, Emit<Out>&) and "
                "right(const B&, Emit<Out>&)");
  template <class G, bool both>
  struct Of {
    using L = ArgumentsOf<Signature<void>>;
    using R = L;
  };
  template <class G>
  struct Of<G, true> {
    using L = ArgumentsOf<typename CallOf<decltype(&G::left)>::type>;
    using R = ArgumentsOf<typename CallOf<decltype(&G::right)>::type>;
  };
  using L = typename Of<F, has_both>::L;
  using R = typename Of<F, has_both>::R;
  static constexpr bool right = has_both && L::right && R::right &&
                                std::is_same_v<typename L::State, typename R::State> &&
                                std::tuple_size_v<typename L::Emits> != 0 &&
                                std::is_same_v<typename L::Emits, typename R::Emits>;
  static_assert(right || !has_both,
                "left and right of a join take an item each, and the same Emit<Out>&; by key both "
                "take a `V&` of one type between them, the state of the key");
  using State = std::conditional_t<right, typename L::State, void>;
  static constexpr bool keyed = !std::is_void_v<State>;
  using Left = std::conditional_t<right, typename L::In, Unknown>;
  using Right = std::conditional_t<right, typename R::In, Unknown>;
  using Out = std::conditional_t<right, typename L::Out, Unknown>;
  using Emits = std::conditional_t<right, typename L::Emits, std::tuple<Emit<Unknown>>>;
};

/// What comes into such a node.
template <class F>
using JoinInput = Outs<typename JoinTypes<F>::Left, typename JoinTypes<F>::Right>;

/// Code that says how far event time has come behind what it has emitted.
template <class F>
concept GivesEventTime = requires(const F& code) {
  { code.event_time() } -> std::convertible_to<EventTime>;
};

/// Code whose event time follows the clock where nothing comes.
template <class F>
concept TakesIdle = GivesEventTime<F> && requires(F& code, WallTime now) {
  { code.idle_after() } -> std::convertible_to<std::chrono::nanoseconds>;
  code.idle(now);
};

template <class F>
concept Positioned = requires(F f) {
  f.seek(f.position());
};

template <class F>
concept Archived = !std::is_pointer_v<F> && !const_serialize<F> &&
                   cereal::traits::is_output_serializable<F, cereal::BinaryOutputArchive>::value &&
                   cereal::traits::is_input_serializable<F, cereal::BinaryInputArchive>::value;

/// Its state survives a failure.
template <class F>
concept Saved = Positioned<F> || Archived<F>;

// Whether a class has a member of some name, however many, whoever may call it: in `WithNamed` the
// name is of two classes.
template <class F, class Named>
struct WithNamed : F, Named {};
template <class F>
concept CanBeBase = std::is_class_v<F> && !std::is_final_v<F>;

struct HasSerialize {
  int serialize;
};
template <class F>
concept NamesSerialize = CanBeBase<F> && !requires {
  &WithNamed<F, HasSerialize>::serialize;
};

/// Its call does not change it.
template <class F>
struct CallIsConst : std::false_type {};
template <class R, class C, class... Args>
struct CallIsConst<R (C::*)(Args...) const> : std::true_type {};

/// Nothing in it refers to anything else: what does cannot be made of bytes by a compiler.
template <class F>
concept OnlyValues = std::is_trivially_copyable_v<F> && requires {
  typename std::bool_constant<(
      static_cast<void>(std::bit_cast<F>(std::array<std::byte, sizeof(F)>{})), true)>;
};

/// Why what the code of a node remembers is not saved; empty: it is, or there is nothing.
template <class F>
std::string unsaved_because() {
  if constexpr (std::is_pointer_v<F> || std::is_empty_v<F> || Saved<F>) {
    return "";
  } else if constexpr (NamesSerialize<F>) {
    return "its `serialize` cannot be called: it has to be public, or cereal::access a friend, and "
           "to take any archive";
  } else {
    if constexpr (requires { &F::operator(); }) {
      if constexpr (CallIsConst<decltype(&F::operator())>::value) {
        if (OnlyValues<F>) return "";
        return "its captures and members are not saved, nor is what they refer to, which is right "
               "for constants alone: give what changes a class with `serialize`";
      }
    }
    // One with two inputs has `left` and `right` in place of a call.
    return "its captures and members can change and are not saved: give what changes a class with "
           "`serialize`";
  }
}

template <class V>
constexpr bool check_state() {
  if constexpr (has_collections<V>) {
    static_assert(std::is_default_constructible_v<V>,
                  "the state of a key begins as V{}: give it a default constructor");
    return std::is_default_constructible_v<V>;
  } else {
    static_assert(std::is_default_constructible_v<V> && std::is_move_constructible_v<V>,
                  "the state of a key begins as V{} and is moved: give it a default constructor, "
                  "and one that moves");
    return std::is_default_constructible_v<V> && std::is_move_constructible_v<V>;
  }
}

/// Every replica has its own code.
template <class F>
constexpr bool check_copied() {
  static_assert(!has_collections<F>,
                "a MapState or a ListState is the state of a key: take it, or a struct that has "
                "it, behind the item, and not as a member of the code");
  static_assert(std::is_copy_constructible_v<F> || has_collections<F>,
                "the code of a block is copied for each replica and after each failure: hold a "
                "member that can only be moved by a std::shared_ptr, or make it in `start`");
  return std::is_copy_constructible_v<F>;
}
}  // namespace detail
}  // namespace piracema
