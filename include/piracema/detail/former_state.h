#pragma once

#include <piracema/codec.h>
#include <piracema/detail/keyed_codec.h>

#include <cstdint>
#include <type_traits>
#include <utility>

namespace piracema::detail {

/// A state for each key that says of which type it was in the version of the program before, and is
/// made of one of these.
template <class V>
concept HasBefore = requires {
  typename V::Before;
};

/// Makes states of their former types what they are now.
template <class V>
struct FormerState {
  static constexpr bool known = false;
  /// How many former types there are.
  static constexpr std::uint32_t count = 0;
};
template <HasBefore V>
struct FormerState<V> {
  static constexpr bool known = true;
  using Before = typename V::Before;
  static constexpr std::uint32_t count = 1 + FormerState<Before>::count;
  // Of an aggregate the first member would be made of it, and nothing said.
  static constexpr bool can_be_made = std::is_constructible_v<V, Before> && !std::is_aggregate_v<V>;
  static_assert(can_be_made,
                "a state whose type has a member type `Before` is made of one: it needs a "
                "constructor that takes a Before");
  static V from(Before&& before) {
    // One error is enough.
    if constexpr (can_be_made) return V(std::move(before));
    return V{};
  }
};

/// Reads a state that was written by the version of the program that was so many changes of its
/// type `ago`. Throws DecodeError.
template <class V>
V read_state(KeyedReader& in, std::uint32_t ago) {
  if constexpr (FormerState<V>::known) {
    if (ago != 0) {
      return FormerState<V>::from(read_state<typename FormerState<V>::Before>(in, ago - 1));
    }
  }
  if (ago != 0) throw DecodeError("its type says nothing of what it was");
  return in.get<V>();
}

/// Calls `use` with a null pointer to each former type, the newest first. What a state is kept in
/// (such as Timed) has those that its FormerState says.
template <class V, class Use>
void for_each_former(const Use& use) {
  if constexpr (FormerState<V>::known) {
    using Before = typename FormerState<V>::Before;
    use(static_cast<Before*>(nullptr));
    for_each_former<Before>(use);
  }
}

}  // namespace piracema::detail
