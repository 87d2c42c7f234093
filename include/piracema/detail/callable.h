#pragma once

#include <piracema/operator.h>

#include <cereal/archives/binary.hpp>
#include <concepts>
#include <optional>
#include <type_traits>

namespace piracema {

/// What a node with any number of results per item sends them with.
template <class T>
class Emit {
 public:
  explicit Emit(Output& output) : output_(&output) {}
  void operator()(const T& item) const { output_->emit(item); }

 private:
  Output* output_;
};

namespace detail {

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

template <class F>
struct SourceItemOf {
  using S = SignatureOf<F>;
  using Optional = typename OptionalOf<typename S::Result>::type;
  static constexpr bool right = S::count == 0 && !std::is_void_v<Optional>;
  static_assert(right || any_unknown<typename S::Result>,
                "the code of a source is called without arguments and returns std::optional<T>");
  using type = std::conditional_t<right, Optional, Unknown>;
};
template <class F>
using SourceItem = typename SourceItemOf<F>::type;

template <class F>
struct NodeTypes {
  using S = SignatureOf<F>;
  using Emitted = typename EmitOf<std::decay_t<typename S::template Arg<1>>>::type;
  using Optional = typename OptionalOf<typename S::Result>::type;
  static constexpr bool emits = S::count == 2;
  static constexpr bool may_drop = !emits && !std::is_void_v<Optional>;
  static constexpr bool right = S::count == 1 || (emits && !std::is_void_v<Emitted>);
  static_assert(right, "the code of a node takes an item, and an Emit<Out>& if it likes");
  using In = std::conditional_t<right, std::decay_t<typename S::template Arg<0>>, Unknown>;
  using Out = std::conditional_t<
      !right, Unknown,
      std::conditional_t<emits, Emitted,
                         std::conditional_t<may_drop, Optional, std::decay_t<typename S::Result>>>>;
};
template <class F>
using NodeInput = typename NodeTypes<F>::In;
template <class F>
using NodeOutput = typename NodeTypes<F>::Out;

template <class F>
concept Positioned = requires(F f) {
  f.seek(f.position());
};

template <class F>
concept Archived = !std::is_pointer_v<F> &&
                   cereal::traits::is_output_serializable<F, cereal::BinaryOutputArchive>::value &&
                   cereal::traits::is_input_serializable<F, cereal::BinaryInputArchive>::value;

/// Its state survives a failure.
template <class F>
concept Saved = Positioned<F> || Archived<F>;

}  // namespace detail
}  // namespace piracema
